"""How well `text.reading` reads words that its author did not write: precision, recall and F1 per act.

    python tests/reading/measure.py                # every set, and test + papers together
    python tests/reading/measure.py --misses       # what went wrong, in the sets that were looked at only
    python tests/reading/measure.py --set train    # one set only (may be repeated)

`train`, `train2b`, `train3b`, `dev` and `papers` were known while the reader was written; `test`, `train2a`
(the first 150 utterances of train2.yaml), `train3a` (the first 120 of train3.yaml) and `fresh` were not.

The labels' format and the definitions stand in docs/reading.md. Counted is every pair (utterance, act): an
accusation is a speaker's target, a claim a player and a role, a report who tells of whose card and which
side it showed. A reported check counts among the speaker's own accusations and defences too.
"""

from __future__ import annotations

import argparse
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from wolflab.rules import ROLES
from wolflab.text.reading import Accusation, Claim, Defence, Report, Suggestion, read

HERE = Path(__file__).parent
ACTS = ("claims", "quoted_claims", "denials", "accusations", "defences", "reports", "votes")
SETS = {
    "train": " (tuned on)",
    "train2b": " (tuned on)",
    "train3b": " (tuned on)",
    "dev": " (looked at)",
    "papers": " (known)",
    "train2a": " (unseen)",
    "train3a": " (unseen)",
    "test": " (unseen)",
    "fresh": " (unseen)",
}
UNSEEN = {"train2": 150, "train3": 120}
"""So many utterances at the head of a file were kept apart: the set with an "a"."""
LOOKED_AT = ("dev", "train", "train2b", "train3b")
Score = dict[str, Counter[str]]


@cache
def _labelled(name: str) -> list[dict[str, Any]]:
    """All utterances of a file, with their labels. libyaml reads it ten times as fast, where there is one."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries: list[dict[str, Any]] = yaml.load((HERE / f"{name}.yaml").read_text(encoding="utf-8"), loader)
    return entries


def load(which: str) -> list[dict[str, Any]]:
    """The labelled utterances of one of `SETS`."""
    if (file := which[:-1]) in UNSEEN:
        entries = _labelled(file)
        return entries[: UNSEEN[file]] if which.endswith("a") else entries[UNSEEN[file] :]
    name = which if which in ("papers", "train", "fresh") else "blind"
    entries = _labelled(name)
    return [entry for entry in entries if name == "papers" or entry["set"] == which]


def _side(what: str) -> str:
    """What a check showed, as far as it is compared: the side."""
    word = what.lower()
    if "not" in word.split() or word in ("good", "clear", "cleared", "innocent", "villager-side"):
        return "good"
    named = {role.name.lower(): role.wolf for role in ROLES.values()}
    return "wolf" if named.get(word, "wolf" in word or word in ("bad", "evil")) else "good"


def wanted(entry: dict[str, Any]) -> dict[str, set[Any]]:
    """The labels of an utterance, by act, as sets."""
    own: dict[str, set[Any]] = {}
    for act in ACTS:
        labels = entry.get(act) or []
        if act == "reports":
            labels = labels + (entry.get("quoted_reports") or [])
        if act == "reports":
            own[act] = {(by, target, _side(what)) for by, target, what in labels}
        else:
            own[act] = {tuple(label) if isinstance(label, list) else label for label in labels}
    return own


def got(entry: dict[str, Any]) -> dict[str, set[Any]]:
    """What the reader finds in an utterance, in the same form."""
    first = entry.get("first", 1)
    names = [f"player_{number}" for number in range(first, first + entry["players"])]
    me = entry["speaker"] - first
    found: dict[str, set[Any]] = {act: set() for act in ACTS}
    for act in read(entry["text"], names, me):
        own = act.speaker == me
        match act:
            case Claim(speaker, role, denied):
                which = ("denials" if denied else "claims") if own else "quoted_claims"
                if own or not denied:
                    found[which].add((speaker + first, role))
            case Report(speaker, "see", target, what):
                found["reports"].add((speaker + first, target + first, _side(what)))
                if own:
                    found["accusations" if _side(what) == "wolf" else "defences"].add(target + first)
            case Accusation(_, target) if own:
                found["accusations"].add(target + first)
            case Defence(_, target) if own:
                found["defences"].add(target + first)
            case Suggestion(_, target, False) if own:
                found["votes"].add(target + first)
    return found


def score(entries: list[dict[str, Any]]) -> Score:
    """Counts of right, wrong (read, not there) and missed (there, not read), by act."""
    counts: Score = {act: Counter() for act in ACTS}
    for entry in entries:
        want, have = wanted(entry), got(entry)
        for act in ACTS:
            counts[act]["right"] += len(want[act] & have[act])
            counts[act]["wrong"] += len(have[act] - want[act])
            counts[act]["missed"] += len(want[act] - have[act])
    return counts


def rates(count: Counter[str]) -> tuple[float, float, float]:
    """Precision, recall, F1; not a number where nothing was there to count."""
    right, read_, there = count["right"], count["right"] + count["wrong"], count["right"] + count["missed"]
    nan = float("nan")
    both = read_ + there
    return (
        right / read_ if read_ else nan,
        right / there if there else nan,
        2 * right / both if both else nan,
    )


def _table(title: str, entries: list[dict[str, Any]]) -> None:
    print(f"{title}: {len(entries)} utterances")
    print(f"  {'':14}{'there':>6}{'read':>6}{'right':>6}{'precision':>11}{'recall':>8}{'F1':>7}")
    for act, count in score(entries).items():
        there, have = count["right"] + count["missed"], count["right"] + count["wrong"]
        precision, recall, both = rates(count)
        print(f"  {act:14}{there:6}{have:6}{count['right']:6}{precision:11.3f}{recall:8.3f}{both:7.3f}")


def _misses(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        want, have = wanted(entry), got(entry)
        lines = [
            f"    {act}: missed {sorted(want[act] - have[act])}, wrong {sorted(have[act] - want[act])}"
            for act in ACTS
            if want[act] != have[act]
        ]
        if lines:
            print(f"({entry['speaker']}) {entry['text']}", *lines, sep="\n")


def main() -> None:
    """The command; see the module."""
    parser = argparse.ArgumentParser(description="How well text.reading reads words it was not made on.")
    parser.add_argument(
        "--misses", action="store_true", help=f"print what is read wrongly in {', '.join(LOOKED_AT)}"
    )
    parser.add_argument(
        "--set", action="append", choices=SETS, help="measure this set only (may be repeated)"
    )
    arguments = parser.parse_args()
    chosen = arguments.set or list(SETS)
    if arguments.misses:
        _misses([entry for which in LOOKED_AT if which in chosen for entry in load(which)])
    sets = {which: load(which) for which in chosen}
    for which, entries in sets.items():
        _table(f"{which}{SETS[which]}", entries)
    if {"test", "papers"} <= set(sets):
        _table("test + papers", sets["test"] + sets["papers"])


if __name__ == "__main__":
    main()
