"""The environment's parts alone: the vector's sections, intents in words, rewards on the way, the example."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from wolflab.env import SHAPED, RewardPoints, VectorLayout, WerewolfAEC
from wolflab.env.actions import ActionTable
from wolflab.env.aec import UNSHAPED
from wolflab.env.vector import PHASES, encode, kinds
from wolflab.env.words import intent_spoken
from wolflab.errors import IllegalReply
from wolflab.match.rewards import Rewards, gains
from wolflab.models.village.speech.phrases import BANKS
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    MODERATOR,
    NINE,
    NO,
    PASS,
    PRESETS,
    SHERIFF,
    WITCH,
    YES,
    Action,
    Ask,
    CandidatesNamed,
    Chose,
    DayBroke,
    Dealt,
    Event,
    GameEnded,
    Learned,
    Log,
    NightFell,
    Outcome,
    PackMet,
    Reason,
    Revealed,
    Ruleset,
    Said,
    SheriffDrawn,
    SheriffNamed,
    Shot,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    Winner,
    only,
    pick,
)
from wolflab.text.reading import Accusation, Claim, Defence, Report, Suggestion, read

EXAMPLE = Path(__file__).parent.parent / "examples" / "train_pettingzoo.py"
ROLES = ("Werewolf", "Werewolf", "Villager", "Villager", "Villager", "Seer", "Doctor")
DEAL = [*(Dealt(seat, role, only(seat)) for seat, role in enumerate(ROLES)), PackMet((0, 1), only(0, 1))]


def see(
    events: Sequence[Event], seat: int, ruleset: Ruleset = DOCTOR, ask: Ask | None = None, rounds: int = 3
) -> dict[str, list[object]]:
    """The sections of a seat's vector that are not all zero, as nested lists."""
    log = Log(ruleset)
    log.extend(events)
    layout = VectorLayout(ruleset, rounds)
    vector = encode(log.view(seat), ask, layout)
    parts = {name: layout.part(vector, name) for name, _ in layout.sections}
    return {name: part.tolist() for name, part in parts.items() if part.any()}


def hot(*seats: int, n: int = 7, value: float = 1) -> list[float]:
    return [value if seat in seats else 0 for seat in range(n)]


def talk(seat: int, text: str) -> Said:
    return Said(seat, "discussion", text, EVERYONE)


# -- the vector -----------------------------------------------------------------------------


def test_sections_fill_the_vector() -> None:
    for rules in PRESETS.values():
        for rounds in (1, 3):
            layout = VectorLayout(rules, rounds)
            at = 0
            for name, shape in layout.sections:
                assert layout.slice(name) == slice(at, at + int(np.prod(shape)))
                at += int(np.prod(shape))
            assert layout.size == at


def test_the_layout_of_rulesets_without_shots_is_what_it_was() -> None:
    """Policies that were trained on it would not fit another."""
    sizes = {name: VectorLayout(rules).size for name, rules in PRESETS.items()}
    assert sizes == {"sheriff": 569, "witch": 583, "doctor": 565, "nine": 897, "ten": 1085, "twelve": 1466}
    shot = {name: shape for name, shape in VectorLayout(NINE).sections if name in ("phase", "shot 0")}
    assert shot == {"phase": (7,), "shot 0": (9,)}
    assert not {"shot 0"} & {name for name, _ in VectorLayout(WITCH).sections}


def test_a_shot_is_seen() -> None:
    roles = [role for role, n in NINE.roles.items() for _ in range(n)]
    dealt = [Dealt(seat, role, only(seat)) for seat, role in enumerate(roles)]
    events = [*dealt, NightFell(1, EVERYONE), DayBroke(1, (8,), EVERYONE)]
    asked = see(events, 8, NINE, Ask("1/shoot/8", 8, "shoot", "departure", 1, (pick(0), PASS)))
    assert asked["phase"] == hot(6)
    assert asked["ask"] == hot(kinds(NINE).index("shoot"), n=len(kinds(NINE)))
    seen = see([*events, Shot(8, 2, EVERYONE)], 4, NINE)
    assert seen["died 0"] == hot(8, n=9)
    assert seen["shot 0"] == hot(2, n=9)
    assert seen["alive"] == hot(*(seat for seat in range(9) if seat not in (2, 8)), n=9)
    assert seen["known side"] == hot(4, 8, n=9, value=-1)


def test_who_one_is() -> None:
    seen = see(DEAL, 5)
    assert seen["me"] == hot(5)
    assert seen["role"] == hot([role.name for role in DOCTOR.cast].index("Seer"), n=4)
    assert seen["alive"] == hot(*range(7))
    assert seen["known side"] == hot(5, value=-1)
    assert set(seen) == {"me", "role", "alive", "known role", "known side"}
    wolf = see(DEAL, 0)
    assert wolf["known side"] == hot(0, 1)
    assert [row[0] for row in wolf["known role"]] == hot(0, 1)  # type: ignore[index]


def test_the_question() -> None:
    for kind, phase in (("vote", "voting"), ("see", "night"), ("statement", "discussion")):
        seen = see([*DEAL, NightFell(1, EVERYONE)], 5, ask=Ask("1", 5, kind, phase, 1, None))
        assert seen["ask"] == hot(kinds(DOCTOR).index(kind), n=len(kinds(DOCTOR)))
        assert seen["phase"] == hot(PHASES.index(phase), n=len(PHASES))
        assert seen["round"] == pytest.approx([0.1])
    ended = see([*DEAL, GameEnded(Outcome(Winner.NOBODY, Reason.ROUND_LIMIT), EVERYONE)], 5)
    assert ended["over"] == [1]


def test_nights_deaths_and_looks() -> None:
    night = [
        NightFell(1, EVERYONE),
        Chose(0, "kill", pick(2), only(0, 1)),
        Chose(1, "kill", pick(3), only(0, 1)),
        Chose(5, "see", pick(1), only(5)),
        Learned(5, 1, "Werewolf", only(5)),
        DayBroke(1, (3,), EVERYONE),
        VoteCounted(4, (), EVERYONE),
    ]
    seer, wolf = see(DEAL + night, 5), see(DEAL + night, 0)
    assert seer["known side"] == [0, 1, 0, 0, 0, -1, 0]
    assert seer["chose 0"] == hot(1)
    assert "pack chose 0" not in seer
    assert seer["alive"] == hot(0, 1, 2, 5, 6)
    assert seer["died 0"] == hot(3)
    assert seer["out 0"] == hot(4)
    assert wolf["chose 0"] == hot(2)
    assert wolf["pack chose 0"] == hot(3)
    later = see(DEAL + night + [NightFell(2, EVERYONE), DayBroke(2, (), EVERYONE)], 5)
    assert later["died 1"] == hot(3)
    assert "died 0" not in later
    forgotten = see(DEAL + night + [NightFell(n, EVERYONE) for n in (2, 3, 4)], 5)
    assert not [name for name in forgotten if name.startswith(("died", "out", "chose"))]
    assert forgotten["alive"] == hot(0, 1, 2, 5, 6)
    assert "died 1" not in see(DEAL + night + [NightFell(2, EVERYONE)], 5, rounds=1)


def test_looks_that_show_a_role_and_cards_turned_over() -> None:
    events = [Learned(5, 6, "Guard", only(5)), Revealed(2, "Villager", EVERYONE)]
    deal = [event if event != DEAL[6] else Dealt(6, "Guard", only(6)) for event in DEAL]
    seen = see(deal + events, 5, SHERIFF)
    names = [role.name for role in SHERIFF.cast]
    assert {(seat, names[row.index(1)]) for seat, row in enumerate(seen["known role"]) if any(row)} == {  # type: ignore[arg-type, attr-defined]
        (5, "Seer"),
        (6, "Guard"),
        (2, "Villager"),
    }
    assert seen["known side"] == hot(2, 5, 6, value=-1)
    innocent = see([*DEAL, Learned(5, 6, "not a Werewolf", only(5))], 5)
    assert innocent["known side"] == hot(5, 6, value=-1)


def test_the_witchs_night() -> None:
    deal = [Dealt(0, "Witch", only(0))]
    shown = [NightFell(1, EVERYONE), VictimShown(0, 4, only(0))]
    assert see(deal + shown, 0, WITCH)["victim"] == hot(4)
    saved = [*shown, Chose(0, "antidote", YES, only(0)), Chose(0, "poison", pick(3), only(0))]
    assert see(deal + saved, 0, WITCH)["potions"] == [1, 1]
    kept = [*shown, Chose(0, "antidote", NO, only(0)), NightFell(2, EVERYONE)]
    assert not {"potions", "victim"} & set(see(deal + kept, 0, WITCH))


def test_talk_and_votes() -> None:
    day = [
        NightFell(1, EVERYONE),
        talk(5, "I am the Seer. I checked player_1 last night, and they are a Werewolf."),
        talk(1, "I am the Seer. player_5 might be a Werewolf."),
        talk(0, "I trust player_1. I saw player_2 in the night, and player_2 is not a Werewolf."),
        talk(2, "player_5 said that player_3 is a Werewolf. I am not the Seer. Let's vote for player_1."),
        talk(3, ""),
        Voted(5, 1, "eliminate", EVERYONE),
        Voted(3, None, "eliminate", EVERYONE),
        Voted(4, 6, "elect", EVERYONE),
    ]
    seen = see(DEAL + day, 4)
    roles = [role.name for role in DOCTOR.cast]
    seer = [row[roles.index("Seer")] for row in seen["claims"]]  # type: ignore[index]
    assert seer == [0, 1, -1, 0, 0, 1, 0]
    assert seen["reports"][5] == hot(1)
    assert seen["reports"][0] == hot(2, value=-1)
    stance = np.array(seen["stance 0"])
    assert stance[1, 5] == pytest.approx(1 / 3)
    assert stance[0, 1] < 0 < stance[2, 1]
    assert not stance[:, 3].any()  # hearsay is nobody's own word
    assert seen["spoke 0"] == hot(0, 1, 2, 5)
    votes = np.array(seen["votes 0"])
    assert np.argwhere(votes).tolist() == [[5, 1]]


def test_the_office() -> None:
    events = [CandidatesNamed((2, 4), EVERYONE), SheriffNamed(4, "elected", EVERYONE)]
    assert see(events, 0, SHERIFF)["candidates"] == hot(2, 4)
    assert see(events, 0, SHERIFF)["sheriff"] == hot(4)
    assert see([*events, SheriffNamed(1, "succeeded", EVERYONE)], 0, SHERIFF)["sheriff"] == hot(1)


def test_nothing_that_a_seat_was_not_told() -> None:
    """Events for other eyes change nothing, whatever they say."""
    secrets: list[Event] = [
        Chose(0, "kill", pick(2), only(0, 1)),
        Learned(5, 1, "Werewolf", only(5)),
        SheriffDrawn(3, MODERATOR),
        SpeakersDrawn((6, 5, 4, 3, 2, 1, 0), MODERATOR),
        VictimShown(6, 2, only(6)),
    ]
    for seat in (2, 3, 4):
        assert see([*DEAL, NightFell(1, EVERYONE), *secrets], seat) == see(
            [*DEAL, NightFell(1, EVERYONE)], seat
        )


def test_folding_on_equals_folding_anew() -> None:
    table = WerewolfAEC("witch", text="none")
    table.reset(seed=4)
    rng = np.random.default_rng(1)
    for agent in table.agent_iter():
        seen = table.observe(agent)
        view = table.view(agent)
        assert np.array_equal(
            seen["observation"], encode(view._replace(cache={}), table.question(), table.layout)
        )
        if table.terminations[agent]:
            table.step(None)
        else:
            table.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))


# -- words ----------------------------------------------------------------------------------

MEANT = {
    "accuse": lambda act: isinstance(act, Accusation),
    "defend": lambda act: isinstance(act, Defence),
    "found": lambda act: isinstance(act, Report) and act.kind == "see" and act.what == "Werewolf",
    "cleared": lambda act: isinstance(act, Report) and act.kind == "see" and act.what == "not a Werewolf",
}


@pytest.mark.parametrize("bank", BANKS)
@pytest.mark.parametrize("rules", [DOCTOR, WITCH, SHERIFF], ids=lambda rules: rules.name)
def test_intents_are_understood(bank: str, rules: Ruleset) -> None:
    """However an intent is worded, it is read back as what it means, and as nothing of another kind."""
    for intent in ActionTable(rules).intents:
        for turn in range(max(len(phrases) for phrases in BANKS[bank].values())):
            text = intent_spoken(intent, rules, bank, lambda n, what, turn=turn: turn % n)  # type: ignore[misc]
            acts = read(text, rules.names, 0)
            if intent.seat == 0:
                continue
            claims = {act.role for act in acts if isinstance(act, Claim) and not act.denied}
            if intent.kind == "silent":
                assert text == ""
            elif intent.kind == "claim":
                assert claims == {intent.role}
            else:
                about = [act for act in acts if not isinstance(act, Claim)]
                assert {act.target for act in about} == {intent.seat}
                assert any(MEANT[intent.kind](act) for act in about)
                assert claims == ({"Seer"} if intent.kind in ("found", "cleared") else set())
                assert any(isinstance(act, Suggestion) for act in acts) == (intent.kind == "accuse")


def test_tables_by_ruleset() -> None:
    table = ActionTable(DOCTOR)
    assert table.names[:6] == ("pass", "yes", "no", "left", "right", "choose player_0")
    assert len(table) == len(set(table.names)) == 5 + 7 + 1 + 14 + 4 + 14 + 1
    assert table.names[table.number("claim Seer")] == "claim Seer"
    without = ActionTable(DOCTOR.with_(roles={"Werewolf": 1, "Villager": 4}))
    assert not [name for name in without.names if name.startswith(("found", "cleared"))]
    with pytest.raises(IllegalReply, match="claim Doctor"):
        table.number("claim Witch")


def test_the_dead_are_told_of_but_not_accused() -> None:
    table = ActionTable(DOCTOR)
    mask = table.mask(Ask("1", 0, "statement", "discussion", 1, None), alive=(0, 1, 2))
    legal = {table.names[number] for number in np.flatnonzero(mask)}
    about = ("accuse 1", "defend 2", "found 5", "cleared 6", "accuse 0", "accuse 5", "defend 6", "found 0")
    named = [one.replace(" ", " player_") for one in about]
    assert set(named) <= set(table.names)
    assert {*named[:4], "claim Seer", "silent"} <= legal
    assert not {*named[4:], "own words", "pass"} & legal


# -- rewards --------------------------------------------------------------------------------


def earned(events: Sequence[Event], worth: RewardPoints = SHAPED, rules: Ruleset = DOCTOR) -> list[float]:
    rewards = Rewards(rules, worth)
    rewards.follow(DEAL)
    found = rewards.follow(events)
    return [sum(gain.seats[seat] for gain in found) for seat in range(rules.players)]


def sides(wolves: float, others: float) -> list[float]:
    return pytest.approx([wolves] * 2 + [others] * 5)  # type: ignore[return-value]


def night(first: Action, last: Action, *deaths: int) -> list[Event]:
    return [
        NightFell(1, EVERYONE),
        Chose(0, "kill", first, only(0, 1)),
        Chose(1, "kill", last, only(0, 1)),
        DayBroke(1, deaths, EVERYONE),
    ]


def test_rewards_on_the_way() -> None:
    assert earned(night(pick(2), pick(2), 2)) == sides(0.05, -0.05)
    assert earned(night(pick(2), pick(3), 3)) == sides(0.05, -0.05)
    saved = [*night(pick(2), pick(3))[:-1], Chose(4, "save", pick(3), only(4)), DayBroke(1, (), EVERYONE)]
    assert earned(saved) == pytest.approx([-0.05, -0.05, 0, 0, 0.05, 0, 0])
    unanimous = DOCTOR.with_(wolf_agreement="unanimous")
    assert earned(night(pick(2), pick(3)), rules=unanimous) == sides(0, 0)  # nobody was attacked
    both = [*night(pick(2), pick(2), 2), *night(pick(3), pick(3), 3)]
    assert earned(both, rules=unanimous) == sides(0.1, -0.1)  # last night's targets are forgotten
    assert earned([Learned(5, 1, "Werewolf", only(5))]) == pytest.approx([-0.02, -0.02, 0, 0, 0, 0.02, 0])
    assert earned([Learned(5, 2, "not a Werewolf", only(5))]) == sides(0, 0)
    assert earned([VoteCounted(0, (), EVERYONE)]) == sides(-0.05, 0.05)
    assert earned([VoteCounted(4, (), EVERYONE)]) == sides(0.05, -0.05)
    assert earned([VoteCounted(None, (), EVERYONE)]) == sides(0, 0)


def test_rewards_for_votes_are_the_voters_own() -> None:
    right = earned([Voted(3, 0, "eliminate", EVERYONE)])
    assert right == pytest.approx([-0.01, -0.01, 0, 0.01, 0, 0, 0])
    wrong = earned([Voted(3, 4, "eliminate", EVERYONE)])
    assert wrong == pytest.approx([0.01, 0.01, 0, -0.01, 0, 0, 0])
    for nothing in (
        Voted(0, 3, "eliminate", EVERYONE),
        Voted(3, None, "eliminate", EVERYONE),
        Voted(3, 0, "elect", EVERYONE),
    ):
        assert earned([nothing]) == sides(0, 0)


def test_rewards_at_the_end() -> None:
    def end(winner: Winner) -> list[Event]:
        return [GameEnded(Outcome(winner, Reason.PARITY), EVERYONE)]

    for worth in (UNSHAPED, SHAPED):
        assert earned(end(Winner.WEREWOLVES), worth) == sides(1, -1)
        assert earned(end(Winner.VILLAGE), worth) == sides(-1, 1)
        assert earned(end(Winner.NOBODY), worth) == sides(0, 0)
    assert earned(night(pick(2), pick(2), 2), UNSHAPED) == sides(0, 0)
    assert earned(night(pick(2), pick(2), 2), RewardPoints(kill=0.5)) == sides(0.5, -0.5)


def test_an_environments_rewards_are_those_of_its_events() -> None:
    for seed in range(5):
        table = WerewolfAEC("doctor", shaping=True, text="none")
        table.reset(seed=seed)
        rng = np.random.default_rng(seed)
        total = dict.fromkeys(table.agents, 0.0)
        for agent in table.agent_iter():
            seen, reward, done, _, _ = table.last()
            total[agent] += reward
            table.step(None if done else int(rng.choice(np.flatnonzero(seen["action_mask"]))))
        assert table.played is not None
        found = gains(DOCTOR, table.played.log.events, SHAPED)
        wanted = [sum(gain.seats[seat] for gain in found) for seat in range(DOCTOR.players)]
        assert list(total.values()) == pytest.approx(wanted)


# -- the example ----------------------------------------------------------------------------


def test_the_example_runs() -> None:
    command = [sys.executable, str(EXAMPLE), "--games", "20", "--batch", "10", "--measured", "20"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("before: village win 0.")
    assert "after:  village win 0." in ran.stdout


def test_the_examples_update_raises_what_paid_off() -> None:
    """One update makes the action that earned more likelier, and never one that the mask rules out."""
    network = runpy.run_path(str(EXAMPLE))["Network"](3, 4, 8, np.random.default_rng(0))
    seen = np.tile(np.array([1.0, 0.5, -1.0]), (40, 1))
    masks = np.tile(np.array([True, True, True, False]), (40, 1))
    actions = np.arange(40) % 3
    returns = np.where(actions == 1, 1.0, -1.0)
    before = network.policy(seen[:1], masks[:1])[1][0]
    for _ in range(20):
        network.learn(seen, masks, actions, before[actions], returns)
    after = network.policy(seen[:1], masks[:1])[1][0]
    assert after[1] > before[1] + 0.01
    assert after[3] == before[3] == 0
    assert abs(network.value(seen[:1])[1][0] - returns.mean()) < 1
