"""Find faults in files of questions: duplicates, contradictions, test questions in training, wrong labels.
`Audit.left_out` says what cleaned copies leave out, and why.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from ..errors import WolflabError
from ..rules import Ruleset, preset
from .building import proved
from .duplicates import near_pairs
from .items import YES, Item
from .question_claims import claim_asked
from .question_files import QuestionFile
from .reply_parser import normal_form
from .rule_claims import PUBLISHED, RELEASED, RuleClaim

TRAINING = ("train", "validation")
"""The splits of a built file for training; the others are tests."""


class ItemPlace(NamedTuple):
    """The place of a question: the numbers of its file and of its item, from 0."""

    file: int
    place: int


@dataclass(frozen=True, slots=True)
class Leak:
    """A test question that is also in training. train: its places there. exact: the same letters, not only
    nearly.
    """

    test: ItemPlace
    train: tuple[ItemPlace, ...]
    exact: bool


@dataclass(frozen=True)
class LabelCheck:
    """A yes/no question that the engine can answer. label: its file's answer, True for Yes. positive: Yes
    means that the claim holds. says: the engine's answer by name of the rules; None: undecided.
    """

    spot: ItemPlace
    claim: RuleClaim
    positive: bool
    label: bool
    says: Mapping[str, bool | None]

    @property
    def verdict(self) -> str:
        """ "right" or "wrong" if all rules agree; "disputed" if not."""
        answers = {*self.says.values()}
        if None in answers or len(answers) > 1:
            return "disputed"
        return "right" if answers == {self.label} else "wrong"


@dataclass(frozen=True)
class Audit:
    """The result of an audit. Groups have places in the order of the files. train: numbers of the training
    files. exact: groups of equal questions. near: nearly equal ones, without groups of `exact`.
    contradictions: equal or nearly equal questions with different answers. restated: the same claim in other
    words with different answers. checks: by the engine. proofs: for built items, whether the engine gives
    their answers again.
    """

    files: tuple[QuestionFile, ...]
    train: frozenset[int]
    exact: tuple[tuple[ItemPlace, ...], ...] = ()
    near: tuple[tuple[ItemPlace, ...], ...] = ()
    contradictions: tuple[tuple[ItemPlace, ...], ...] = ()
    restated: tuple[tuple[LabelCheck, ...], ...] = ()
    leaks: tuple[Leak, ...] = ()
    checks: tuple[LabelCheck, ...] = ()
    proofs: Mapping[ItemPlace, bool | None] = field(default_factory=dict)

    @property
    def spots(self) -> Iterator[ItemPlace]:
        """Every question, file by file."""
        return (ItemPlace(f, k) for f, file in enumerate(self.files) for k in range(len(file.items)))

    def item(self, spot: ItemPlace) -> Item:
        """The question at that place."""
        return self.files[spot.file].items[spot.place]

    def is_test(self, spot: ItemPlace) -> bool:
        """Whether it is a test question: in no training file, and in no split for training."""
        return spot.file not in self.train and self.item(spot).split not in TRAINING

    @cached_property
    def left_out(self) -> dict[ItemPlace, str]:
        """The questions that cleaned copies leave out, each with the first reason that applies."""
        verdicts = {check.spot: check.verdict for check in self.checks}
        unproved = [spot for spot, same in self.proofs.items() if same is False]
        reasons = dict.fromkeys(unproved, "the engine proves another answer")
        for spot, verdict in verdicts.items():
            if verdict == "wrong":
                reasons.setdefault(spot, "the label is wrong")
        for group in self.contradictions:
            for test in (True, False):
                alike = [spot for spot in group if self.is_test(spot) == test]
                if _both_answers(map(self.item, alike)):
                    for spot in alike:
                        if verdicts.get(spot) != "right":
                            reasons.setdefault(spot, "the same question has another answer")
        for leak in self.leaks:
            for spot in leak.train:
                reasons.setdefault(spot, "it is a test question")
        for group in (*self.exact, *self.near):
            for test in (True, False):
                alike = [spot for spot in group if spot not in reasons and self.is_test(spot) == test]
                reasons |= dict.fromkeys(alike[1:], "it stands there already")
        return reasons

    def cleaned(self, file: int) -> bytes:
        """The file in its own layout, without left-out questions and unusable rows."""
        kept = (k for k in range(len(self.files[file].items)) if ItemPlace(file, k) not in self.left_out)
        return self.files[file].rewritten(kept)


def rules_to_ask(name: str | None) -> dict[str, tuple[Ruleset, ...]]:
    """The rules for checking labels: one preset, or 002's rules as published and as its code plays them."""
    if name is not None:
        return {name: (preset(name),)}
    return {"published": PUBLISHED, "released code": (RELEASED,)}


def audit_questions(
    files: Sequence[QuestionFile],
    train: Sequence[QuestionFile],
    rules: Mapping[str, Sequence[Ruleset]],
) -> Audit:
    """Compare the questions of all files, and check the answers that the engine can decide. train: files for
    training. rules: see `rules_to_ask`; a question with its own rules is checked under those. WolflabError
    for a file that is given twice.
    """
    together = (*files, *train)
    paths = [file.path.resolve() for file in together]
    for path in paths:
        if paths.count(path) > 1:
            raise WolflabError(f"{path}: given twice; name it once, as a test file or with --train")
    found = Audit(together, frozenset(range(len(files), len(together))))
    spots = [*found.spots]
    items = [found.item(spot) for spot in spots]
    same = _same(items)
    written = [k for k, item in enumerate(items) if not item.kind]
    close = [(written[i], written[j]) for i, j in near_pairs([items[k].question for k in written])]
    near = [
        (i, j)
        for i, j in close
        if not (items[i].rules and items[j].rules and items[i].rules != items[j].rules)
    ]
    exact = _grouped(spots, same)
    alike = _grouped(spots, [*same, *near])
    checks = tuple(_checks(spots, items, rules))
    told = set(exact)
    return Audit(
        together,
        found.train,
        exact,
        tuple(group for group in alike if group not in told),
        tuple(group for group in alike if _both_answers(map(found.item, group))),
        tuple(_restated(found, checks, alike)),
        tuple(_leaks(found, exact, alike)),
        checks,
        {spot: proved(item) for spot, item in zip(spots, items, strict=True) if item.kind},
    )


def category_of(item: Item) -> str:
    """The item's category; without one, "situation" if it names a player by number, else "rule"."""
    numbered = re.search(r"player[_ ]?\d", item.question, re.IGNORECASE)
    return item.category or ("situation" if numbered else "rule")


def _both_answers(items: Iterable[Item]) -> bool:
    return {True, False} <= {item.says_yes for item in items}


def _same(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Pairs of equal questions under equal rules, each with the first one. The order of options does not
    matter.
    """
    first: dict[bytes, int] = {}
    pairs = []
    for k, item in enumerate(items):
        choices = sorted(normal_form(choice) for choice in item.choices)
        key = msgspec.json.encode((item.rules, normal_form(item.question), choices), order="sorted")
        if (before := first.setdefault(key, k)) != k:
            pairs.append((before, k))
    return pairs


def _grouped(
    spots: Sequence[ItemPlace], pairs: Sequence[tuple[int, int]]
) -> tuple[tuple[ItemPlace, ...], ...]:
    """The connected groups of these pairs, in the order of the places."""
    from scipy.sparse import coo_array  # type: ignore[import-untyped]  # heavy, needed here alone
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    one, other = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(pairs)), (one, other)), (len(spots), len(spots)))
    _, numbers = connected_components(graph, directed=False)
    groups: dict[int, list[ItemPlace]] = defaultdict(list)
    for spot, number in zip(spots, numbers, strict=True):
        groups[int(number)].append(spot)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _leaks(
    found: Audit, exact: Sequence[tuple[ItemPlace, ...]], alike: Sequence[tuple[ItemPlace, ...]]
) -> Iterator[Leak]:
    same = {spot: group for group in exact for spot in group}
    for group in alike:
        train = tuple(spot for spot in group if not found.is_test(spot))
        for test in group if train else ():
            if found.is_test(test):
                equal = tuple(spot for spot in train if spot in same.get(test, ()))
                yield Leak(test, equal or train, bool(equal))


def _checks(
    spots: Sequence[ItemPlace], items: Sequence[Item], rules: Mapping[str, Sequence[Ruleset]]
) -> Iterator[LabelCheck]:
    for spot, item in zip(spots, items, strict=True):
        asked = claim_asked(item.question) if item.form == "yes_no" and not item.kind else None
        if asked is None:
            continue
        own = item.ruleset
        under = rules if own is None else {own.name: (own,)}
        held = {name: asked.claim.holds(family) for name, family in under.items()}
        if {*held.values()} != {None}:
            says = {name: None if one is None else one == asked.positive for name, one in held.items()}
            yield LabelCheck(spot, asked.claim, asked.positive, item.answer == YES, says)


def _restated(
    found: Audit, checks: Sequence[LabelCheck], alike: Sequence[tuple[ItemPlace, ...]]
) -> Iterator[tuple[LabelCheck, ...]]:
    """Groups of questions on one claim under equal rules with opposite labels, without groups of equal
    questions.
    """
    by_claim: dict[tuple[RuleClaim, bytes], list[LabelCheck]] = defaultdict(list)
    for check in checks:
        rules = msgspec.json.encode(found.item(check.spot).rules, order="sorted")
        by_claim[check.claim, rules].append(check)
    for same in by_claim.values():
        told = any({check.spot for check in same} <= {*group} for group in alike)
        if len({check.label == check.positive for check in same}) > 1 and not told:
            yield tuple(same)
