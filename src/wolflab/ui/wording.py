"""Sentences beside a summary: settings that differ, missing comparisons, unusable replies, conditions that
only serve as sources of experience.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ..lab.plans.experiment import Experiment
from ..lab.plans.specs import ExperienceSpec, RenamedCondition
from ..lab.results.differences import Differs, Setting
from ..lab.results.extras import Extras, Uncompared
from ..lab.results.kept_registration import KeptRegistration
from ..lab.results.players import PlacePlayer, RulesPlayed
from ..lab.results.unusable_players import UnusablePlayer
from ..lab.runs.repeatability import Repeatability
from ..lab.storage.call_store import RunStart
from ..lab.studies.training import TrainedGame
from ..metrics.shapes import Summary
from ..metrics.standings import Standings
from ..stats.intervals import Estimate, WordedEstimate
from ..stats.prediction import Prediction
from ..text.asking.sentences import listed
from ..text.replies.parse import CUT
from ..usage import AttemptTotals

_LONGEST = 80
"""The most characters of one value in words."""
_CHANGE = 60
"""The most characters of a change that `--set` was given."""
_MOST = 8
"""The most settings listed for one place; very different arms are better read in their files."""
_NAMED = 4
"""The most conditions that a sentence names; tables mark them all."""


NOT_BEGUN = "of them not begun"
"""The name on screens for games of status "planned": there, that word means all games of a plan."""
_STATUSES = {"unfinished": "unfinished, begun", "planned": "unfinished, not begun"}


def status_in_words(status: str) -> str:
    """A game's status in words."""
    return _STATUSES.get(status, status)


def counted(n: int, one: str, many: str = "") -> str:
    """ "1 deal", "1,200 deals". many: a plural that is not `one` with an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def counted_units(n: int, units: str) -> str:
    """ "1 game", "2 games". units: what an estimate's n counts, a plural."""
    first, space, rest = units.partition(" ")
    one = {"replies": "reply"}.get(first, first.removesuffix("s"))
    return f"{n:,} {one if n == 1 else first}{space}{rest}"


def counted_in_words(estimate: Estimate, cluster: str = "deal") -> list[str]:
    """What an estimate counts: n in its units, the deals and draws that these come from, what is missing.
    cluster: what the independent units are.
    """
    words = [counted_units(estimate.n, estimate.units)]
    if estimate.deals and estimate.deals != estimate.n:
        words.append(counted_units(estimate.deals, f"{cluster}s"))
    if estimate.draws:
        words.append(f"{estimate.draws:,} {draws_called(estimate)}")
    if estimate.missing:
        words.append(f"{estimate.missing:,} missing")
    return words


def draws_called(estimate: Estimate) -> str:
    """What an estimate's draws are."""
    return "people" if estimate.people else "wordings" if isinstance(estimate, WordedEstimate) else "draws"


def cut(text: str, most: int) -> str:
    """The text with at most `most` characters; … marks a cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# -- settings that differ ---------------------------------------------------------------------------


def settings_in_words(difference: Differs) -> tuple[str, ...]:
    """How a condition differs from the baseline, a text for each setting or place."""
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
    """The source of experience: "of 20 games of source"."""
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
    """A duration in words: 40 seconds, 12 minutes, 3.4 hours."""
    if seconds < 100:
        return counted(round(seconds), "second")
    return f"{seconds / 60:,.0f} minutes" if seconds < 6000 else f"{seconds / 3600:,.1f} hours"


def second_poll_in_words(experiment: Experiment) -> str:
    """What a second straw poll costs, and how to leave it out; "" if there is none, or it is free."""
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
        f"The second {takes}; --set straw_polls=1 leaves it out."
    )


# -- who plays --------------------------------------------------------------------------------------


def begun_in_words(begun: RunStart) -> str:
    """When a run was begun, and with which version; "" if neither is known."""
    when = f" on {begun.date}" if begun.date else ""
    version = f" with Wolflab {begun.wolflab}" if begun.wolflab else ""
    return f"{f'{begun.run} was begun' if begun.run else 'Begun'}{when}{version}." if when or version else ""


def rules_played_in_words(rules: RulesPlayed) -> str:
    """The rules of the games, in a sentence."""
    told = {
        name: listed(value) if isinstance(value, list) else value for name, value in rules.changed.items()
    }
    changed = "".join(f", {name} {value}" for name, value in told.items())
    where = f" of {listed(rules.conditions)}" if rules.conditions else ""
    return f"Rules{where}: {rules.preset}{changed}."


def trained_in_words(trained: Sequence[TrainedGame]) -> str:
    """A sentence on games of a study whose deals were used in training; "" for none."""
    told = [f"{each.game} ({each.person}{'' if each.sure else ', perhaps'})" for each in trained]
    if not told:
        return ""
    return (
        f"{'Game' if len(told) == 1 else 'Games'} {listed(told)} had the cards with which that person had "
        "trained before: look at the results without them too (column trained of games)."
    )


def registration_in_words(kept: KeptRegistration | None) -> str:
    """A sentence on a run's registration; "" without one."""
    if kept is None:
        return ""
    if not kept.deviations:
        return f"Registered at {kept.time}; the run keeps to it."
    if kept.time is None:
        return f"Registered: {'; '.join(kept.deviations)}."
    return f"Registered at {kept.time}; the run departs from it: {'; '.join(kept.deviations)}."


def renaming_in_words(renamed: RenamedCondition) -> str:
    """A sentence on conditions that `--set` changed."""
    after = " ".join(f"--set {_change(change)}" for change in renamed.changes)
    if len(renamed.of) > 1:
        return f"{listed(renamed.of)} are the same after {after}: played once, as {renamed.name}."
    return f"{renamed.of[0]} of the file is called {renamed.name} here: {after} changes who plays."


def _change(change: str) -> str:
    """A change that `--set` was given. Of a mapping only the place is shown, since it may hold an address."""
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


def trouble_in_words(trouble: UnusablePlayer) -> str:
    """A sentence on a player with unusable replies: where, how many and why."""
    times = "once" if trouble.often == 1 else f"{trouble.often:,} times"
    because = f"most often because “{trouble.reason}” ({times})."
    if trouble.reason == CUT.reason:
        because += " The limit is max_tokens of the recipe or the model."
    share = f"{trouble.unusable:,} of {trouble.replies:,}"
    who = trouble.player if trouble.everywhere else f"{trouble.player} in {_some(trouble.conditions)}"
    if trouble.decisions:
        return f"Most decisions of {who} are stand-ins: {share} had no usable reply, {because}"
    return f"Most replies of {who} cannot be used: {share}, {because}"


def troubles_in_words(extras: Extras) -> list[str]:
    """A sentence on each player with unusable replies, and one on pools that were made of their games."""
    told = [*map(trouble_in_words, extras.unusable_players)]
    if lent := [name for name in extras.sources if failing(extras, name)]:
        told.append(
            f"Decisions without a usable reply give no experience, so pools of games of {listed(lent)} hold "
            "less than the number of games promises. See: wolflab experience inspect RUN/pools/NAME.pool"
        )
    return told


def _some(conditions: Sequence[str]) -> str:
    more = len(conditions) - _NAMED
    return f"{', '.join(conditions[:_NAMED])} and {more} more" if more > 0 else listed(conditions)


def failing(extras: Extras, *names: str) -> tuple[str, ...]:
    """The players with mostly unusable replies or decisions in any of these conditions or entrants. All marks
    of conditions come from this function.
    """
    bare = {*map(unmarked, names)}
    found = (each.player for each in extras.unusable_players if bare & {*each.conditions, *each.entrants})
    return tuple(dict.fromkeys(found))


def trouble_marks(extras: Extras, name: str) -> tuple[str, ...]:
    """The lines in tables below a condition's games or an entrant's name, one for each failing player."""
    return tuple(f"unusable: {player}" for player in failing(extras, name))


_OPPONENTS_DIFFER = (
    "Entrants met different opponents here, so a score also depends on whom one met. Strengths, and "
    "differences against common opponents, take that into account; two entrants alone have none."
)
_TABLES_DIFFER = (
    "Not everybody sat at every table here, so a score also depends on whom one met. Strengths take that "
    "into account."
)


def differing_opponents(standings: Standings) -> str:
    """The remark on a tournament with missing cells, or with more entrants than seats; "" for any other."""
    if not standings.opponents_differ:
        return ""
    return _TABLES_DIFFER if standings.rotations else _OPPONENTS_DIFFER


def errors_command(run: str) -> str:
    """The command that lists a run's unusable replies."""
    return f"wolflab errors {shlex.quote(run)}"


def repeatability_in_words(found: Repeatability) -> str:
    """What came of asking a model the same twice."""
    if found.same is None:
        return f"not tested: {found.why}"
    return "same words twice: arms share draws" if found.same else "other words: arms do not share draws"


def attempts_in_words(attempts: AttemptTotals) -> str:
    """How many attempts brought no reply, and what they may have cost; "" for none."""
    if not attempts.n:
        return ""
    why = listed([f"{n:,} {reason}" for reason, n in attempts.reasons.items()])
    told = f"{counted(attempts.n, 'attempt')} brought no reply ({why})"
    if attempts.possibly:
        used, least = attempts.possible, "at least" if attempts.unlimited else "at most"
        money = f" and {used.cost:.4g} USD" if used.cost else ""
        many = f"{least} {used.tokens:,} tokens{money}" if used.tokens else "how many tokens is not known"
        told += f"; {attempts.possibly:,} of them may have been paid for: {many}"
    return f"{told}. The budget counts them. The tokens and costs of calls leave them out"


def as_data(extras: Extras) -> dict[str, Any]:
    """The extras as JSON values. What the page says in words is in words here too."""
    differs = [
        {
            "condition": difference.condition,
            "baseline": difference.baseline,
            "settings": settings_in_words(difference),
        }
        for difference in extras.differs
    ]
    missing = [] if extras.uncompared is None else [uncompared_in_words(extras.uncompared)]
    renamed = [each.model_dump() | {"says": renaming_in_words(each)} for each in extras.renamed]
    return asdict(extras) | {"differs": differs, "uncompared": missing, "renamed": renamed}


_TWO_STRENGTHS = {
    -1: "Deceiving and detecting are different strengths here: two for each entrant predict better than one.",
    0: "It is not known whether deceiving and detecting are different strengths here.",
    1: "One strength for each entrant predicts better here than two: the second one fits chance.",
}
_STRENGTHS = {
    -1: "Strengths predict better than the side alone.",
    0: "It is not known whether strengths predict better than the side alone.",
    1: "The side alone predicts better than strengths: these fit chance.",
}


def prediction_in_words(prediction: Prediction) -> str:
    """What the log losses of pairings that were left out say of the models; "" without games."""
    said = []
    if prediction.pairings:
        loss = {(row.first, row.second): _sign(row.log_loss) for row in prediction.differences}
        beside_side = {loss["one strength", "side alone"], loss["two strengths", "side alone"]}
        best = min(beside_side) if -1 in beside_side or len(beside_side) == 1 else 0
        said = [_TWO_STRENGTHS[loss["two strengths", "one strength"]], _STRENGTHS[best]]
    if prediction.skipped:
        were = f"{counted(prediction.skipped, 'pairing')} {'is' if prediction.skipped == 1 else 'are'}"
        said.append(f"{were} not predicted, because the others do not determine every strength.")
    return " ".join(said)


def _sign(difference: Estimate) -> int:
    """−1 or 1 for a difference that is surely below or above 0; else 0."""
    if difference.value is None or not difference.excludes(0.0):
        return 0
    return -1 if difference.value < 0 else 1


def page_numbers(results: Summary | Standings, extras: Extras) -> dict[str, Any]:
    """A page's numbers and extras as JSON values. `unusable`, in conditions, cells, entrants and differences
    between them: the players that fail there (`failing`).
    """
    numbers = results.as_dict()
    if isinstance(results, Summary):
        named = [(row, [row["name"]]) for row in numbers["conditions"]]
        named += [(row, [row["condition"], row["baseline"]]) for row in numbers["contrasts"]]
    else:
        cells = zip(numbers["cells"], results.cells, strict=True)
        named = [(row, [cell.name]) for row, cell in cells]
        by_entrant = (*numbers["scores"], *numbers["ratings"]["rows"], *numbers["frontier"]["rows"])
        named += [(row, [row["name"]]) for row in by_entrant]
        named += [(row, [row["first"], row["second"]]) for row in numbers["differences"]]
        numbers["prediction"]["says"] = prediction_in_words(results.prediction)
    for row, names in named:
        row["unusable"] = failing(extras, *names)
    return numbers | {"extras": as_data(extras)}


# -- what stands behind a name ------------------------------------------------------------------------

SOURCE = "(source of the pools)"
"""The mark behind the name of a condition whose games others learn from."""
UNUSABLE = "(unusable)"
"""The mark of a condition or an entrant with a failing player (`failing`)."""


def name_shown(extras: Extras, name: str) -> str:
    """The name of a condition or an entrant in tables and figures, with its marks."""
    marks = [SOURCE] * (name in extras.sources) + [UNUSABLE] * bool(failing(extras, name))
    return " ".join((name, *marks))


def unmarked(name: str) -> str:
    """The name of a condition without its marks."""
    return name.removesuffix(f" {UNUSABLE}").removesuffix(f" {SOURCE}")


def cut_name(name: str, most: int) -> str:
    """A name with at most `most` characters, and all its marks."""
    bare = unmarked(name)
    behind = name.removeprefix(bare)
    return cut(bare, most - len(behind)) + behind


def marked(summary: Summary, extras: Extras) -> tuple[Summary, Extras]:
    """Both with the names that conditions have in tables and figures."""
    if not (extras.sources or extras.unusable_players):
        return summary, extras

    def shown(row: Any) -> Any:
        names = {field: getattr(row, field, None) for field in ("condition", "baseline", "beside")}
        return replace(row, **{field: of(name) for field, name in names.items() if name is not None})

    def of(name: str) -> str:
        return name_shown(extras, name)

    curve = summary.curve
    if curve is not None:
        points = tuple((of(name), x) for name, x in curve.points)
        curve = replace(curve, points=points, baseline=curve.baseline and of(curve.baseline))
    summary = replace(
        summary,
        conditions=tuple(replace(condition, name=of(condition.name)) for condition in summary.conditions),
        contrasts=tuple(map(shown, summary.contrasts)),
        beside=tuple(map(shown, summary.beside)),
        planted=tuple(map(shown, summary.planted)),
        curve=curve,
    )
    rows = ("differs", "interviews", "growth", "choices", "diversity")
    changed: dict[str, Any] = {name: tuple(map(shown, getattr(extras, name))) for name in rows}
    return summary, replace(extras, **changed)


def unread_in_words(summary: Summary) -> str:
    """The number of unread statements by condition, in words; empty if all were read."""
    counts = {}
    for condition in summary.conditions:
        share = condition.measures.get("unread")
        if share is not None and share.value:
            counts[condition.name] = f"{round(share.value * share.n)} of {share.n:.0f}"
    if not counts:
        return ""
    each = "; ".join(f"{name}: {count}" for name, count in counts.items())
    return (
        f"Statements that could not be read (not English): {each}. What they say is not known, and nothing "
        "counts as absent from them: measures of talk leave them out."
    )
