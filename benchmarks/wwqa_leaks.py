"""Tests whether words alone predict the answers of built questions, with a classifier for each kind about
situations.

    python benchmarks/wwqa_leaks.py [RULESET …] [--train 990] [--test 810] [--kind KIND …] [--most 0.55]

For each yes/no kind, a logistic regression learns from the kind's training wordings (words, pairs of
neighbouring words, length) and answers items in wordings that it never saw. 0.5 is luck. The last columns are
its accuracy and the area under its curve; a line ends in "leaks" where one of them is above --most.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.special import expit  # type: ignore[import-untyped]
from scipy.stats import rankdata  # type: ignore[import-untyped]

from wolflab.errors import WolflabError
from wolflab.rules import PRESETS, Ruleset, preset
from wolflab.wwqa.building import build_items
from wolflab.wwqa.items import YES, Item
from wolflab.wwqa.kinds import KINDS

LEAST = 3
"""Training texts that a word or a pair has to stand in."""


def features(text: str) -> set[object]:
    """Words and pairs of neighbouring words."""
    words = re.findall(r"\w+", text.casefold())
    return {*words, *pairwise(words)}


def vectors(items: Sequence[Item], place: dict[object, int]) -> sparse.csr_matrix:
    """A row an item: which features stand in it, and its length in hundreds of characters."""
    rows, columns = [], []
    for at, item in enumerate(items):
        known = [place[feature] for feature in features(item.question) if feature in place]
        rows += [at] * len(known)
        columns += known
    shape = (len(items), len(place))
    present = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    length = [[len(item.question) / 500, 1.0] for item in items]
    return sparse.hstack([present, sparse.csr_matrix(length)]).tocsr()


def fitted(x: sparse.csr_matrix, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of a logistic regression, drawn towards 0 (as one doubt a feature)."""

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = x @ w
        value = np.logaddexp(0, z).sum() - y @ z + 0.5 * (w @ w)
        return float(value), x.T @ (expit(z) - y) + w

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)


def told_by_words(training: Sequence[Item], items: Sequence[Item]) -> tuple[float, float]:
    """Accuracy on `items`, and the area under the curve."""
    often = Counter(feature for item in training for feature in features(item.question))
    place = {feature: at for at, feature in enumerate(f for f, n in often.items() if n >= LEAST)}
    y = np.array([float(item.answer == YES) for item in training])
    scores = vectors(items, place) @ fitted(vectors(training, place), y)
    yes = np.array([item.answer == YES for item in items])
    ranks = rankdata(scores)
    area = (ranks[yes].sum() - yes.sum() * (yes.sum() + 1) / 2) / (yes.sum() * (~yes).sum())
    return float(((scores > 0) == yes).mean()), float(area)


def measure(rules: Ruleset, kind: str, train: int, test: int) -> tuple[int, int, float, float] | None:
    """Items learned from, items answered, accuracy, area; None where the rules answer the kind in one way."""
    n = train + test
    try:
        built = build_items(rules, n, 1, kinds=[kind], shares={"wordings": test / n, "train": train / n})
    except WolflabError:
        return None
    training = [item for item in built.items if item.split == "train"]
    items = [item for item in built.items if item.split == "wordings"]
    return (len(training), len(items), *told_by_words(training, items)) if training and items else None


def main(words: Sequence[str]) -> None:
    """Measure every kind under every ruleset named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rules", nargs="*", default=list(PRESETS))
    parser.add_argument("--train", type=int, default=990)
    parser.add_argument("--test", type=int, default=810)
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--most", type=float, default=0.55)
    wanted = parser.parse_args(words)
    kinds = [k.name for k in KINDS.values() if k.setting is not None and k.form == "yes_no"]
    leaks = 0
    for name in wanted.rules:
        for kind in wanted.kind or kinds:
            found = measure(preset(name), kind, wanted.train, wanted.test)
            if found is None:
                continue
            trained, asked, right, area = found
            leaky = max(right, area) > wanted.most
            leaks += leaky
            mark = "  leaks" if leaky else ""
            print(f"{name:8} {kind:24} {trained:5} {asked:5} {right:6.3f} {area:6.3f}{mark}", flush=True)
    print(f"{leaks} of these leak")


if __name__ == "__main__":
    main(sys.argv[1:])
