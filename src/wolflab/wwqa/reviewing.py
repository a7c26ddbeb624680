"""Reviews of questions by people: their decisions, their agreement, and the questions that remain.

A person keeps a question with the file's answer or with another one, or rejects it. A question on which
people disagree is left out, unless somebody decides it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from ..errors import WolflabError
from ..lab.labels.label_files import (
    Labelled,
    by_rater,
    check_named_once,
    joined_labels,
    labelled_by_both,
    labels_in,
    quoted_cell,
    rater_of,
    unguarded,
    wrong_name,
    yes_or_no,
)
from ..stats.agreement import cohens_kappa, raw_agreement
from ..stats.intervals import Estimate
from .items import NO, YES, Form, Item
from .reply_parser import LETTERS

DECIDED = ("decision", "answer", "comment")
"""The columns that a person fills in: keep or reject; the right answer, if it is not the file's; a
comment.
"""
KEEP, REJECT = "keep", "reject"
FILE = "file"
"""The file's own answers as a rater."""
_MARK = "q"
"""The prefix of an item's id in tables, because a spreadsheet reads some ids as numbers."""
_OUTCOMES = "accepted", "answered", "relabelled", "rejected"
_KEEPS = frozenset((KEEP, "kept", "accept", "accepted", "ok", "relabel", "relabelled", "change", "answer"))
_REJECTS = frozenset((REJECT, "rejected", "drop", "no question"))


@dataclass(frozen=True, slots=True)
class Decision(Labelled):
    """One person's decision on one question. answer: the right one; None: the question is rejected."""

    answer: str | None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The counts of one person's decisions: kept with the file's answer, answered if the file has none, kept
    with another answer, rejected.
    """

    name: str
    accepted: int
    answered: int
    relabelled: int
    rejected: int


@dataclass(frozen=True, slots=True)
class ReviewPair:
    """Two people, or one and the file, on the questions of one form that both decided.

    Between two people, "rejected" is a label like any answer. The file rejects nothing: rejected questions
    count as missing there, as do questions without an answer in the file. kappa: None for free-text answers,
    which rarely repeat.
    """

    one: str
    other: str
    form: str
    agreed: Estimate
    kappa: Estimate | None


@dataclass(frozen=True, slots=True)
class Disputed:
    """A question on which people disagree. said: the answers by person (None: rejected). settled: somebody
    decided it.
    """

    item: str
    question: str
    said: Mapping[str, str | None]
    settled: bool


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The result of a review. items: the remaining ones, with their right answers, in the file's order.
    twice: the number of repeated questions in the file, which were reviewed once. accepted to rejected: as in
    a `Reviewer`. unreviewed: the number without a decision.
    """

    questions: int
    twice: int
    people: tuple[Reviewer, ...]
    pairs: tuple[ReviewPair, ...]
    disputed: tuple[Disputed, ...]
    items: tuple[Item, ...]
    accepted: int
    answered: int
    relabelled: int
    rejected: int
    unreviewed: int

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values, with the number of items."""
        return {name: value for name, value in asdict(self).items() if name != "items"} | {
            "kept": len(self.items)
        }


def by_table_id(items: Sequence[Item]) -> dict[str, Item]:
    """Each question once, by its id in tables and on pages; of equal ones the first."""
    named: dict[str, Item] = {}
    for item in items:
        named.setdefault(f"{_MARK}{item.id}", item)
    return named


# -- reading ----------------------------------------------------------------------------------


def read_decisions(path: Path, items: Mapping[str, Item]) -> tuple[Decision, ...]:
    """The decisions in a table, in the file's order; rows with neither a decision nor an answer are skipped.
    The person is the column `rater` if it is filled, else the file's name. WolflabError, with the row, for an
    unknown id, an invalid decision or answer, a question decided twice by one person, or another kind of
    file.
    """
    return labels_in(path, ("id", "decision", "answer"), lambda cells: _decision(cells, items, path.stem))


def _decision(cells: Mapping[str, str], items: Mapping[str, Item], stem: str) -> Decision | str | None:
    name = unguarded(cells.get("id", "").strip()).casefold()
    word, said, comment = (unguarded(cells.get(column, "").strip()) for column in DECIDED)
    if name not in items:
        return f"the id {quoted_cell(name)} is none of these questions'; is this the table of another file?"
    if not word and not said:
        return None
    item, rater = items[name], rater_of(cells, stem)
    if wrong := wrong_name(rater):
        return wrong
    if word.casefold() in _REJECTS:
        if said:
            return f"{name} is rejected and has an answer; delete the answer, or write keep"
        return Decision(name, rater, None, comment)
    if word and word.casefold() not in _KEEPS:
        if said or answer_in(item, word) is None or item.form == "open":
            return f"{name} has the decision {quoted_cell(word)}; write keep or reject"
        said = word  # the answer, one column too early
    answer = answer_in(item, said) if said else item.answer
    if answer is None:
        choices = f"{YES} or {NO}" if item.form == "yes_no" else "one of its options"
        return f"{name} has the answer {quoted_cell(said)}; write {choices}"
    if not answer:
        return f"{name} is kept, and the file has no answer for it; fill in the right one, or write reject"
    return Decision(name, rater, answer, comment)


def answer_in(item: Item, said: str) -> str | None:
    """A cell's answer to this question; None if it is not one."""
    if item.form == "yes_no":
        found = yes_or_no(said.rstrip("."))
        return None if found is None else YES if found else NO
    if item.form == "choice":
        by_letter = dict(zip(LETTERS.casefold(), item.choices, strict=False))
        by_words = {choice.casefold(): choice for choice in item.choices}
        return by_words.get(said.casefold()) or by_letter.get(said.casefold().rstrip(").").strip())
    return " ".join(said.split())


def _label(item: Item, answer: str | None) -> Hashable:
    """The label of a decision; equal decisions have the same."""
    return None if answer is None else " ".join(answer.casefold().split()).rstrip(".")


# -- joining ----------------------------------------------------------------------------------


def review(items: Sequence[Item], labels: Sequence[Path], decided: Sequence[Path] = ()) -> ReviewResult:
    """Join people's tables. decided: tables with final decisions on disputed questions and any others.
    WolflabError for tables that do not fit, and for a file that is named twice.
    """
    check_named_once([*labels, *decided])
    named = by_table_id(items)
    decisions = joined_labels(labels, lambda path: read_decisions(path, named))
    final = {one.item: one for one in joined_labels(decided, lambda path: read_decisions(path, named))}
    return joined_review(items, decisions, final)


def joined_review(
    items: Sequence[Item], decisions: Sequence[Decision], final: Mapping[str, Decision]
) -> ReviewResult:
    """See `review`. final: the decisions that settle, by item."""
    named = by_table_id(items)
    people = by_rater(decisions)
    kept: list[Item] = []
    disputed: list[Disputed] = []
    counts = dict.fromkeys((*_OUTCOMES, "unreviewed"), 0)
    for name, item in named.items():
        said = {rater: given[name].answer for rater, given in people.items() if name in given}
        differing = len({_label(item, answer) for answer in said.values()}) > 1
        if differing:
            disputed.append(Disputed(name, item.question, said, name in final))
        if name in final:
            answer = final[name].answer
        elif differing:
            continue
        elif not said:
            counts["unreviewed"] += 1
            continue
        else:
            answer = next(iter(said.values()))
        counts[_outcome(item, answer)] += 1
        if answer == item.answer:
            kept.append(item)
        elif answer is not None:  # the proof of another answer is removed
            kept.append(msgspec.structs.replace(item, answer=answer, value=None, derivation=()))
    reviewers = []
    for rater, given in people.items():
        outcomes = [_outcome(named[one.item], one.answer) for one in given.values()]
        reviewers.append(Reviewer(rater, **{word: outcomes.count(word) for word in _OUTCOMES}))
    return ReviewResult(
        questions=len(items),
        twice=len(items) - len(named),
        people=tuple(reviewers),
        pairs=tuple(_pairs(named, people)),
        disputed=tuple(disputed),
        items=tuple(kept),
        **counts,
    )


def _outcome(item: Item, answer: str | None) -> str:
    if answer is None:
        return "rejected"
    if not item.answer:
        return "answered"
    return "accepted" if _label(item, answer) == _label(item, item.answer) else "relabelled"


def _pairs(named: Mapping[str, Item], people: Mapping[str, Mapping[str, Decision]]) -> list[ReviewPair]:
    said = {
        rater: {name: _label(named[name], one.answer) for name, one in given.items()}
        for rater, given in people.items()
    }
    if FILE in said:
        raise WolflabError(f"a person is called {FILE!r}, as the file's own answers are; rename that table")
    answered = {
        rater: {name: label for name, label in labels.items() if label is not None}
        for rater, labels in said.items()
    }
    from_file = {name: _label(item, item.answer) for name, item in named.items() if item.answer}
    couples = [(one, said[one], other, said[other]) for one, other in combinations(said, 2)]
    couples += [(one, answered[one], FILE, from_file) for one in said]
    forms = dict.fromkeys(item.form for item in named.values())
    found = [_pair(form, named, *couple) for form in forms for couple in couples]
    return [pair for pair in found if pair.agreed.n]


def _pair(
    form: Form,
    named: Mapping[str, Item],
    one: str,
    first: Mapping[str, Hashable],
    other: str,
    second: Mapping[str, Hashable],
) -> ReviewPair:
    mine = {name: item for name, item in named.items() if item.form == form}
    clusters = {cluster: n for n, cluster in enumerate(dict.fromkeys(item.cluster for item in mine.values()))}
    items = {name: clusters[item.cluster] for name, item in mine.items()}
    rows, missing = labelled_by_both(items, first, second)
    kappa = None if form == "open" else cohens_kappa(rows, missing=missing)
    return ReviewPair(one, other, form, raw_agreement(rows, missing=missing), kappa)
