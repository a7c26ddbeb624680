"""Precision and recall of `metrics.behaviours.deception` on real talk of language models.

Two hands labelled 300 utterances, drawn by chance from ten English logs of the AIWolf contests of 2025 and
2026, before anybody looked at what the rules find (`deception_labels.csv`: files, line numbers and labels, no
words). The hands had every player's role and all results of the log. The logs are published with
aiwolfdial/aiwolf-nlp-viewer.

    python benchmarks/deception.py FOLDER_OF_LOGS

Counted are utterances: those that contradict what the speaker knows, and those with a false claim (a role or
a result). An utterance on which the hands differ is left out and counted. Utterances that could not be read
count as misses.

Then the rules are a judge with a known error: the utterances on which the hands agree are drawn anew with
replacement, and the hands' labels of `--part` of them correct the rules' rate (`stats.corrected`). Printed is
how often the interval holds the hands' rate, and how wide it is beside that of the part's labels alone.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wolflab.metrics.behaviours.deception import Knowledge, contradictions
from wolflab.stats.agreement import cohens_kappa
from wolflab.stats.corrected import corrected_rate
from wolflab.stats.intervals import share, wilson
from wolflab.text.reading import WEREWOLF, can_be_read, read

LABELS = Path(__file__).with_name("deception_labels.csv")
ROLES = {
    "BODYGUARD": "Guard",
    "MEDIUM": "Medium",
    "POSSESSED": "Possessed",
    "SEER": "Seer",
    "VILLAGER": "Villager",
}
"""The log's roles by our names; a Medium and a Possessed are no roles here, so that each claim of ours is
false.
"""


@dataclass
class Log:
    """The state of a game while its log is read. players: number → (role, name)."""

    players: dict[int, tuple[str, str]] = field(default_factory=dict)
    results: dict[int, dict[tuple[str, int], str]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by seat (the player's number − 1)."""
        return tuple(self.players[number][1] for number in sorted(self.players))

    def knowledge(self, number: int) -> Knowledge:
        """What a player knows by now."""
        role = self.players[number][0]
        wolves = {other - 1: card == "WEREWOLF" for other, (card, _) in self.players.items()}
        results = self.results.get(number, {})
        if role != "WEREWOLF":
            learned = {target: what == WEREWOLF for (_, target), what in results.items() if what}
            wolves = {number - 1: False} | learned
        return Knowledge(number - 1, ROLES.get(role, WEREWOLF), wolves, results)


def talk(path: Path) -> Iterator[tuple[int, int, str, Log]]:
    """(line number, player, words, state) of each line of talk."""
    log = Log()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        kind, *parts = line.split(",")[1:]
        match kind:
            case "status":
                log.players[int(parts[0])] = (parts[1], parts[4])
            case "divine":
                seer, target, species = int(parts[0]), int(parts[1]), parts[2]
                log.results.setdefault(seer, {})["see", target - 1] = _shown(species)
            case "guard":
                log.results.setdefault(int(parts[0]), {})["protect", int(parts[1]) - 1] = ""
            case "execute":
                for medium in (one for one, (role, _) in log.players.items() if role == "MEDIUM"):
                    log.results.setdefault(medium, {})["see", int(parts[0]) - 1] = _shown(parts[1])
            case "talk":
                yield number, int(parts[2]), parts[3], log


def _shown(species: str) -> str:
    return WEREWOLF if species == "WEREWOLF" else "not a Werewolf"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Precision and recall of deception in labelled talk.")
    parser.add_argument("logs", type=Path, help="the folder of the logs")
    parser.add_argument("--labels", type=Path, default=LABELS, help="the hands' labels")
    parser.add_argument("--part", type=int, default=100, help="how many labels correct the rules' rate")
    parser.add_argument("--resamples", type=int, default=2000, help="how often utterances are drawn anew")
    given = parser.parse_args(arguments)
    with given.labels.open(encoding="utf-8", newline="") as file:
        labels = {(row["file"], int(row["line"])): row for row in csv.DictReader(file)}
    found: dict[tuple[str, int], tuple[bool, bool]] = {}
    unread = 0
    for name in sorted({name for name, _ in labels}):
        for line, player, words, log in talk(given.logs / name):
            if (name, line) in labels:
                unread += not can_be_read(words, log.names)
                wrong = contradictions(read(words, log.names, player - 1), log.knowledge(player))
                found[name, line] = (
                    bool(wrong), any(one.kind in ("role", "result") for one in wrong)
                )  # fmt: skip
    print(f"{len(found)} utterances, {unread} could not be read")
    for at, label in enumerate(("contradicts", "false_claim")):
        hands = [(place, row[f"{label}_a"] == "1", row[f"{label}_b"] == "1") for place, row in labels.items()]
        agreed = {place: a for place, a, b in hands if a == b}
        kappa = cohens_kappa([(k, a, b) for k, (_, a, b) in enumerate(hands)]).value
        hits = sum(found[place][at] for place, true in agreed.items() if true)
        positive, said = sum(agreed.values()), sum(found[place][at] for place in agreed)
        print(
            f"{label}: {positive} of {len(agreed)} (hands differ in {len(hands) - len(agreed)}, "
            f"kappa {kappa or 0:.2f}); precision {_share(hits, said)}, recall {_share(hits, positive)}"
        )
        if label == "contradicts":
            print(corrected([(found[place][at], true) for place, true in agreed.items()], given))


def corrected(labels: Sequence[tuple[bool, bool]], given: argparse.Namespace) -> str:
    """How often the corrected rate's interval holds the rate. labels: (the rules', the hands')."""
    draw, truth = np.random.default_rng(1), sum(true for _, true in labels) / len(labels)
    rates, alone, held = [], [], 0
    for _ in range(given.resamples):
        drawn = [labels[n] for n in draw.integers(len(labels), size=len(labels))]
        items = [(n, said, true if n < given.part else None) for n, (said, true) in enumerate(drawn)]
        rate = corrected_rate(items).rate
        if rate.half_width is not None:
            rates.append(rate.half_width)
            held += rate.excludes(truth) is False
            part = share([(n, float(true), 1.0) for n, _, true in items if true is not None], "utterances")
            alone.append(part.half_width or 0.0)
    if not rates:
        return "no resample has a corrected rate"
    by_rules = sum(said for said, _ in labels) / len(labels)
    return (
        f"  rate {truth:.3f}, by the rules {by_rules:.3f}; corrected by {given.part} of {len(labels)} "
        f"labels, the interval holds it in {held / len(rates):.1%} of {len(rates)} resamples; half its width "
        f"{np.mean(rates):.3f}, by those labels alone {np.mean(alone):.3f}"
    )


def _share(hits: int, n: int) -> str:
    if not n:
        return "none"
    low, high = wilson(hits, n)
    return f"{hits} of {n}, {hits / n:.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
