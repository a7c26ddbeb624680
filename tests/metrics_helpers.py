"""Small scripted agents, and games played with them, so that every number is known by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wolflab.agents.base import IO, Invalid, Reply
from wolflab.match import Draws, Match, OpinionProbe, Player, Probe, StrawPoll, play, run_now
from wolflab.metrics import GameResult, MeasuringOptions, row_of
from wolflab.record import GameRecord, read_record
from wolflab.rules import (
    PASS,
    SHERIFF,
    Action,
    Ask,
    Ruleset,
    Said,
    Say,
    View,
    pick,
)
from wolflab.text.notes import Belief, Candidate, Content, Deduced, Mistake, Proposed, Rated
from wolflab.text.probes import PROBES
from wolflab.usage import CallTotals

ROLES_7 = ("Werewolf", "Villager", "Seer", "Villager", "Guard", "Villager", "Werewolf")
"""Seats 0 and 6 are Werewolves, 2 the Seer, 4 the Guard."""

ONE_DAY = SHERIFF.with_(sheriff="assigned", sheriff_death="stop", max_rounds=1)
"""002's heterogeneous game, one round."""

Script = Callable[[View, Ask, IO], Action | Invalid | Reply | None]


@dataclass(frozen=True)
class Scripted:
    """Asks its script; None falls back on harmless play (kill self, shield or see self, no vote)."""

    script: Script
    recipe: Any = "scripted"
    name: str = "scripted"
    instant: bool = True

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        answer = self.script(view, ask, io)
        if isinstance(answer, Reply):
            return answer
        if answer is not None:
            return Reply(answer)
        if ask.options is None:
            return Reply(Say("nothing to add"))
        return Reply(ask.options[-1] if ask.kind in ("vote", "elect") else _own(ask))

    def describe(self) -> dict[str, Any]:
        return {"recipe": self.recipe}


def _own(ask: Ask) -> Action:
    assert ask.options is not None
    mine = pick(ask.seat)
    return mine if mine in ask.options else ask.options[0]


class Fixed(Draws):
    """Draws whose cards and Sheriff are given; everything else by key."""

    def __init__(self, key: str, roles: Sequence[str], sheriff: int, ruleset: Ruleset) -> None:
        super().__init__(key)
        self.wanted = {f"0/deal/{seat}": role for seat, role in enumerate(roles)}
        self.left: dict[str, int] = dict(ruleset.roles)
        self.order = list(ruleset.roles)
        self.sheriff = sheriff

    def below(self, n: int, purpose: str) -> int:
        if purpose in self.wanted:
            role, point = self.wanted[purpose], 0
            for name in self.order:
                if name == role:
                    self.left[name] -= 1
                    return point
                point += self.left[name]
        if purpose.startswith("0/sheriff/"):
            return self.sheriff
        return super().below(n, purpose)


def game(
    script: Script,
    *,
    roles: Sequence[str] = ROLES_7,
    sheriff: int = 2,
    ruleset: Ruleset = ONE_DAY,
    probes: Sequence[Probe] = (StrawPoll(),),
    key: str = "0",
    models: Mapping[int, Any] | None = None,
) -> GameRecord:
    """Play one game with everybody scripted, and read it back from its lines."""

    def casting(dealing: Any) -> list[Player]:
        return [Player(Scripted(script), (models or {}).get(seat)) for seat in range(ruleset.players)]

    match = Match(
        ruleset, casting, Fixed(key, roles, sheriff, ruleset), Draws(key), {"condition": "x"}, tuple(probes)
    )
    played = run_now(play(match))
    assert played.writer is not None
    record = read_record(played.writer.game.lines, played.writer.probes.lines)
    assert record.roles == tuple(roles)
    return record


def seat_person(record: GameRecord, seat: int = 3) -> GameRecord:
    """The same game as one in which a person sat there."""
    record.header["players"][seat]["recipe"] = "person"
    return record


def done(
    record: GameRecord,
    deal_number: int = 0,
    condition: str = "x",
    asked: MeasuringOptions = MeasuringOptions(),  # noqa: B008 (frozen)
    calls: Mapping[str, CallTotals] | None = None,
    **fields: Any,
) -> GameResult:
    """A finished (or void) game around a record."""
    outcome = record.outcome
    status = "void" if outcome is not None and outcome.void else "done"
    row = row_of(record, asked, calls)
    return GameResult(condition, deal_number, 0, status, None, row, calls or {}, **fields)


def votes(straw: Mapping[int, int | None], real: Mapping[int, int | None], said: str = "") -> Script:
    """Everybody answers polls and votes from these tables; the Sheriff says `said`, others nothing."""

    def script(view: View, ask: Ask, io: IO) -> Action | None:
        if ask.kind == "vote":
            target = (straw if "/straw" in ask.id else real).get(ask.seat)
            return PASS if target is None else pick(target)
        if ask.kind == "statement":
            return Say(said)
        return None

    return script


def belief(target: int, m: int, role: str = "Villager", confidence: int | None = None) -> Belief:
    """A judgement whose reliability is m (as a non-Werewolf with that confidence, unless given)."""
    return Belief(target, role, m if confidence is None else confidence, m)


def deduced(*beliefs: Belief, final: bool = True) -> tuple[tuple[str, Content], ...]:
    """A note as a deductive agent leaves it."""
    return (("deduce", Deduced(tuple(beliefs), final)),)


# -- planted effects ------------------------------------------------------------------------------


def planted(
    obey: float, key: str, edge: float = 0.0, noise: float = 0.0, wise: float = 0.0, bad: float = 0.0
) -> Script:
    """Followers with a known chance to obey; everything else by draws that depend on `key` alone.

    obey: chance that a follower votes for the player whom the Sheriff names in words, instead of as it
    meant to. noise: chance that it changes its mind between two askings. edge: added to the
    reliability of the Sheriff (of 5, 6 or 7). wise: chance that a guess of a role is right, and
    that a village vote is for a Werewolf. bad: chance of an unusable reply to a vote.
    """
    draws = Draws(f"planted/{key}")

    def chance(p: float, what: str) -> bool:
        return draws.below(10_000, what) < round(p * 10_000)

    def meant(view: View, ask: Ask, moment: str) -> int:
        others = [seat for seat in view.facts.living if seat != ask.seat]
        when = f"{ask.round}/{ask.seat}" + (moment if chance(noise, f"n/{ask.id}{moment}") else "")
        suspects = [seat for seat in others if TRUTH[key][seat] == "Werewolf"]
        if suspects and TRUTH[key][ask.seat] != "Werewolf" and chance(wise, f"w/{when}"):
            return suspects[0]
        return others[draws.below(len(others), f"v/{when}")]

    def named(view: View) -> int | None:
        for event in reversed(view.events):
            if isinstance(event, Said) and " vote for " in event.text:
                return view.ruleset.seat(event.text.split()[-1].rstrip("."))
        return None

    def notes(view: View, ask: Ask) -> tuple[tuple[str, Content], ...]:
        leader = view.facts.sheriff
        found = []
        for seat in view.facts.living:
            if seat == ask.seat:
                continue
            what = f"{ask.id}/{seat}"
            right = chance(wise, f"g/{what}")
            role = TRUTH[key][seat] if right else ("Villager", "Seer", "Guard")[draws.below(3, f"r/{what}")]
            sure = 5 + draws.below(3, f"c/{what}") + (round(edge) if seat == leader else 0)
            m = 11 - sure if role == "Werewolf" else sure
            found.append(Belief(seat, role, sure, m))
        return deduced(*found)

    def script(view: View, ask: Ask, io: IO) -> Action | Invalid | Reply | None:
        if ask.kind == "kill":
            prey = [s for s in view.facts.living if TRUTH[key][s] != "Werewolf"]
            return pick(prey[draws.below(len(prey), f"kill/{ask.round}")])
        if ask.kind == "statement":
            leader = view.facts.sheriff
            if ask.seat == leader:
                return Say(f"I suggest we vote for {view.ruleset.names[meant(view, ask, '')]}.")
            return Say("I have nothing to report.")
        if ask.kind != "vote":
            return None
        if chance(bad, f"bad/{ask.id}"):
            return Reply(Invalid("prose"), (("act", Mistake("act", 0, "prose", "Well…")),))
        if "/straw" in ask.id:
            return Reply(pick(meant(view, ask, ask.id)), notes(view, ask))
        advice = named(view)
        leader = view.facts.sheriff
        if advice not in (None, ask.seat) and (ask.seat == leader or chance(obey, f"obey/{ask.id}")):
            return Reply(pick(advice), notes(view, ask))
        return Reply(pick(meant(view, ask, ask.id)), (*notes(view, ask), WEIGHED[ask.seat % 2]))

    return script


WEIGHED: tuple[tuple[str, Content], ...] = (
    ("propose", Proposed((Candidate("do not vote"), Candidate("vote for player_1")))),
    ("propose", Proposed((Candidate("do not vote"),), 2)),
)
"""Two candidates, as asked; one of two."""


TRUTH: dict[str, tuple[str, ...]] = {}
"""GameResult key → roles by seat, for the scripts (which play on the tables' orders, not on a view)."""


def run(condition: str, deals: int, repeats: int = 1, rounds: int = 3, **effects: float) -> list[GameResult]:
    """A condition's games with a planted effect: each deal a shuffled seating and a drawn Sheriff."""
    found = records(condition, deals, repeats, rounds, **effects)
    return [replace(done(record, deal, condition), repeat=repeat) for deal, repeat, record in found]


EVERY_OPINION = tuple(OpinionProbe(*probe[:3]) for probe in PROBES.values())


def opinions(view: View, ask: Ask, io: IO) -> Reply | None:
    """The Sheriff is believed 4 before and 6 after, others 5 and 5; everybody is thought to be a Villager."""
    if ask.kind not in ("rate", "guess"):
        return None
    others = [seat for seat in view.facts.living if seat != ask.seat]
    if ask.kind == "guess":
        return Reply(PASS, (("guess", Deduced(tuple(Belief(seat, "Villager", 0, 5) for seat in others))),))
    sheriff = 6 if ask.id.split("/")[1] == "rate" else 4
    return Reply(PASS, (("rate", Rated({seat: sheriff if seat == 2 else 5 for seat in others})),))


def records(
    condition: str, deals: int, repeats: int = 1, rounds: int = 3, asked: bool = False, **effects: float
) -> Iterator[tuple[int, int, GameRecord]]:
    """(deal, repeat, record) of the same. asked: every probe about the others is answered, too."""
    rules = ONE_DAY.with_(max_rounds=rounds)
    for number in range(deals):
        seats = Draws(f"seats/{number}")
        roles = list(ROLES_7)
        for k in range(6, 0, -1):
            j = seats.below(k + 1, f"swap/{k}")
            roles[k], roles[j] = roles[j], roles[k]
        sheriff = seats.below(7, "sheriff")
        for repeat in range(repeats):
            key = f"{condition}/{number}/{repeat}"
            TRUTH[key] = tuple(roles)
            acts = planted(key=key, **effects)
            record = game(
                (lambda *at, acts=acts: opinions(*at) or acts(*at)) if asked else acts,
                roles=roles,
                sheriff=sheriff,
                ruleset=rules,
                probes=(StrawPoll(times=2), *(EVERY_OPINION if asked else ())),
                key=key,
            )
            yield number, repeat, record
