"""Labels meet the key: how far raters agree, and the share of reasonable replies of each variant.

Raters are people (label files), judges (models) and the rule (detectors). Here for the first time it
is looked up which variant a reply came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from ...errors import WolflabError
from ...stats.agreement import TwoRaters, difference_of_shares, krippendorffs_alpha, two_raters
from ...stats.intervals import Estimate, share
from ..storage.store import Store
from .annotate import AnswerKey, KeyRow, read_key, sampled_moments
from .judging import JudgeFile, read_judge, rule_labels, seen_by_rule
from .label_files import Label, check_named_once, read_all, read_labels

RULE, PEOPLE = "rule", "people"
"""Names of raters that are no file: the detectors, and what most people say (see `_majority`)."""
MAJORITY = 3
"""People who labelled an item before most of them is more than one of them, or both of two who agree."""

RaterKind = Literal["person", "people", "judge", "rule"]
REASONABLE = "reasonable"


@dataclass(frozen=True, slots=True)
class Rater:
    """Who labelled how many of the items.

    invalid: a judge's verdicts that could not be used. instrument: the built-in player judged.
    """

    name: str
    kind: RaterKind
    labelled: int
    invalid: int = 0
    instrument: bool = False


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two raters on the items that both labelled."""

    one: str
    other: str
    found: TwoRaters


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One rater on one variant. over: its share − the first variant's (None for the first itself).

    reasons: how often each reason was given for "not reasonable" (people alone give reasons).
    """

    variant: str
    rater: str
    reasonable: Estimate
    over: Estimate | None
    reasons: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BehaviourRow:
    """One behaviour as a judge and the rule see it, on the items that the judge judged."""

    behaviour: str
    judge: str
    by_judge: int
    by_rule: int
    found: TwoRaters


@dataclass(frozen=True, slots=True)
class SampleAgreement:
    """Everything that the labels of one sample say.

    alpha: Krippendorff's over all people, None with fewer than two. unfilled: names of people's files in
    which nothing is labelled.
    """

    items: int
    variants: tuple[str, ...]
    raters: tuple[Rater, ...]
    pairs: tuple[PairRow, ...]
    alpha: Estimate | None
    shares: tuple[ShareRow, ...]
    behaviours: tuple[BehaviourRow, ...]
    unfilled: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def agree(directory: Path, files: Sequence[Path], store: Store) -> SampleAgreement:
    """Join people's label files, the judges' directories beside the key, and the rule.

    directory: the sample's. store: the run that it was drawn from, for the rule. Deals are resampled for
    the intervals: replies of one deal share cards, and variants share deals. WolflabError for a file that is
    named twice.
    """
    key = read_key(directory)
    check_named_once(files)
    labels = read_all(files, key)
    moments = sampled_moments(key, store)
    judges = [read_judge(path.parent, key, moments) for path in sorted(directory.glob("judge-*/run.sqlite"))]
    seen = seen_by_rule(key, store)
    agreed = agreement(key, labels, judges, rule_labels(seen, moments), seen)
    return replace(agreed, unfilled=tuple(str(path) for path in files if not read_labels(path, key)))


def agreement(
    key: AnswerKey,
    labels: Sequence[Label],
    judges: Sequence[JudgeFile],
    rule: Mapping[str, bool] | None = None,
    seen: Mapping[str, frozenset[str]] | None = None,
) -> SampleAgreement:
    """See `agree`. rule: item → reasonable; seen: item → behaviours sighted by the detectors."""
    rows = {row.id: row for row in key.rows}
    said: dict[str, dict[str, bool]] = {}
    kinds: dict[str, RaterKind] = {}

    def add(name: str, kind: RaterKind, given: Mapping[str, bool]) -> None:
        if name in said:
            raise WolflabError(f"two raters are called {name!r}; rename one of the files")
        said[name], kinds[name] = dict(given), kind

    people = _people(labels)
    for name, given in people.items():
        add(name, "person", given)
    if verdicts := _majority(list(people.values())):
        add(PEOPLE, "people", verdicts)
    for judge in judges:
        given = {v.item: v.labels[REASONABLE] for v in judge.verdicts if v.labels is not None}
        add(_judge_name(judge, judges), "judge", given)
    if rule is not None:
        add(RULE, "rule", rule)
    files = {_judge_name(judge, judges): judge for judge in judges}
    pairs = [(a, b) for a, b in combinations(said, 2) if not _contained(kinds[a], kinds[b])]
    return SampleAgreement(
        items=len(rows),
        variants=key.variants,
        raters=tuple(_rater(name, kinds[name], given, files.get(name)) for name, given in said.items()),
        pairs=tuple(PairRow(a, b, _compared(rows, said[a], said[b])) for a, b in pairs),
        alpha=_alpha(rows, list(people.values())) if len(people) > 1 else None,
        shares=tuple(row for name in said for row in _shares(key, name, said[name], labels)),
        behaviours=tuple(
            row for judge in judges if seen is not None for row in _behaviours(rows, judge, judges, seen)
        ),
    )


# -- raters -----------------------------------------------------------------------------------


def _people(labels: Sequence[Label]) -> dict[str, dict[str, bool]]:
    by_rater: dict[str, dict[str, bool]] = {}
    for label in labels:
        by_rater.setdefault(label.rater, {})[label.item] = label.reasonable
    return by_rater


def _majority(people: Sequence[Mapping[str, bool]]) -> dict[str, bool]:
    """What most people say of the items that `MAJORITY` of them or more labelled; ties are left out.

    Of two people's labels only those would be left on which they agree, and these are no sample of the items.
    """
    said: dict[str, list[bool]] = {}
    for given in people:
        for item, reasonable in given.items():
            said.setdefault(item, []).append(reasonable)
    return {
        item: 2 * sum(labels) > len(labels)
        for item, labels in said.items()
        if len(labels) >= MAJORITY and 2 * sum(labels) != len(labels)
    }


def _judge_name(judge: JudgeFile, judges: Sequence[JudgeFile]) -> str:
    """ "judge MODEL", with the directory's name where one model judged twice (other criteria)."""
    twice = sum(other.rater == judge.rater for other in judges) > 1
    return f"{judge.rater} ({judge.path.name})" if twice else judge.rater


def _rater(name: str, kind: RaterKind, given: Mapping[str, bool], file: JudgeFile | None) -> Rater:
    if file is None:
        return Rater(name, kind, len(given))
    return Rater(name, kind, len(given), file.invalid, file.instrument)


def _contained(kind: RaterKind, other: RaterKind) -> bool:
    """Whether comparing the two would compare a person with itself among the people."""
    return {kind, other} == {"person", "people"}


# -- numbers ----------------------------------------------------------------------------------


def _compared(rows: Mapping[str, KeyRow], first: Mapping[str, bool], second: Mapping[str, bool]) -> TwoRaters:
    common = [item for item in rows if item in first and item in second]
    missing = len(first.keys() | second.keys()) - len(common)
    return two_raters([(rows[item].deal, first[item], second[item]) for item in common], missing=missing)


def _alpha(rows: Mapping[str, KeyRow], people: Sequence[Mapping[str, bool]]) -> Estimate:
    units = [(row.deal, [given[item] for given in people if item in given]) for item, row in rows.items()]
    return krippendorffs_alpha([(deal, given) for deal, given in units if given])


def _shares(key: AnswerKey, rater: str, given: Mapping[str, bool], labels: Sequence[Label]) -> list[ShareRow]:
    reasons = {label.item: label.reason for label in labels if label.rater == rater and label.reason}
    by_variant = {variant: [row for row in key.rows if row.variant == variant] for variant in key.variants}
    counted = {
        variant: [(row.deal, float(given[row.id]), 1.0) for row in mine if row.id in given]
        for variant, mine in by_variant.items()
    }
    first = key.variants[0]
    return [
        ShareRow(
            variant,
            rater,
            share(counted[variant], "replies", missing=len(mine) - len(counted[variant])),
            None if variant == first else difference_of_shares(counted[variant], counted[first], "replies"),
            dict(Counter(reasons[row.id] for row in mine if row.id in reasons)),
        )
        for variant, mine in by_variant.items()
    ]


def _behaviours(
    rows: Mapping[str, KeyRow],
    judge: JudgeFile,
    judges: Sequence[JudgeFile],
    seen: Mapping[str, frozenset[str]],
) -> list[BehaviourRow]:
    sighted_rows = []
    for name, _ in judge.criteria:
        if name == REASONABLE:
            continue
        judged = {v.item: v.labels[name] for v in judge.verdicts if v.labels is not None}
        sighted = {item: name in seen[item] for item in judged}
        compared = _compared(rows, judged, sighted)
        sighted_rows.append(
            BehaviourRow(
                name, _judge_name(judge, judges), sum(judged.values()), sum(sighted.values()), compared
            )
        )
    return sighted_rows
