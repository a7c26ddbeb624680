"""Computes agreement of raters and the share of reasonable replies of each variant, from labels and the key.

Raters are people (label files), judges (models) and the rule (detectors). The variant of a reply is looked up
only here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from ...errors import WolflabError
from ...stats.agreement import TwoRaters, difference_of_shares, krippendorffs_alpha, two_raters
from ...stats.corrected import CorrectedRate, corrected_rate
from ...stats.intervals import Estimate, share
from ..storage.store import Store
from .annotate import AnswerKey, read_key, sampled_decisions
from .judging import JudgeFile, read_judge, rule_labels, seen_by_rule
from .label_files import Label, by_rater, check_named_once, joined_labels, labelled_by_both, read_labels

RULE, PEOPLE = "rule", "people"
"""Names of raters without a file: the detectors, and the majority of people (see `_majority`)."""
MAJORITY = 3
"""The fewest people for a majority: two people have one only where they agree."""

RaterKind = Literal["person", "people", "judge", "rule"]
REASONABLE = "reasonable"


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater, and the number of items that it labelled.

    invalid: the number of a judge's unusable verdicts. instrument: the judge is the built-in player.
    """

    name: str
    kind: RaterKind
    labelled: int
    invalid: int = 0
    instrument: bool = False


@dataclass(frozen=True, slots=True)
class PairRow:
    """Agreement of two raters on the items that both labelled."""

    one: str
    other: str
    found: TwoRaters


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One rater's share of one variant. over: the share − the first variant's (None for the first itself).

    reasons: reason for "not reasonable" → count (only people give reasons).
    """

    variant: str
    rater: str
    reasonable: Estimate
    over: Estimate | None
    reasons: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BehaviourRow:
    """Agreement of a judge and the rule on one behaviour, on the items that the judge judged."""

    behaviour: str
    judge: str
    by_judge: int
    by_rule: int
    found: TwoRaters


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """The share of a variant's replies that meet a criterion by a judge or the rule, corrected by labels of
    people for a part of them.

    criterion: "reasonable" or a behaviour. by: the person, or the majority.
    """

    variant: str
    criterion: str
    judge: str
    by: str
    found: CorrectedRate


@dataclass(frozen=True, slots=True)
class SampleAgreement:
    """The results of one sample's labels.

    alpha: Krippendorff's over all people, None for fewer than two. unfilled: names of people's files without
    labels. corrected: for variants of which people labelled some of the judged replies, and not all.
    """

    items: int
    variants: tuple[str, ...]
    raters: tuple[Rater, ...]
    pairs: tuple[PairRow, ...]
    alpha: Estimate | None
    shares: tuple[ShareRow, ...]
    behaviours: tuple[BehaviourRow, ...]
    unfilled: tuple[str, ...] = ()
    corrected: tuple[CorrectedRow, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def agree(directory: Path, files: Sequence[Path], store: Store) -> SampleAgreement:
    """Read people's label files and the judges' directories, apply the rule, and compute the agreement.

    directory: the sample's. store: the run of the sample, for the rule. Intervals are over deals, because
    replies of one deal share cards, and variants share deals. WolflabError for a duplicate file.
    """
    key = read_key(directory)
    check_named_once(files)
    read = {path: read_labels(path, key) for path in files}
    labels = joined_labels(files, read.__getitem__)
    decisions = sampled_decisions(key, store)
    judges = [
        read_judge(path.parent, key, decisions) for path in sorted(directory.glob("judge-*/run.sqlite"))
    ]
    seen = seen_by_rule(key, store)
    agreed = agreement(key, labels, judges, rule_labels(seen, decisions), seen)
    return replace(agreed, unfilled=tuple(str(path) for path in files if not read[path]))


def agreement(
    key: AnswerKey,
    labels: Sequence[Label],
    judges: Sequence[JudgeFile],
    rule: Mapping[str, bool] | None = None,
    seen: Mapping[str, frozenset[str]] | None = None,
) -> SampleAgreement:
    """See `agree`. rule: item → reasonable; seen: item → detected behaviours."""
    deals = {row.id: row.deal for row in key.rows}
    raters: list[Rater] = []
    said: dict[str, dict[str, bool]] = {}

    def add(
        name: str, kind: RaterKind, given: dict[str, bool], invalid: int = 0, instrument: bool = False
    ) -> None:
        if name in said:
            raise WolflabError(f"two raters are called {name!r}; rename one of the files")
        said[name] = given
        raters.append(Rater(name, kind, len(given), invalid, instrument))

    people = [
        {item: label.reasonable for item, label in given.items()} for given in by_rater(labels).values()
    ]
    for name, given in zip(by_rater(labels), people, strict=True):
        add(name, "person", given)
    if verdicts := _majority(people):
        add(PEOPLE, "people", verdicts)
    named = {_judge_name(judge, judges): judge for judge in judges}
    for name, judge in named.items():
        add(name, "judge", _judged(judge, REASONABLE), judge.invalid, judge.instrument)
    if rule is not None:
        add(RULE, "rule", dict(rule))
    pairs = [  # no pair of a person and the majority that includes this person
        (a.name, b.name) for a, b in combinations(raters, 2) if {a.kind, b.kind} != {"person", "people"}
    ]
    return SampleAgreement(
        items=len(deals),
        variants=key.variants,
        raters=tuple(raters),
        pairs=tuple(PairRow(a, b, _compared(deals, said[a], said[b])) for a, b in pairs),
        alpha=_alpha(deals, people) if len(people) > 1 else None,
        shares=tuple(row for name in said for row in _shares(key, name, said[name], labels)),
        behaviours=tuple(
            row
            for name, judge in named.items()
            if seen is not None
            for row in _behaviours(deals, name, judge, seen)
        ),
        corrected=tuple(_corrections(key, labels, named, rule or {}, seen or {})),
    )


# -- raters -----------------------------------------------------------------------------------


def _majority(people: Sequence[Mapping[str, bool]]) -> dict[str, bool]:
    """The majority label of items that at least `MAJORITY` people labelled, without ties.

    With two people only items on which they agree would count, and these are no random sample.
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
    """ "judge MODEL", with the directory's name if one model judged twice (by other criteria)."""
    twice = sum(other.rater == judge.rater for other in judges) > 1
    return f"{judge.rater} ({judge.path.name})" if twice else judge.rater


def _judged(judge: JudgeFile, criterion: str) -> dict[str, bool]:
    """Item → a judge's label by a criterion, for usable verdicts."""
    return {one.item: one.labels[criterion] for one in judge.verdicts if one.labels is not None}


# -- numbers ----------------------------------------------------------------------------------


def _compared(deals: Mapping[str, int], first: Mapping[str, bool], second: Mapping[str, bool]) -> TwoRaters:
    both, missing = labelled_by_both(deals, first, second)
    return two_raters(both, missing=missing)


def _alpha(deals: Mapping[str, int], people: Sequence[Mapping[str, bool]]) -> Estimate:
    units = [(deal, [given[item] for given in people if item in given]) for item, deal in deals.items()]
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


def _corrections(
    key: AnswerKey,
    labels: Sequence[Label],
    judges: Mapping[str, JudgeFile],
    rule: Mapping[str, bool],
    seen: Mapping[str, frozenset[str]],
) -> Iterator[CorrectedRow]:
    """By criterion, judge, and whose labels are taken for true: the majority's, else each person's."""
    for criterion in dict.fromkeys((REASONABLE, *(name for label in labels for name in label.behaviours))):
        said = [(label.rater, label.item, label.said(criterion)) for label in labels]
        people: dict[str, dict[str, bool]] = {}
        for rater, item, true in said:
            if true is not None:
                people.setdefault(rater, {})[item] = true
        majority = _majority([*people.values()])
        judged = {
            name: _judged(judge, criterion)
            for name, judge in judges.items()
            if criterion in dict(judge.criteria)
        }
        shown = {item: criterion in behaviours for item, behaviours in seen.items()}
        judged[RULE] = dict(rule) if criterion == REASONABLE else shown
        for judge, given in judged.items():
            for by, labelled in ({PEOPLE: majority} if majority else people).items():
                for variant in key.variants:
                    rows = [row for row in key.rows if row.variant == variant and row.id in given]
                    items = [(row.deal, given[row.id], labelled.get(row.id)) for row in rows]
                    if 0 < sum(true is not None for _, _, true in items) < len(items):
                        found = corrected_rate(items, "replies")
                        yield CorrectedRow(variant, criterion, judge, by, found)


def _behaviours(
    deals: Mapping[str, int], name: str, judge: JudgeFile, seen: Mapping[str, frozenset[str]]
) -> Iterator[BehaviourRow]:
    for behaviour, _ in judge.criteria:
        if behaviour != REASONABLE:
            judged = _judged(judge, behaviour)
            sighted = {item: behaviour in seen[item] for item in judged}
            counts = sum(judged.values()), sum(sighted.values())
            yield BehaviourRow(behaviour, name, *counts, _compared(deals, judged, sighted))
