"""Questions that are built: situations put back, answers proved again, labels matched, splits kept apart."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby, islice
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from marks import slow_except
from wolflab.cli import app
from wolflab.errors import WolflabError
from wolflab.rules import PRESETS, SHERIFF, Ruleset, preset
from wolflab.rules.engine import advance, step
from wolflab.text.asking.disguise import UNRELATED
from wolflab.wwqa import kinds as registry
from wolflab.wwqa.asking import prompt, rules_in_words
from wolflab.wwqa.building import (
    SHARES,
    Built,
    Case,
    build_items,
    difficulty,
    engine_answer,
    proved,
    variants,
)
from wolflab.wwqa.items import NO, YES, Item, rules_as_plain, write_items
from wolflab.wwqa.kinds import KINDS
from wolflab.wwqa.kinds.kind import HELD_OUT, EngineAnswer, QuestionKind, seats
from wolflab.wwqa.question_files import read_questions
from wolflab.wwqa.situations import (
    GameSituation,
    Impossible,
    put_back,
    random_replies,
    reached,
    with_choices,
)
from wolflab.wwqa.wordings import LEADS, TELLINGS, tell, wordings

TEST_SPLITS = ("situations", "wordings", "kinds", "ruleset")


@cache
def built(rules: str, n: int = 400, seed: int = 1) -> Built:
    return build_items(preset(rules), n, seed)


every_preset = pytest.mark.parametrize("rules", slow_except(["sheriff"], PRESETS))


# -- situations ---------------------------------------------------------------------------------------


@every_preset
def test_a_situation_put_back_goes_on_as_the_game_did(rules: str) -> None:
    """From the state that is put back, the same replies bring the same events and asks as in the game."""
    ruleset = preset(rules)
    moments = Counter[str]()
    rng = random.Random("back")
    for _ in range(40):
        for state, situation in reached(ruleset, rng):
            moments[situation.moment] += 1
            put = advance(put_back(ruleset, situation))
            assert put.asks == state.asks
            phase = state.asks[0].phase
            now, again = put.state, state
            while now.asks and now.asks[0].phase == phase:
                replies = random_replies(now.asks, rng, (0.3, 0.6))
                first, second = step(now, replies), step(again, replies)
                if all(ask.phase == phase for ask in (*first.asks, *second.asks)):
                    assert first.events == second.events
                    assert first.asks == second.asks
                now, again = first.state, second.state
    wanted = {"night", "order", "voting"} | (
        {"election", "succession"} if ruleset.sheriff != "none" else set()
    )
    assert set(moments) == wanted


def test_in_random_games_no_seat_dies_much_more_often_than_another() -> None:
    rng = random.Random("seats")
    last = [[*reached(SHERIFF, rng)][-1][1] for _ in range(300)]
    dead = Counter(seat for situation in last for seat in situation.dead)
    assert max(dead.values()) < 1.5 * min(dead[seat] for seat in range(7))


def test_what_contradicts_itself_has_no_answer() -> None:
    rules = preset("sheriff")
    night = GameSituation("night", 1, 7)
    wrong = [
        night.but(players=6),
        night.but(sheriff=2),
        night.but(round=2),
        night.but(intended=1),
        GameSituation("order", 1, 7, dead=(3,), sheriff=3),
        GameSituation("succession", 2, 7, sheriff=3),
        GameSituation("election", 1, 7, dead=(3,), candidates=(2, 3)),
    ]
    for situation in wrong:
        with pytest.raises(Impossible):
            put_back(rules, situation)


# -- what is built --------------------------------------------------------------------------------


@pytest.mark.slow
@every_preset
def test_every_preset_gives_many_kinds_in_all_forms(rules: str) -> None:
    items = built(rules).items
    assert len({item.kind for item in items}) >= 30
    assert {item.form for item in items} == {"yes_no", "choice", "open"}
    assert {item.category for item in items} == {"rule", "situation"}
    assert {"player", "players", "number", "side"} <= {
        item.answer_type for item in items if item.form == "open"
    }
    assert {item.split for item in items} == set(SHARES)


@pytest.mark.slow
def test_few_wordings_are_asked_where_few_are_wanted() -> None:
    kinds = ("may-vote", "dies-tonight")
    items = build_items(SHERIFF, 200, 4, kinds=kinds, most_wordings=2).items
    for kind in kinds:
        told = {item.wording for item in items if item.kind == kind and item.split != "wordings"}
        new = {item.wording for item in items if item.kind == kind and item.split == "wordings"}
        assert len(told) == 2
        assert len(new) > 2
        assert not told & new
    assert build_items(SHERIFF, 200, 4, kinds=kinds, most_wordings=2).items == items
    many = build_items(SHERIFF, 200, 4, kinds=kinds).items
    assert many == build_items(SHERIFF, 200, 4, kinds=kinds, most_wordings=10_000).items


@every_preset
def test_every_answer_is_proved_again(rules: str) -> None:
    assert all(proved(item) for item in built(rules).items)


def test_a_wrong_answer_is_not_proved() -> None:
    item = next(item for item in built("sheriff").items if item.form == "yes_no")
    assert proved(msgspec.structs.replace(item, value=not item.value)) is False
    for form in ("choice", "open"):
        item = next(item for item in built("sheriff").items if item.form == form)
        assert proved(msgspec.structs.replace(item, answer="player_9")) is False
    damaged = next(item for item in built("sheriff").items if item.facts is not None and item.asked)
    for changed in ({"facts": {"moment": "noon"}}, {"asked": {}}, {"wording": "best"}):
        assert proved(msgspec.structs.replace(damaged, **changed)) is False
    assert proved(Item(question="Do Villagers sleep?", answer="Yes")) is None


@every_preset
def test_no_two_items_are_alike(rules: str) -> None:
    items = built(rules).items
    assert len({(item.question, item.choices, str(item.rules)) for item in items}) == len(items)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_items_and_another_gives_others() -> None:
    first, again = build_items(preset("doctor"), 100, 5), build_items(preset("doctor"), 100, 5)
    assert first == again
    other = {item.id for item in build_items(preset("doctor"), 100, 6).items}
    assert len(other & {item.id for item in first.items}) < 20


def blank(item: Item) -> str:
    """The item's words in alphabetical order, players' names blanked: what it says but for who is who."""
    names = r"player_\d+|player \d+|\bp\d+|seat \d+|number \d+"
    return " ".join(sorted(re.findall(r"\w+", re.sub(names, "_", item.question.lower()))))


@every_preset
def test_a_yes_and_a_no_are_told_in_equal_words(rules: str) -> None:
    """Yes/no items on situations come in pairs that differ in nothing but who is who, and in the answer."""
    ruleset = preset(rules)
    pairs = 0
    items = [item for item in built(rules).items if item.category == "situation" and item.form == "yes_no"]
    for item in items:
        assert item.pair, item.kind
    for _, two in groupby(sorted(items, key=lambda item: item.pair), key=lambda item: item.pair):
        first, second = two
        assert {first.answer, second.answer} == {YES, NO}
        if first.split == "ruleset":
            assert first.question == second.question
            assert first.rules != second.rules
        else:
            assert blank(first) == blank(second), (first.question, second.question)
            assert len(blank(first)) > 40
            assert first.ruleset == ruleset
        pairs += 1
    assert pairs > 40


@pytest.mark.slow
def test_items_on_rules_are_balanced_by_how_they_are_asked() -> None:
    items = build_items(preset("sheriff"), 1500, 2).items
    answers = Counter(item.answer for item in items if item.category == "rule" and item.form == "yes_no")
    share = answers[YES] / sum(answers.values())
    assert sum(answers.values()) > 150
    assert abs(share - 0.5) < 0.12  # three standard errors of 150 fair coins
    for kind in KINDS.values():
        if kind.setting is None and kind.form == "yes_no":
            turned = [frame.startswith("!") for frame in kind.frames]
            assert {*turned[:-HELD_OUT]} == {*turned[-HELD_OUT:]} == {True, False}, kind.name


@every_preset
def test_what_a_test_holds_out_is_nowhere_in_training(rules: str) -> None:
    by_split: dict[str, list[Item]] = {split: [] for split in SHARES}
    for item in built(rules).items:
        by_split[item.split].append(item)
    learned = by_split["train"] + by_split["validation"]
    for split in ("validation", "situations", "wordings"):
        used = {item.situation for item in by_split[split]} - {""}
        assert not used & ({item.situation for item in by_split["train"]} - {""}), split
    assert not {item.situation for item in by_split["situations"]} & {item.situation for item in learned}
    assert not {item.kind for item in by_split["kinds"]} & {item.kind for item in learned}
    assert {item.category for item in by_split["kinds"]} == {"rule", "situation"}
    for part in range(3):  # frame, telling, lead
        if part == 1:
            old = {item.wording.split(".")[1] for item in learned if item.category == "situation"}
            new = {
                item.wording.split(".")[1] for item in by_split["wordings"] if item.category == "situation"
            }
        else:
            old = {(item.kind, item.wording.split(".")[part]) for item in learned}
            new = {(item.kind, item.wording.split(".")[part]) for item in by_split["wordings"]}
        assert new
        assert not old & new
    here = {str(item.rules) for item in learned}
    assert len(here) == 1
    assert not here & {str(item.rules) for item in by_split["ruleset"]}


@pytest.mark.slow
def test_the_same_words_have_another_answer_under_other_rules() -> None:
    """Half of the row's answers are those of the usual rules: who knows these alone gets half right."""
    rules = preset("witch")
    row = [item for item in built("witch").items if item.split == "ruleset"]
    usual = 0
    for item in row:
        situation = GameSituation("night", 1, rules.players)
        if item.facts is not None:
            situation = msgspec.convert(item.facts, GameSituation)
        kind = KINDS[item.kind]
        here = engine_answer(kind, rules, situation, item.asked or {})
        if kind.frames[int(item.wording.split(".")[0])].startswith("!"):
            here = not here
        usual += here == item.value
    assert len(row) > 30
    assert usual == len(row) / 2
    text = prompt(row[0], True)
    assert text != prompt(row[1], True)


def test_every_kind_has_twenty_wordings_and_some_are_held_out() -> None:
    assert len(KINDS) >= 30
    for kind in KINDS.values():
        known, held_out = wordings(kind, False), wordings(kind, True)
        assert len({*known, *held_out}) >= 20, kind.name
        assert len(known) >= 15, kind.name
        assert len(held_out) >= 4, kind.name
        texts = [frame.removeprefix("!") for frame in kind.frames]
        assert len({*texts}) == len(texts), kind.name
    assert len({*LEADS}) == len(LEADS)
    for frames in zip(*(telling.values() for telling in TELLINGS), strict=True):
        assert len({*frames[-HELD_OUT:]} - {""} & {*frames[:-HELD_OUT]} - {""}) == 0, frames


@pytest.mark.parametrize("telling", range(len(TELLINGS)))
def test_what_is_told_can_be_read_back(telling: int) -> None:
    """From the words of every telling follow the facts that were told, and no others."""
    frames = TELLINGS[telling]
    rules = preset("twelve")
    name = frames["name"].format(n=r"(\d+)") if frames["name"] else r"player_(\d+)"
    read = 0
    for _, situation in islice(reached_by(rules, "tell"), 25):
        if situation.moment != "night":
            continue
        full = with_choices(rules, situation, random.Random(read), "night", "departure")
        text = tell(rules, full, telling, random.Random(read))
        for at, frame in (("used", frames["used"]), ("unused", frames["unused"])):
            for what in ("antidote", "poison"):
                pattern = re.escape(frame.format(x="@", what=what)).replace("@", name)
                seen = {int(n) - 1 for n in re.findall(pattern, text, re.IGNORECASE)}
                witches = full.holders("Witch")
                spent = {seat for seat in witches if (seat, what) in full.spent}
                assert seen == (spent if at == "used" else {*witches} - spent)
        for kind, frame in (("kill", frames["kill"]), ("see", frames["see"]), ("poison", frames["poison"])):
            pattern = re.escape(frame.format(x="@", y="#")).replace("@", f"(?P<x>{name})")
            pattern = pattern.replace(re.escape("#"), f"(?P<y>{name})") + r"(?!\d)"
            seen = Counter(
                (int(re.sub(r"\D", "", m["x"])) - 1, int(re.sub(r"\D", "", m["y"])) - 1)
                for m in re.finditer(pattern, text, re.IGNORECASE)
            )
            assert seen == Counter((x, y) for of, x, y in full.told if of == kind and isinstance(y, int))
        read += 1
    assert read > 5


def reached_by(rules: Ruleset, seed: str) -> Iterator[tuple[object, GameSituation]]:
    rng = random.Random(seed)
    while True:
        yield from reached(rules, rng)


def test_frames_are_words_for_readers() -> None:
    """No name of a type, which a renaming might leave in a sentence."""
    frames = [frame for kind in KINDS.values() for frame in kind.frames]
    frames += [frame for telling in TELLINGS for frame in telling.values()] + [*LEADS]
    assert not [frame for frame in frames if re.search(r"[a-z][A-Z]", frame)]


@pytest.mark.slow
def test_every_question_has_an_answer_or_none_under_every_ruleset_nearby() -> None:
    """Whatever is asked under whatever rules gives a value or nothing, never an error."""
    asked = [item for rules in PRESETS for item in built(rules).items if item.category == "rule"]
    asked = random.Random(1).sample(asked, 150)
    answers = Counter[bool]()
    for rules in [
        *PRESETS.values(),
        *variants(preset("nine")).values(),
        *variants(preset("sheriff")).values(),
    ]:
        for item in asked[:: len(PRESETS)]:
            situation = GameSituation("night", 1, rules.players)
            answers[engine_answer(KINDS[item.kind], rules, situation, item.asked or {}) is None] += 1
    assert answers[True] > 50
    assert answers[False] > 500


def test_difficulty_counts_the_facts_that_turn_the_answer() -> None:
    """Three voters against two: whoever of the three votes otherwise, and whoever of the two, can save x."""
    rules = preset("doctor")
    told = (("vote", 0, 4), ("vote", 1, 4), ("vote", 2, 4), ("vote", 3, 0), ("vote", 4, 0))
    situation = GameSituation("voting", 2, 7, dead=(5, 6), told=told)
    kind = KINDS["out-by-vote"]
    case = Case(situation, {"x": 4}, True)
    assert engine_answer(kind, rules, situation, {"x": 4}) is True
    lone = situation.but(told=(*told[:4], ("vote", 4, "pass")))
    assert engine_answer(kind, rules, lone, {"x": 4}) is True
    # One of the three votes for 0 instead: two against three. A voter more has told nothing: no answer.
    turning = difficulty(kind, rules, case)
    by_hand = sum(
        engine_answer(kind, rules, situation.but(told=tuple(changed)), {"x": 4}) is False
        for at in range(5)
        for changed in [[vote if n != at else (vote[0], vote[1], 0) for n, vote in enumerate(told)]]
        if told[at][1] != 0
    )
    assert turning == by_hand == 2  # 0 cannot vote for itself, and its vote for another makes a tie


@pytest.mark.slow
def test_derivations_tell_how_the_answer_came() -> None:
    for item in built("twelve").items:
        assert item.derivation, item.kind
        assert all(line.strip() for line in item.derivation)
    deaths = next(item for item in built("twelve").items if item.kind in ("dies-tonight", "night-deaths"))
    assert any("killed" in line for line in deaths.derivation)


def test_choices_hold_the_answer_once_and_its_place_is_drawn() -> None:
    places = Counter[int]()
    for item in built("sheriff").items:
        if item.form == "choice":
            assert item.choices.count(item.answer) == 1
            assert len({*item.choices}) == len(item.choices)
            places[item.choices.index(item.answer)] += 1
    assert all(places[place] > 5 for place in range(3)), places


# -- names, rules, files --------------------------------------------------------------------------------


@pytest.mark.slow
def test_roles_are_called_as_the_rules_call_them() -> None:
    names = {key: word for key, word in UNRELATED.items() if key not in ("Witch", "Doctor", "Hunter")}
    rules = preset("sheriff").with_(role_names=names)
    items = build_items(rules, 120, 1).items
    text = " ".join(item.question + item.answer + "".join(item.choices) for item in items)
    assert not re.search(r"Werewol|Seer|Guard", text)
    assert names["Seer"] in text.lower()
    assert all(item.ruleset == rules for item in items if item.split != "ruleset")


def test_variants_change_one_switch_each() -> None:
    rules = preset("twelve")
    found = variants(rules)
    assert len(found) > 40
    plain = rules.as_dict()
    for other in found.values():
        changed = [name for name, value in other.as_dict().items() if value != plain[name]]
        assert len(changed) == 2, changed  # and the name
        assert "name" in changed


@pytest.mark.slow
def test_rules_of_few_seats_and_many_roles_are_built_too() -> None:
    cast = {"Werewolf": 1, "Villager": 2, "Witch": 2, "Hunter": 2}
    rules = preset("nine").with_(name="odd", roles=cast)
    items = build_items(rules, 150, 1).items
    assert all(proved(item) for item in items)
    assert len(items) >= 120


def test_a_new_kind_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    alive = QuestionKind(
        "is-alive",
        "Whether x is alive.",
        (
            "Is {x} alive?",
            "Does {x} live?",
            "!Is {x} dead?",
            "!Has {x} left?",
            "Is {x} with us?",
            "Is {x} here?",
        ),
        EngineAnswer(lambda q: q.x in q.situation.living, seats, KINDS["may-vote"].setting),
    )
    monkeypatch.setitem(registry.KINDS, "is-alive", alive)
    items = build_items(preset("nine"), 60, 1, kinds=["is-alive"]).items
    assert len(items) >= 30
    assert all(proved(item) for item in items)
    assert Counter(item.answer for item in items if item.split != "ruleset")[YES] * 2 == len(
        [item for item in items if item.split != "ruleset"]
    )


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(WolflabError, match="there is no kind 'nonsense'; see them with wolflab wwqa kinds"):
        build_items(preset("nine"), 60, 1, kinds=["nonsense"])
    with pytest.raises(WolflabError, match="no kind 'may-poisn'; did you mean 'may-poison'"):
        build_items(preset("nine"), 60, 1, kinds=["may-poisn"])


def test_kinds_that_are_not_asked_have_a_reason() -> None:
    unasked = built("sheriff").unasked
    assert unasked["may-poison"] == "never comes up"
    assert unasked["last-words"] == "one answer"
    with pytest.raises(WolflabError, match=r"these rules give no question: may-poison \(never comes up\)"):
        build_items(preset("sheriff"), 60, 1, kinds=["may-poison"])


@pytest.mark.slow
def test_what_falls_short_is_counted() -> None:
    kinds = ["may-poison", "witch-shown"]
    found = build_items(preset("witch"), 200, 0, kinds=kinds)
    made = Counter(item.split for item in found.items)
    assert found.short["ruleset"] == (made["ruleset"], 29)
    assert "train" not in found.short


@every_preset
def test_no_question_stands_twice_with_its_choices_in_another_order(rules: str) -> None:
    asked = [(item.question, frozenset(item.choices), str(item.rules)) for item in built(rules).items]
    assert len({*asked}) == len(asked)


@every_preset
def test_other_rules_can_be_told_by_their_text(rules: str) -> None:
    own = rules_in_words(preset(rules))
    for item in built(rules).items:
        assert item.ruleset is not None
        assert (rules_in_words(item.ruleset) != own) == (item.split == "ruleset")


TOLD = {"tell_horizon": True, "tell_stand_in": True}
LAST_ROUND = {"over-after-vote", "winner-after-vote", "over-if-out", "winner-if-out"}


def test_nothing_is_asked_that_the_text_leaves_out() -> None:
    """The last round, and what stands in for an unusable choice."""
    asked = {"rounds", "unusable-choice", *LAST_ROUND}
    for rules, names_them in ((SHERIFF, False), (SHERIFF.with_(max_rounds=2, **TOLD), True)):
        items = build_items(rules, 240, 5, kinds=asked, shares={"train": 1.0}).items
        assert ({"rounds", "unusable-choice"} <= {item.kind for item in items}) == names_them
        ends = [item for item in items if item.value == "nobody"]
        assert bool(ends) == names_them
        assert all(proved(item) for item in items)
        text = rules_in_words(rules)
        assert ("last round" in text, "cannot be understood" in text) == (names_them, names_them)


def test_older_files_mean_rules_that_tell_of_both() -> None:
    """They name a preset alone; now the preset is written as such."""
    older = Item(question="", answer="12", kind="rounds", rules="witch", asked={}, value=12, wording="0.0.0")
    assert older.ruleset == preset("witch").with_(**TOLD)
    assert "for at most twelve rounds" in prompt(older, True)
    assert rules_as_plain(preset("witch")) == {"preset": "witch"}
    now = Item(question="", answer="", rules=rules_as_plain(preset("witch")))
    assert now.ruleset == preset("witch")
    own = Item(question="", answer="", rules={"preset": "witch", "tie": "random"})
    assert own.ruleset == preset("witch").with_(tie="random")


@pytest.mark.slow
def test_items_go_to_a_file_and_back(tmp_path: Path) -> None:
    items = built("nine").items
    write_items(tmp_path / "set.jsonl", items)
    assert read_questions(tmp_path / "set.jsonl").items == items
    lines = (tmp_path / "set.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [item.id for item in items]
    changed = preset("nine").with_(name="mine", tie="random")
    back = build_items(changed, 60, 1).items[0]
    write_items(tmp_path / "one.jsonl", [back])
    (again,) = read_questions(tmp_path / "one.jsonl").items
    assert isinstance(again.ruleset, Ruleset)
    assert again == back


# -- the command --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_builds_with_changed_switches(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    words = ["wwqa", "build", "--rules", "doctor", "--set", "tie=nobody", "--n", "80", "-o", str(out)]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    assert "items written to" in done.output
    again = CliRunner().invoke(app, words)
    assert "is there already; name another file with -o, or say --overwrite" in str(again.exception)
    assert CliRunner().invoke(app, [*words, "--overwrite"]).exit_code == 0
    items = read_questions(out).items
    rules = {str(item.ruleset and item.ruleset.tie) for item in items if item.split == "train"}
    assert rules == {"nobody"}


def test_kinds_are_listed() -> None:
    done = CliRunner().invoke(app, ["wwqa", "kinds"], env={"COLUMNS": "220"})
    assert done.exit_code == 0
    for name in KINDS:
        assert name in done.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rules", "poker"], "there is no preset 'poker'"),
        (["--set", "tie"], "'tie': write a change of the rules as switch=value"),
        (["--set", "tie=often"], "'tie'"),
        (["--set", "colour=red"], "colour"),
        (["--kind", "nonsense"], "there is no kind 'nonsense'"),
        (["--set", "tie={"], "'{' is no value"),
    ],
)
def test_a_mistake_is_a_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["wwqa", "build", "-o", str(tmp_path / "x.jsonl"), *words])
    assert isinstance(done.exception, WolflabError), done.output
    assert sentence in str(done.exception)
    assert not (tmp_path / "x.jsonl").exists()
