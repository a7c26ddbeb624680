"""Compares the games and the reported numbers of two versions of Wolflab.

    python benchmarks/same_games.py BEFORE AFTER [--deals 4] [--only NAME] [--keep DIRECTORY] [--over-http]

BEFORE and AFTER are two `wolflab` commands, each of its own version (`old/.venv/bin/wolflab
.venv/bin/wolflab`). Every shipped experiment and tournament is played on the built-in player by both, with
few deals and small pools, and exported. With --over-http every player is a model of a small server on this
machine, whose replies follow from the prompts (`tests/http_server.py`). Then it is compared, line by line,
what the records hold: events, replies, notes and probes. Left out are headers, hashes of requests and the
chain, which a version may word otherwise. Of `report.json` or `tournament.json` every value with its n and
missing is compared, and so are the status of games and the totals of their calls; intervals and p are not,
because they are resampled. If the version before refuses the present names, it gets the file with the old
ones (`wolflab.renamed`). A file that it still refuses is skipped and named. The number of records that are
equal byte for byte, with headers and hashes, is printed too. The exit code is 1 if anything else differs.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import yaml

import http_server
from wolflab import renamed

SHIPPED = Path(__file__).parent.parent / "experiments"
POOL, DRAWS = 2, 2
"""Games in a pool and draws of pools, in the small versions."""


def small(data: dict[str, Any], deals: int) -> dict[str, Any]:
    """The same experiment on the built-in player with few deals and small pools."""
    data = {**data, **(data.get("village") or {})}
    data.pop("village", None)
    pools = [one["experience"] for one in _parts(data) if isinstance(one.get("experience"), dict)]
    drawn = [one for one in pools if "games_of" in one]
    for one in drawn:
        one["games"] = min(one.get("games", POOL), POOL)
        if "draws" in one:
            one["draws"] = DRAWS
    for one in data.get("conditions", {}).values():
        if "deals" in one:
            one["deals"] = POOL * DRAWS if drawn else deals
    data |= {"deals": deals, "workers": 1}
    if any("draws" in one for one in drawn):
        data["repeats"] = DRAWS
    return data


def over_http(data: dict[str, Any], base_url: str, **settings: Any) -> dict[str, Any]:
    """The same experiment with a model of that server in place of each built-in player. settings: of it."""
    data.pop("planted", None)  # in the built-in player's settings
    for one in _parts(data):
        model = one.get("model")
        name = model.get("model") if isinstance(model, dict) else model
        if name == "village":
            one["model"] = {"model": "custom/wolf-1", "base_url": base_url, **settings}
    return data


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping inside a value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(inner)


def with_old_names(experiment: dict[str, Any]) -> dict[str, Any]:
    """The experiment with the old names, for an older version."""
    fields = {new: old for old, new in renamed.FIELDS.items()}

    def old(name: str) -> str:
        return re.sub(r"(_village|_werewolves)_games$", r"\1_seen", OLD.get(name, name))

    data = dict(experiment)
    if "contrasts" in data:
        data["contrasts"] = [old(name) for name in data["contrasts"]]
    if data.get("curve"):
        data["curve"] = {**data["curve"], "measures": [old(name) for name in data["curve"]["measures"]]}
    if data.get("planted"):
        planted = {fields.get(field, field): value for field, value in data["planted"].items()}
        data["planted"] = {**planted, "measure": old(planted.get("measure", "persuasion"))}
    return data


REFUSED = 2
"""What `wolflab` exits with when it cannot read a file."""


def play(command: str, file: Path, home: Path, kind: str) -> bool:
    """One version plays the file in `home/run` and exports to `home/out`; False where it refuses the file."""
    log = home / "log.txt"
    home.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as told:
        for words in (
            [command, kind, str(file), "--out", str(home / "run")],
            [command, "export", str(home / "run"), str(home / "out")],
        ):
            done = subprocess.run(words, stdout=told, stderr=subprocess.STDOUT, check=False)
            if done.returncode == REFUSED and words[1] == kind:
                return False
            if done.returncode:
                raise SystemExit(f"{' '.join(words)} failed with {done.returncode}; see {log}")
    return True


# -- games ------------------------------------------------------------------------------------


def lines(file: Path) -> list[Any]:
    """The lines of a chain without its header, its hashes and those of requests."""
    found = []
    for text in file.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if "wolflab" in line:
            continue
        for hashed in ("h", "request", "after"):
            line.pop(hashed, None)
        if "takes over" in line:
            line.pop("player")  # described as in the header
        if "calls" in line:
            line["calls"] = [[step, attempt, response] for step, attempt, _, response in line["calls"]]
        found.append(line)
    return found


def games_differ(before: Path, after: Path) -> list[str]:
    """A sentence for each game that is not the same."""
    names = sorted({file.name for where in (before, after) for file in where.glob("game-*.jsonl")})
    told = []
    for name in names:
        pair = [lines(where / name) if (where / name).is_file() else [] for where in (before, after)]
        if pair[0] == pair[1]:
            continue
        both = zip(*pair, strict=False)
        at = next((k for k, (a, b) in enumerate(both) if a != b), min(map(len, pair)))
        shown = [json.dumps(each[at])[:300] if at < len(each) else "nothing" for each in pair]
        told.append(f"{name}, line {at + 2}:\n    before {shown[0]}\n    after  {shown[1]}")
    return told


def same_files(before: Path, after: Path) -> list[str]:
    """The games whose whole files are the same: headers, hashes and chains."""
    pairs = [(file.name, file, after / file.name) for file in before.glob("game-*[0-9].jsonl")]
    return [name for name, one, two in pairs if two.is_file() and one.read_bytes() == two.read_bytes()]


# -- numbers ----------------------------------------------------------------------------------


def _current(found: re.Match[str]) -> str:
    return found[1] + renamed.current_measure(found[2])


OLD = {new: old for old, new in renamed.MEASURES.items()}
"""What measures were called before."""
RENAMED = (
    (rf"(/measures/|/splits/|/contrasts/)({'|'.join(renamed.MEASURES)})(?=[/,]|$)", _current),
    (rf"(/planted/[^,]*,)({'|'.join(renamed.MEASURES)})(?=,)", _current),
    (r"(/measures/|/contrasts/)(\w+_(?:village|werewolves)_seen)(?=[/,]|$)", _current),
)
"""(pattern of a name before, what it is called after)."""
_OF_ESTIMATES = {"value", "low", "high", "n", "missing", "units", "deals", "note", "draws", "primary"}


def numbers(value: Any, name: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(name, (value, n, missing)) of every estimate of a report."""
    if isinstance(value, dict):
        if {"value", "n", "missing"} <= value.keys():
            yield name, (value["value"], value["n"], value["missing"])
            return
        if re.search(r"/(counts|totals/[^/]+)$", name):
            yield from ((f"{name}/{what}", (number, 1, 0)) for what, number in value.items())
            return
        for key, inner in value.items():
            yield from numbers(inner, f"{name}/{key}")
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from numbers(inner, f"{name}/{_called(inner, k)}")


def _called(value: Any, place: int) -> str:
    """The key of an entry of a list: the texts in it."""
    if isinstance(value, dict):
        words = [
            str(each)
            for name, each in value.items()
            if name not in _OF_ESTIMATES and (isinstance(each, str | int) or name == "day")
        ]
        return ",".join(words) or str(place)
    return str(place)


def estimates_of(file: Path, before: bool) -> dict[str, tuple[Any, ...]]:
    """Every estimate of a report by its name after."""
    if not file.is_file():
        return {}
    found = {}
    for name, figures in numbers(json.loads(file.read_text(encoding="utf-8"))):
        if before:
            for pattern, called in RENAMED:
                name = re.sub(pattern, called, name)
        found[name] = figures
    return found


def numbers_differ(before: Path, after: Path) -> list[str]:
    """A sentence for each number that is not the same, or only in one report."""
    pair = estimates_of(before, True), estimates_of(after, False)
    sentences = []
    for name in sorted(pair[0].keys() | pair[1].keys()):
        a, b = (each.get(name) for each in pair)
        if a is None or b is None:
            if (a or b) == (None, 0, 0):
                continue
            sentences.append(f"{name}: only {'after' if a is None else 'before'}")
            continue
        if not all(_same(x, y) for x, y in zip(a, b, strict=True)):
            sentences.append(f"{name}: before {a}, after {b}")
    return sentences


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return bool(a == b)


def main() -> None:
    """Compare, and print what differs."""
    ways = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ways.add_argument("before")
    ways.add_argument("after")
    ways.add_argument("--deals", type=int, default=4)
    ways.add_argument("--only", action="append", help="an experiment's name (repeatable)")
    ways.add_argument("--over-http", action="store_true", help="with a model of a server on this machine")
    ways.add_argument("--keep", type=Path, help="a directory for the runs; what is there is not played again")
    given = ways.parse_args()
    differing = 0
    with tempfile.TemporaryDirectory() as thrown_away, ExitStack() as ends:
        server = ends.enter_context(http_server.running()) if given.over_http else None
        home = given.keep or Path(thrown_away)
        for shipped in sorted(SHIPPED.glob("*.yaml")):
            if given.only and shipped.stem not in given.only:
                continue
            data = small(yaml.safe_load(shipped.read_text(encoding="utf-8")), given.deals)
            if server is not None:
                data = over_http(data, server.base_url)
            kind = "tournament" if "entrants" in data else "run"
            file = home / f"{shipped.stem}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
            where = {}
            refused = []
            for when, command in (("before", given.before), ("after", given.after)):
                where[when] = home / when / shipped.stem
                if (where[when] / "out").is_dir() or play(command, file, where[when], kind):
                    continue
                older = file.with_suffix(".old.yaml")
                older.write_text(yaml.safe_dump(with_old_names(data), sort_keys=False), encoding="utf-8")
                if when == "after" or not play(command, older, where[when], kind):
                    refused.append(when)
            if refused:
                print(f"{shipped.stem}: refused by the version {' and '.join(refused)}", flush=True)
                differing += "after" in refused
                continue
            games = len(list((where["after"] / "out").glob("game-*[0-9].jsonl")))
            wrong = games_differ(where["before"] / "out", where["after"] / "out")
            name = "tournament.json" if kind == "tournament" else "report.json"
            report = [where[when] / "run" / name for when in ("before", "after")]
            wrong += numbers_differ(*report)
            count = len(estimates_of(report[1], False))
            if not games or not count:
                wrong.append("there are no games or no numbers to compare")
            alike = len(same_files(where["before"] / "out", where["after"] / "out"))
            print(
                f"{shipped.stem}: {games} games ({alike} byte for byte), {count} numbers: "
                f"{len(wrong) or 'no'} differences",
                flush=True,
            )
            for sentence in wrong:
                print(f"  {sentence}")
            differing += len(wrong)
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
