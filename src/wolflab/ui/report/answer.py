"""The answer to an experiment's question, in words, for the top of the page and of the terminal: estimates
with their intervals and verdicts (`metrics.verdict`), what they rest on, and what more games would show.

The question is the primary contrast. An experiment without one is answered by the first of the measures that
it names (`Summary.asked`) on which its conditions are compared, or, without comparisons, by the values of the
first two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice

from ...lab.results.extras import Extras
from ...metrics.measure import Measure, Unit
from ...metrics.registry import MEASURES
from ...metrics.shapes import ConditionResult, Contrast, Summary
from ...metrics.standings import SIDE_PARTS, Standings
from ...metrics.summary import NOT_COMPARED
from ...metrics.verdict import LEVEL, verdict_on, verdict_on_value
from ...stats.intervals import Estimate
from ..wording import counted
from .blocks import PagePart
from .choices import chosen_first
from .figures import ForestRow, Panel, forest, on_page
from .links import NO_LINKS, Links, inactive_link
from .measures import counted_games, difference_kind, is_percent, measure_name, panel
from .numbers import interval, number, p_value, shown

_MOST = 6
"""Findings that an answer has at most; the others stand in the section of differences."""
_VALUES = 2
"""Measures whose values answer where no conditions are compared."""


NOT_YET = "Not answered yet: no game is over."


@dataclass(frozen=True, slots=True)
class Finding:
    """One estimate. says: the verdict as a sentence. estimate: value, interval and p. needed: what more games
    would show; "" where nothing is open. of: the measure, the condition and, of a difference, the baseline
    whose games were counted.
    """

    says: str
    estimate: str
    needed: str = ""
    of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """findings: the first ones; more: the number of others. about: the definitions of
    their measures, and how they were chosen. rests: what they are computed from.
    """

    findings: tuple[Finding, ...]
    more: int
    about: str
    rests: str


def answer_to(
    summary: Summary,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> QuestionAnswer:
    """The answer to an experiment's question; without findings if no game is over. An experiment on choices
    in a situation is answered by these.
    """
    planted = [_planted(summary)] if summary.planted else []
    contrasts = _contrasts(summary)
    chosen = list(chosen_first(extras))
    if chosen:
        findings = [
            Finding(
                f"{title}, {condition}: {choice} in {number(found.value or 0.0, 'share')}.",
                _value(found, "share"),
            )
            for title, condition, choice, found in chosen
        ]
        about, contrasts = "", []
        there = {condition for _, condition, _, _ in chosen}
    elif contrasts:
        findings = [*planted, *(_compared(contrast) for contrast in contrasts)]
        about = "" if contrasts[0].primary else _FIRST
        there = {name for contrast in contrasts for name in (contrast.condition, contrast.baseline)}
    else:
        values = list(_values(summary))
        findings, about = [*planted, *(finding for _, finding in values)], ""
        there = {condition.name for condition, _ in values}
    kept = findings[:_MOST]
    of = [] if chosen else [contrasts[0].metric] if contrasts else _valued_measures(summary)
    defined = [f"{_capital(MEASURES[name].label)}: {MEASURES[name].says}" for name in of]
    about = " ".join(filter(None, (*defined, about)))
    rests = _rests(summary, contrasts, [one for one in summary.conditions if one.name in there])
    return QuestionAnswer(tuple(kept), len(findings) - len(kept), about, rests)


_FIRST = "No primary contrast is named, so these are the differences in the first measure that is compared."


def _contrasts(summary: Summary) -> list[Contrast]:
    """The primary contrast; else those of the first measure that has any."""
    primary = [contrast for contrast in summary.contrasts if contrast.primary]
    if primary:
        return primary
    by_measure = (
        [contrast for contrast in summary.contrasts if contrast.metric == name] for name in summary.asked
    )
    there = [found for found in by_measure if found]
    known = (found for found in there if any(one.difference.low is not None for one in found))
    return next(known, there[0] if there else [])


def _compared(contrast: Contrast) -> Finding:
    verdict, found = verdict_on(contrast), contrast.difference
    unit = difference_kind(contrast.metric)
    here, base = contrast.condition, contrast.baseline
    way = "higher" if (found.value or 0.0) > 0 else "lower"
    name = _capital(measure_name(contrast.metric))
    margin = "" if contrast.margin is None else number(contrast.margin, unit)
    needed = ""
    match verdict.kind:
        case "unknown":
            says = f"{name}: not known. {_capital(found.note or 'There are too few deals')}."
        case "same":
            says = f"{name}: the same in {here} and {base}, in all {found.deals:,} deals."
        case "larger":
            says = f"{name}: {way} in {here} than in {base}, by more than the margin of {margin}."
        case "different":
            says = f"{name}: {way} in {here} than in {base}."
        case "uncertain":
            says = (
                f"{name}: perhaps {way} in {here} than in {base}. The interval leaves out 0, but p is not "
                "below 0.05."
            )
        case "equal":
            says = f"{name}: {here} and {base} differ by less than the margin of {margin}."
        case "open":
            says = f"{name}: open. {here} may be higher or lower than {base}."
            needed = "With four times as many deals the interval would be half as wide."
            if verdict.needed is not None and verdict.effect is not None:
                effect, deals = number(verdict.effect, unit), verdict.needed.deals
                many = "more than a million" if deals is None else f"about {deals:,}"
                needed = (
                    f"A true difference of {effect} is found with a probability of 80 % by {many} deals; "
                    f"these are {found.deals:,}."
                )
    tested = _tested(contrast.p_reported, holm=not contrast.primary)
    return Finding(
        says,
        f"{here} − {base}: {_estimate(found, contrast.metric, difference=True)}{tested}",
        needed,
        (contrast.metric, here, base),
    )


def _values(summary: Summary) -> Iterator[tuple[ConditionResult, Finding]]:
    """The values of the first measures of the question, by condition."""
    for measure in map(MEASURES.__getitem__, _valued_measures(summary)):
        for condition in summary.conditions:
            if _has(condition, measure):
                yield condition, _valued(condition, measure)


def _valued_measures(summary: Summary) -> list[str]:
    """The first measures of the question that have a value."""
    there = (name for name in summary.asked if any(_has(one, MEASURES[name]) for one in summary.conditions))
    return list(islice(there, _VALUES))


def _has(condition: ConditionResult, measure: Measure) -> bool:
    found = condition.measures.get(measure.name)
    return found is not None and found.value is not None


def _valued(condition: ConditionResult, measure: Measure) -> Finding:
    found, reference = condition.measures[measure.name], measure.reference
    assert found.value is not None
    says, of = f"{_capital(measure.label)} of {condition.name}", (measure.name, condition.name)
    estimate = _estimate(found, measure.name, difference=False)
    if reference is None:
        return Finding(f"{says}: {number(found.value, measure.unit)}.", estimate, of=of)
    nothing = number(reference, measure.unit)
    way = "above" if found.value > reference else "below"
    says += {
        "different": f": {way} {nothing}, the value without an effect.",
        "open": f": no sign of an effect. The interval contains {nothing}, the value without an effect.",
    }.get(verdict_on_value(found, reference), ": not known. There are too few deals for an interval.")
    return Finding(says, estimate, of=of)


def _planted(summary: Summary) -> Finding:
    """How many planted effects the analysis found."""
    found = [effect.recovered for effect in summary.planted if effect.recovered is not None]
    measure = MEASURES[summary.planted[0].measure]
    says = f"{found.count(True)} of {counted(len(found), 'planted effect')} recovered ({measure.label})."
    if not found:
        says = f"Planted effects ({measure.label}): not known yet. There are too few deals for intervals."
    unit = difference_kind(measure.name) if measure.compared else measure.unit
    estimates = "; ".join(
        f"{effect.condition}: planted {number(effect.truth, unit)}, found "
        + ("–" if effect.found.value is None else f"{number(effect.found.value, unit)}")
        + f" ({interval(effect.found, unit)})"
        for effect in summary.planted
    )
    return Finding(says, estimates)


def _estimate(found: Estimate, metric: str, *, difference: bool) -> str:
    """Value and interval of a measure, or of a difference in it, in one line."""
    measure = MEASURES[metric]
    unit = difference_kind(metric) if difference else measure.unit
    return _value(found, unit, signed=difference or measure.signed)


def _value(found: Estimate, unit: Unit, *, signed: bool = False) -> str:
    if found.value is None:
        return "no value"
    ends = "no interval" if found.low is None else f"95 % interval {interval(found, unit)}"
    return f"{shown(found, unit, signed).text} ({ends})"


def _tested(p: float | None, *, holm: bool) -> str:
    """A p-value behind an estimate; "" for none. holm: it is corrected."""
    if p is None:
        return ""
    text = p_value(p).text
    return f", p{' (Holm)' * holm} {text if text.startswith('<') else f'= {text}'}"


def _rests(summary: Summary, contrasts: Sequence[Contrast], conditions: Sequence[ConditionResult]) -> str:
    """Deals, games, void games and unusable replies."""
    if not conditions:
        return ""
    done = sum(condition.counts.done for condition in conditions)
    void = sum(condition.counts.void for condition in conditions)
    parts = [f"{counted(done, 'finished game')}"]
    if contrasts:
        parts.insert(
            0,
            f"{counted(max(one.difference.deals for one in contrasts), 'deal')} that both conditions played",
        )
    if void:
        parts.append(f"{void:,} void, which do not count")
    if open_ := sum(condition.counts.unfinished + condition.counts.failed for condition in conditions):
        parts.append(f"{open_:,} not over")
    decided = [
        condition.measures["stand_ins"] for condition in conditions if "stand_ins" in condition.measures
    ]
    of = sum(one.n for one in decided)
    stand_ins = sum(round((one.value or 0.0) * one.n) for one in decided)
    told = f"It rests on {'; '.join(parts)}."
    return told + (f" Decisions without a usable reply: {stand_ins:,} of {of:,}." if of else "")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


# -- tournaments ------------------------------------------------------------------------------------


def answer_to_tournament(standings: Standings, shown_name: Callable[[str], str]) -> QuestionAnswer:
    """Who leads the field, and whom it is ahead of. shown_name: an entrant's name on the page."""
    part = next((side for side in SIDE_PARTS if any(getattr(one, side) for one in standings.scores)), None)
    rated = [(one.name, getattr(one, part)) for one in standings.scores if part and getattr(one, part)]
    rated = [(name, found) for name, found in rated if found.value is not None]
    if part is None or not rated:
        return QuestionAnswer((), 0, "", "")
    (best, found), name = max(rated, key=lambda one: one[1].value), shown_name
    side = {"both": "on both sides", "village": "as village", "werewolves": "as Werewolves"}[part]
    apart = [
        (one.second, one, one.difference)
        if one.first == best
        else (one.first, one, _reversed(one.difference))
        for one in standings.differences
        if one.part == part and best in (one.first, one.second)
    ]
    ahead = [
        name(other)
        for other, test, difference in apart
        if difference.excludes(0.0) and (test.p_holm is None or test.p_holm < LEVEL)
    ]
    level = [name(other) for other, _, _ in apart if name(other) not in ahead]
    highest = f"Highest mean win rate {side}: {name(best)}, {_value(found, 'share')}"
    says = f"{name(best)} is ahead of {', '.join(ahead)}." if ahead else "No entrant is shown to be ahead."
    if ahead and level:
        says += f" It is not shown to be ahead of {', '.join(level)}."
    estimates = [
        f"{name(best)} − {name(other)}: {_value(difference, 'points', signed=True)}"
        + _tested(test.p_holm, holm=True)
        for other, test, difference in apart[:_MOST]
    ]
    findings = [Finding(says if apart else f"{highest}.", "; ".join([highest, *estimates]))]
    rests = f"It rests on {counted(found.n, 'game')} of {name(best)}, over {counted(found.deals, 'deal')}."
    return QuestionAnswer(tuple(findings), 0, "", rests)


def _reversed(found: Estimate) -> Estimate:
    """The difference the other way round."""
    value, low, high = (None if end is None else -end for end in (found.value, found.high, found.low))
    return replace(found, value=value, low=low, high=high)


# -- the page ---------------------------------------------------------------------------------------


def answer_section(answer: QuestionAnswer, links: Links = NO_LINKS) -> PagePart:
    """The answer as the first section of a page. An estimate links to the games that it counts."""
    if not answer.findings:
        return f"<p><b>{NOT_YET}</b></p>"
    told = "".join(
        f'<div class="finding"><p><b>{escape(finding.says)}</b></p><p>{_estimated(finding, links)}</p>'
        + (f'<p class="n">{escape(finding.needed)}</p>' if finding.needed else "")
        + "</div>"
        for finding in answer.findings
    )
    more = (
        f'<p><a href="#contrasts">{counted(answer.more, "further difference")}</a></p>' if answer.more else ""
    )
    about = f'<p class="lead">{escape(answer.about)}</p>' if answer.about else ""
    return f'{told}{more}<p class="lead">{escape(answer.rests)}</p>{about}'


def _estimated(finding: Finding, links: Links) -> str:
    to = counted_games(links, *finding.of) if finding.of else ""
    return inactive_link(to, escape(finding.estimate)) if to else escape(finding.estimate)


def answer_figure(summary: Summary) -> PagePart:
    """The measure of the question, by condition, and the differences from the baselines."""
    contrasts = _contrasts(summary)
    of = {name for name in summary.asked if any(_has(one, MEASURES[name]) for one in summary.conditions)}
    name = contrasts[0].metric if contrasts else next((one for one in summary.asked if one in of), None)
    if name is None or name not in of:
        return ""
    measure = MEASURES[name]
    kept = [condition for condition in summary.conditions if name in condition.measures]
    panels = [panel(measure, kept)]
    apart = {one.condition: one for one in summary.contrasts if one.metric == name}
    if apart:
        base = {one.baseline for one in apart.values()}
        rows = tuple(
            ForestRow(one.name, apart[one.name].difference if one.name in apart else NOT_COMPARED)
            for one in kept
        )
        title = f"difference from {base.pop()}" if len(base) == 1 else "difference from its baseline"
        panels.append(Panel(title, rows, 0.0, is_percent(measure)))
    words = f"{_capital(measure.label)} by condition, with 95 % intervals"
    return on_page(forest("answer", panels, words), f"{words}.")
