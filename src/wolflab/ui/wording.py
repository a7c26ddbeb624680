"""What stands beside a summary in words: settings that differ, missing comparisons, unusable replies, and
which conditions only lend their games.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ..lab.plans.experiment import Experiment
from ..lab.plans.specs import Became, ExperienceSpec
from ..lab.results.differences import Differs, Setting
from ..lab.results.extras import Extras, Uncompared
from ..lab.results.players import PlacePlayer, RulesPlayed
from ..lab.results.trouble import Troubled
from ..lab.storage.call_store import Begun
from ..metrics.shapes import Summary
from ..text.asking.sentences import listed

_LONGEST = 80
"""Of one value in words, in characters."""
_CHANGE = 60
"""Of a change that `-o` was given, in characters."""
_MOST = 8
"""Settings told of one place; very different arms are better read in their files."""
_NAMED = 4
"""Conditions that a sentence names; tables mark them all."""


def counted(n: int, one: str, many: str = "") -> str:
    """ "1 deal", "1,200 deals". many: where it is not `one` with an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def counted_units(n: int, units: str) -> str:
    """ "1 game", "2 games": of what an estimate's n counts, which has a word for many."""
    first, space, rest = units.partition(" ")
    one = {"replies": "reply"}.get(first, first.removesuffix("s"))
    return f"{n:,} {one if n == 1 else first}{space}{rest}"


def cut(text: str, most: int) -> str:
    """Text of so many characters at most; what is cut off shows as …"""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# -- settings that differ ---------------------------------------------------------------------------


def settings_in_words(difference: Differs) -> tuple[str, ...]:
    """How a condition differs from the baseline, a setting or a place a text."""
    lines: list[str] = []
    for place in difference.places:
        settings = [_setting(setting) for setting in place.settings]
        if not place.where:
            lines += settings
            continue
        more = f", and {len(settings) - _MOST} more" if len(settings) > _MOST else ""
        lines.append(f"{' and '.join(place.where)}: {', '.join(settings[:_MOST])}{more}")
    return tuple(lines)


def _setting(setting: Setting) -> str:
    if setting.alone and setting.here is None:
        return "no experience" if setting.name == "experience" else f"{setting.name} nobody of its own"
    text = f"{setting.name} {_word(setting.here)}"
    return text if setting.alone else f"{text} (baseline: {_word(setting.baseline)})"


def _word(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, ExperienceSpec):
        return _pool(value)
    if isinstance(value, Mapping):
        text = ", ".join(f"{name} {_word(each)}" for name, each in value.items())
    elif isinstance(value, list | tuple):
        text = ", ".join(map(_word, value)) or "none"
    else:
        text = str(value)
    return cut(text, _LONGEST)


def _pool(spec: ExperienceSpec) -> str:
    """Where experience comes from: "of 20 games of source"."""
    if spec.pool is not None:
        return f"from the pool {spec.pool}"
    if spec.grow is not None:
        return f"of its own games so far, growing every {counted(spec.grow, 'deal')}"
    return f"of {'all games' if spec.games is None else counted(spec.games, 'game')} of {spec.games_of}"


SHORT_GAMES_FIRST = (
    "Short games end first, so until all are over the numbers lean to them: rounds and calls a game come out "
    "too low."
)

# -- before a run -----------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """How long something takes, in words: 40 seconds, 12 minutes, 3.4 hours."""
    if seconds < 100:
        return counted(round(seconds), "second")
    return f"{seconds / 60:,.0f} minutes" if seconds < 6000 else f"{seconds / 3600:,.1f} hours"


def second_poll_in_words(experiment: Experiment) -> str:
    """What a second straw poll costs, and what leaves it out; "" where there is none, or it is free."""
    if experiment.straw_polls < 2 or experiment.built_in:
        return ""
    takes = "asks everybody but the Sheriff for one vote more a day"
    calls = experiment.second_poll_calls
    if calls == 0:
        return ""
    if calls is not None:
        takes = f"takes up to {counted(calls, 'call')} more a day, retries aside"
    return (
        "The straw poll is taken twice (straw_polls: 2), so that DC can be told from chance. "
        f"The second {takes}; -o straw_polls=1 leaves it out."
    )


# -- who plays --------------------------------------------------------------------------------------


def begun_in_words(begun: Begun) -> str:
    """When a run was begun, and with which version; "" where it says neither."""
    when = f" on {begun.date}" if begun.date else ""
    version = f" with Wolflab {begun.wolflab}" if begun.wolflab else ""
    return f"{f'{begun.run} was begun' if begun.run else 'Begun'}{when}{version}." if when or version else ""


def rules_played_in_words(rules: RulesPlayed) -> str:
    """By which rules games were played, in a sentence."""
    told = {
        name: listed(value) if isinstance(value, list) else value for name, value in rules.changed.items()
    }
    changed = "".join(f", {name} {value}" for name, value in told.items())
    where = f" of {listed(rules.conditions)}" if rules.conditions else ""
    return f"Rules{where}: {rules.preset}{changed}."


def became_in_words(became: Became) -> str:
    """What `-o` made of conditions, in a sentence."""
    after = " ".join(f"-o {_change(change)}" for change in became.changes)
    if len(became.of) > 1:
        return f"{listed(became.of)} are the same after {after}: played once, as {became.name}."
    return f"What the file calls {became.of[0]} is called {became.name} here, for {after} changes who plays."


def _change(change: str) -> str:
    """A change that `-o` was given; of a mapping, which may hold an address, the place alone."""
    place, _, value = change.partition("=")
    return f"{place}={{…}}" if value.lstrip().startswith("{") else cut(change, _CHANGE)


def player_settings(player: PlacePlayer) -> str:
    """The settings of a player that matter: "temperature 0.0, policy small"."""
    return ", ".join(f"{name} {_word(value)}" for name, value in player.settings.items())


def where_it_plays(player: PlacePlayer) -> str:
    """The conditions of a player: "GLM-4", "every condition"."""
    return ", ".join(player.conditions) or "every condition"


def player_in_words(player: PlacePlayer) -> str:
    """A player in a line: "GLM-4, sheriff: zhipu/glm-4 · deductive-002 (temperature 0.0)"."""
    where = ", ".join(part for part in (*player.conditions, player.place) if part)
    who = " · ".join(part for part in (player.model, player.recipe) if part)
    settings = player_settings(player)
    return f"{where}: {who}{f' ({settings})' if settings else ''}"


# -- what is missing, and what went wrong -------------------------------------------------------------


def uncompared_in_words(uncompared: Uncompared) -> str:
    """Which measures are not compared, and why."""
    why = (
        "there is one condition here; wolflab compare sets runs side by side"
        if uncompared.alone
        else "no two conditions have it on the same deals"
    )
    return f"Not compared: {', '.join(uncompared.measures)} ({why})."


def trouble_in_words(trouble: Troubled) -> str:
    """Whose replies cannot be used, where, how many and why."""
    times = "once" if trouble.often == 1 else f"{trouble.often:,} times"
    because = f"most often because “{trouble.reason}” ({times})."
    share = f"{trouble.unusable:,} of {trouble.replies:,}"
    who = trouble.player if trouble.everywhere else f"{trouble.player} in {_some(trouble.conditions)}"
    if trouble.decisions:
        return f"Most decisions of {who} are stand-ins: {share} had no usable reply, {because}"
    return f"Most replies of {who} cannot be used: {share}, {because}"


def _some(conditions: Sequence[str]) -> str:
    more = len(conditions) - _NAMED
    return f"{', '.join(conditions[:_NAMED])} and {more} more" if more > 0 else listed(conditions)


def trouble_marks(extras: Extras, name: str) -> tuple[str, ...]:
    """What tables say below a condition's games, or below an entrant: a line for each player that fails."""
    failing = (each for each in extras.troubled if name in (*each.conditions, *each.entrants))
    players = (trouble.player for trouble in failing)
    return tuple(f"unusable: {player}" for player in dict.fromkeys(players))


OPPONENTS_DIFFER = (
    "Entrants met different opponents here, so a score also depends on whom one met. Strengths, and "
    "differences against common opponents, take that into account; two entrants alone have none."
)
"""Of a tournament whose cells are not all there."""


def errors_command(run: str) -> str:
    """The command that lists a run's unusable replies."""
    return f"wolflab errors {shlex.quote(run)}"


def as_data(extras: Extras) -> dict[str, Any]:
    """JSON values. What is told in words on the page is told in words here too."""
    differs = [
        {
            "condition": difference.condition,
            "baseline": difference.baseline,
            "settings": settings_in_words(difference),
        }
        for difference in extras.differs
    ]
    missing = [] if extras.uncompared is None else [uncompared_in_words(extras.uncompared)]
    became = [each.model_dump() | {"says": became_in_words(each)} for each in extras.became]
    return asdict(extras) | {"differs": differs, "uncompared": missing, "became": became}


# -- conditions that only lend their games ----------------------------------------------------------

SOURCE = "(source of the pools)"
"""What stands behind the name of a condition whose games others learn from."""


def unmarked(name: str) -> str:
    """The name of a condition, whatever stands behind it."""
    return name.removesuffix(f" {SOURCE}")


def marked(summary: Summary, extras: Extras) -> tuple[Summary, Extras]:
    """Both with the names under which conditions stand in tables and figures."""
    sources = extras.sources
    if not sources:
        return summary, extras

    def shown(name: str) -> str:
        return f"{name} {SOURCE}" if name in sources else name

    summary = replace(
        summary,
        conditions=tuple(replace(condition, name=shown(condition.name)) for condition in summary.conditions),
        beside=tuple(
            replace(figure, condition=None if figure.condition is None else shown(figure.condition))
            for figure in summary.beside
        ),
    )
    extras = replace(
        extras,
        differs=tuple(
            replace(difference, condition=shown(difference.condition)) for difference in extras.differs
        ),
        interviews=tuple(
            replace(interviewed, condition=shown(interviewed.condition)) for interviewed in extras.interviews
        ),
        troubled=tuple(
            replace(trouble, conditions=tuple(map(shown, trouble.conditions))) for trouble in extras.troubled
        ),
    )
    return summary, extras
