"""Old names in files: of measures, of fields, and of numbers in a training's log.

An old name in a user's file or option is refused, and the message has the new one. Files that Wolflab wrote
under old names stay readable: `with_current_names` for a run's experiment, `current_log_name` for a
training's log, `written_before` for a file. `CHANGELOG.md` lists columns of the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

MEASURES: Mapping[str, str] = {
    "days": "rounds",
    "improvement": "reliability_gain",
    "dc_alive": "dc_by_n",
    "dc_cast": "dc_sheriff_voted",
    "changed": "votes_changed",
    "led_by_role": "days_led_by_role",
    "standing_by_role": "peer_ratio_by_role",
    "over_standing_by_role": "ratio_over_peers_by_role",
    "nobody": "no_winner",
    "own_village_win": "watched_village_win",
    "own_wolf_win": "watched_wolf_win",
    "own_win": "watched_win",
    "vote_hits": "votes_for_wolves",
    "out_hits": "voted_out_wolves",
    "shoots": "shots_taken",
    "shot_hits": "shots_at_wolves",
    "survival": "survival_by_role",
    "skill": "brier_skill",
    "stated": "stated_by_confidence",
    "suggested": "decisions_advised",
    "passed": "votes_passed",
    "heeded": "advice_followed",
    "last_taken": "several_answers",
    "cached": "cached_share",
    "fallback_by_player": "stand_ins_by_player",
}
"""Old → new. A behaviour's `…_seen` is `…_games` as well."""
FIELDS: Mapping[str, str] = {"became": "renamed", "knob": "setting"}
"""Fields of an experiment or a tournament, old → new; `setting` is a field of `planted`."""
_LOG: Mapping[str, str] = {"look/": "evaluation/", "clone/": "cloning/", "win/nobody": "win/neither"}
"""Prefixes of names in a training's log, old → new."""
_SEEN, _GAMES = "_seen", "_games"


def current_measure(name: str) -> str:
    """The present name of a measure."""
    if name.endswith((f"_village{_SEEN}", f"_werewolves{_SEEN}")):
        return name.removesuffix(_SEEN) + _GAMES
    return MEASURES.get(name, name)


def current_log_name(name: str) -> str:
    """The present name of a number in a training's log."""
    for old, new in _LOG.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def with_current_names(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values of an experiment or a tournament that Wolflab wrote, with present names."""
    values = {FIELDS.get(field, field): value for field, value in experiment.items()}
    if isinstance(contrasts := values.get("contrasts"), list):
        values["contrasts"] = [current_measure(str(name)) for name in contrasts]
    if isinstance(curve := values.get("curve"), Mapping) and isinstance(curve.get("measures"), list):
        values["curve"] = {**curve, "measures": [current_measure(str(name)) for name in curve["measures"]]}
    if isinstance(planted := values.get("planted"), Mapping):
        planted = {FIELDS.get(field, field): value for field, value in planted.items()}
        named = {"measure": current_measure(str(planted["measure"]))} if "measure" in planted else {}
        values["planted"] = {**planted, **named}
    if isinstance(village := values.get("village"), Mapping):
        values["village"] = with_current_names(village)
    return values


def written_before(file: Path, old_name: str) -> Path:
    """The file, or the one with its old name if only that exists."""
    old = file.with_name(old_name)
    return old if old.exists() and not file.exists() else file
