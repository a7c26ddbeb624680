"""Role names in disguise: nothing of the roles' own words is left in a prompt, and every word comes back."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from marks import examples
from text_helpers import ask, questions
from wolflab.errors import RulesetError
from wolflab.lab.plans.specs import ruleset_of
from wolflab.models.village.speech.phrases import BANKS, Point, phrase
from wolflab.rules import DOCTOR, PRESETS, ROLES, SHERIFF, WITCH, Ruleset
from wolflab.rules.naming import completed, own_words, plural
from wolflab.text.asking.disguise import (
    DISGUISES,
    INVENTED,
    OPPOSITE,
    UNRELATED,
    check_disguise,
    disguised,
    disguised_schema,
    undisguised,
)
from wolflab.text.asking.prompts import blocks, messages
from wolflab.text.asking.rules_text import rules_text
from wolflab.text.digest import question_digest
from wolflab.text.questions import Decide, Deduce, Question, Situation, guessable
from wolflab.text.reading import read
from wolflab.text.replies.parse import parse, schema
from wolflab.text.replies.parsed import Decided, Judged

AWKWARD = {
    "Werewolf": "elf",
    "Villager": "honest man",
    "Seer": "unicorn",
    "Guard": "DJ",
    "Witch": "lady-in-red",
    "Doctor": "Hour Keeper",
    "village": "school",
}
"""Articles that change, irregular plurals, capitals of their own, hyphens, a side with its own word."""
TURNED = {"Seer": "Witch", "Witch": "Guard", "Guard": "Seer"}
"""The sides stay, the duties go round."""
MAPPINGS = {
    "unrelated": UNRELATED,
    "opposite": OPPOSITE,
    "invented": INVENTED,
    "awkward": AWKWARD,
    "turned": TURNED,
}
NAMED = {name: WITCH.with_(role_names=mapping) for name, mapping in MAPPINGS.items()}
EVERY = pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
HIDING = pytest.mark.parametrize(
    "named", [NAMED["unrelated"], NAMED["invented"]], ids=["unrelated", "invented"]
)
OWN_WORDS = re.compile(r"wol[fv]|villag|seer|(?<!body)guard|witch|doctor|hunter", re.IGNORECASE)

TESTS = Path(__file__).parent
TEMPLATES = sorted((TESTS.parent / "src" / "wolflab" / "text" / "asking" / "prompts").rglob("*.txt"))
GOLDEN = sorted(file for file in (TESTS / "golden").glob("*.txt") if "disguised" not in file.stem)


def there_and_back(text: str, named: Ruleset) -> str:
    return undisguised(disguised(text, named), named)


def without_aliases(text: str) -> str:
    """Of several words for one role the way back knows only its name."""
    text = re.sub(r"\b(w)ol(f|ves)\b", lambda m: ("W" if m[1] == "W" else "w") + "erewol" + m[2], text)
    return re.sub(r"\bbodyguard", "guard", text)


# -- round trips ----------------------------------------------------------------------------


@EVERY
@examples(20)
@given(question=questions())
def test_prompts_come_back(named: Ruleset, question: Question) -> None:
    rules = question.situation.ruleset.with_(role_names=named.role_names)
    for message in messages(question):
        assert there_and_back(message.content, rules) == message.content


@EVERY
@pytest.mark.parametrize("file", [*TEMPLATES, *GOLDEN], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_templates_and_golden_prompts_come_back(named: Ruleset, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert there_and_back(text, named) == text


@EVERY
@pytest.mark.parametrize("bank", ["a", "b"])
def test_what_village_says_comes_back_and_means_the_same(named: Ruleset, bank: str) -> None:
    roles = [*WITCH.roles, "not a Werewolf"]
    for kind, templates in BANKS[bank].items():
        for template in templates:
            for role in roles if "{role}" in template or "{what}" in template else roles[:1]:
                text = phrase(Point(kind, 2, role), template, WITCH)
                back = there_and_back(text, named)
                assert without_aliases(back) == without_aliases(text)
                assert read(back, WITCH.names, 0) == read(text, WITCH.names, 0)


WORDS = [
    form for r in ROLES.values() for one in (r.name, r.plural) for form in (one, one.lower(), one.upper())
]
FILLER: list[str] = [
    "I",
    "am",
    "the",
    "not",
    "one of",
    "Player 3",
    "'s",
    ",",
    ".",
    '"',
    "(",
    ")",
    "\n",
    "\\n",
    "village",
]
FILLER += ["VILLAGE", "Village", "side", "é", "12", "-", "/", "„"]


@EVERY
@examples(60)
@given(
    parts=st.lists(st.sampled_from([*WORDS, *FILLER]), max_size=12), glue=st.sampled_from([" ", "  ", "\n"])
)
def test_any_talk_of_roles_comes_back(named: Ruleset, parts: list[str], glue: str) -> None:
    text = glue.join(parts)
    # a role shown as a verb is read as one where it may stand
    verb = r"(?i)\bguard\s+player|\bi\s+(?:not\s+)?guard"
    assume("Guard" not in named.role_names.values() or not re.search(verb, disguised(text, named)))
    back = there_and_back(text, named)
    if "DJ" in named.role_names.values():  # a name in capitals cannot be shouted
        text, back = text.replace("GUARD", "Guard"), back.replace("GUARD", "Guard")
    assert back == text


NOUNS = re.findall(
    r"[\w-]+",
    "baker boss box-maker child elf european fireman fox half-orc hero hour lady maid-of-honour monkey mouse "
    "owl pharmacist queen roof sailor thief unicorn wife zebra",
)
ROLES_IN_TURN = ("Werewolf", "Villager", "Seer", "Guard", "Witch", "Doctor")


@examples(20)
@given(st.permutations(NOUNS), st.integers(1, 6), st.sampled_from(sorted(PRESETS)))
def test_any_names_come_back(nouns: list[str], number: int, preset: str) -> None:
    named = PRESETS[preset].with_(role_names=dict(zip(ROLES_IN_TURN, nouns[:number], strict=False)))
    for wording in ("own", "paper"):
        text = rules_text(named, wording)
        assert disguised(text, named) != text
        assert there_and_back(text, named) == text


ODD = [
    "wolf",
    "WOLF",
    "wo\u017f",
    "\u212aı",
    "guard",
    "Guard",
    "GUARD",
    "vil",
    "lage",
    "were",
    "\\u00e9",
    "\\n",
]
ODD += [
    " ",
    "  ",
    "a ",
    "A ",
    "An ",
    "an ",
    "'",
    '"',
    "-",
    "_",
    "é",
    "3",
    "{",
    "[",
    ",",
    "not ",
    "I ",
    "to ",
    "\u2019",
]


@EVERY
@examples(40)
@given(parts=st.lists(st.sampled_from(ODD), max_size=10))
def test_odd_text_is_left_alone_and_settles(named: Ruleset, parts: list[str]) -> None:
    """No text raises; what holds no role's word stays; a text that came back once comes back unchanged."""
    text = "".join(parts)
    if not re.search("wolf|guard|village", text, re.IGNORECASE | re.ASCII):
        assert disguised(text, named) == text
    back = there_and_back(text, named)
    assert there_and_back(back, named) == back


# -- what the model sees --------------------------------------------------------------------


@HIDING
@examples(20)
@given(question=questions())
def test_nothing_of_the_roles_own_words_is_left(named: Ruleset, question: Question) -> None:
    rules = question.situation.ruleset.with_(role_names=named.role_names)
    for message in messages(question):
        assert not OWN_WORDS.search(disguised(message.content, rules))


def test_every_village_phrase_is_disguised() -> None:
    for kind, templates in BANKS["ab"].items():
        for template in templates:
            said = phrase(Point(kind, 2, "Guard"), template, WITCH).replace("guarded", "")
            assert not OWN_WORDS.search(disguised(said, NAMED["invented"]))


def test_opposite_names_leave_no_contradiction() -> None:
    told = disguised(rules_text(NAMED["opposite"]), NAMED["opposite"])
    assert "two Villagers, two Werewolves, one Blind Beggar, one Traitor and one Saint" in told
    assert "either to the Villagers or to the wolf pack (Werewolves, Blind Beggar, Traitor and Saint)" in told
    assert "The wolf pack wins when every Villager is out of the game." in told
    assert "village " not in told


@pytest.mark.parametrize(
    ("mapping", "text", "shown"),
    [
        ("unrelated", "WEREWOLF, Werewolf, werewolf", "PRETTY GIRL, Pretty Girl, pretty girl"),
        ("unrelated", "The Wolves and a wolf: wolves!", "The Pretty Girls and a pretty girl: pretty girls!"),
        ("unrelated", "two VILLAGERS, one Guard", "two THIEVES, one Sentry"),
        ("unrelated", "our bodyguard", "our sentry"),
        (
            "unrelated",
            "the Werewolves' benefit, the Seer's card",
            "the Pretty Girls' benefit, the Prophet's card",
        ),
        ("unrelated", "werewolf-side; a non-werewolf", "pretty girl-side; a non-pretty girl"),
        ("unrelated", "the village side, village-aligned", "the thief camp side, thief camp-aligned"),
        ("unrelated", "the villager side; Villagers' side", "the thief side; Thieves' side"),
        ("unrelated", '{"role": "Seer"}', '{"role": "Prophet"}'),
        ("unrelated", "As the seer, I'm the witch.", "As the prophet, I'm the pharmacist."),
        ("awkward", "a Werewolf, A werewolf, A WEREWOLF", "an Elf, An elf, AN ELF"),
        ("awkward", "a Seer or a Villager", "a Unicorn or an Honest Man"),
        ("awkward", "a 'Werewolf' and an old Werewolf", "an 'Elf' and an old Elf"),
        ("awkward", "Villagers, Witches, Werewolves", "Honest Men, Ladies-In-Red, Elves"),
        ("awkward", "the Guard, GUARDS, a guard", "the DJ, DJS, a dj"),
        ("awkward", "The village wins.", "The school wins."),
        ("turned", "the Seer, the Witch and the Guard", "the Witch, the Guard and the Seer"),
        ("turned", "the village, a Villager", "the village, a Villager"),
        ("opposite", "one of the wolves, the wolf pack", "one of the villagers, the village"),
        ("opposite", "the village needs every voice", "the wolf pack needs every voice"),
        (
            "unrelated",
            "werewolfish, Seers2, overseer, swordwitch",
            "werewolfish, Seers2, overseer, swordwitch",
        ),
    ],
)
def test_how_words_are_shown(mapping: str, text: str, shown: str) -> None:
    assert disguised(text, NAMED[mapping]) == shown


@pytest.mark.parametrize(
    ("mapping", "reply", "canonical"),
    [
        (
            "unrelated",
            "Pretty girl, pretty-girl, pretty_girl, prettygirl",
            "Werewolf, werewolf, werewolf, werewolf",
        ),
        ("unrelated", "a prophet and the thief's story", "a seer and the villager's story"),
        (
            "unrelated",
            r'{"statement": "Well.\nPretty girls lie.\u201cThieves\u201d"}',
            r'{"statement": "Well.\nWerewolves lie.\u201cVillagers\u201d"}',
        ),
        ("unrelated", "thiefs", "villagers"),
        ("opposite", "A wolf is no enemy of wolves", "A villager is no enemy of villagers"),
        ("opposite", "we must save the village", "we must save the wolf pack"),
        ("awkward", "an elf, two elfs, The DJ, a dj", "a werewolf, two werewolves, The Guard, a guard"),
        ("awkward", "AN ELF", "A WEREWOLF"),
        ("turned", "the bodyguard", "the witch"),
    ],
)
def test_how_replies_are_read(mapping: str, reply: str, canonical: str) -> None:
    assert undisguised(reply, NAMED[mapping]) == canonical


@pytest.mark.parametrize(
    "said",
    [
        "I will guard Player 3.",
        "Guard Player 3!",
        '{"action": "guard Player 3"}',
        "I did not guard anyone, and we should guard the door.",
        "I'd like to always guard me. I guard Player 2.",
        "guard player 2, and guard Player 3",
        "Be on guard, stay off guard, guard against lies.",
    ],
)
def test_verbs_are_no_roles(said: str) -> None:
    assert disguised(said, NAMED["unrelated"]) == said
    assert undisguised(said, NAMED["turned"]) == said


@pytest.mark.parametrize(
    "said", ["I am not guard.", "As guard, Player 2 lies.", "the guard Player 3", "Is he guard?"]
)
def test_roles_are_no_verbs(said: str) -> None:
    assert disguised(said, NAMED["unrelated"]) == said.replace("guard", "sentry")


def test_without_names_the_same_text_comes_back() -> None:
    text, form = "".join(["a ", "Werewolf"]), {"enum": ["Werewolf"]}
    assert disguised(text, WITCH) is text
    assert undisguised(text, WITCH) is text
    assert disguised_schema(form, WITCH) is form


# -- replies to disguised questions -----------------------------------------------------------

NOW = Situation(WITCH, 0, "Villager", (), 1, "discussion", tuple(range(7)), None, ())
DEDUCE = Question(NOW, Deduce(ask("statement", None), (2,), guessable(WITCH)))


@EVERY
def test_a_judgement_in_shown_words_is_a_judgement(named: Ruleset) -> None:
    question = replace(DEDUCE, situation=replace(NOW, ruleset=named))
    form = schema(question)
    assert form is not None
    assert form["properties"]["Player 3"]["required"] == ["role", "reasoning", "confidence", "evidence"]
    shown = form["properties"]["Player 3"]["properties"]["role"]["enum"]
    assert len(set(shown)) == len(shown)
    for role, word in zip(guessable(named), shown, strict=True):
        assert word == disguised(role, named)
        for spelt in (word, word.lower(), word.upper()):
            reply = json.dumps(
                {
                    "Player 3": {
                        "role": spelt,
                        "reasoning": f"It is a {spelt}.",
                        "confidence": 8,
                        "evidence": [],
                    }
                }
            )
            judged = parse(question, reply)
            assert isinstance(judged, Judged)
            assert judged.judgements[0].role == role
            assert role.lower() in judged.judgements[0].reasoning.lower()


def test_a_statement_enters_in_the_roles_own_words() -> None:
    named = NAMED["unrelated"]
    question = Question(replace(NOW, ruleset=named), Decide(ask("statement", None, phase="discussion")))
    reply = '{"reasoning": "r", "statement": "I am the prophet, and Player 2 is a pretty girl."}'
    said = parse(question, reply)
    assert isinstance(said, Decided)
    assert said.action.text == "I am the seer, and Player 2 is a werewolf."  # type: ignore[union-attr]


def test_schemas_are_copied_and_whole() -> None:
    form: dict[str, Any] = {
        "properties": {"Seer": {"enum": ["Guard", 5, None]}},
        "required": ["Seer"],
        "more": True,
    }
    before = copy.deepcopy(form)
    assert disguised_schema(form, NAMED["unrelated"]) == {
        "properties": {"Prophet": {"enum": ["Sentry", 5, None]}},
        "required": ["Prophet"],
        "more": True,
    }
    assert form == before


# -- the ruleset's field --------------------------------------------------------------------


def test_without_names_a_ruleset_is_written_as_before() -> None:
    for rules in PRESETS.values():
        assert "role_names" not in rules.stated()
        assert rules.with_(role_names={}) == rules
        assert rules.with_(role_names=UNRELATED).with_(role_names={}).stated() == rules.stated()


@EVERY
def test_a_ruleset_with_names_survives_dictionaries_copies_and_pickles(named: Ruleset) -> None:
    values = json.loads(json.dumps(named.stated()))
    assert values["role_names"] == dict(named.role_names)
    for again in (Ruleset(**values), copy.deepcopy(named), pickle.loads(pickle.dumps(named))):
        assert again == named
        assert hash(again) == hash(named)
    assert named != WITCH
    assert named == WITCH.with_(role_names=dict(reversed(list(named.role_names.items()))))


def test_the_names_cannot_be_changed() -> None:
    given_names = {"Seer": "prophet"}
    named = WITCH.with_(role_names=given_names)
    given_names["Seer"] = "baker"
    assert named.role_names == {"Seer": "prophet"}
    with pytest.raises(TypeError):
        named.role_names["Seer"] = "baker"  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        named.role_names = {}  # type: ignore[misc]


def test_names_change_the_digest_and_what_is_shown() -> None:
    named = NAMED["unrelated"]
    question = replace(DEDUCE, situation=replace(NOW, ruleset=named))
    assert question_digest(question) != question_digest(DEDUCE)
    assert messages(question) == tuple((one.role, disguised(one.content, named)) for one in messages(DEDUCE))
    assert blocks(question) == blocks(DEDUCE)  # what is disguised is the canonical prompt


def test_failed_replies_are_shown_back_as_they_came() -> None:
    """They are in the shown words already: another pass would swap them to the contrary."""
    question = replace(DEDUCE, situation=replace(NOW, ruleset=NAMED["opposite"]))
    chat = messages(question, (("Player 3 is a Villager", "the role is none of Werewolf, Villager"),))
    assert chat[2] == ("assistant", "Player 3 is a Villager")
    assert "the role is none of Villager, Werewolf" in chat[3].content


@pytest.mark.parametrize(
    "names",
    [
        {"Fox": "hen"},
        {"werewolf": "elf"},
        {"Seer": ""},
        {"Seer": " prophet"},
        {"Seer": "pro  phet"},
        {"Seer": "prophet2"},
        {"Seer": "prophet."},
        {"Seer": "proph\u00e8te"},
        {"Seer": "x" * 41},
        {"Seer": "player"},
        {"Seer": "best players"},
        {"Seer": "sheep"},  # one word for one and for many
        {"Seer": "prophet", "Witch": "Prophet"},
        {"Seer": "prophet", "Witch": "prophets"},
        {"Seer": "night-owl", "Witch": "night owl"},
        {"Seer": "Witch"},  # the Witch would keep that name
        {"Seer": "wolf"},
        {"Seer": "village"},
        {"Villager": "Werewolf"},
        {"Villager": "elf", "village": "wolf pack"},
        {"Villager": "elf", "Seer": "elf camp"},
    ],
)
def test_names_that_cannot_be_told_apart_are_refused(names: object) -> None:
    with pytest.raises(RulesetError) as refused:
        WITCH.with_(role_names=names)
    assert refused.value.field == "role_names"


@pytest.mark.parametrize("names", ["nobody's", {"Seer": 3}, 5, ["prophet"]])
def test_what_a_file_gives_in_place_of_names_is_refused(names: object) -> None:
    with pytest.raises(RulesetError) as refused:
        ruleset_of({"preset": "witch", "role_names": names})
    assert "role_names" in str(refused.value)


def test_players_who_are_called_like_a_role_are_refused() -> None:
    with pytest.raises(RulesetError, match="players' names"):
        SHERIFF.with_(player_name="Villager {}", role_names={"Villager": "elf"})
    assert disguised("Wolf 3", SHERIFF.with_(player_name="Wolf {}", role_names={"Seer": "elf"})) == "Wolf 3"


@pytest.mark.parametrize(
    "word",
    ["Vote", "votes", "Kill", "killed", "Day", "Night", "moderator", "Sheriff", "round", "statement", "save"],
)
def test_words_of_the_game_are_refused(word: str) -> None:
    with pytest.raises(RulesetError, match="a word that the game itself needs") as refused:
        DOCTOR.with_(role_names={"Seer": word})
    assert refused.value.field == "role_names"


@pytest.mark.parametrize(
    ("word", "why"),
    [
        *((word, "prompts use for something else") for word in ("teammate", "format", "voting", "poisoning")),
        *((word, "players need when they talk") for word in ("suspect", "Liar", "lynch", "checked", "our")),
        *((word, "players need when they talk") for word in ("badge", "innocent", "counter-claim", "must")),
    ],
)
def test_words_of_prompts_and_talk_are_refused(word: str, why: str) -> None:
    named = DOCTOR.with_(role_names={"Seer": word})
    with pytest.raises(RulesetError, match=why) as refused:
        check_disguise(named)
    assert refused.value.field == "role_names"
    with pytest.raises(RulesetError, match=why):
        disguised("", named)


SAID = [
    re.sub(r"\{\w+\}", " ", template) for bank in BANKS.values() for row in bank.values() for template in row
]
SAID += [path.read_text(encoding="utf-8") for path in TEMPLATES]
SAID += [
    re.sub(r"^(=====|---) .*|^(null|\{.*\})$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for path in GOLDEN
]
"""What the built-in player says, the templates, and the golden prompts without their titles and schemas."""


def test_no_word_of_prompts_and_built_in_talk_can_be_a_name() -> None:
    """A name is no word of the templates, of whole prompts or of the built-in player's phrases.

    A word that stands in code and not in a template has to be added to `text.asking.disguise`.
    """
    words = {word for text in SAID for word in re.findall("[a-z]{2,}", text.lower())}
    assert len(words) > 700
    own = {word for role in (*ROLES, "village", "wolf pack") for word in own_words(role).all}
    free = []
    for word in sorted(
        words - own - {"book", "closely", "taste"}
    ):  # what scripted players say in the golden files
        try:
            check_disguise(WITCH.with_(role_names={"Witch": word}))
        except RulesetError:
            continue
        free.append(word)
    assert free == []


def test_long_names_are_not_repeated_in_full() -> None:
    for given_names in ({"Seer": "x" * 100_000}, {"y" * 100_000: "elf"}):
        with pytest.raises(RulesetError) as refused:
            WITCH.with_(role_names=given_names)
        assert len(str(refused.value)) < 300


def test_every_role_has_a_name_in_every_ready_mapping() -> None:
    for mapping in DISGUISES.values():
        assert mapping.keys() == ROLES.keys()


@EVERY
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_ready_names_fit_every_preset(named: Ruleset, preset: str) -> None:
    check_disguise(PRESETS[preset])
    check_disguise(PRESETS[preset].with_(role_names=named.role_names))


def test_roles_that_nobody_holds_may_be_renamed() -> None:
    assert disguised("no Doctor here", WITCH.with_(role_names={"Doctor": "nurse"})) == "no Nurse here"


# -- names ----------------------------------------------------------------------------------


def test_the_sides_follow_the_names() -> None:
    assert completed({"Seer": "prophet"}) == {"Seer": "prophet"}
    assert completed({"Villager": "thief"})["village"] == "thief camp"
    assert completed({"Villager": "thief", "village": "den"})["village"] == "den"
    assert completed({"Villager": "Werewolf", "Werewolf": "Villager"})["village"] == "wolf pack"
    assert completed({"Villager": "Werewolf", "Werewolf": "Villager"})["wolf pack"] == "village"
    assert completed({"Villager": "wolf", "Werewolf": "farmer"})["wolf pack"] == "farmer pack"


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("pretty girl", "pretty girls"),
        ("lady", "ladies"),
        ("monkey", "monkeys"),
        ("thief", "thieves"),
        ("chief", "chiefs"),
        ("wife", "wives"),
        ("half-elf", "half-elves"),
        ("blind man", "blind men"),
        ("shaman", "shamans"),
        ("child", "children"),
        ("boss", "bosses"),
        ("witch", "witches"),
        ("hero", "heroes"),
        ("maid of honour", "maids of honour"),
        ("Lady-in-Waiting", "Ladies-in-Waiting"),
        ("Werewolf", "Werewolves"),
        ("sheep", "sheep"),
    ],
)
def test_plurals(one: str, many: str) -> None:
    assert plural(one) == many
