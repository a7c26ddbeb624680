"""What stands beside a summary in words: settings that differ, missing comparisons, unusable replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..lab.plans.specs import ExperienceSpec
from ..lab.results.differences import Differs, Setting
from ..lab.results.extras import Extras, Troubled, Uncompared

_LONGEST = 80
"""Of one value in words, in characters."""
_MOST = 8
"""Settings told of one place; very different arms are better read in their files."""


def counted(n: int, one: str, many: str = "") -> str:
    """ "1 deal", "1,200 deals". many: where it is not `one` with an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def cut(text: str, most: int) -> str:
    """Text of so many characters at most; what is cut off shows as …"""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# -- settings that differ ---------------------------------------------------------------------------


def settings_in_words(one: Differs) -> tuple[str, ...]:
    """How a condition differs from the baseline, a setting or a place a text."""
    found: list[str] = []
    for place in one.places:
        told = [_setting(each) for each in place.settings]
        if not place.where:
            found += told
            continue
        more = f", and {len(told) - _MOST} more" if len(told) > _MOST else ""
        found.append(f"{' and '.join(place.where)}: {', '.join(told[:_MOST])}{more}")
    return tuple(found)


def _setting(one: Setting) -> str:
    if one.alone and one.here is None:
        return "no experience" if one.name == "experience" else f"{one.name} nobody of its own"
    told = f"{one.name} {_word(one.here)}"
    return told if one.alone else f"{told} (baseline: {_word(one.baseline)})"


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
    return f"of {'all' if spec.games is None else spec.games} games of {spec.games_of}"


# -- what is missing, and what went wrong -------------------------------------------------------------


def uncompared_in_words(one: Uncompared) -> str:
    """Which measures are not compared, and why."""
    why = (
        "there is one condition, and none to compare it with"
        if one.alone
        else "no two conditions have it on the same deals"
    )
    return f"Not compared: {', '.join(one.measures)} ({why})."


def trouble_in_words(one: Troubled) -> str:
    """Whose replies cannot be used, how many and why."""
    times = "once" if one.often == 1 else f"{one.often:,} times"
    because = f"most often because “{one.reason}” ({times})."
    if one.decisions:
        return (
            f"Most decisions of {one.model} are stand-ins: {one.unusable:,} of {one.replies:,} had no usable "
            f"reply, {because}"
        )
    return f"Most replies of {one.model} cannot be used: {one.unusable:,} of {one.replies:,}, {because}"


def as_data(extras: Extras) -> dict[str, Any]:
    """JSON values. What is told in words on the page is told in words here too."""
    differs = [
        {"condition": one.condition, "baseline": one.baseline, "settings": settings_in_words(one)}
        for one in extras.differs
    ]
    missing = [] if extras.uncompared is None else [uncompared_in_words(extras.uncompared)]
    return asdict(extras) | {"differs": differs, "uncompared": missing}
