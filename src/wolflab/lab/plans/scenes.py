"""Scenes: situations in which a decision is studied, in many variants of seats and wording (004 Fig. 4).

A scene sets the names of the players and scripts the replies of some seats to some asks, by the cards and
keyed draws. Everything else is played as usual. So a scene is recorded, resumed and verified like any game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

from ...match import Dealing, Draws
from ...rules import ROLES, Action, Ruleset, Say, pick

Lines = Mapping[int, Mapping[str, Action]]
"""Seat → ask id → the scripted reply."""


def two_seers(ruleset: Ruleset, dealing: Dealing) -> Lines:
    """Day 1 with two self-proclaimed Seers: the Seer reports a Werewolf that it found, and a Werewolf
    counters.

    The pack kills a Villager, and a Doctor saves itself, so that somebody dies. The Seer found the Werewolf
    that also claims to be the Seer, and accuses it; the later speaker of the two counters. All others say
    nothing important. The vote of day 1 is studied. The Werewolf, the victim and every wording are drawn by
    the deal.
    """
    draws = Draws(f"{dealing.deal}/two-seers")
    seats = range(len(dealing.roles))
    wolves = [seat for seat in seats if ROLES[dealing.roles[seat]].wolf]
    seer = dealing.roles.index("Seer")
    liar = wolves[draws.below(len(wolves), "liar")]
    villagers = [seat for seat in seats if ROLES[dealing.roles[seat]].plain]
    victim = villagers[draws.below(len(villagers), "victim")]
    name = ruleset.names
    lines: dict[int, dict[str, Action]] = {seat: {} for seat in seats}
    for wolf in wolves:
        lines[wolf][f"1/kill/{wolf}"] = pick(victim)
    lines[seer][f"1/see/{seer}"] = pick(liar)
    for seat in seats:
        for duty in ROLES[dealing.roles[seat]].duties:
            if duty.shields:
                lines[seat][f"1/{duty.kind}/{seat}"] = pick(seat)
        part, about = ("other", "")
        if seat == seer:
            part, about = ("seer" if seer < liar else "counter", name[liar])
        elif seat == liar:
            part, about = ("seer" if liar < seer else "counter", name[seer])
        lines[seat][f"1/statement/{seat}"] = Say(_line(part, about, draws, seat))
    return lines


def first_night(ruleset: Ruleset, dealing: Dealing) -> Lines:
    """The first night, before anybody has spoken: no reply is scripted. See `ruleset_of_deal`."""
    return {seat: {} for seat in range(len(dealing.roles))}


@dataclass(frozen=True, slots=True)
class Scene:
    """lines: the scripted replies. needs: required roles. renames: the players get other names in every deal
    (`ruleset_of_deal`).
    """

    lines: Callable[[Ruleset, Dealing], Lines]
    needs: tuple[str, ...] = ()
    renames: bool = False


SCENES: Mapping[str, Scene] = {
    "first-night": Scene(first_night, renames=True),
    "two-seers": Scene(two_seers, needs=("Seer", "Villager", "Werewolf")),
}
"""Scenes by name."""

_STYLES = ("{word}_{{}}", "{Word} {{}}", "{word} {{}}", "{Word}{{}}")
"""Patterns that make a name of a word and a number."""


def names() -> tuple[str, ...]:
    """The names that players of a first night may have, as values of `player_name`."""
    words = [wording.template for wording in _bank()["name"]]
    return tuple(style.format(word=word, Word=word.title()) for word in words for style in _STYLES)


def ruleset_of_deal(scene: str | None, ruleset: Ruleset, deal: str) -> Ruleset:
    """The ruleset of one deal. On the first night prompts differ only by the seat, and there are few seats;
    so the players get other names in every deal, with the same numbers.
    """
    if scene is None or not SCENES[scene].renames:
        return ruleset
    known = names()
    return ruleset.with_(player_name=known[Draws(f"{deal}/{scene}").below(len(known), "name")])


def rulesets_of_deals(scene: str | None, ruleset: Ruleset) -> Iterator[Ruleset]:
    """All rulesets that `ruleset_of_deal` may return."""
    if scene is None or not SCENES[scene].renames:
        yield ruleset
        return
    for name in names():
        yield ruleset.with_(player_name=name)


def _line(part: str, name: str, draws: Draws, seat: int) -> str:
    bank = _bank()[part]
    return bank[draws.below(len(bank), f"{part}/{seat}")].substitute(name=name)


@cache
def _bank() -> Mapping[str, tuple[Template, ...]]:
    """The wordings of `text/scenes.txt` by part ("seer", "counter", "other")."""
    wordings: dict[str, list[Template]] = {}
    for line in (files("wolflab.text") / "scenes.txt").read_text(encoding="utf-8").splitlines():
        key, _, said = line.partition(":")
        wordings.setdefault(key.split()[0], []).append(Template(said.strip()))
    return {part: tuple(bank) for part, bank in wordings.items()}
