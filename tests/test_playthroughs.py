"""The games printed in the papers, replayed decision by decision.

A file in ``playthroughs/`` holds who did what and what the moderator then announced. `Replay` answers
every ask of the engine from the file and compares every announcement with it. A decision in the file
that the engine never asks for fails, and so does an ask that the file has no decision for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from rules_helpers import Game
from wolflab.rules import (
    LEFT,
    NO,
    PASS,
    RIGHT,
    SILENCE,
    YES,
    Action,
    Ask,
    CandidatesNamed,
    DayBroke,
    Event,
    FirstSpeaker,
    GameEnded,
    Learned,
    Pick,
    Ruleset,
    Said,
    Say,
    SheriffNamed,
    SpeakersDrawn,
    VictimShown,
    VoteCounted,
    Voted,
    pick,
    preset,
)

FOLDER = Path(__file__).with_name("playthroughs")
FILES = sorted(FOLDER.glob("*.yaml"))
WORDS: dict[str, Action] = {"pass": PASS, "yes": YES, "no": NO, "left": LEFT, "right": RIGHT}
GIVEN = ("night", "elect", "votes", "succeed", "lead", "last_words", "statements", "candidates", "order")
ANNOUNCED = ("learned", "victim_shown", "see_options", "killed", "sheriff", "voted_out", "tied")


def load(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8") as file:
        loaded: dict[str, Any] = yaml.safe_load(file)
    return loaded


def ruleset(game: dict[str, Any]) -> Ruleset:
    return preset(game["preset"]).with_(**game.get("overrides", {}))


class Replay:
    """Plays one file; `run` gives the finished game."""

    def __init__(self, file: dict[str, Any]) -> None:
        self.file = file
        self.rules = ruleset(file)
        self.names = self.rules.names
        self.game = Game(self.rules, [file["roles"][name] for name in self.names])
        self.used: set[tuple[int, str, str]] = set()

    def run(self) -> Game:
        stop = self.file.get("stops_after")
        for drawn in self.file.get("speakers", []):
            self.game.reply([self.action(drawn)])
        for number, given in enumerate(self.file["rounds"], 1):
            start = len(self.game.log.events)
            last = stop == f"night {number}"
            while not self.game.over and self.game.asks[0].round == number:
                if last and self.game.asks[0].phase != "night":
                    break
                self.game.reply([self.decide(ask, given, number) for ask in self.game.asks])
            self.check(self.game.log.events[start:], given, last)
            self.check_all_used(given, number)
        return self.game

    def action(self, word: str) -> Action:
        return WORDS[word] if word in WORDS else pick(self.rules.seat(word))

    # -- answering ------------------------------------------------------------------------

    def decide(self, ask: Ask, given: dict[str, Any], number: int) -> Action:
        """The file's reply to `ask`."""
        who = self.names[ask.seat] if ask.seat >= 0 else "chance"
        if ask.options is None:
            return self.words(ask, who, given, number)
        if ask.kind == "candidate":
            return self.action(given["candidates"][int(ask.id.rsplit("/", 1)[1])])
        if ask.kind == "lead":
            return self.action(given["lead"])
        if ask.kind == "see" and "see_options" in given:
            assert [self.word(option) for option in ask.options] == given["see_options"]
        section = {"vote": "votes", "elect": "elect", "succeed": "succeed"}.get(ask.kind)
        table = given[section] if section else given["night"][ask.kind]
        self.used.add((number, section or ask.kind, who))
        return self.action(table[who])

    def words(self, ask: Ask, who: str, given: dict[str, Any], number: int) -> Action:
        if ask.kind == "last-words":
            self.used.add((number, "last_words", who))
            return Say(given["last_words"][who])
        where = {"statement": "discussion", "campaign": "election"}[ask.kind]
        spoken = given.get("statements", {}).get(where, {})
        if who not in spoken:
            return SILENCE
        self.used.add((number, where, who))
        return Say(spoken[who])

    def check_all_used(self, given: dict[str, Any], number: int) -> None:
        """Nothing in the file was left unasked."""
        assert set(given) <= {*GIVEN, *ANNOUNCED}, "unknown key in the file"
        tables = dict(given.get("night", {}))
        tables |= {k: given[k] for k in ("votes", "elect", "succeed", "last_words") if k in given}
        tables |= given.get("statements", {})
        missed = [
            (section, who)
            for section, table in tables.items()
            for who in table
            if (number, section, who) not in self.used
        ]
        assert not missed, f"round {number}: nobody asked for {missed}"

    # -- comparing ------------------------------------------------------------------------

    def word(self, action: Action) -> str:
        if isinstance(action, Pick):
            return self.names[action.seat]
        return next(word for word, known in WORDS.items() if known == action)

    def named(self, seats: Sequence[int]) -> list[str]:
        return [self.names[seat] for seat in seats]

    def check(self, events: Sequence[Event], given: dict[str, Any], only_night: bool) -> None:
        """Every announcement of the round, one by one, against the file."""
        seen = self.told(events)
        expected: dict[str, Any] = {"killed": given["killed"]}
        expected["learned"] = [[who, *what] for who, what in given.get("learned", {}).items()]
        expected["victim_shown"] = [list(pair) for pair in given.get("victim_shown", {}).items()]
        for key in ("candidates", "sheriff"):
            if key in given:
                expected[key] = given[key]
        if "votes" in given:
            assert not only_night
            order = given["order"]
            expected["voted_out"], expected["tied"] = given["voted_out"], given.get("tied", [])
            expected["speakers"] = order
            expected["eliminate"] = {w: None if t == "pass" else t for w, t in given["votes"].items()}
        if "lead" in given:
            expected["first_speaker"] = given["order"][0]
            expected["order"] = given["order"]
        if "elect" in given:
            expected["elect"] = {w: None if t == "pass" else t for w, t in given["elect"].items()}
        if "last_words" in given:
            expected["last_words"] = [list(pair) for pair in given["last_words"].items()]
        assert seen == expected

    def told(self, events: Sequence[Event]) -> dict[str, Any]:
        """The round's announcements in the file's words."""
        told: dict[str, Any] = {"learned": [], "victim_shown": []}
        for event in events:
            match event:
                case DayBroke():
                    told["killed"] = self.named(event.deaths)
                case Learned():
                    told["learned"].append([*self.named([event.seat, event.target]), event.what])
                case VictimShown():
                    told["victim_shown"].append(self.named([event.seat, event.victim]))
                case CandidatesNamed():
                    told["candidates"] = self.named(event.seats)
                case SheriffNamed():
                    told["sheriff"] = [self.names[event.seat], event.how]
                case FirstSpeaker():
                    told["first_speaker"] = self.names[event.seat]
                case SpeakersDrawn():
                    told["order"] = self.named(event.seats)
                case Said(where="discussion"):
                    told.setdefault("speakers", []).append(self.names[event.seat])
                case Said(where="last words"):
                    told.setdefault("last_words", []).append([self.names[event.seat], event.text])
                case Voted():
                    target = None if event.target is None else self.names[event.target]
                    told.setdefault(event.what, {})[self.names[event.voter]] = target
                case VoteCounted():
                    told["voted_out"] = None if event.seat is None else self.names[event.seat]
                    told["tied"] = self.named(event.tied)
        return told


def test_there_is_a_file_for_every_printed_game() -> None:
    assert len(FILES) == 5
    assert {load(path)["source"]["paper"] for path in FILES} == {"002", "003", "004"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_override_has_its_reason(path: Path) -> None:
    file = load(path)
    assert set(file.get("overrides", {})) == set(file.get("reasons", {}))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_playthrough(path: Path) -> None:
    file = load(path)
    game = Replay(file).run()
    ended = [event for event in game.log.events if isinstance(event, GameEnded)]
    if "stops_after" in file:
        assert not ended
    else:
        (end,) = ended
        assert (end.outcome.winner.name.lower(), end.outcome.reason.name.lower()) == (
            file["winner"],
            file["reason"],
        )


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("002-10.2-human-evaluation", lambda f: f["rounds"][0].update(killed=[])),
        ("002-10.2-human-evaluation", lambda f: f["rounds"][2].update(lead="left")),
        ("002-10.2-human-evaluation", lambda f: f["rounds"][1]["votes"].update(player_3="player_7")),
        ("003-A.7-complete-game", lambda f: f["rounds"][3]["night"].update(poison={"Player 6": "pass"})),
        ("003-A.7-complete-game", lambda f: f["rounds"][2].update(victim_shown={})),
        ("003-A.7-complete-game", lambda f: f["overrides"].pop("deaths")),
        ("004-I-werewolves-win", lambda f: f["rounds"][2].update(killed=["player_5"])),
        ("004-I-villagers-win", lambda f: f["rounds"][0].update(voted_out=None)),
    ],
)
def test_the_driver_notices_a_changed_file(path: str, change: Any) -> None:
    """A file that does not say what happens must fail, or the files would prove nothing."""
    file = load(FOLDER / f"{path}.yaml")
    change(file)
    with pytest.raises(AssertionError):
        Replay(file).run()


def test_the_papers_own_guard_rule_refuses_the_papers_own_game() -> None:
    """003: the printed game breaks the printed rule (same player on nights 3 and 4)."""
    file = load(FOLDER / "003-A.7-complete-game.yaml")
    del file["overrides"]["guard_may_repeat"]
    replay = Replay(file)
    asked: list[Ask] = []
    decide = replay.decide

    def watched(ask: Ask, given: dict[str, Any], number: int) -> Action:
        action = decide(ask, given, number)
        if not ask.allows(action):
            asked.append(ask)
            raise StopIteration
        return action

    replay.decide = watched  # type: ignore[method-assign]
    with pytest.raises(StopIteration):
        replay.run()
    assert [(ask.kind, ask.round) for ask in asked] == [("protect", 4)]
