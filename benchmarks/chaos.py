"""Counts lost and repeated calls under failures: of servers, by kills at any time, a full disk, a clock that
jumps.

    python benchmarks/chaos.py [--kills 200] [--faults 0.1] [--seed 1] [--only run …]

Each piece of work (a run, a run with worker processes, a run in shards that are merged, a tournament, a run
that learns from its games, a judge, a training, a training in rounds) is begun by the `wolflab` command,
killed with -9 after a random time and resumed, until it is over; then it is begun again, until its share of
the kills is reached. Of a run with worker processes, every second kill is of one of these. `--only ray`
is a run with workers in a Ray cluster on this machine (pip install 'wolflab[ray]'). Its server answers with
faults of every kind at that rate, and counts every request by what was asked. Every third process has a clock
that jumps by up to a day, every fifth finds its disk full, and now and then two are started at once. Printed:
calls sent, answered and stored; those that were answered more often than where nothing happens (paid twice),
and how many of these were not in flight at a kill or before a full disk, which is to be 0; those that are
answered there and are not stored at the end (lost), which is to be 0; and whether the games, or a training's
policy, are those of a run that was never killed.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import logging
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from aiohttp import web

import http_server

KINDS = ("status", "drop", "hangup", "bad_json", "page", "no_choices", "empty", "cut", "filter", "refusal")
"""Faults of a server (`http_server.FakeServer._misbehave`); a status is one of these."""
STATUSES = (429, 500, 502, 503)
UNPAID = {"status", "drop", "hangup", "bad_json", "page", "no_choices"}
"""Those that are no answer."""
SHARDS = """
for n in 1 2; do
  if [ -e "s$n/run.sqlite" ]; then python -m wolflab run --resume "s$n" --yes
  else python -m wolflab run x.yaml --shard "$n/2" --out "s$n" --yes; fi || exit $?
done
exec python -m wolflab merge s1 s2 --out r
"""
"""Plays a run in two shards and merges them; goes on where it was stopped."""
JUMPING = """
import random, time
_time, _draws = time.time, random.Random(random.SystemRandom().random())
time.time = lambda: _time() + _draws.uniform(-86400, 86400)
"""
"""Of a process whose clock jumps, before anything else runs."""


@dataclass
class FailingServer(http_server.FakeServer):
    """A server that fails at a rate, and writes down what it is asked and answers."""

    rate: float = 0.1
    seed: int = 1
    asked: Counter[str] = field(default_factory=Counter)
    paid: Counter[str] = field(default_factory=Counter)
    at_kills: set[str] = field(default_factory=set)
    open: Counter[str] = field(default_factory=Counter)
    lately: list[tuple[float, str]] = field(default_factory=list)

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        what = hashlib.blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=16).hexdigest()
        self.asked[what] += 1
        self.open[what] += 1
        try:
            kind = self._kind(what)
            if kind not in UNPAID:
                self.paid[what] += 1
            if kind is None:
                return await super()._reply(request)
            self.bodies.append(body)
            draw = random.Random(f"{what}{self.asked[what]}")
            return await self._misbehave(http_server.Fault(kind, draw.choice(STATUSES)), request, body)
        finally:
            self.open[what] -= 1
            self.lately.append((time.monotonic(), what))

    def _kind(self, what: str) -> str | None:
        """What goes wrong. A reply that cannot be used comes again to the same question, so that the games do
        not depend on what else went wrong.
        """
        usable = random.Random(f"{self.seed}{what}")
        if usable.random() < self.rate / 2:
            return usable.choice([kind for kind in KINDS if kind not in UNPAID])
        draws = random.Random(f"{self.seed}{what}{self.asked[what]}{time.monotonic()}")
        return draws.choice(sorted(UNPAID)) if draws.random() < self.rate else None

    def killed(self, within: float = 1.0) -> None:
        """A client was killed now, or stopped since its disk was full: what was under way, or was answered
        within the last seconds, may not have been stored.
        """
        now = time.monotonic()
        self.at_kills |= {what for what, n in self.open.items() if n > 0}
        self.at_kills |= {what for at, what in self.lately if now - at < within}
        self.lately.clear()


Made = Callable[[Path], list[Any]]
"""What has come of a piece of work, from its folder."""


@dataclass
class Work:
    """Something that `wolflab` does. begin, go_on: its commands. made: what can be compared with what comes
    of it where nothing happens; None for nothing. asks: whether it asks a server. file: is there once it has
    begun. mean: seconds until it is killed, after its first call if it asks. workers: every second kill is of
    one of its worker processes.
    """

    name: str
    begin: list[str]
    go_on: list[str]
    made: Made | None
    asks: bool = True
    file: str = "run.sqlite"
    mean: float = 0.4
    workers: bool = False
    before: Callable[[Path], None] = lambda folder: None


def work(address: str, size: int) -> list[Work]:
    """All pieces of work, for a server at this address."""
    model = {"model": "wolf-1", "base_url": address, "retries": 40, "timeout": 20, "longest_wait": 1}
    rules = {"preset": "sheriff", "max_rounds": 2}
    one = {"name": "chaos", "rules": rules, "seed": 3, "deals": size, "concurrency": 6}
    vanilla = {"model": model, "recipe": "vanilla"}
    learns = {"model": model, "recipe": "reflective", "experience": {"games_of": "first"}}
    first = {"model": model, "recipe": "reflective"}
    run = one | {"players": {"others": vanilla}, "straw_polls": 1}
    pool = one | {
        "deals": max(1, size // 3),
        "players": {"others": first},
        "conditions": {"first": {}, "then": {"players": {"werewolves": learns}}},
    }
    cup = {"name": "cup", "rules": rules, "seed": 3, "deals": max(1, size // 3), "repeats": 1} | {
        "entrants": {"a": vanilla, "b": {"model": "village", "recipe": "vanilla"}}
    }

    def sample(folder: Path) -> None:
        played = one | {"players": {"others": {"model": "village", "recipe": "vanilla"}}, "deals": 4}
        (folder / "played.yaml").write_text(json.dumps(played))
        for words in ("run played.yaml --out played", "annotate sample played -o labels"):
            command = [sys.executable, "-m", "wolflab", *words.split()]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)

    training = {
        "name": "trained",
        "rules": "doctor",
        "model": {"model": "village", "phrases": "a"},
        "embedder": "hashing",
        "recipe": "strategic-004",
        "network": "small",
        "training": {"updates": size, "cloning": {"episodes": 8}, "rollouts": {"episodes": 16, "group": 8}},
        "evaluation": {"every": 2, "deals": 2, "final": 2},
        "workers": 1,
        "seeds": [1],
    }
    in_rounds = {"name": "rounds", "rules": {"preset": "doctor", "max_rounds": 1}, "model": model} | {
        "learners": "werewolves",
        "rounds": 2,
        "deals": 30,
        "concurrency": 6,
    }
    judge = ["annotate", "judge", "labels", "--model", "custom/wolf-1"]
    judge += [
        word for name, value in model.items() if name != "model" for word in ("--set", f"{name}={value}")
    ]

    def write(folder: Path, data: dict[str, Any]) -> None:
        (folder / "x.yaml").write_text(json.dumps(data))

    def of_file(name: str, command: str, data: dict[str, Any], made: Made, **more: Any) -> Work:
        begin, go_on = [command, "x.yaml", "--out", "r"], [command, "--resume", "r"]
        return Work(name, begin, go_on, made, before=lambda folder: write(folder, data), **more)

    trains: dict[str, Any] = {"file": "training.yaml", "mean": 4.0}
    return [
        of_file("run", "run", run, lines),
        of_file("workers", "run", run | {"workers": 2}, lines, workers=True, mean=0.8),
        of_file("ray", "run", run | {"workers": 2, "engine": "ray"}, lines, workers=True, mean=0.8),
        Work("shards", ["!"], ["!"], lines, mean=0.8, before=lambda folder: write(folder, run)),
        of_file("tournament", "tournament", cup, lines),
        of_file("pool", "run", pool, lines),
        Work("judge", judge, judge, None, before=sample),
        of_file("training", "train", training, policies, asks=False, **trains),
        of_file("rounds", "train", in_rounds, policies, **trains),
    ]


def started(words: Sequence[str], folder: Path, *, clock: bool, full: bool) -> subprocess.Popen[str]:
    """A `wolflab` command, or with "!" the script `SHARDS`. clock: it jumps. full: no file may grow any more,
    as on a full disk.
    """
    environment = dict(os.environ)
    if clock:
        (folder / "clock").mkdir(exist_ok=True)
        (folder / "clock" / "sitecustomize.py").write_text(JUMPING)
        environment["PYTHONPATH"] = f"{folder / 'clock'}:{environment.get('PYTHONPATH', '')}"
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    command = ["bash", "-c", SHARDS] if words == ["!"] else [sys.executable, "-m", "wolflab", *words]
    if full:
        largest = max((file.stat().st_size for file in folder.rglob("run.sqlite*")), default=0)
        command = ["bash", "-c", f'ulimit -f {largest // 1024 + 8}; exec "$@"', "bash", *command]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=-1, stderr=-1, text=True, start_new_session=True
    )


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The process ids of a run's workers."""
    found, todo = [], [process.pid]
    while todo:
        pid = todo.pop()
        with suppress(OSError):  # it has ended
            todo += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"spawn_main" in words or words.startswith(b"ray::RayWorker"):
                found.append(pid)
    return found


def kill_workers(process: subprocess.Popen[str], mean: float, draws: random.Random) -> int:
    """Kill workers of a process until it has ended, at most three. Returns how many."""
    killed = 0
    while killed < 3:
        try:
            process.wait(draws.expovariate(1 / mean))
            return killed
        except subprocess.TimeoutExpired:
            if there := workers_of(process):
                os.kill(draws.choice(there), signal.SIGKILL)
                killed += 1
    return killed


def stored(folder: Path) -> dict[str, int]:
    """The number of calls in each file of calls under a folder, and its games' records."""
    found = {}
    for file in sorted(folder.rglob("run.sqlite")):
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db, suppress(sqlite3.Error):
            found[str(file)] = db.execute("SELECT count(*) FROM calls WHERE model != 'village'").fetchone()[0]
    return found


def lines(folder: Path) -> list[tuple[Any, ...]]:
    """The records of a run's games, by place."""
    from wolflab.lab.storage.store import Store

    with Store.open_for_reading(folder / "r") as store:
        rows = [row for row in store.games() if row.over]
        return sorted((row.condition, row.deal, row.repeat, *store.record(row.id).lines) for row in rows)


def policies(folder: Path) -> list[Any]:
    """The policies of a training, by their digests."""
    from wolflab.agents.policy.checkpoint import load_policy

    return [load_policy(file).digest for file in sorted((folder / "r").rglob("policy*.safetensors"))]


def wait_for_a_call(process: subprocess.Popen[str], server: FailingServer) -> None:
    """Wait until the process has made a call, or has ended."""
    before = server.calls
    while process.poll() is None and server.calls == before:
        time.sleep(0.01)


def torment(
    job: Work, folder: Path, server: FailingServer, kills: int, draws: random.Random
) -> tuple[int, list[str]]:
    """Begin the work and take it up again until it is over. Returns how often it was killed, and what is
    wrong.
    """
    job.before(folder)
    done, wrong, n = 0, [], 0
    while True:
        n += 1
        begun = n > 1 if job.made is None else (folder / "r" / job.file).is_file()
        words = job.go_on if begun else job.begin
        trouble = done < kills
        full = trouble and n % 5 == 0 and begun
        process = started(words, folder, clock=trouble and n % 3 == 0, full=full)
        other = started(words, folder, clock=False, full=False) if trouble and begun and n % 7 == 0 else None
        if trouble and job.asks and draws.random() < 0.9:  # the others are killed while they start
            wait_for_a_call(process, server)
        if trouble and job.workers and n % 2 == 0:
            done += kill_workers(process, job.mean, draws)
        try:
            _, told = process.communicate(timeout=draws.expovariate(1 / job.mean) if trouble else 600)
        except subprocess.TimeoutExpired:
            server.killed()
            os.killpg(process.pid, signal.SIGKILL)
            _, told = process.communicate()
            time.sleep(0.2)
            server.killed()  # what it had sent is read by the server even now
            done += 1
        if full and process.returncode != -9:
            server.killed(within=3.0)  # it takes a while to end
        if other is not None:
            server.killed()
            os.killpg(other.pid, signal.SIGKILL)
            other.communicate()
        if "Traceback" in told:
            wrong.append(f"{' '.join(words)}: {told.strip().splitlines()[-1]}")
        if process.returncode in (0, 3):
            return done, wrong
        if n > 4 * kills + 60:
            return done, [*wrong, f"not over after {n} processes: {told.strip()[-300:]}"]


def main() -> None:
    """Run every piece of work under failures, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--faults", type=float, default=0.1, help="the share of calls that fail")
    parser.add_argument("--deals", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only",
        nargs="+",
        default=["run", "workers", "shards", "tournament", "pool", "judge", "training", "rounds"],
    )
    told = parser.parse_args()
    draws, bad = random.Random(told.seed), False
    print(
        "| work | kills | sent | answered | stored | paid twice (not at a kill) | lost | games or policies |"
    )
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # a killed client hangs up in mid-request
    each = max(1, told.kills // len(told.only))
    for name in told.only:
        sums = Tally()
        while sums.kills < each and sums.rounds < 4 * each:
            seed = told.seed + 1000 * sums.rounds
            sums += one_round(name, told.deals, told.faults, seed, each - sums.kills, draws)
        if sums.kills < each:
            sums.wrong.append(f"only {sums.kills} of {each} kills, in {sums.rounds} rounds")
        print(sums.row(name), flush=True)
        for sentence in sums.wrong:
            print(f"  {sentence}")
        bad |= sums.bad
    sys.exit(bad)


@dataclass
class Tally:
    """What has come of a piece of work, over all the times that it was done. early: paid twice, and not in
    flight at a kill. made: games or policies that were compared. differs: times that they were not those of
    an undisturbed run.
    """

    rounds: int = 0
    kills: int = 0
    sent: int = 0
    answered: int = 0
    stored: int = 0
    twice: int = 0
    early: int = 0
    lost: int = 0
    made: int = 0
    differs: int = 0
    wrong: list[str] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        names = [each.name for each in dataclasses.fields(self)]
        return Tally(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def bad(self) -> bool:
        """Whether there is an error."""
        return bool(self.wrong or self.early or self.lost or self.differs)

    def row(self, name: str) -> str:
        """Its line of the table."""
        games = "differ" if self.differs else f"{self.made}, as undisturbed" if self.made else "–"
        return (
            f"| {name} | {self.kills} | {self.sent} | {self.answered} | {self.stored} | "
            f"{self.twice} ({self.early}) | {self.lost} | {games} |"
        )


@contextmanager
def clusters_cleared() -> Iterator[None]:
    """Delete the files of Ray clusters that are begun in a `with` block: a killed run leaves them."""
    before = {*Path("/tmp").glob("ray-*")}
    try:
        yield
    finally:
        for folder in {*Path("/tmp").glob("ray-*")} - before:
            shutil.rmtree(folder, ignore_errors=True)


def one_round(name: str, deals: int, faults: float, seed: int, kills: int, draws: random.Random) -> Tally:
    """Run a piece of work with at most so many kills, and once without any."""
    with (
        clusters_cleared(),
        tempfile.TemporaryDirectory() as place,
        http_server.running(FailingServer(rate=faults, seed=seed, latency=0.02)) as server,
    ):
        assert isinstance(server, FailingServer)
        [job] = [one for one in work(server.base_url, deals) if one.name == name]
        folder = Path(place)
        done, wrong = torment(job, folder, server, kills, draws)
        at = folder / "r" if (folder / "r").is_dir() else folder  # shards have their own copies
        kept, paid, sent = sum(stored(at).values()), Counter(server.paid), sum(server.asked.values())
        usual, made, differs = Counter(dict.fromkeys(paid, 1)), 0, 0
        if job.made is not None:
            tormented = job.made(folder)
            calm = folder / "calm"
            calm.mkdir()
            torment(job, calm, server, 0, draws)
            made, differs = len(tormented), int(tormented != job.made(calm))
            usual = server.paid - paid  # games of two conditions may ask the same
        twice, answered = set(paid - usual), sum(usual.values())
        early, lost = len(twice - server.at_kills), max(0, answered - kept)
        return Tally(1, done, sent, answered, kept, len(twice), early, lost, made, differs, wrong)


if __name__ == "__main__":
    main()
