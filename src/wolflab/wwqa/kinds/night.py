"""Kinds about a night: deaths, announcements, choices, what is learned, and the winner at dawn."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping

from ...rules import PASS, Ask, Chose, DayBroke, Learned, Revealed, Ruleset, Shot, VictimShown, pick
from ...rules.engine import rules_cache
from ...rules.events import NOT_WOLF
from ...rules.roles import DUTIES, ROLES, SHIELDS
from ...text.asking.sentences import a_role, listed
from ..items import NOBODY
from ..situations import AskedAbout, GameSituation, Impossible, Playout, Query, only_first
from .kind import Asks, DrawnFrom, EngineAnswer, Value, entries_of, kinds_of, living, seats

NIGHT = DrawnFrom("night", ("night", "departure"))
UNTIL_DAWN = DrawnFrom("night", ("night",))
BEFORE_CHOICES = DrawnFrom("night")
_CHOOSERS = frozenset(kind for kind, duty in DUTIES.items() if duty.when == "night") - {"antidote", "poison"}


def night(q: Query, *phases: str) -> Playout:
    """The night as told, with told actions of later phases ("departure": the acts of players who left).
    Impossible if an asked action is not told.
    """
    played = q.playout(q.situation, "night", *phases)
    if any(ask.phase in ("night", *phases) for ask in played.unanswered):
        raise Impossible(f"{played.unanswered[0].id} is asked and not told")
    return played


# -- who dies, and what is announced ------------------------------------------------------------------


def deaths(q: Query) -> list[int]:
    """The night's dead, ascending."""
    return list(only_first(event.deaths for event in night(q).events if isinstance(event, DayBroke)))


def _victim(q: Query) -> Value:
    night(q)
    choices = tuple(action for (kind, _), action in q.situation.actions.items() if kind == "kill")
    victim = rules_cache(q.rules).agreed(choices)
    return NOBODY if victim is None else victim


def _announcements(
    rules: Ruleset, s: GameSituation, asked: AskedAbout, value: Value, rng: random.Random
) -> Mapping[str, str]:
    """The right announcement and three others, of nobody, of one and of two players."""
    named = [target for kind, _, target in s.told if isinstance(target, int) and target in s.living]
    pool = list(dict.fromkeys([*named, *s.living]))
    others = ["", *(str(seat) for seat in pool[:3])]
    others += [",".join(map(str, sorted(rng.sample(pool[:4], 2)))) for _ in range(2) if len(pool) > 1]
    wrong = [text for text in dict.fromkeys(others) if text != value]
    return {text: announcement(text) for text in [str(value), *rng.sample(wrong, min(3, len(wrong)))]}


def announcement(value: str) -> str:
    """The moderator's words for the night's dead, with seats in braces."""
    names = [f"{{{seat}}}" for seat in value.split(",") if seat]
    if not names:
        return "No player was killed."
    return f"{listed(names)} {'was' if len(names) == 1 else 'were'} killed."


def _role_shown(q: Query) -> Value:
    events = night(q, "departure").events
    if any(isinstance(event, Shot) and q.x in (event.seat, event.target) for event in events):
        raise Impossible("a shot shows a role as well")
    return any(isinstance(event, Revealed) and event.seat == q.x for event in events)


# -- what is told to whom -----------------------------------------------------------------------------


def _learned(q: Query) -> Value:
    events = (event for event in night(q).events if isinstance(event, Learned))
    return only_first(event.what for event in events if (event.seat, event.target) == (q.x, q.y))


def _looks(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for kind, seat, target in s.told:
        if kind == "see" and isinstance(target, int):
            yield {"x": seat, "y": target}


def _what_is_learned(
    rules: Ruleset, s: GameSituation, asked: AskedAbout, value: Value, rng: random.Random
) -> Mapping[str, str]:
    role = s.roles[int(asked["y"])]
    others = [name for name in rules.roles if rules.roles[name] and name not in (role, "Werewolf")]
    names = [*dict.fromkeys([role, "Werewolf", *rng.sample(others, len(others))])][:3]
    return {name: f"That {{y}} is {a_role(name)}." for name in names} | {
        NOT_WOLF: "That {y} is not a Werewolf, and no more."
    }


def _victim_shown(q: Query) -> Value:
    return any(isinstance(event, VictimShown) and event.victim == q.x for event in night(q).events)


def _where_witches_live(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return living(rules, s, rng) if s.holders("Witch") else ()


def _hears_choice(q: Query) -> Value:
    chose = (event for event in night(q).events if isinstance(event, Chose) and event.seat == q.y)
    return bool(only_first(chose).audience >> q.x & 1)


def _who_hears(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Pairs in which x has the higher number: no rule reveals the choices of later ones of a pack, and the
    order must not reveal the answer.
    """
    actors = sorted({seat for kind, seat, _ in s.told if kind != "shoot"})
    for y in rng.sample(actors, min(3, len(actors))):
        for x in rng.sample(s.living, min(4, len(s.living))):
            # a Witch learns the victim, not the attacker
            shown = s.roles[x] == "Witch" and ROLES[s.roles[y]].wolf
            if x > y and not shown:
                yield {"x": x, "y": y}


# -- who may choose whom ------------------------------------------------------------------------------


def _asked_tonight(q: Query, kinds: Collection[str]) -> Ask | None:
    """The asks of these kinds to x; Impossible if the role has none of them."""
    duties = (duty.kind for duty in ROLES[q.situation.roles[q.x]].duties if duty.kind in kinds)
    return q.ask_tonight(q.situation, only_first(duties), q.x)


def _may_choose(*kinds: str, setting: DrawnFrom = BEFORE_CHOICES) -> EngineAnswer:
    """Whether x may choose y for what is asked by one of these kinds."""

    def answer(q: Query) -> Value:
        ask = _asked_tonight(q, kinds)
        return ask is not None and pick(q.y) in (ask.options or ())

    def asks(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
        for asked in _holders_of(kinds)(rules, s, rng):
            x = int(asked["x"])
            barred = [x, *s.dead, *(target for seat, target in s.shielded if seat == x)]
            barred += [seat for seat, role in enumerate(s.roles) if role == s.roles[x]]
            for y in {rng.choice(barred), rng.choice([*s.dead, x]), rng.randrange(s.players)}:
                yield {"x": x, "y": y}

    return EngineAnswer(answer, asks, setting)


def _holders_of(kinds: Collection[str]) -> Asks:
    """The living, in random order, whose role is asked something of these kinds."""

    def asks(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
        for x in rng.sample(s.living, len(s.living)):
            if any(duty.kind in kinds for duty in ROLES[s.roles[x]].duties):
                yield {"x": x}

    return asks


def _targets(q: Query) -> Value:
    ask = _asked_tonight(q, _CHOOSERS)
    if ask is None or ask.options is None:
        raise Impossible("nothing is asked")
    return [option.seat for option in ask.options if hasattr(option, "seat")]


def _may_pass(q: Query) -> Value:
    ask = _asked_tonight(q, _CHOOSERS)
    return ask is not None and PASS in (ask.options or ())


def _acts(q: Query) -> Value:
    role = q.situation.roles[q.x]
    kinds = [duty.kind for duty in ROLES[role].duties if duty.when == "night"]
    if len(kinds) > 1:
        raise Impossible("some of what that role is asked is not told")
    if not kinds:
        q.keep(f"{q.rules.names[q.x]} is {a_role(role)}, who has nothing to do at night.")
    return any(q.ask_tonight(q.situation, kind, q.x) is not None for kind in kinds)


def _no_witches(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return [asked for asked in seats(rules, s, rng) if s.roles[int(asked["x"])] != "Witch"]


# -- what dawn brings ---------------------------------------------------------------------------------


def may_shoot(q: Query, played: Playout) -> bool:
    """Whether x is asked for a shot after what was played; Impossible where another's shot may decide it."""
    if q.situation.roles[q.x] == "Hunter" and len(q.situation.holders("Hunter")) > 1:
        raise Impossible("whether another Hunter shoots is not told")
    return ("shoot", q.x) in [(ask.kind, ask.seat) for ask in played.unanswered]


def _where_hunters_are(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if "Hunter" in s.roles:
        hunter = s.roles.index("Hunter")
        for x in {hunter, *rng.sample(s.living, min(2, len(s.living)))} & {*s.living}:
            yield {"x": x}


KINDS = kinds_of(
    entries_of("night.yaml"),
    {
        "dies-tonight": EngineAnswer(lambda q: q.x in deaths(q), living, UNTIL_DAWN),
        "night-deaths": EngineAnswer(deaths, setting=UNTIL_DAWN),
        "death-count": EngineAnswer(lambda q: len(deaths(q)), setting=UNTIL_DAWN),
        "pack-victim": EngineAnswer(_victim, setting=UNTIL_DAWN),
        "announcement": EngineAnswer(
            lambda q: ",".join(map(str, deaths(q))), setting=UNTIL_DAWN, options=_announcements
        ),
        "role-shown-at-dawn": EngineAnswer(_role_shown, living, NIGHT),
        "seer-learns": EngineAnswer(_learned, _looks, UNTIL_DAWN, _what_is_learned),
        "witch-shown": EngineAnswer(_victim_shown, _where_witches_live, UNTIL_DAWN),
        "hears-choice": EngineAnswer(_hears_choice, _who_hears, UNTIL_DAWN),
        "may-kill": _may_choose("kill"),
        "may-shield": _may_choose(*SHIELDS),
        "may-look": _may_choose("see"),
        "may-poison": _may_choose("poison", setting=DrawnFrom("night", ("night",), ("poison",))),
        "targets": EngineAnswer(_targets, _holders_of(_CHOOSERS), BEFORE_CHOICES),
        "acts-tonight": EngineAnswer(_acts, _no_witches, BEFORE_CHOICES),
        "may-pass-tonight": EngineAnswer(_may_pass, _holders_of(_CHOOSERS), BEFORE_CHOICES),
        "may-shoot-at-dawn": EngineAnswer(lambda q: may_shoot(q, night(q)), _where_hunters_are, UNTIL_DAWN),
        "over-at-dawn": EngineAnswer(lambda q: night(q, "departure").winner != "goes on", setting=NIGHT),
        "winner-at-dawn": EngineAnswer(lambda q: night(q, "departure").winner, setting=NIGHT),
    },
)
"""The kinds of `night.yaml`, each with the engine's answer."""
