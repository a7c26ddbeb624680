"""Baselines beside models: guessing by frequency or by single words. Each takes questions of one form, and
answers each. It learns from training questions; without these, by cross-validation over fifths (clusters stay
together). None learns from a question that it is tested on.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .items import YES, Item

ALWAYS_YES, MAJORITY, WORDS, LONGEST = "always Yes", "majority answer", "bag of words", "longest option"
FOLDS = 5
LEAST_TRAINING = 20
"""With fewer training questions of a form, a row learns by cross-validation."""
MOST_TRAINED = 5000
"""The most training questions of a bag of words; of more, this many are drawn."""
MOST_CLASSES = 40
"""The number of open answers that it can give: the most frequent ones."""
SEEN = 3
"""The fewest texts with a word or a pair of words for it to be learned from."""
_WORD = re.compile(r"\w+")
BaselineFunction = Callable[[Sequence[Item], Sequence[Item]], list[str]]
"""(training, questions) → answers"""


def baselines(items: Sequence[Item], training: Sequence[Item]) -> dict[str, list[str]]:
    """Baseline → its answers to `items`, which are of one form. training: of that form, or empty. Baselines
    that learn are left out if there is no training and only one cluster.
    """
    form = items[0].form
    answers = {ALWAYS_YES: [YES] * len(items)} if form == "yes_no" else {}
    if training or len({item.cluster for item in items}) > 1:
        for name, learned in ((MAJORITY, majority), (WORDS, bag_of_words)):
            answers[name] = learned(training, items) if training else held_out(learned, items)
    if form == "choice":
        answers[LONGEST] = [max(item.choices, key=len) for item in items]
    return answers


def majority(training: Sequence[Item], items: Sequence[Item]) -> list[str]:
    """The most frequent answer; of choices the most frequent place, of open ones by type of answer."""
    choices = items[0].form == "choice"
    most: dict[str, Any] = {}
    for kind in {item.answer_type for item in training}:
        known = (item for item in training if item.answer_type == kind)
        habits = Counter(item.choices.index(item.answer) if choices else item.answer for item in known)
        most[kind] = habits.most_common(1)[0][0]
    guesses = [most.get(item.answer_type, "") for item in items]
    if not choices:
        return guesses
    return [
        item.choices[guess] if isinstance(guess, int) and guess < len(item.choices) else ""
        for item, guess in zip(items, guesses, strict=True)
    ]


def held_out(learned: BaselineFunction, items: Sequence[Item], seed: int = 0) -> list[str]:
    """A baseline's answers to each fifth, learned from the other four (cross-validation by cluster)."""
    clusters = sorted({item.cluster for item in items})
    random.Random(seed).shuffle(clusters)
    fold = {cluster: k % FOLDS for k, cluster in enumerate(clusters)}
    answers = [""] * len(items)
    for k in range(FOLDS):
        inside = [place for place, item in enumerate(items) if fold[item.cluster] == k]
        rest = [item for item in items if fold[item.cluster] != k]
        if inside and rest:
            given = learned(rest, [items[place] for place in inside])
            for place, answer in zip(inside, given, strict=True):
                answers[place] = answer
    return answers


# -- words ------------------------------------------------------------------------------------


def bag_of_words(training: Sequence[Item], items: Sequence[Item]) -> list[str]:
    """Naive Bayes on the presence of words and pairs of neighbouring words. For choices it learns from the
    options' words which are right, and takes the likeliest; for open questions, the answer by type
    (`MOST_CLASSES` of them).
    """
    if len(training) > MOST_TRAINED:
        training = random.Random(0).sample(training, MOST_TRAINED)
    if items[0].form == "choice":
        texts = [option for item in training for option in item.choices]
        labels = [str(option == item.answer) for item in training for option in item.choices]
        score = _bayes(texts, labels)

        def odds(option: str) -> float:
            return score(option).get("True", 0.0) - score(option).get("False", 0.0)

        return [max(item.choices, key=odds) for item in items]
    answers: dict[int, str] = {}
    for kind in {item.answer_type for item in items}:
        known = [item for item in training if item.answer_type == kind]
        score = _bayes([item.question for item in known], [item.answer for item in known])
        for place, item in enumerate(items):
            if item.answer_type == kind:
                scores = score(item.question)
                answers[place] = max(scores, key=lambda answer: scores[answer], default="")
    return [answers[place] for place in range(len(items))]


def _bayes(texts: Sequence[str], labels: Sequence[str]) -> Callable[[str], dict[str, float]]:
    """Text → how likely each label is (a logarithm, up to a constant).

    A feature's frequency under a label is shrunk towards its overall frequency, so that rare features count
    little for rare labels.
    """
    classes = [label for label, _ in Counter(labels).most_common(MOST_CLASSES)]
    number = {label: k for k, label in enumerate(classes)}
    used = [(_features(text), number[one]) for text, one in zip(texts, labels, strict=True) if one in number]
    often = Counter(chain.from_iterable(features for features, _ in used))
    place = {feature: k for k, feature in enumerate(one for one, n in often.items() if n >= SEEN)}
    if len(classes) < 2 or not place:
        return lambda text: {label: -float(k) for k, label in enumerate(classes)}
    counts = np.zeros((len(classes), len(place)))
    sizes = np.bincount([label for _, label in used], minlength=len(classes)).astype(np.float64)
    for features, label in used:
        counts[label, [place[feature] for feature in features if feature in place]] += 1
    everywhere = (counts.sum(axis=0) + 0.5) / (sizes.sum() + 1)
    chances = (counts + everywhere) / (sizes + 1)[:, None]
    present = np.log(chances / (1 - chances))
    absent = np.log(sizes / sizes.sum()) + np.log(1 - chances).sum(axis=1)

    def score(text: str) -> dict[str, float]:
        known = [place[feature] for feature in _features(text) if feature in place]
        scores: NDArray[np.float64] = absent + present[:, known].sum(axis=1)
        return dict(zip(classes, scores.tolist(), strict=True))

    return score


def _features(text: str) -> set[Hashable]:
    words = _WORD.findall(text.casefold())
    return {*words, *pairwise(words)}
