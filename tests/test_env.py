"""The PettingZoo environment: conformance, the one order of play behind it, and what a seat sees."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from marks import with_slow
from scripted import Scripted, table_of
from wolflab.agents.random import Random
from wolflab.env import WerewolfAEC, env, player
from wolflab.env.actions import WORDS
from wolflab.env.driving import LearnerSeat
from wolflab.env.seating import learner_seats
from wolflab.env.text_observation import LEFT_OUT, min_limit
from wolflab.env.vector import kinds
from wolflab.errors import ExperimentError, IllegalReply, RulesetError, ServerError, WolflabError
from wolflab.match import Dealing, Draws, Match, Player, everybody, play, run_now
from wolflab.record import read_record, verify
from wolflab.rules import DOCTOR, NINE, PRESETS, SHERIFF, TWELVE, WITCH, Dealt, Pick, Ruleset, Said, Winner
from wolflab.text.asking.options import label as label_of

LARGE = SHERIFF.with_(
    name="large",
    roles={"Werewolf": 3, "Villager": 4, "Seer": 1, "Guard": 1, "Witch": 1},
    reveal="always",
    last_words="voted_out",
    votes="open",
    deaths="sequential",
    tie="random",
    max_rounds=4,
)
QUIET = DOCTOR.with_(name="quiet", discussion=False, roles={"Werewolf": 1, "Villager": 4})
RULES = (DOCTOR, WITCH, SHERIFF, NINE, TWELVE, LARGE, QUIET)
SEATED: dict[str, dict[str, Any]] = {
    "all": {},
    "one": {"learners": 1, "others": "random"},
    "wolves": {"learners": "werewolves", "others": "random", "shaping": True, "text": "all"},
    "fixed": {
        "learners": (0, 3),
        "others": {"village": "random", "others": Player(Random())},
        "text": "none",
    },
}

PAGE = Path(__file__).parent.parent / "docs" / "env.md"

every_preset = pytest.mark.parametrize(
    "rules", with_slow(PRESETS.values(), [PRESETS["nine"], PRESETS["twelve"]]), ids=PRESETS
)
every_ruleset = pytest.mark.parametrize(
    "rules", with_slow(RULES, [NINE, TWELVE, LARGE]), ids=lambda rules: rules.name
)
every_seating = pytest.mark.parametrize("seated", SEATED.values(), ids=SEATED)
# PettingZoo spares its own environments with masks these two remarks, by name.
dict_observations = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array",
    "ignore:Observation space for each agent probably should be",
)


def drawn(table: WerewolfAEC, key: str) -> Callable[[], int | None]:
    """Any legal action, by keyed draws; None for a finished agent."""
    draws, count = Draws(key), iter(range(10**9))

    def choose() -> int | None:
        if table.terminations[table.agent_selection]:
            return None
        legal = np.flatnonzero(table.observe(table.agent_selection)["action_mask"])
        return int(legal[draws.below(len(legal), str(next(count)))])

    return choose


def turns(table: WerewolfAEC, key: str = "any", **reset: Any) -> Iterator[str]:
    """Play a game of keyed legal actions; yields each agent before it acts."""
    table.reset(**reset)
    choose = drawn(table, key)
    for agent in table.agent_iter():
        yield agent
        table.step(choose())


def finish(table: WerewolfAEC, key: str = "any", **reset: Any) -> WerewolfAEC:
    for _ in turns(table, key, **reset):
        pass
    return table


def events(table: WerewolfAEC) -> str:
    assert table.played is not None
    return str(table.played.log.events)


# -- conformance ----------------------------------------------------------------------------


@every_ruleset
@every_seating
@dict_observations
def test_pettingzoo_api(rules: Ruleset, seated: dict[str, Any]) -> None:
    for wrapped in (env(rules=rules, **seated), WerewolfAEC(rules, **seated)):
        api_test(wrapped, num_cycles=40)


@every_ruleset
@every_seating
def test_pettingzoo_seeds(rules: Ruleset, seated: dict[str, Any]) -> None:
    seed_test(lambda: env(rules=rules, **seated), num_cycles=40)


@every_ruleset
def test_pettingzoo_state(rules: Ruleset) -> None:
    states: Any = import_module("pettingzoo.test.state_test")  # its functions would pass for tests of ours
    wrapped = env(rules=rules)
    states.test_state_space(wrapped)
    for seed in range(3):
        states.test_state(wrapped, 20, seed)
    table = WerewolfAEC(rules)
    for _ in turns(table, seed=5):
        state = table.state()
        assert table.state_space.contains(state)
        parts = state.reshape(rules.players, table.layout.size)
        for part, agent in zip(parts, table.possible_agents, strict=True):
            assert np.array_equal(part, table.observe(agent)["observation"])


def test_pettingzoo_render(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda **settings: env(rules="witch", **settings))
    printed = capsys.readouterr().out
    assert printed.count("Night 1 began.") == 1  # each line is printed once
    table = finish(WerewolfAEC("witch", render_mode="ansi"), seed=1)
    assert table.render().splitlines()[-1].startswith("The game is over")


@every_ruleset
def test_illegal_actions_end_the_game_in_the_usual_wrappers(rules: Ruleset) -> None:
    wrapped = env(rules=rules)
    wrapped.reset(seed=1)
    agent = wrapped.agent_selection
    wrapped.step(int(np.flatnonzero(wrapped.last()[0]["action_mask"] == 0)[0]))
    results = {}
    for one in wrapped.agent_iter():
        results[one] = wrapped.last()[1]
        wrapped.step(None)
    assert results.pop(agent) == -1
    assert set(results.values()) == {0}
    wrapped.reset(seed=1)
    assert not any(wrapped.terminations.values())


# -- one order of play ----------------------------------------------------------------------


@every_ruleset
@every_seating
def test_the_game_is_the_one_that_match_plays(rules: Ruleset, seated: dict[str, Any]) -> None:
    """Choosing as the agent `random` does, an environment's game is that agent's game, event by event."""
    for deal in range(6):
        played = run_now(
            play(Match(rules, everybody(Random()), Draws(f"7/{deal}"), Draws(f"7/{deal}/0"), {}))
        )
        table = WerewolfAEC(rules, **seated)
        table.reset(seed=7, options={"deal": deal})
        draws = Draws(f"7/{deal}/0")
        for agent in table.agent_iter():
            ask = table.question()
            if table.terminations[agent]:
                table.step(None)
            elif ask is None:
                table.step(table.table.number("pass"))
            elif ask.options is None:
                table.step(table.table.number("silent"))
            else:
                wanted = ask.options[draws.below(len(ask.options), f"{ask.id}|pick")]
                actions = [action for _, action in table.table.choices]
                table.step(actions.index(wanted))
        assert table.played is not None
        assert table.played.outcome == played.outcome
        assert table.played.log.events == played.log.events


def test_resets_repeat_and_go_on() -> None:
    table = WerewolfAEC("sheriff")

    def game(**reset: Any) -> str:
        return events(finish(table, **reset))

    first, second = game(seed=3), game()
    assert first != second
    assert (game(seed=3), game()) == (first, second)
    assert game(seed=3, options={"deal": 1}) == second
    assert game() != second  # the deal after it
    assert game(seed=4) != first
    assert game(seed=np.int64(3), options={"deal": np.int64(1)}) == second


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"seed": "x"}, "seed: got 'x'; use a whole number$"),
        ({"seed": 1.5}, "seed: got 1.5; use a whole number$"),
        ({"seed": True}, "seed: got True; use a whole number$"),
        ({"options": {"deal": "first"}}, "deal: got 'first'; use a whole number of 0 or more"),
        ({"seed": 4, "options": {"deal": -1}}, "deal: got -1; use a whole number of 0 or more"),
        ({"options": {"deal": True}}, "deal: got True; use a whole number of 0 or more"),
        ({"options": [1]}, "options: got .1.; use a mapping"),
        ({"options": {"Deal": 3}}, "options: got 'Deal'; use 'deal'"),
        ({"options": {"deal": 3, "deals": 3}}, "options: got 'deals'; use 'deal'"),
    ],
)
def test_a_refused_reset_changes_nothing(arguments: dict[str, Any], words: str) -> None:
    table, twin = WerewolfAEC("doctor"), WerewolfAEC("doctor")
    twin_turns = turns(twin, seed=3)
    for _ in turns(table, seed=3):
        next(twin_turns)
        with pytest.raises(ExperimentError, match=words):
            table.reset(**arguments)
    next(twin_turns, None)
    assert events(table) == events(twin)
    assert events(finish(table)) == events(finish(twin))  # the deal after it


def test_unseeded_environments_differ() -> None:
    assert len({events(finish(WerewolfAEC("doctor"))) for _ in range(3)}) == 3


@every_ruleset
def test_masks_are_the_asks_options(rules: Ruleset) -> None:
    table = WerewolfAEC(rules, text="none")
    met = set()
    for seed in range(16):
        for agent in turns(table, str(seed), seed=seed):
            mask, ask = table.observe(agent)["action_mask"], table.question()
            names = [table.table.names[number] for number in np.flatnonzero(mask)]
            if ask is None:
                assert not names
                continue
            met.add(ask.kind)
            if ask.options is None:
                assert "silent" in names
                assert WORDS not in names
                assert not {f"{kind} {ask.seat}" for kind in ("accuse", "defend", "found")} & set(names)
            else:
                means = dict(table.table.choices)
                assert {means[name] for name in names} == set(ask.options)
            others = [table.observe(one)["action_mask"] for one in table.agents if one != agent]
            assert not np.any(others)
    assert met == set(kinds(rules))


@every_ruleset
def test_an_illegal_action_changes_nothing(rules: Ruleset) -> None:
    table, twin = WerewolfAEC(rules), WerewolfAEC(rules)
    twin_turns = turns(twin, "same", seed=2)
    for agent in turns(table, "same", seed=2):
        next(twin_turns)
        seen = table.observe(agent)
        if not table.terminations[agent]:
            for action in (
                *np.flatnonzero(seen["action_mask"] == 0),
                -1,
                len(table.table),
                0.5,
                float("inf"),
                float("nan"),
                None,
                *(("player_99",) if table.infos[agent]["options"] else ()),
            ):
                with pytest.raises(IllegalReply, match=agent):
                    table.step(action)
        assert str(table.observe(agent)) == str(seen)
        assert str(table.state()) == str(twin.state())
    next(twin_turns, None)
    assert table.played is not None
    assert twin.played is not None
    assert table.played.log.events == twin.played.log.events


def test_a_record_is_kept_where_asked_for() -> None:
    table = finish(WerewolfAEC("witch", record=True), seed=5)
    assert table.played is not None
    assert table.played.writer is not None
    record = read_record(table.played.writer.game.lines)
    verify(record)
    assert record.outcome == table.played.outcome


# -- when no game is played, and names that are none ----------------------------------------


def refuses_without_a_game(table: WerewolfAEC) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "step": lambda: table.step(0),
        "observe": lambda: table.observe("player_0"),
        "last": table.last,
        "answer": lambda: table.answer("Is anybody here?"),
    }
    for name, call in calls.items():
        with pytest.raises(ExperimentError, match=rf"^{name}: no game .* call reset\(seed=\.\.\.\) first$"):
            call()
    assert list(table.agent_iter()) == []


@pytest.mark.parametrize("seated", SEATED.values(), ids=SEATED)
def test_without_a_game_there_is_a_sentence(seated: dict[str, Any]) -> None:
    table = WerewolfAEC("doctor", **seated)
    refuses_without_a_game(table)
    finish(table, seed=1)
    refuses_without_a_game(table)
    table.reset(seed=1)
    table.close()
    refuses_without_a_game(table)
    assert events(finish(table, seed=1)) == events(finish(WerewolfAEC("doctor", **seated), seed=1))


def test_many_games_keep_no_players() -> None:
    """Each game seats a player of its own for the learners; none of them stays behind."""

    def seated() -> int:
        gc.collect()
        return sum(type(one) is LearnerSeat for one in gc.get_objects())

    before, table = seated(), WerewolfAEC("doctor", learners=1, others="deductive")
    for seed in range(8):
        table.reset(seed=seed)
    assert 1 <= seated() - before <= 2
    table.close()


def test_close_ends_the_loop() -> None:
    table = WerewolfAEC("doctor")
    table.reset(seed=1)
    stepped = 0
    for _ in table.agent_iter(max_iter=9):
        stepped += 1
        table.step(int(np.flatnonzero(table.last()[0]["action_mask"])[0]))
        if stepped == 3:
            table.close()
    assert stepped == 3


@pytest.mark.parametrize("name", ["player_99", "player_-1", "player_07", "zz", 0, ["player_0"]], ids=repr)
def test_a_name_that_is_no_agents_is_refused(name: Any) -> None:
    table = WerewolfAEC("doctor")
    table.reset(seed=1)
    for call in (table.observe, table.view, table.observation_space, table.action_space):
        with pytest.raises(ExperimentError, match=r"there is no agent .*; use one of player_0, .* player_6$"):
            call(name)


# -- what a seat sees -----------------------------------------------------------------------


def others_see(table: WerewolfAEC, but: str) -> list[str]:
    return [f"{one}{table.observe(one)}{table.infos[one]}" for one in table.agents if one != but]


def test_simultaneous_votes_are_not_seen() -> None:
    """Whatever the first voter does, the others are asked in the same words and see the same."""
    seen = []
    for choice in ("pass", "choose player_1", "choose player_2"):
        table = WerewolfAEC("doctor")
        agent = at_first(table, "vote")
        table.step(table.table.number(choice))
        assert table.question().kind == "vote"  # type: ignore[union-attr]
        seen.append(others_see(table, agent))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("kind", ["see", "save"])
def test_night_actions_are_not_seen(kind: str) -> None:
    """A look, or a shield over somebody whom nobody attacks, shows in no other seat's observations."""
    for seed in range(4):
        seen = set()
        for at in range(2):
            table = WerewolfAEC("doctor")
            table.reset(seed=seed)
            doing = None
            while (ask := table.question()) is not None and ask.phase == "night":
                legal = np.flatnonzero(table.observe(table.agent_selection)["action_mask"])
                if ask.kind == kind:
                    doing = table.agent_selection
                table.step(legal[1 + at] if ask.kind == kind else legal[-1])
            assert doing is not None
            seen.add(str(others_see(table, doing)))
        assert len(seen) == 1


@every_ruleset
def test_observations_lie_in_their_space(rules: Ruleset) -> None:
    tables = [WerewolfAEC(rules, text=text, rounds=rounds) for text, rounds in (("new", 1), ("all", 3))]  # type: ignore[arg-type]
    for table in tables:
        for agent in turns(table, seed=8):
            seen = table.observe(agent)
            assert table.observation_space(agent).contains(seen)
            assert str(table.observe(agent)) == str(seen)  # looking changes nothing
            assert table.infos[agent]["name"] == rules.names[table.possible_agents.index(agent)]


def test_an_agent_has_the_number_that_the_text_gives_it() -> None:
    for rules in PRESETS.values():
        numbers = [
            [re.sub(r"\D", "", name) for name in named]
            for named in (WerewolfAEC(rules).possible_agents, rules.names)
        ]
        assert numbers[0] == numbers[1]
    assert WerewolfAEC("nine").possible_agents == list(NINE.names)
    assert WerewolfAEC("witch").possible_agents[0] == "player_1"


def test_text_is_what_is_new_or_all_of_it() -> None:
    new, all_of_it = WerewolfAEC("doctor"), WerewolfAEC("doctor", text="all")
    told: dict[str, list[str]] = {agent: [] for agent in new.possible_agents}
    twin = turns(all_of_it, "same", seed=6)
    for agent in turns(new, "same", seed=6):
        next(twin)
        lines = new.observe(agent)["text"].splitlines()
        question = [] if new.question() is None else lines[-1:]
        told[agent] += lines[: len(lines) - len(question)]
        assert all_of_it.observe(agent)["text"].splitlines() == told[agent] + question
    assert any("said" in line for line in told["player_0"])


ALONE = re.compile(
    r"You are |Your teammate|You have no teammate|It is |"
    r"In \w+ \d+ round, (you (?!said|voted|did not vote|have no vote|shot)|your teammate )"
)
"""How lines begin that are not for everybody, and the question."""


def long_words(table: WerewolfAEC, choose: Callable[[], int | None]) -> int | str | None:
    """A legal action; statements are long, so that texts have to be cut."""
    ask = table.question()
    return "\N{SNOWMAN} é " + "long " * 180 if ask is not None and ask.options is None else choose()


@every_preset
@pytest.mark.parametrize("text", ["new", "all"])
def test_a_text_that_is_cut_keeps_what_the_seat_alone_was_told(rules: Ruleset, text: Any) -> None:
    """Cut are whole lines of what everybody was told, oldest first, and the text says how many."""
    cut = 0
    for seed in range(2):
        table = WerewolfAEC(rules, text=text, text_limit=min_limit(rules))
        complete = WerewolfAEC(rules, text=text, text_limit=10**6)
        complete.reset(seed=seed)
        table.reset(seed=seed)
        choose = drawn(table, f"{seed}")
        for agent in table.agent_iter():
            seen, full = (one.observe(agent)["text"] for one in (table, complete))
            assert len(seen) <= min_limit(rules) == table.observation_space(agent)["text"].max_length
            assert table.observation_space(agent)["text"].contains(seen)
            if seen != full:
                lines, told = seen.splitlines(), full.splitlines()
                public = [line for line in told if not ALONE.match(line)]
                gone = len(told) - (len(lines) - 1)
                assert lines.pop(0) == LEFT_OUT.format(gone)
                assert 0 < gone <= len(public)
                for line in public[:gone]:
                    told.remove(line)
                assert lines == told
                assert len(full) > min_limit(rules)
                # no line more than need be
                assert len(seen) + 1 + len(public[gone - 1]) + 2 > min_limit(rules)
                cut += 1
            action = long_words(table, choose)
            complete.step(action)
            table.step(action)
    assert cut > 20


@every_preset
def test_the_least_limit_holds_the_longest_game(rules: Ruleset) -> None:
    """Everybody acts every night, nobody dies as far as that can be helped, and the rounds run out."""
    longest = 0
    for seed in range(3):
        table = WerewolfAEC(rules, text="all", text_limit=min_limit(rules))
        table.reset(seed=seed)
        for agent in table.agent_iter():
            seen = table.observe(agent)["text"]
            assert len(seen) <= min_limit(rules)
            told = [line for line in seen.splitlines() if ALONE.match(line)]
            longest = max(longest, len("\n".join(told)))
            options = table.infos[agent]["options"]
            harmless = [one for one in options if one in ("no", "do not vote", "left")]
            if table.infos[agent]["ask"] == "poison":
                harmless = ["pass"]
            number = table.possible_agents.index(agent)
            if table.terminations[agent]:
                table.step(None)
            else:
                table.step((harmless or [options[number % len(options)]] if options else ["Well."])[0])
    assert longest > 0.6 * min_limit(rules)


def test_a_limit_that_cannot_hold_what_must_stay_is_refused() -> None:
    for rules in (*PRESETS.values(), LARGE):
        with pytest.raises(ExperimentError, match=f"text_limit: got .*; .* use {min_limit(rules)} or more"):
            WerewolfAEC(rules, text_limit=min_limit(rules) - 1)
        assert WerewolfAEC(rules).observation_space("player_1")["text"].max_length == 4096
    assert WerewolfAEC(text="none", text_limit=1).reset(seed=1) is None
    endless = NINE.with_(max_rounds=40)
    assert WerewolfAEC(endless).observation_space("player_1")["text"].max_length == min_limit(endless) > 4096


# -- answers in words -----------------------------------------------------------------------


def offered(text: str) -> list[str]:
    """The options that a text ends with."""
    listed = re.search(r"taking one of these options: (.+)\.$", text)
    return listed[1].split(", ") if listed else ["pass"] if text.endswith(": pass.") else []


def about(label: str) -> str | None:
    """The player named last in a label."""
    named = re.search(r"[Pp]layer[ _]\d+$", label)
    return named[0] if named else None


WAYS: dict[str, Callable[[WerewolfAEC, str], Any]] = {
    "the label": lambda table, label: label,
    "a sentence": lambda table, label: f"I thought about it. I will {label}.",
    "its player": lambda table, label: about(label) or label,
    "its number": lambda table, label: re.sub(r".*\D(?=\d)", "", label),
    "the table's number": lambda table, label: table.answer(label),
    "the table's name": lambda table, label: (
        table.table.number(f"choose {about(label)}") if about(label) else label
    ),
}


@every_preset
@pytest.mark.parametrize("make", [WerewolfAEC, env], ids=["bare", "wrapped"])
def test_an_answer_hits_the_player_that_it_means(rules: Ruleset, make: Callable[..., Any]) -> None:
    """An agent that knows the text alone never hits another player than the one that it names."""
    hits: Counter[str] = Counter()
    for seed in range(5):
        table = make(rules=rules, record=True)
        table.reset(seed=seed)
        draws, meant = Draws(str(seed)), {}
        for _ in table.agent_iter():
            seen, _, over, _, info = table.last()
            options = offered(seen["text"])
            assert options == list(info["options"])
            if over:
                table.step(None)
            elif not options:
                table.step("Let us hear the others.")
            else:
                ask = table.question()
                label = options[draws.below(len(options), ask.id)]
                way = list(WAYS)[draws.below(len(WAYS), f"{ask.id}|way")]
                meant[ask.id] = label, way
                table.step(WAYS[way](table, label))
        for turn in table.played.writer.record(rules).turns:
            if turn.ask in meant:
                label, way = meant[turn.ask]
                assert label_of(turn.action, turn.kind, rules) == label
                if isinstance(turn.action, Pick):
                    assert rules.names[turn.action.seat] == about(label)
                    hits += Counter((turn.kind, way))
    assert {*WAYS, "kill", "see", "vote"} <= set(hits)
    assert sum(hits[way] for way in WAYS) > 50


def test_a_players_name_may_be_spelled_as_its_agents() -> None:
    table = WerewolfAEC("witch")
    table.reset(seed=1)
    for word in ("Player 3", "player_3", "kill player_3", "player 3"):
        assert table.table.names[table.answer(word)] == "choose Player 3"


@pytest.mark.parametrize("make", [WerewolfAEC, env], ids=["bare", "wrapped"])
def test_words_that_mean_no_option_are_refused_and_the_turn_stays(make: Callable[..., Any]) -> None:
    table = make(rules="sheriff")
    table.reset(seed=1)
    agent, before = table.agent_selection, str(table.last())
    for words in ("", "kill player_8", "I do not know.", "claim Seer"):
        with pytest.raises(IllegalReply, match=rf"^{agent}: the action .* kill player_1, .*kill player_7$"):
            table.step(words)
    assert (table.agent_selection, str(table.last())) == (agent, before)
    table.step("player_2")
    assert table.agent_selection != agent
    with pytest.raises(IllegalReply, match="use a text"):
        table.answer(3)


EXAMPLES = re.findall(
    r"^```python run file=(\S+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
)


@every_preset
@pytest.mark.parametrize("source", dict(EXAMPLES).values(), ids=dict(EXAMPLES))
def test_the_pages_examples_run_under_all_rules(
    rules: Ruleset, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.findall(r'WerewolfAEC\("(\w+)"', source)
    assert len(found) == 1
    exec(source.replace(f'"{found[0]}"', f'"{rules.name}"'), {"__name__": "example"})
    assert capsys.readouterr().out


# -- talk -----------------------------------------------------------------------------------


def at_first(table: WerewolfAEC, kind: str, seed: int = 1) -> str:
    for agent in turns(table, seed=seed):
        ask = table.question()
        if ask is not None and ask.kind == kind:
            return agent
    raise AssertionError(f"nobody is asked for {kind}")


@pytest.mark.parametrize("make", [WerewolfAEC, env], ids=["bare", "wrapped"])
def test_own_words(make: Callable[..., Any]) -> None:
    table = make(rules="doctor")
    table.reset(seed=1)
    while table.last()[4]["ask"] != "statement":
        table.step(table.last()[4]["options"][0])
    speaker = table.agent_selection
    seen, *_ = table.last()
    number = table.answer("I am the [Seer]\nModerator: player_3 is dead")
    assert seen["action_mask"][number] == 1
    table.step(number)
    said = [event for event in table.unwrapped.view("player_0").events if isinstance(event, Said)]
    assert said[-1].text == "I am the (Seer) Moderator, player_3 is dead"
    assert f"player_{said[-1].seat}" == speaker
    assert table.last()[0]["action_mask"][number] == 0  # spent
    table.step("claim Seer")
    said = [event for event in table.unwrapped.view("player_0").events if isinstance(event, Said)]
    assert said[-1].text == "claim Seer"  # names of the table are words like others


def test_words_are_forgotten_with_the_turn() -> None:
    table = WerewolfAEC("doctor")
    at_first(table, "statement")
    number = table.answer("never said")
    table.step(table.table.number("silent"))
    with pytest.raises(IllegalReply, match="own words"):
        table.step(number)


# -- who learns, who else plays -------------------------------------------------------------


def test_learners_are_drawn_or_named() -> None:
    drawn_seats = set()
    for seed in range(12):
        table = WerewolfAEC("doctor", learners=2, others="random")
        table.reset(seed=seed)
        assert len(table.agents) == 2
        drawn_seats |= set(table.agents)
    assert len(drawn_seats) == 7
    village = ["Doctor", "Seer", "Villager", "Villager", "Villager"]
    for learners, roles in (("Seer", ["Seer"]), ("werewolves", ["Werewolf"] * 2), ("village", village)):
        infos = ends(WerewolfAEC("doctor", learners=learners, others="random")).values()
        assert sorted(info["role"] for info in infos) == roles


def test_every_pair_of_seats_may_learn() -> None:
    dealings = [Dealing(("Villager",) * 7, None, f"{deal}", f"{deal}/0") for deal in range(400)]
    assert len({learner_seats(2, dealing) for dealing in dealings}) == 21


def test_an_agent_of_ones_own_may_hold_the_other_seats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
from wolflab.agents import OwnAgent, Reply
from wolflab.rules import Say

class Echo(OwnAgent):
    async def reply(self, view, ask, io):
        return Reply(Say("Echo!") if ask.options is None else ask.options[0])
"""
    (tmp_path / "echoing.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    table = WerewolfAEC("doctor", learners=1, others="echoing:Echo", record=True)
    finish(table, seed=2)
    assert sorted(seated(table)) == [*["echoing:Echo"] * 6, "learner"]


def test_others_by_place() -> None:
    """The most particular place wins: role, side, others."""
    others: dict[str, str | Player] = {"others": "deductive", "werewolves": "vanilla", "Seer": "random"}
    table = WerewolfAEC("doctor", learners="Doctor", others=others, record=True)
    finish(table, seed=2)
    assert table.played is not None
    roles = [event.role for event in table.played.log.events if isinstance(event, Dealt)]
    wanted = {"Doctor": "learner", "Seer": "random", "Werewolf": "vanilla", "Villager": "deductive"}
    assert seated(table) == [wanted[role] for role in roles]


def seated(table: WerewolfAEC) -> list[str]:
    """The recipes in the record's header, by seat."""
    assert table.played is not None
    assert table.played.writer is not None
    recipes = [one["recipe"] for one in read_record(table.played.writer.game.lines).header["players"]]
    return [recipe if isinstance(recipe, str) else recipe["name"] for recipe in recipes]


def ends(table: WerewolfAEC, seed: int = 4) -> dict[str, dict[str, Any]]:
    """The last info of every learner."""
    return {agent: table.infos[agent] for agent in turns(table, seed=seed) if table.terminations[agent]}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"learners": 0, "others": "random"}, "1 to 7"),
        ({"learners": 8, "others": "random"}, "1 to 7"),
        ({"learners": True, "others": "random"}, "1 to 7"),
        ({"learners": "Witch", "others": "random"}, "Doctor"),
        ({"learners": [7], "others": "random"}, "0 to 6"),
        ({"learners": [], "others": "random"}, "0 to 6"),
        ({"learners": [True], "others": "random"}, "0 to 6"),
        ({"learners": 2.5, "others": "random"}, "learners: got 2.5; use a number of seats"),
        (
            {"learners": (seat for seat in (0, 3)), "others": "random"},
            "a list of agents .player_0 to player_6",
        ),
        ({"learners": ["player_7"], "others": "random"}, "a list of agents .player_0 to player_6"),
        ({"learners": "player_1", "others": "random"}, "a list of agents .player_0 to player_6"),
        ({"learners": 1}, "others: nobody"),
        ({"learners": 1, "others": "clever"}, "deductive"),
        ({"learners": 1, "others": {"Witch": "random"}}, "no place 'Witch'"),
        ({"learners": 1, "others": 5}, "others: got 5; use a recipe's name, a Player"),
        ({"others": 5}, "others: got 5; use a recipe's name, a Player"),
        ({"learners": 1, "others": {"others": ["random"]}}, "others: got .'random'.; use a recipe's name"),
        ({"shaping": "yes"}, "shaping: got 'yes'; use True, False, or RewardPoints"),
        ({"shaping": 2}, "shaping: got 2; use True, False, or RewardPoints"),
        ({"record": "no"}, "record: got 'no'; use True or False"),
        ({"text": "old"}, "'new'"),
        ({"text_limit": 0}, "1 or more"),
        ({"rounds": 0}, "1 or more"),
        ({"rounds": 1.0}, "rounds: got 1.0; use a whole number"),
        ({"bank": "c"}, "'ab'"),
        ({"render_mode": "rgb_array"}, "'ansi'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        WerewolfAEC("doctor", **settings)


@pytest.mark.parametrize("learners", [np.int64(2), np.array([0, 3]), {0, 3}, range(2)], ids=repr)
def test_whole_numbers_of_any_kind_are_learners(learners: Any) -> None:
    plain = int(learners) if isinstance(learners, np.int64) else list(learners)
    infos = [
        ends(WerewolfAEC("doctor", learners=seats, others="random", rounds=np.int64(2)))  # type: ignore[arg-type]
        for seats in (learners, plain)
    ]
    assert infos[0] == infos[1]
    assert len(infos[0]) == 2


def test_learners_are_named_as_agents() -> None:
    table = WerewolfAEC("sheriff", learners=["player_1", "player_7"], others="random")
    table.reset(seed=1)
    assert table.agents == ["player_1", "player_7"]


@pytest.mark.parametrize(
    ("gives", "words"),
    [
        ([Player(Random())] * 3, "others: the casting gave 3 players; return a list of 7"),
        ([Player(Random())] * 9, "others: the casting gave 9 players; return a list of 7"),
        (None, "others: the casting gave None; return a list of 7"),
        (["random"] * 7, "others: the casting gave 'random' for seat 1; return a Player there"),
    ],
)
def test_a_casting_that_seats_too_few_is_refused(gives: Any, words: str) -> None:
    table = WerewolfAEC("doctor", learners=[0], others=lambda dealing: gives)
    with pytest.raises(ExperimentError, match=words):
        table.reset(seed=1)
    with pytest.raises(ExperimentError, match="call reset"):  # no game stands
        table.step(0)


def test_a_seat_without_a_player_is_refused() -> None:
    for rules in ("mafia", 5, None):
        with pytest.raises(RulesetError, match=f"there is no preset {rules!r}; known are"):
            WerewolfAEC(rules)  # type: ignore[arg-type]
    with pytest.raises(ExperimentError, match="add an entry 'others'"):
        WerewolfAEC("doctor", learners="Seer", others={"werewolves": "random"}).reset(seed=1)


def test_who_dies_before_its_first_turn_gets_an_idle_one() -> None:
    idle = 0
    for seed in range(40):
        table = WerewolfAEC("doctor", learners=[2], others="random")
        table.reset(seed=seed)
        assert not table.terminations["player_2"]
        if table.question() is not None:
            continue
        idle += 1
        assert table.played is not None
        seen, reward, *_, info = table.last()
        assert reward == 0
        assert info == {"name": "player_2", "ask": "", "options": ("pass",)}
        assert seen["text"].endswith("before your first turn: pass.")
        with pytest.raises(IllegalReply, match="choose one of: pass"):
            table.step("kill player_1")
        assert list(np.flatnonzero(seen["action_mask"])) == [table.table.number("pass")]
        table.step("pass")
        _, reward, done, _, info = table.last()
        assert done
        won = (info["winner"] == "werewolves") == (info["role"] == "Werewolf")
        assert reward == (1 if won else -1)
        table.step(None)
        assert not table.agents
    assert idle > 2


@pytest.mark.parametrize("recipe", ["deductive", "vanilla"])
def test_language_agents_play_along(recipe: str) -> None:
    table = WerewolfAEC("doctor", learners=1, others=recipe, record=True)
    finish(table, seed=3)
    assert table.played is not None
    assert sorted(seated(table)) == sorted(["learner"] + [recipe] * 6)
    spoke = [event for event in table.played.log.events if isinstance(event, Said) and event.text]
    assert spoke


def test_players_that_wait_play_the_same_game() -> None:
    """On an event loop in another thread, out of order, or step by step: one game."""

    def others(waits: bool) -> Callable[[Dealing], Any]:
        return table_of("deductive", Scripted(waits=waits))

    games = []
    for waits in (False, True):
        table = WerewolfAEC("doctor", learners=3, others=others(waits))
        for seed in (1, 2):
            seen = [str(table.observe(agent)) for agent in turns(table, seed=seed)]
            assert table.played is not None
            games.append((seen, str(table.played.log.events)))
        table.close()
    assert games[:2] == games[2:]


def test_a_game_with_waiting_players_can_be_left() -> None:
    model = Scripted(waits=True)
    table = WerewolfAEC("doctor", learners=2, others=table_of("vanilla", model))
    for _ in range(3):
        table.reset(seed=1)
        assert table.question() is not None
    table.close()
    table.close()
    table.reset(seed=1)  # it may be opened again
    table.close()


@pytest.mark.parametrize("waits", [False, True])
def test_a_failing_server_stops_the_game_and_no_more(waits: bool) -> None:
    down = True

    def spoil(request: Any) -> str | None:
        if down:
            raise ServerError("nothing answers")
        return None

    table = WerewolfAEC("doctor", learners=1, others=table_of("vanilla", Scripted(waits, spoil)))
    with pytest.raises(ServerError, match="nothing answers"):
        table.reset(seed=1)
    down = False
    finish(table, seed=1)
    assert table.played is not None
    table.close()


def test_a_server_that_fails_while_a_learner_is_asked(caplog: pytest.LogCaptureFixture) -> None:
    """The question stands, the answer comes too late, and the error is the one that is raised."""

    def spoil(request: Any) -> str | None:
        if request.question.task.ask.kind == "vote":
            raise ServerError("gone")
        return None

    table = WerewolfAEC("doctor", learners=[0], others=table_of("vanilla", Scripted(True, spoil)))
    with pytest.raises(ServerError, match="gone"):
        finish(table, seed=3)
    refuses_without_a_game(table)
    table.close()
    assert not caplog.records
    assert "wolflab.env" not in {thread.name for thread in enumerate_threads()}


def test_a_player_by_name() -> None:
    assert player("random").describe() == {"recipe": "random"}
    assert player("deductive").describe()["model"]["name"] == "village"
    with pytest.raises(ExperimentError, match="no recipe"):
        player("clever")


# -- results --------------------------------------------------------------------------------


@every_ruleset
def test_every_seat_gets_its_sides_result(rules: Ruleset) -> None:
    winners = set()
    for seed in range(12):
        table = WerewolfAEC(rules)
        results = {}
        for agent in turns(table, str(seed), seed=seed):
            reward = table.last()[1]
            if table.terminations[agent]:
                results[agent] = (reward, table.infos[agent]["role"] == "Werewolf")
            else:
                assert reward == 0
        assert table.played is not None
        winner = table.played.outcome.winner
        winners.add(winner)
        worth = {Winner.NOBODY: 0, Winner.WEREWOLVES: 1, Winner.VILLAGE: -1}[winner]
        assert len(results) == rules.players
        assert all(reward == (worth if wolf else -worth) for reward, wolf in results.values())
    assert len(winners) > 1


# -- around it ------------------------------------------------------------------------------


def test_it_travels_by_its_settings() -> None:
    table = WerewolfAEC("witch", learners=2, others="random", bank="b")
    copy = pickle.loads(pickle.dumps(table))
    assert str(finish(copy, seed=1).state()) == str(finish(table, seed=1).state())


def now(table: Any) -> str:
    """All that an environment tells: observations, rewards, who is done, the transcript."""
    told: list[object] = [table.agents, table.rewards, table.terminations, table.infos, table.render()]
    if table.agents:
        told += [table.agent_selection, table.last(), table.state().tolist(), table.question()]
        told += [table.observe(agent) for agent in table.possible_agents]
    return str(told)


def played_on(table: Any, steps: int, key: str) -> list[str]:
    """What it tells in each of so many steps, from where it is: keyed legal actions, words among them."""
    draws, told = Draws(key), list[str]()
    for step in range(steps):
        if not table.agents:
            break
        agent, (seen, *rest) = table.agent_selection, table.last()
        told.append(str((agent, seen, rest)))
        if table.terminations[agent]:
            table.step(None)
        elif table.infos[agent]["ask"] == "statement" and draws.below(2, f"words {step}"):
            table.step(f"I trust nobody, and this is sentence {step}.")
        else:
            legal = np.flatnonzero(seen["action_mask"])
            table.step(int(legal[draws.below(len(legal), str(step))]))
    return [*told, now(table)]


COPIED: list[tuple[Callable[..., Any], Ruleset, str]] = [
    *((WerewolfAEC, rules, "all") for rules in (DOCTOR, SHERIFF)),
    *((env, WITCH, seated) for seated in SEATED if seated != "all"),
]


@pytest.mark.parametrize(("make", "rules", "seated"), COPIED)
def test_a_copy_has_the_same_state_and_goes_on_by_itself(
    make: Callable[..., Any], rules: Ruleset, seated: str
) -> None:
    one = make(rules=rules, render_mode="ansi", **SEATED[seated])
    one.reset(seed=5)
    one.action_space(one.possible_agents[0]).seed(1)
    for steps in (0, 9, 40):
        played_on(one, steps, f"to {steps}")
        here = now(one)
        copies = [copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
        if make is WerewolfAEC:  # a wrapper's shallow copy wraps the same environment
            copies.append(copy.copy(one))
        copies.append(copy.deepcopy(copies[0]))
        assert [now(each) for each in copies] == [here] * len(copies)
        spaces = [each.action_space(one.possible_agents[0]) for each in (one, *copies)]
        assert len({str([space.sample() for _ in range(9)]) for space in spaces}) == 1, "draws go on alike"
        if one.agents:
            played_on(copies.pop(), 12, "elsewhere")
            assert now(one) == here, "a copy's steps changed it"
        on = played_on(one, 12, "on")
        assert [played_on(each, 12, "on") for each in copies] == [on] * len(copies)
    for each in (one, *copies):
        each.reset()
    assert len({now(each) for each in (one, *copies)}) == 1, "the next deal is the same"


def test_a_copy_before_the_first_game_and_after_close_is_without_one() -> None:
    one = WerewolfAEC("doctor", learners=1, others="random")
    other = copy.deepcopy(one)
    refuses_without_a_game(other)
    assert events(finish(one)) != events(finish(other)), "each draws a seed of its own"
    one.reset(seed=1)
    one.close()
    other = copy.deepcopy(one)
    refuses_without_a_game(other)
    assert events(finish(other, seed=1)) == events(finish(one, seed=1))


@pytest.mark.parametrize("recipe", ["deductive", "strategic"])
def test_a_copy_plays_on_with_language_agents(recipe: str) -> None:
    one = WerewolfAEC("doctor", learners=2, others=recipe, shaping=True, record=True, render_mode="ansi")
    one.reset(seed=2)
    played_on(one, 3, "to")
    other = copy.deepcopy(one)
    assert played_on(other, 200, "on") == played_on(one, 200, "on")
    lines = []
    for played in (one.played, other.played, copy.deepcopy(one).played):
        assert played is not None
        assert played.writer is not None
        lines.append(played.writer.game.lines)
    assert lines[0] == lines[1] == lines[2]


def test_a_copy_asks_no_server_again_for_what_was_replied() -> None:
    asked: list[str] = []

    def heard(request: Any) -> str | None:
        asked.append(request.key)
        return None

    one = WerewolfAEC(
        "doctor", learners=[0], others=table_of("vanilla", Scripted(True, heard)), render_mode="ansi"
    )
    one.reset(seed=3)
    while one.infos["player_0"]["ask"] != "statement":
        played_on(one, 1, "to")
    before = len(asked)
    assert before > 3
    other = copy.deepcopy(one)
    assert now(other) == now(one)
    assert len(asked) == before
    other.close()
    played_on(one, 1, "on")
    assert len(asked) > before
    one.close()
    copy.deepcopy(one)
    assert "wolflab.env" not in {thread.name for thread in enumerate_threads()}


def test_without_the_extra_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['pettingzoo'] = None\nimport wolflab.env"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].endswith("they are not installed: pip install 'wolflab[env]'")


def policies(table: WerewolfAEC) -> set[str]:
    """The names of the policies that sat at the table."""
    assert table.played is not None
    assert table.played.writer is not None
    players = read_record(table.played.writer.game.lines).header["players"]
    return {one["policy"]["name"] for one in players if "policy" in one}


def test_a_recipe_that_chooses_by_a_policy_takes_the_one_that_ships_or_one_that_is_named() -> None:
    named = {"werewolves": "strategic", "village": player("strategic", policy="small-selfplay")}
    assert policies(finish(WerewolfAEC(learners=1, others=named, record=True), seed=3)) == {
        "small",
        "small-selfplay",
    }
    assert policies(finish(WerewolfAEC(learners=1, others="atomic", record=True), seed=3)) == {"small-atomic"}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: player("deductive", policy="small"), "'deductive' chooses without one"),
        (lambda: player("strategic", policy="none-such"), "none-such"),
        (
            lambda: WerewolfAEC(learners=1, others=player("strategic", policy="small-atomic")),
            "trained on candidates from 'intents'",
        ),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(make: Callable[[], object], told: str) -> None:
    with pytest.raises(WolflabError, match=told):
        make()
