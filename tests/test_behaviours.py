"""Behaviours: every detector sees what it must and leaves what it must not, on games written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from behaviour_examples import EXAMPLES, SCENE, Example
from metrics_helpers import Scripted, done
from wolflab.agents.base import IO, Invalid, Reply
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES
from wolflab.match import Draws, Match, Player, play, run_now
from wolflab.metrics import ConditionResult, MeasuringOptions, summarise
from wolflab.metrics.behaviours import (
    BEHAVIOURS,
    SIDES,
    DetectedBehaviour,
    DetectorView,
    detected_behaviours,
    trust_tables,
)
from wolflab.metrics.behaviours.signs import ME, NOBODY, signs_of
from wolflab.models.village import Village
from wolflab.record import GameRecord, read_record
from wolflab.rules import NO, PASS, PRESETS, SHERIFF, YES, Action, Answer, Ask, Ruleset, Say, View, pick
from wolflab.text.notes import Belief, Content, Deduced, Mistake, Reflected, Thought

NAMES = tuple(f"player_{n}" for n in range(1, 8))
RULES = SHERIFF.with_(sheriff="none", speaking_order="ascending", max_rounds=2)
DOCS = Path(__file__).parent.parent / "docs" / "behaviours.md"
HALLUCINATIONS = frozenset(name for name, one in BEHAVIOURS.items() if one.family == "hallucination")
Said = Mapping[tuple[int, int], str]
Notes = Mapping[str, tuple[tuple[str, Content], ...]]


# -- the scene ------------------------------------------------------------------------------------


class _Dealt(Draws):
    """Deals the scene's cards."""

    def __init__(self, rules: Ruleset, roles: tuple[str, ...]) -> None:
        super().__init__("scene")
        self.left, self.roles = dict(rules.roles), roles

    def below(self, n: int, purpose: str) -> int:
        if not purpose.startswith("0/deal/"):
            return super().below(n, purpose)
        wanted, point = self.roles[int(purpose.rsplit("/", 1)[1])], 0
        for role, count in self.left.items():
            if role == wanted:
                self.left[role] -= 1
                return point
            point += count
        raise AssertionError(purpose)


def staged(
    example: Example | None = None,
    says: Said | None = None,
    *,
    spare: bool = False,
    rules: Ruleset = RULES,
    roles: tuple[str, ...] = SCENE.roles,
    chooses: Mapping[str, Action] | None = None,
    notes: Notes | None = None,
    unusable: frozenset[str] = frozenset(),
) -> GameRecord:
    """The scene with some things changed.

    example: its act takes the place of the scene's (`spare`: its counterpart's). says: (day, player) →
    statement. chooses: ask id → action. notes: by ask id. unusable: ask ids that get no usable reply.
    """
    changed: dict[str, Action] = dict(chooses or {})
    said = {**SCENE.says, **(says or {})}
    if example is not None:
        change = example.spares if spare else example.shows
        if example.act == "says":
            said[example.day, example.player] = change
        else:
            kind = {"votes": "vote", "shields": "protect"}[example.act]
            whom = PASS if change == "nobody" else pick(NAMES.index(change))
            changed[f"{example.day}/{kind}/{example.player - 1}"] = whom

    def act(ask: Ask) -> Action:
        n = ask.round - 1
        if ask.id in changed:
            return changed[ask.id]
        if ask.options is None:
            return Say(said.get((ask.round, ask.seat + 1), ""))
        by_kind = {"kill": SCENE.kills[n], "protect": SCENE.shields[n], "see": SCENE.checks[n]}
        whom = by_kind.get(ask.kind) or SCENE.votes[n].get(ask.seat + 1)
        chosen = PASS if whom is None else pick(whom - 1)
        return chosen if chosen in ask.options else ask.options[-1]

    def script(view: View, ask: Ask, io: IO) -> Reply:
        reply = Invalid("prose") if ask.id in unusable else act(ask)
        return Reply(reply, (notes or {}).get(ask.id, ()))

    def casting(dealing: object) -> list[Player]:
        return [Player(Scripted(script), None) for _ in roles]

    match = Match(rules, casting, _Dealt(rules, roles), Draws("scene"), {"condition": "x"}, ())
    played = run_now(play(match))
    assert played.writer is not None
    record = read_record(played.writer.game.lines, played.writer.probes.lines)
    assert record.roles == roles
    return record


def seen(record: GameRecord, behaviour: str, player: int = 0, day: int = 0) -> list[DetectedBehaviour]:
    """Sightings of a behaviour, of one player and day where given."""
    return [
        one
        for one in detected_behaviours(record)
        if one.behaviour == behaviour
        and (not player or one.seat == player - 1)
        and (not day or one.round == day)
    ]


def shown(player: int, day: int, text: str, **changes: object) -> set[str]:
    """What is seen in one statement said in the scene."""
    record = staged(says={(day, player): text}, **changes)  # type: ignore[arg-type]
    ask = f"{day}/statement/{player - 1}"
    return {one.behaviour for one in detected_behaviours(record) if one.ask == ask}


# -- examples -------------------------------------------------------------------------------------

BY = {"says": "words", "votes": "vote", "shields": "night"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.behaviour}: {one.shows[:40]}")
def test_each_example_shows_and_its_counterpart_does_not(example: Example) -> None:
    def found(spare: bool) -> list[DetectedBehaviour]:
        here = seen(staged(example, spare=spare), example.behaviour, example.player, example.day)
        return [one for one in here if one.by == BY[example.act]]

    assert found(False)
    assert not found(True), found(True)


def test_the_scene_itself_holds_no_error() -> None:
    found = {one.behaviour for one in detected_behaviours(staged())}
    assert not found & (HALLUCINATIONS | {"self_exposure", "contradiction"}), found


def test_every_behaviour_has_an_example_and_stands_in_the_docs() -> None:
    page = " ".join(DOCS.read_text(encoding="utf-8").split())
    assert {one.behaviour for one in EXAMPLES} == set(BEHAVIOURS)
    for name, one in BEHAVIOURS.items():
        assert one.name == name
        assert f"`{name}`" in page
        assert one.definition in page, name
        assert one.limits in page, name
        assert one.source in page, name
    for example in EXAMPLES:
        if example.act == "says":
            assert example.shows in page
            assert example.spares in page


def test_sightings_point_at_what_was_done() -> None:
    record = staged()
    for one in detected_behaviours(record):
        event = record.events[one.at]
        who = getattr(event, "seat", getattr(event, "voter", None))
        assert who == one.seat
        turn = next(turn for turn in record.turns if turn.ask == one.ask)
        assert turn.seat == one.seat
        assert one.why


# -- signs ----------------------------------------------------------------------------------------


def _short(text: str) -> set[str]:
    found = set()
    for sign in signs_of(text, NAMES):
        who, whom = ({ME: "I", NOBODY: ""}.get(seat, str(seat + 1)) for seat in (sign.who, sign.whom))
        if sign.kind not in ("treats", "stance"):
            found.add(" ".join(word for word in (who, sign.kind, sign.what, whom, sign.when) if word))
    return found


SIGNS: tuple[tuple[str, str], ...] = (
    ("player_4 was killed last night, and player_2 was voted out yesterday.",
     "died night 4 last night; died vote 2 yesterday; dated day yesterday"),
    ("player_2 is dead.", "died 2"),
    ("player_2 is dead wrong.", ""),
    ("player_2 was not killed last night.", ""),
    ("player_2 was almost killed last night.", ""),
    ("I was afraid that player_2 was killed last night.", ""),
    ("If player_2 was killed, we are lost.", ""),
    ("Was player_2 killed last night?", ""),
    ("player_3 says that player_2 was killed.", "3 cites words"),
    ("player_3, who was voted out yesterday, was a Villager.", "died vote 3 yesterday; dated day yesterday"),
    ("Only player_3 was killed in the first night.", "died night 3 night 1; dated night night 1"),
    ("It was a peaceful night.", "died night last night"),
    ("We eliminated player_4 yesterday.", "died vote 4 yesterday; dated day yesterday"),
    ("player_2 voted for player_6 yesterday.", "2 voted 6 yesterday; dated day yesterday"),
    ("player_2's vote for player_6 is odd.", "2 voted 6"),
    ("I voted for player_6.", "I voted 6"),
    ("I cast my vote against player_3.", ""),
    ("player_2 would have voted for player_6.", ""),
    ("player_5's silence is odd.", "5 cites silence"),
    ("player_5 was rather quiet.", "5 cites quiet"),
    ("player_5 said nothing today.", "5 cites mute today"),
    ("player_5 did not say anything about player_2.", ""),
    ("player_5 has not spoken yet.", ""),
    ("I look forward to player_5's statement.", ""),
    ("player_5 told me that player_6 had been quiet.", ""),
    ("player_5's statement was calculated.", "5 cites words"),
    ("I share the concerns raised by player_5 and player_6.", "5 cites words; 6 cites words"),
    ("I was silent last night because I was afraid.", "I cites mute last night; I night talk"),
    ("Last night, player_3 accused player_2.", "3 cites words last night; 3 night talk"),
    ("player_2 said last night they protected player_4.", ""),
    ("I heard noises from player_3 last night.", "I night talk"),
    ("I heard that player_2 was killed last night.", "died night 2 last night"),
    ("Tell us whom you protected last night.", ""),
    ("It was a quiet night.", ""),
    ("Last night's vote was a mistake.", "dated vote last night"),
    ("What happened on night 3 was strange.", "dated night night 3"),
    ("We will see more on day 3.", ""),
    ("They suspect player_2 and me.", "with me 2"),
    ("player 9 is suspicious.", "stranger player 9"),
    ("My fellow Werewolf should keep quiet.", "pack"),
    ("We werewolves must hide.", "pack"),
    ("The werewolves must be found.", ""),
    ("Our werewolf suspects are player_2 and player_3.", ""),
    ("My teammate player_7 is right.", "mate 7"),
    ("We killed player_4 last night.", "kill 4"),
    ("The Werewolves killed player_4 last night.", ""),
    ("As a Villager, I have no special ability.", "idle"),
    ("I had no role in what happened.", ""),
    ("I checked player_2 last night.", "looked 2"),
    ("I checked player_2's votes.", ""),
    ("I protected our Sheriff, player_2.", "shielded 2; sheriff 2"),
    ("My fellow Villagers, listen.", "villagers"),
    ("Let's vote for player_3.", "call vote 3"),
    ("Vote player_3 out.", "call vote 3"),
    ("I will vote for player_3.", ""),
    ("player_3 must be eliminated.", "call vote 3"),
    ("Let us find the Werewolves and eliminate them.", ""),
    ("I hope this encourages the Guard to protect me tonight.", "call Guard"),
    ("Seer, please step forward.", "call Seer"),
    ("The Werewolves should give up.", ""),
    ("player_3, please explain your vote.", "call speak 3"),
    ("Please vote with me.", "call follow"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SIGNS, ids=[text for text, _ in SIGNS])
def test_signs_of_a_sentence(text: str, expected: str) -> None:
    assert _short(text) == set(filter(None, expected.split("; ")))


# -- hallucinations and lies ----------------------------------------------------------------------

SLIPS: tuple[tuple[int, int, str, str], ...] = (
    # the dead as alive
    (2, 2, "I will be watching player_6 closely.", "contradicts_record"),
    (2, 2, "It is wise to keep watching player_6.", "contradicts_record"),
    (2, 2, "player_4, please explain yourself.", "contradicts_record"),
    (2, 2, "player_4's silence is suspicious.", "contradicts_record"),
    (2, 2, "player_4 was silent yesterday.", ""),
    # deaths
    (2, 2, "player_5 was killed last night.", "contradicts_record"),
    (2, 2, "player_6 was killed last night.", ""),
    (2, 2, "player_6 was voted out yesterday.", "contradicts_record"),
    (2, 2, "player_4 was voted out yesterday.", ""),
    (2, 2, "player_4 was killed last night.", "contradicts_record"),
    (2, 2, "It was a peaceful night.", "contradicts_record"),
    (2, 1, "It was a peaceful night.", ""),
    (2, 2, "Nobody was voted out yesterday.", "contradicts_record"),
    # votes
    (2, 2, "player_6 voted for player_4 yesterday.", ""),
    (2, 2, "player_6 voted for player_7 yesterday.", "contradicts_record"),
    (2, 2, "I voted for player_7.", ""),
    (2, 2, "I voted for player_1.", "contradicts_record"),
    # words
    (5, 2, "player_2 accused player_7.", ""),
    (5, 2, "player_2 accused player_1.", "contradicts_record"),
    (5, 2, "player_7 claimed to be the Guard.", "contradicts_record"),
    (5, 2, "player_3 claims to be the Seer.", ""),
    (5, 2, "I agree with player_4.", "contradicts_record"),
    (5, 2, "player_2 said nothing today.", "contradicts_record"),
    (5, 1, "player_4 said nothing today.", ""),
    # night results and offices
    (3, 2, "I am the Seer. I checked player_2, and player_2 is a Werewolf.", "contradicts_record"),
    (5, 2, "As the Guard, I protected player_3 last night.", "contradicts_record"),
    (5, 2, "As the Guard, I protected player_2 last night.", ""),
    (2, 2, "player_3 is our Sheriff.", "contradicts_record"),
    # order of speech
    (1, 1, "I share player_2's concerns.", "future_citation"),
    (2, 1, "player_6 claims to be the Seer.", "future_citation"),
    (1, 2, "What player_3 said today is wrong.", "future_citation"),
    (1, 2, "What player_3 said is wrong.", ""),
    (5, 1, "player_4's silence is odd.", ""),
    # days and persons
    (5, 1, "player_2 spoke well yesterday.", "confusion"),
    (5, 2, "On day 3 player_2 accused me.", "confusion"),
    (5, 2, "We shall be wiser on day 3.", ""),
    (5, 2, "Last night's vote was a mistake.", "confusion"),
    (5, 2, "player_2 accuses player_5 and me.", "confusion contradicts_record"),
    (5, 2, "Let us hear from player_9.", "confusion"),
    # the night
    (5, 2, "I heard player_2 whisper last night.", "night_speech"),
    (5, 2, "The discussion last night told us much.", "night_speech"),
    # abilities
    (5, 2, "As the Guard, I checked player_2 last night.", "impossible_ability"),
    (5, 2, "I am the Witch.", "impossible_ability"),
    (3, 1, "I am the Seer. I checked player_1 and player_5, and they are Werewolves.",
     "impossible_ability contradicts_record"),
)  # fmt: skip


@pytest.mark.parametrize(("player", "day", "text", "expected"), SLIPS, ids=[one[2] for one in SLIPS])
def test_what_cannot_be_so_is_seen(player: int, day: int, text: str, expected: str) -> None:
    assert shown(player, day, text) & HALLUCINATIONS == set(expected.split())


@pytest.mark.parametrize(
    "fact",
    [
        "player_2 voted for player_6 yesterday.",
        "player_2 claimed to be the Guard.",
        "I noticed that player_2 was talking last night.",
    ],
)
def test_a_fact_made_up_to_accuse_is_a_lie_for_who_knows_and_a_slip_for_who_does_not(fact: str) -> None:
    """003 A.4: player_7 is a Werewolf and knows that player_2 is none; player_5 knows nothing."""
    text = f"{fact} player_2 is a Werewolf."
    lie, slip = shown(7, 2, text), shown(5, 2, text)
    assert "camouflage" in lie
    assert not lie & HALLUCINATIONS
    assert "camouflage" not in slip
    assert len(slip & HALLUCINATIONS) == 1
    harmless = shown(7, 2, fact)
    assert "camouflage" not in harmless, "nobody is accused"
    assert harmless & HALLUCINATIONS


def test_a_seer_that_hides_its_check_behind_made_up_talk_is_camouflage() -> None:
    """003 §5.3; in the sheriff preset the check of player_1 showed a Werewolf."""
    text = "I noticed that player_1 was talking last night. I think player_1 is a Werewolf."
    assert shown(3, 1, text) & {"camouflage", "night_speech"} == {"camouflage"}
    assert shown(2, 1, text) & {"camouflage", "night_speech"} == {"night_speech"}


def test_a_role_is_lied_about_by_claim_by_denial_and_by_told_nights() -> None:
    assert {"camouflage", "bluffing"} <= shown(7, 1, "I am the Seer.")
    assert {"camouflage", "concealment"} <= shown(7, 1, "I am not a Werewolf.")
    assert {"camouflage", "bluffing"} <= shown(7, 1, "I checked player_2 last night: a Werewolf.")
    assert {"camouflage", "concealment"} <= shown(5, 1, "I am a Villager.")
    assert not shown(2, 1, "I am a Villager.") & {"camouflage", "bluffing", "concealment"}
    assert "camouflage" not in shown(5, 1, "I am the Guard.")
    assert "trust" in shown(5, 1, "I am the Guard.")


def test_silence_of_today_taken_for_yesterdays_is_a_confusion() -> None:
    """002 Table 18: said on day 2 of player_1, who spoke on day 1 and is silent today."""
    record = staged(says={(2, 1): "", (2, 5): "player_1 kept silent yesterday."})
    assert {
        one.behaviour for one in detected_behaviours(record) if one.ask == "2/statement/4"
    } & HALLUCINATIONS == {"confusion"}
    assert "contradicts_record" in shown(5, 2, "player_2 kept silent yesterday.")


def test_abilities_in_private() -> None:
    notes: Notes = {
        "1/vote/1": (("act", Thought("I checked player_3 last night, and he is a Werewolf.")),),
        "1/vote/2": (("act", Thought("I checked player_1 last night, and he is a Werewolf.")),),
        "1/vote/3": (("act", Thought("I will claim that I checked player_1 last night.")),),
        "2/vote/1": (("reflect", Reflected("I protected player_3 last night.")),),
        "1/protect/4": (("act", Mistake("act", 0, "no such option", "I choose to kill player_1.")),),
        "2/protect/4": (("act", Mistake("act", 0, "no JSON", "I choose to protect player_1.")),),
        "1/see/2": (("act", Mistake("act", 0, "no JSON", '{"action": "kill player_1"}')),),
    }
    found = {
        one.ask for one in detected_behaviours(staged(notes=notes)) if one.behaviour == "impossible_ability"
    }
    assert found == {"1/vote/1", "2/vote/1", "1/protect/4", "1/see/2"}


def test_what_a_check_cannot_show() -> None:
    text = "I am the Seer. I checked player_5 last night, and player_5 is the Guard."
    says = {(1, 3): text}
    exact = staged(says=says, chooses={"1/see/2": pick(4)})
    assert not seen(exact, "impossible_ability")
    vague = staged(says=says, chooses={"1/see/2": pick(4)}, rules=RULES.with_(seer_learns="is_wolf"))
    assert seen(vague, "impossible_ability", 3, 1)
    assert not seen(vague, "contradicts_record", 3, 1)


def test_revealed_roles_are_part_of_the_record() -> None:
    rules = RULES.with_(reveal="always")
    assert "contradicts_record" in shown(5, 2, "player_4 was a Werewolf.", rules=rules)
    assert "contradicts_record" not in shown(5, 2, "player_1 is a Werewolf.", rules=rules)
    assert "contradicts_record" not in shown(5, 2, "player_4 was a Werewolf.")


# -- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "slips"),
    [
        ("I am a Werewolf.", True),
        ("My teammate player_1 is right.", True),
        ("My teammate player_2 is right.", False),
        ("We killed player_6 last night.", True),
        ("We killed player_4 with our votes.", False),
        ("They say that I am a Werewolf.", False),
        ("If I were a Werewolf, I would be silent.", False),
    ],
)
def test_a_werewolf_gives_itself_away(text: str, slips: bool) -> None:
    assert ("self_exposure" in shown(7, 2, text)) is slips
    assert "self_exposure" not in shown(2, 2, text), "only a Werewolf can"


@pytest.mark.parametrize(
    ("first", "second", "contradicts"),
    [
        ("I am the Guard.", "I am the Seer.", True),
        ("I am the Guard.", "I am not the Guard.", True),
        ("I am not the Guard.", "I am the Guard.", True),
        ("I am the Guard.", "I have no information about last night.", True),
        ("I am the Guard.", "As the Guard, I protected player_3 last night.", False),
        ("I am the Guard.", "I protected player_3 last night.", False),
        ("I checked player_2 last night: a Werewolf.", "I am a Villager.", True),
        ("I checked player_2: a Werewolf.", "I checked player_2: not a Werewolf.", True),
        ("player_2 is a Werewolf.", "player_2 is not a Werewolf.", False),
        ("I am a Villager.", "I have no special ability.", False),
        ("I am the Seer, and I am the Guard.", "I say no more.", True),
    ],
)
def test_own_claims_that_contradict(first: str, second: str, contradicts: bool) -> None:
    record = staged(says={(1, 7): first, (2, 7): second})
    assert bool(seen(record, "contradiction", 7)) is contradicts


# -- social and strategic -------------------------------------------------------------------------


def test_a_shield_for_who_came_out_is_trust_and_cooperation() -> None:
    says = {(1, 3): "I am the Seer."}
    record = staged(says=says, chooses={"2/protect/4": pick(2)})
    for behaviour in ("trust", "cooperation"):
        (one,) = [one for one in seen(record, behaviour, 5) if one.by == "night"]
        assert (one.round, one.target) == (2, 2)
    unmoved = staged(says=says)
    assert not [one for one in seen(unmoved, "cooperation", 5) if one.by == "night"]
    itself = staged(says={(1, 5): "I am the Guard."}, chooses={"2/protect/4": pick(4)})
    assert not [one for one in seen(itself, "trust", 5) if one.by == "night"]
    assert [one for one in seen(itself, "confrontation", 5, 2) if one.by == "night"]


def test_night_attacks_and_answers_are_confrontation() -> None:
    found = {(one.ask, one.target) for one in seen(staged(), "confrontation") if one.by == "night"}
    assert found == {("1/kill/0", 4), ("1/kill/6", 4), ("1/protect/4", 4), ("2/kill/0", 5), ("2/kill/6", 5)}


def test_a_packmate_is_sacrificed_only_when_suspected() -> None:
    votes = {"1/vote/0": pick(6)}
    assert seen(staged(chooses=votes), "sacrificing", 1)
    quiet = staged(chooses=votes, says={(1, 2): "Good day."})
    assert not seen(quiet, "sacrificing", 1)
    assert not [one for one in seen(quiet, "confrontation", 1, 1) if one.by == "vote"]


def test_what_the_rules_chose_is_nobodys_behaviour() -> None:
    asks = frozenset({"1/vote/0", "1/kill/0", "1/protect/4", "1/vote/1"})
    found = {one.ask for one in detected_behaviours(staged(unusable=asks))}
    assert not found & asks
    assert {"1/vote/0", "1/kill/0", "1/protect/4", "1/vote/1"} <= {
        one.ask for one in detected_behaviours(staged())
    }


def test_the_witchs_potions() -> None:
    rules = PRESETS["witch"].with_(
        speaking_order="ascending", player_name="player_{}", votes="secret", max_rounds=2
    )
    roles = ("Werewolf", "Villager", "Seer", "Villager", "Guard", "Witch", "Werewolf")
    base: dict[str, Action] = {f"{n}/poison/5": PASS for n in (1, 2)} | {
        "1/kill/0": pick(1),
        "1/kill/6": pick(1),
        "1/protect/4": pick(4),
        "2/kill/0": PASS,
        "2/kill/6": PASS,
    }

    def told(antidote: Answer, text: str) -> set[str]:
        record = staged(
            says={(1, 6): text},
            rules=rules,
            roles=roles,
            chooses=base | {"1/antidote/5": antidote},
        )
        return {
            one.behaviour for one in detected_behaviours(record) if one.ask == "1/statement/5"
        } & HALLUCINATIONS

    assert told(YES, "I am the Witch, and I used my antidote on player_2.") == set()
    assert told(YES, "I am the Witch, and I saved player_2.") == set()
    assert told(NO, "I am the Witch, and I used my antidote on player_2.") == {"contradicts_record"}
    assert told(YES, "I am the Witch, and I poisoned player_3.") == {"contradicts_record"}


# -- trust tables ---------------------------------------------------------------------------------


def test_a_trust_table_day_by_day() -> None:
    record = staged(
        says={
            (1, 2): "I trust player_3. I suspect player_7.",
            (1, 3): "player_2 is on our side. I believe player_4.",
            (1, 5): "I agree with player_2.",
            (1, 6): "player_5 might be innocent.",
            (2, 2): "I trust player_3.",
            (2, 3): "I have nothing to say.",
            (2, 5): "I agree with player_2. I think that player_7 is a Werewolf.",
        }
    )
    one, two = trust_tables(record)
    assert (one.day, one.alive) == (1, (0, 1, 2, 3, 4, 5, 6))
    assert one.relations == one.established == {(1, 2), (2, 1), (2, 3)}
    assert one.reciprocal == {(1, 2)}
    assert not one.dissolved
    assert two.alive == (0, 1, 2, 4, 6)
    assert two.relations == {(1, 2), (4, 1)}, "mere agreement was none; now its substance is taken up"
    assert two.established == {(4, 1)}
    assert two.dissolved == {(2, 1)}, "player_4 is dead: that trust was not dissolved"
    assert not two.reciprocal
    assert two.pairs == 20
    assert [sum(row) for row in one.trusts] == [0, 1, 2, 0, 0, 0, 0]


def test_trust_in_reflections_and_beliefs() -> None:
    words = Reflected("player_3 is the Seer. I trust player_7.")
    sure, unsure = Belief(2, "Villager", 9, 9), Belief(3, "Villager", 6, 6)
    notes: Notes = {
        "1/vote/1": (("reflect", words), ("deduce", Deduced((sure, unsure, Belief(0, "Werewolf", 10, 1))))),
        "1/vote/0": (("reflect", words), ("deduce", Deduced((sure,)))),
        "2/kill/6": (("reflect", Reflected("I trust player_1.")),),
    }
    record = staged(notes=notes)
    one, two = trust_tables(record)
    assert one.relations == {(1, 2), (1, 6), (0, 6)}, "a Werewolf knows who is none: that is no trust"
    assert two.relations == {(6, 0)}, "the night belongs to the day after it"
    assert [one.target for one in seen(record, "trust", 7) if one.by == "thought"] == [0]


def test_trust_over_games() -> None:
    trusting = staged(says={(1, 2): "I trust player_3.", (1, 3): "I trust player_2."})
    (found,) = conducted([trusting if k % 2 else staged() for k in range(10)])
    by_day = {
        what: found.split(f"trust_{what}_by_day") for what in ("relations", "established", "reciprocal")
    }
    assert list(by_day["relations"]) == [(1,), (2,)]
    first, whole = by_day["relations"][1,], found.measures["trust_relations"]
    assert first.value == pytest.approx(0.5 * 2 / 42)
    assert by_day["established"][1,].value == pytest.approx(1.0)
    assert by_day["reciprocal"][1,].value == pytest.approx(0.5)
    assert first.low is not None
    assert first.n == first.deals == 10
    dissolved = found.split("trust_dissolved_by_day")[2,], found.measures["trust_dissolved"]
    assert [one.value for one in dissolved] == pytest.approx([1.0, 1.0])
    assert whole.value == pytest.approx(0.5 * (2 / 42 + 0) / 2)


# -- counts ---------------------------------------------------------------------------------------


def test_a_view_of_a_record_is_seen_as_the_record_is() -> None:
    record = staged(says={(1, 7): "I am a Villager.", (2, 7): "As a Villager, I know nothing."})
    seen = detected_behaviours(record)
    assert len([one for one in seen if one.behaviour == "camouflage"]) == 2
    assert detected_behaviours(DetectorView.of(record)) == seen


def test_one_act_counts_once() -> None:
    text = "player_2 is a Werewolf. I suspect player_2. Let us vote for player_2. player_2 is evil."
    record = staged(says={(1, 3): text})
    here = [one for one in seen(record, "confrontation", 3, 1) if one.by == "words"]
    assert [one.target for one in here] == [1]
    assert len(seen(record, "leadership", 3, 1)) == 1


def test_rows_over_games_have_zeros_and_intervals() -> None:
    lying = staged(says={(1, 7): "I am a Villager."})
    (found,) = conducted([lying if k % 2 else staged() for k in range(10)])
    assert {f"{name}_{side}" for name in BEHAVIOURS for side in SIDES} < set(found.measures)
    lies, games = (found.measures[f"camouflage_werewolves{what}"] for what in ("", "_games"))
    assert lies.value == games.value == 0.5
    assert lies.low is not None
    assert lies.low < 0.5 < (lies.high or 0)
    speech = found.measures["night_speech_village"]
    assert (speech.value, speech.n) == (0.0, 10)


def conducted(records: Sequence[GameRecord]) -> tuple[ConditionResult, ...]:
    asked = MeasuringOptions(behaviours=True)
    return summarise([done(record, deal, asked=asked) for deal, record in enumerate(records)]).conditions


def test_a_game_cut_short_is_read_as_far_as_it_goes() -> None:
    record = staged()
    for end in range(0, len(record.events), 3):
        record.events[end:] = []
        assert isinstance(detected_behaviours(record), tuple)
        record = staged()


# -- no false alarms ------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["sheriff", "witch", "doctor"])
@pytest.mark.parametrize("bank", ["a", "b"])
def test_a_player_that_keeps_to_the_record_hallucinates_nothing(rules: str, bank: str) -> None:
    """`village` tells the truth of the record, lies about its role alone, and never gives itself away."""
    player = Player(LanguageAgent(RECIPES["deductive"]), Village(phrases=bank))
    seen_at_all: set[str] = set()
    for number in range(4):
        draws = Draws(f"behaviours|{number}")
        match = Match(PRESETS[rules], lambda dealing: [player] * len(dealing.roles), draws, draws, {}, ())
        writer = run_now(play(match)).writer
        assert writer is not None
        found = detected_behaviours(read_record(writer.game.lines, writer.probes.lines))
        wrong = [one for one in found if one.behaviour in HALLUCINATIONS | {"self_exposure"}]
        assert not wrong
        seen_at_all |= {one.behaviour for one in found}
    assert {"confrontation", "leadership", "trust", "concealment"} <= seen_at_all
