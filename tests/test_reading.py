"""`text.reading` reads English Werewolf talk: own sentences in the style of the papers' games."""

from __future__ import annotations

import time

import pytest

from reading.measure import SETS, load, rates, score, wanted
from wolflab.models.village.speech.phrases import BANKS, Point, phrase
from wolflab.rules import SHERIFF, WITCH, Ruleset
from wolflab.text.reading import Accusation, Agreement, Claim, Defence, Report, Suggestion, read
from wolflab.text.reading.lexicon import LEXICON, match
from wolflab.text.reading.verbs import forms

NAMES = tuple(f"player_{n}" for n in range(1, 8))
ME = 4  # player_5 speaks


def _short(act: object) -> str:
    """An act as a short word: who:what:whom, strengths left out."""
    match act:
        case Claim(speaker, role, denied):
            return f"{speaker + 1} {'denies' if denied else 'claims'} {role}"
        case Report(speaker, kind, target, what):
            return f"{speaker + 1} {kind} {target + 1} {what}".strip()
        case Accusation(speaker, target):
            return f"{speaker + 1} accuses {target + 1}"
        case Defence(speaker, target):
            return f"{speaker + 1} defends {target + 1}"
        case Suggestion(speaker, target, against):
            return f"{speaker + 1} {'spares' if against else 'proposes'} {target + 1}"
        case Agreement(speaker, target, denied):
            return f"{speaker + 1} {'contradicts' if denied else 'agrees with'} {target + 1}"
        case _:
            raise AssertionError(act)


CORPUS: tuple[tuple[str, str], ...] = (
    ("As the Seer, I checked player_3 last night and they are a Werewolf.",
     "5 claims Seer; 5 see 3 Werewolf"),
    ("I'm the Witch.", "5 claims Witch"),
    ("I am a Villager, nothing more.", "5 claims Villager"),
    ("I protected 6 last night.", "5 protect 6"),
    ("Player 3 is a werewolf.", "5 accuses 3"),
    ("I don't think player_3 is a werewolf.", "5 defends 3"),
    ("I am not the Seer.", "5 denies Seer"),
    ("player_4 says he is the seer.", "4 claims Seer"),
    ("Is player_3 a werewolf?", ""),
    ("Let's vote for player_3 today.", "5 proposes 3"),
    ("Hello everyone! As a Villager, I have no special ability or information to share.",
     "5 claims Villager"),
    ("Last night I discovered that player_3 is a Werewolf.", "5 see 3 Werewolf"),
    ("In the night I used my power as the Seer and found out that player_1 is a Werewolf.",
     "5 claims Seer; 5 see 1 Werewolf"),
    ("I chose to save myself as I am the Doctor.", "5 protect 5; 5 claims Doctor"),
    ("I have seen player_3 as a Werewolf and player_4 as a Villager.", "5 see 3 Werewolf; 5 see 4 Villager"),
    ("I looked at player_2. They are not a Werewolf.", "5 see 2 not a Werewolf"),
    ("My check on player_2 came back clean.", "5 see 2 not a Werewolf"),
    ("As the guard, I have protected Player 4 last night.", "5 claims Guard; 5 protect 4"),
    ("player_1 claims to be the Seer, but I believe player_1 is lying.", "1 claims Seer; 5 accuses 1"),
    ("According to player_1, player_3 is a Werewolf.", "1 accuses 3"),
    ("player_6 accused player_2 yesterday.", "6 accuses 2"),
    ("If player_4 is the Seer, then we have a chance.", ""),
    ("I wonder whether player_3 is a Werewolf.", ""),
    ("Player 12 is a werewolf.", ""),
    ("@12 is a werewolf. I suspect @99. What does @45 say?", ""),
    ("@3 is a werewolf, and @player_4 is the Seer.", "5 accuses 3; 4 claims Seer"),
    ("I suspect player_2 and player_6.", "5 accuses 2; 5 accuses 6"),
    ("I suspect players 1, 3 and 7.", "5 accuses 1; 5 accuses 3; 5 accuses 7"),
    ("I am suspicious of player_7's behaviour.", "5 accuses 7"),
    ("player_2's silence is suspicious.", "5 accuses 2"),
    ("player_2 seems suspicious to me.", "5 accuses 2"),
    ("We should keep an eye on player_1.", "5 accuses 1"),
    ("I trust player_6.", "5 defends 6"),
    ("I do not trust player_6.", "5 accuses 6"),
    ("player_6 is on our side.", "5 defends 6"),
    ("I think player_2 might be the Guard.", "5 defends 2"),
    ("player_2 is not the Seer.", ""),
    ("We should not vote for player_3.", "5 spares 3"),
    ("I recommend voting for player_3.", "5 proposes 3"),
    ("My vote goes to player_3.", "5 proposes 3"),
    ("I suggest we eliminate P4.", "5 proposes 4"),
    ("player_3 voted for player_6 yesterday.", ""),
    ("I agree with player_2.", "5 agrees with 2"),
    ("I disagree with player_2.", "5 contradicts 2"),
    ("player_2 makes a good point.", "5 agrees with 2"),
    ("I agree with the concerns about player_4 as the Sheriff.", "5 accuses 4"),
    ("Let's all stay calm and share our thoughts.", ""),
    ("Who do you suspect, player_2?", ""),
    ("player_1 was killed last night.", ""),
    ("I would like to hear from player_2 and player_3.", ""),
    ("Since player_1 was killed, player_1 can not be a Werewolf.", "5 defends 1"),
    ("I saw that player_7 is the Guard.", "5 see 7 Guard"),
    ("Player 2 is most likely to be a werewolf.", "5 accuses 2"),
    ("I know that Player 2 is a werewolf and Player 6 is not a werewolf.", "5 accuses 2; 5 defends 6"),
    ("I used my antidote on player_4.", "5 antidote 4"),
    ("I am running for Sheriff because I want order.", ""),
    ("It is possible that player_3 is one of the wolves.", "5 accuses 3"),
    ("player_1 said that player_3 is a Werewolf.", "1 accuses 3"),
    ("I believe player_1's claim as the Seer.", "1 claims Seer; 5 defends 1"),
    ("As Villagers, we must find the Werewolves among us.", ""),
    ("My role is Villager.", "5 claims Villager"),
    ("There are two Werewolves left among us.", ""),
)  # fmt: skip


LATER: tuple[tuple[str, str], ...] = (
    ("I have a strong feeling that player_6 is hiding something from us.", "5 accuses 6"),
    ("Good day, everyone. I think it is wise to keep quiet about roles for now.", ""),
    ("As a humble Villager, I can only watch and listen.", "5 claims Villager"),
    (
        "I want to be honest: I am the Guard, and I protected player_1 last night.",
        "5 claims Guard; 5 protect 1",
    ),
    ("player_3 and player_4 are both Werewolves.", "5 accuses 3; 5 accuses 4"),
    ("player_2 is definitely not a Werewolf, because I checked them last night.", "5 see 2 not a Werewolf"),
    ("In my vision player_7 turned out to be a Werewolf.", "5 see 7 Werewolf"),
    ("I'm inclined to believe player_3's claim of being the Seer.", "3 claims Seer; 5 defends 3"),
    ("player_1 claimed to be the Guard yesterday, which I doubt.", "1 claims Guard"),
    ("I think either player_2 or player_3 is a Werewolf.", "5 accuses 2; 5 accuses 3"),
    ("We should focus our votes on player_6.", "5 proposes 6"),
    ("I'd like to cast my vote against player_6.", "5 proposes 6"),
    ("player_4 has been very quiet, which makes me uneasy.", "5 accuses 4"),
    ("I have no reason to suspect player_4.", "5 defends 4"),
    ("There is no way that player_4 is innocent.", "5 accuses 4"),
    ("I am a Werewolf hunter at heart.", ""),
    ("Someone here is the Seer, and I hope they speak up.", ""),
    ("player_2 told us that player_7 is not a Werewolf.", "2 defends 7"),
    ("My investigation of player_3 revealed that they are the Guard.", "5 see 3 Guard"),
    ("I support player_1 for Sheriff.", "5 defends 1"),
    ("Trust me, I am no Werewolf.", ""),
    ("I saved player_2 with my antidote.", "5 antidote 2"),
    ("The death of player_2 was a great loss for us.", ""),
    ("Could player_1 explain the vote of yesterday?", ""),
    ("Unlike player_3, I have shared everything I know.", ""),
    ("I am convinced player_6 is the second wolf.", "5 accuses 6"),
    ("player_7's vote for player_1 looks suspicious.", "5 accuses 7"),
    ("It would be a mistake to vote for player_2.", "5 spares 2"),
    ("Since nobody died, my protection of player_2 must have worked.", "5 protect 2"),
    ("I don't have enough evidence to accuse anyone yet.", ""),
)
"""Written when the reader had been finished on `CORPUS`; it was then widened for what it missed here."""


@pytest.mark.parametrize("corpus", [CORPUS, LATER], ids=["first", "later"])
def test_a_corpus_is_read_with_high_precision_and_recall(corpus: tuple[tuple[str, str], ...]) -> None:
    right = wrong = missed = 0
    for text, expected in corpus:
        wanted = {part for part in expected.split("; ") if part}
        got = {_short(act) for act in read(text, NAMES, ME)}
        right += len(wanted & got)
        wrong += len(got - wanted)
        missed += len(wanted - got)
        if wanted != got:
            print(f"{text}\n    wanted {sorted(wanted)}\n    got    {sorted(got)}")
    precision, recall = right / (right + wrong), right / (right + missed)
    print(f"{len(corpus)} statements: precision {precision:.3f}, recall {recall:.3f}")
    assert precision >= 0.95
    assert recall >= 0.95


def test_a_number_is_never_cut() -> None:
    many = tuple(f"Player {n}" for n in range(1, 13))
    assert read("Player 12 is a werewolf.", many, 0) == (Accusation(0, 11, 3, 0),)
    assert read("Player 1 is a werewolf.", many, 5) == (Accusation(5, 0, 3, 5),)
    assert read("player_12 is a werewolf", NAMES, 0) == ()
    from_zero = tuple(f"player_{n}" for n in range(7))
    assert read("player_0 is a werewolf", from_zero, 3) == (Accusation(3, 0, 3, 3),)


def test_hedges_weaken() -> None:
    def strength(text: str) -> int:
        (act,) = read(text, NAMES, ME)
        assert isinstance(act, Accusation)
        return act.strength

    assert strength("player_3 is a Werewolf") == 3
    assert strength("I think player_3 is a Werewolf") == 2
    assert strength("player_3 might be a Werewolf") == 1


def test_quotations_belong_to_the_quoted() -> None:
    (act,) = read("player_4 claims to be the Seer", NAMES, 0)
    assert act == Claim(3, "Seer", False, 0)


@pytest.mark.parametrize("rules", [SHERIFF, WITCH], ids=lambda rules: rules.name)
@pytest.mark.parametrize("bank", ["a", "b"])
def test_every_phrase_is_read_back(rules: Ruleset, bank: str) -> None:
    kinds = {
        "liar": Accusation, "defend": Defence, "propose": Suggestion, "recommend": Suggestion,
        "agree": Agreement,
    }  # fmt: skip
    for kind, templates in BANKS[bank].items():
        for template in templates:
            for what in _whats(kind):
                text = phrase(Point(kind, 3, what), template, rules)
                acts = set(read(text, rules.names, 1))
                if kind == "claim":
                    assert acts == {Claim(1, what, False, 1)}, text
                elif kind == "deny":
                    assert acts == {Claim(1, what, True, 1)}, text
                elif kind.startswith("saw"):
                    assert acts == {Report(1, "see", 3, what, 1)}, text
                elif kind in ("protect", "antidote", "poison"):
                    assert acts == {Report(1, kind, 3, "", 1)}, text
                elif kind.startswith("accuse"):
                    assert acts == {Accusation(1, 3, int(kind[-1]), 1)}, text
                elif kind in kinds:
                    assert acts, text
                    assert all(isinstance(act, kinds[kind]) for act in acts), text
                    assert all(getattr(act, "target", None) == 3 for act in acts), text
                else:
                    assert not acts, text


def _whats(kind: str) -> tuple[str, ...]:
    if kind in ("claim", "deny"):
        return ("Seer", "Villager", "Guard", "Witch")
    return ("Werewolf", "not a Werewolf", "Villager", "Guard") if kind.startswith("saw") else ("",)


def test_banks_share_no_phrase() -> None:
    first, second = ({p for phrases in BANKS[bank].values() for p in phrases} for bank in "ab")
    assert not first & second
    assert set(BANKS["a"]) == set(BANKS["b"]) == set(BANKS["ab"])


@pytest.mark.parametrize(
    "said", ["most likely ", "likely to be ", "most, likely to be ", "a bit too ", "one of the real "]
)
def test_no_statement_takes_long_to_read(said: str) -> None:
    """What can be read in two ways at every word would take for ever."""
    for opening in ("Player 2 is ", "I checked Player 2 and the result was "):
        text = (opening + said * 100)[:1000] + "strange"
        start = time.process_time()
        read(text, SHERIFF.names, 0)
        assert time.process_time() - start < 2


FLOORS = {
    "test": {
        "claims": (0.96, 0.98),
        "quoted_claims": (0.94, 0.85),
        "denials": (1.0, 0.87),
        "accusations": (0.9, 0.88),
        "defences": (0.93, 0.9),
        "reports": (0.89, 0.73),
        "votes": (1.0, 0.83),
    },
    "fresh": {
        "claims": (0.93, 0.91),
        "quoted_claims": (0.95, 0.73),
        "denials": (1.0, 0.72),
        "accusations": (0.83, 0.7),
        "defences": (0.79, 0.69),
        "reports": (0.92, 0.58),
        "votes": (0.9, 0.63),
    },
    "train3a": {
        "claims": (1.0, 1.0),
        "quoted_claims": (1.0, 0.66),
        "denials": (1.0, 1.0),
        "accusations": (0.9, 0.89),
        "defences": (0.88, 0.84),
        "reports": (0.85, 0.66),
        "votes": (0.71, 0.71),
    },
    "train2a": {
        "accusations": (0.78, 0.39),
        "defences": (0.62, 0.54),
    },
    "papers": {
        "claims": (1.0, 1.0),
        "quoted_claims": (1.0, 1.0),
        "accusations": (0.92, 0.92),
        "defences": (0.9, 0.87),
        "reports": (0.93, 0.88),
        "votes": (1.0, 1.0),
    },
    "train3b": {
        "claims": (1.0, 1.0),
        "quoted_claims": (1.0, 0.8),
        "denials": (1.0, 1.0),
        "accusations": (0.92, 0.82),
        "defences": (0.82, 0.92),
        "reports": (0.88, 0.78),
        "votes": (0.93, 0.88),
    },
    "train": {
        "claims": (1.0, 0.8),
        "quoted_claims": (1.0, 0.76),
        "denials": (1.0, 0.76),
        "accusations": (0.95, 0.91),
        "defences": (0.96, 0.86),
        "reports": (0.91, 0.63),
        "votes": (1.0, 0.62),
    },
}
"""Precision and recall as measured, rounded down. Only `test`, `train2a` and `train3a` were unseen."""


SCOPES: tuple[tuple[str, str], ...] = (
    # negation reaches its clause, and no further
    ("player_3 is not hiding anything, but player_6 is shady.", "5 accuses 6"),
    ("player_2 is far from innocent.", "5 accuses 2"),
    ("I have no doubt that player_2 is a wolf.", "5 accuses 2"),
    ("I no longer trust player_2.", "5 accuses 2"),
    ("I refuse to believe that player_2 is a wolf.", "5 defends 2"),
    ("I'm not convinced that player_2 is a wolf.", ""),
    # whose attitude, and whose words
    ("player_2 suspects player_3, player_3 suspects player_2.", "2 accuses 3; 3 accuses 2"),
    ("player_2 wants to hear from player_3.", ""),
    # pronouns over sentences: the subject before the one named last
    ("player_2 voted with player_3. He is hiding something.", "5 accuses 2"),
    ("player_2, your story keeps changing.", "5 accuses 2"),
    # lists, alternatives, comparisons
    ("My suspects: 2 and 6.", "5 accuses 2; 5 accuses 6"),
    ("Either player_2 or player_6 is lying.", "5 accuses 2; 5 accuses 6"),
    ("player_2 could be a villager or a wolf.", ""),
    ("Unlike player_2, player_6 has been evasive.", "5 accuses 6"),
    # wolves in general are nobody
    ("The wolves killed player_3 last night.", ""),
    ("player_3 helped us catch a wolf.", ""),
    # conditions, and turns of phrase that only look like one
    ("If player_3 is the Seer, then player_2 is a wolf.", ""),
    ("If you ask me, player_2 is a wolf.", "5 accuses 2"),
    # claims
    ("Seer here.", "5 claims Seer"),
    ("As your Seer, I ask for calm.", "5 claims Seer"),
    ("The card I drew is Villager.", "5 claims Villager"),
    ("I could be the Seer, you will never know.", ""),
    ("We have two Seers, player_1 and player_2.", "1 claims Seer; 2 claims Seer"),
    ("player_2 is impersonating the Seer.", "2 claims Seer; 5 accuses 2"),
    ("player_2 says he is the Seer?", "2 claims Seer"),
    # results in free words
    ("My magic showed player_3 as human.", "5 see 3 not a Werewolf"),
    ("My checks: 1 - good, 3 - wolf.", "5 see 1 not a Werewolf; 5 see 3 Werewolf"),
    ("I checked 3. It's red.", "5 see 3 Werewolf"),
    ("I'm the Seer. Player 3 is clean.", "5 claims Seer; 5 see 3 not a Werewolf"),
    ("Seer here, and player_3 is a wolf.", "5 claims Seer; 5 see 3 Werewolf"),
    ("player_4 claims Seer and says player_3 is a wolf.", "4 claims Seer; 4 see 3 Werewolf"),
    # players who are meant without being named
    ("player_2 and player_3 vote alike. Both of them are lying.", "5 accuses 2; 5 accuses 3"),
    ("He is lying to us. Vote player_3.", "5 accuses 3; 5 proposes 3"),
    # who is meant and who is not, comparing
    ("It's not player_6, folks.", "5 defends 6"),
    ("player_2 sounds far more honest than player_3.", "5 defends 2"),
    ("player_2 is less convincing than player_3.", "5 accuses 2"),
    # general truths, and questions whose answer is plain
    ("player_3 voted against player_2. No wolf would do that.", "5 defends 3"),
    ("player_3 knew about the kill. Only a wolf could know.", "5 accuses 3"),
    ("How did player_3 know about the kill?", "5 accuses 3"),
    ("Why would a wolf save player_3?", ""),
    ("Am I the only one who finds player_3 odd?", "5 accuses 3"),
    # a judgement that was changed, a player who is spoken to
    ("I trusted player_3, but now I see that he is a wolf.", "5 accuses 3"),
    ("player_3, you are a terrible liar.", "5 accuses 3"),
    # groups, exceptions, superlatives
    ("player_1, player_2 and player_6 voted alike. I suspect all three.",
     "5 accuses 1; 5 accuses 2; 5 accuses 6"),
    ("The problem is that player_3 voted before us.", ""),
    ("player_6 casts doubt on everyone except player_7.", "5 accuses 6"),
    ("player_2 and player_6 are the least likely to be Werewolves.", "5 defends 2; 5 defends 6"),
    ("I can't afford to trust player_6.", "5 accuses 6"),
    ("I used to trust player_6, but that vote changed my mind.", "5 accuses 6"),
    # what came of it, and whose deed it is
    ("Thanks to player_6 we lynched a wolf.", "5 defends 6"),
    ("player_6 caught player_1 lying.", "5 accuses 1"),
    ("Whoever attacked player_1 is a wolf.", ""),
    ("Everyone is piling onto player_2.", ""),
    ("I vote to kill player_2, who is the remaining werewolf.", "5 accuses 2; 5 proposes 2"),
    # counterclaims
    ("player_6 claims the Guard, but I am the Guard.", "5 claims Guard; 6 claims Guard; 5 accuses 6"),
    ("player_6 claims the Guard, and I am the Seer.", "5 claims Seer; 6 claims Guard"),
    ("player_6 is acting like the Seer.", ""),
    # typing
    ("player_6 u were way too happy when player_2 got voted out", "5 accuses 6"),
    ("cant trust player_6", "5 accuses 6"),
    # checks told in two sentences
    ("I've checked two players. player_2 came up as a Werewolf, player_3 as a villager.",
     "5 see 2 Werewolf; 5 see 3 Villager"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SCOPES)
def test_a_construction_is_scoped(text: str, expected: str) -> None:
    got = {_short(act) for act in read(text, NAMES, ME)}
    assert got == {part for part in expected.split("; ") if part}


def test_every_entry_of_the_lexicon_matches_its_own_words() -> None:
    entries = {entry for row in LEXICON.values() for entry in row}
    assert len(entries) > 500
    for entry in entries:
        words = [min(options) for options, _ in entry.words]
        assert match(entry, words, 0) == len(words), words
        needed = [word for word, (_, optional) in zip(words, entry.words, strict=True) if not optional]
        assert needed, words
        assert match(entry, needed, 0), words


def test_the_forms_of_a_verb() -> None:
    assert forms("dodge") == ("dodge", "dodges", "dodged", "dodging")
    assert forms("deny") == ("deny", "denies", "denied", "denying")
    assert forms("slip") == ("slip", "slips", "slipped", "slipping")
    assert forms("hide") == ("hide", "hides", "hid", "hidden", "hiding")


@pytest.mark.parametrize("name", FLOORS)
def test_words_that_its_author_did_not_write_are_read_no_worse_than_documented(name: str) -> None:
    counts = score(load(name))
    for act, (precision, recall) in FLOORS[name].items():
        measured = rates(counts[act])
        assert measured[0] >= precision, act
        assert measured[1] >= recall, act


def test_the_labelled_sets_are_large_and_well_formed() -> None:
    entries = load("test") + load("papers")
    assert len(entries) >= 300
    others = [entry for name in SETS if name not in ("test", "papers") for entry in load(name)]
    for entry in others + entries:
        first = entry.get("first", 1)
        seats = range(first, first + entry["players"])
        assert entry["speaker"] in seats, entry["text"]
        want = wanted(entry)
        assert want["accusations"] | want["defences"] | want["votes"] <= set(seats), entry["text"]
        assert all(who == entry["speaker"] for who, _ in want["claims"]), entry["text"]
