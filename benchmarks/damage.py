"""Damages stored files in many ways, and runs every command that reads them: each must end with a message.

    python benchmarks/damage.py [--seeds 20] [--made run …] [--only verify …]

A run, a tournament, a pool, a judge's directory and, where torch is installed, a training are made. Then, for
each seed, one copy of each is damaged (bytes, cut files, files that are something else, fields of the tables,
nested and exchanged settings), and every command of `wolflab` that takes such a path is run on it. The
commands are read from the command line itself: a new one is run too, and stops this program if it needs words
that `MORE` does not know. What ends with an exit code that is not documented, prints a traceback, or does not
end within a minute, is printed with what brings it back. First they run on what is whole, where each has to
do its work.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import typer

from wolflab import cli
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.tournament_plan import make_tournament
from wolflab.lab.runs.runner import play_run
from wolflab.lab.runs.tournament_games import play_tournament, start_tournament
from wolflab.lab.storage.store import Store
from wolflab.ui.terminal.console import ExitCode

SECONDS = 60
VILLAGE = {"model": "village", "recipe": "vanilla"}
REFLECTIVE = {"model": "village", "recipe": "reflective"}
TRAINING = {
    "name": "t",
    "training": {
        "updates": 1,
        "ppo": {"epochs": 1, "minibatches": 1},
        "cloning": {"episodes": 2, "epochs": 1, "batch": 16},
        "rollouts": {"episodes": 2, "group": 2},
    },
    "evaluation": {"every": 0, "deals": 2, "final": 2},
    "workers": 1,
}


# -- what is damaged ----------------------------------------------------------------------------


def make_run(path: Path) -> None:
    """A run of two conditions, with polls, whose players leave experience."""
    data: dict[str, Any] = {
        "name": "r",
        "rules": {"preset": "sheriff", "sheriff": "assigned", "sheriff_death": "stop", "max_rounds": 2},
        "players": {"others": VILLAGE, "Seer": REFLECTIVE},
        "conditions": {"one": {}, "two": {"rules": {"tie": "random"}}},
        "straw_polls": 1,
        "deals": 2,
    }
    with Store.create(path, build(data)) as store:
        play_run(store)


def make_cup(path: Path) -> None:
    """A tournament that stops by a rule."""
    data = {"name": "t", "rules": "nine", "entrants": {"a": "random", "b": "vanilla"}, "model": "village"}
    stop = {"width": 0.9, "every": 2}
    with start_tournament(path, make_tournament({**data, "deals": 4, "stop": stop})) as store:
        play_tournament(store)


def make_pool(path: Path) -> None:
    """A pool of a small run."""
    run = path.with_name("learned")
    data = {"name": "p", "rules": "witch", "players": {"others": REFLECTIVE}, "deals": 1}
    with Store.create(run, build(data)) as store:
        play_run(store)
    say("experience", "build", str(run), "-o", str(path))


def make_sample(path: Path) -> None:
    """A sample that was judged."""
    run = path.with_name("judged")
    make_run(run)
    say("annotate", "sample", str(run), "-o", str(path), "--per-condition", "2")
    say("annotate", "judge", str(path), "--model", "village")


def make_training(path: Path) -> None:
    """A training of one update."""
    import yaml

    file = path.with_name("t.yaml")
    file.write_text(yaml.safe_dump(TRAINING))
    say("train", str(file), "--out", str(path))


MADE: dict[str, Callable[[Path], None]] = {
    "run": make_run,
    "cup": make_cup,
    "x.pool": make_pool,
    "labels": make_sample,
    **({"training": make_training} if find_spec("torch") else {}),
}
"""What is made, by its name in the folder."""


# -- the commands -------------------------------------------------------------------------------

PATHS = {
    "run": ("run", "cup", "training"),
    "runs": ("run",),
    "resume": ("run", "cup", "training"),
    "show": ("cup", "training"),
    "pool": ("x.pool",),
    "pools": ("x.pool",),
    "sample": ("labels",),
}
"""Which of it is given to a parameter of that name."""
ALSO = {"verify": ("x.pool", "labels/judge-*")}
"""… and what else, to a command."""
MORE: dict[str, tuple[str, ...]] = {
    "annotate judge": ("--model", "village"),
    "annotate sample": ("-o", "OUT"),
    "ask-again": ("--model", "village", "-n", "2", "-o", "OUT"),
    "compare": ("WHOLE", "--out", "OUT.html"),
    "erase": ("--seat", "1"),
    "experience build": ("-o", "OUT"),
    "experience merge": ("HERE", "-o", "OUT"),
    "export": ("-o", "OUT", "--format", "all"),
    "replay": ("1",),
    "report": ("--out", "OUT.html"),
    "verify": ("--agents",),
}
"""What a command is told beside the path. HERE: the path again. WHOLE: the same without damage. OUT: a new
place.
"""
VARIANTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "show": (("1",), ("1", "--prompts"), ("1", "--as", "player_2"), ("1", "--trust")),
    "verify": ((),),
    "export": (("-o", "OUT", "--format", "inspect"),),
}
"""Other ways to run one."""
APART = {"serve": "it would not end; tests/test_browse.py damages what it shows"}
REFUSED = ("erase", "play")
"""What is refused even when nothing is damaged: nobody sits at these tables."""
LAST = ("erase", "run", "tournament", "train", "exploit", "play", "annotate judge")
"""Commands that write into what they are given run after those that only read."""


class Command(NamedTuple):
    """A command, the words that begin it, and the file or folder that it is run on."""

    name: str
    words: tuple[str, ...]
    path: str


def commands() -> list[Command]:
    """Every command that takes one of the paths, as often as there is a way to name it."""
    found: list[Command] = []
    for name, command in _leaves(typer.main.get_command(cli.app)):
        for param in command.params:
            argument = param.param_type_name == "argument"
            told = argument or param.name in ("resume", "show")
            if param.name not in PATHS or getattr(param, "is_flag", False) or not told or name in APART:
                continue
            before = (*name.split(), *(() if argument else (param.opts[-1],)))
            more = MORE.get(name, ()) if argument else ()
            lacking = [one.name for one in command.params if one.required and one is not param]
            if argument and lacking and not more:
                raise SystemExit(f"{name}: say in MORE what it is told as {', '.join(map(str, lacking))}")
            for path in (*PATHS[param.name], *ALSO.get(name, ())):
                ways = (more, *VARIANTS.get(name, ())) if argument else (more,)
                found += [Command(name, (*before, "HERE", *way), path) for way in ways]
    return sorted(found, key=lambda one: one.name in LAST)


def _leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for word, inner in getattr(command, "commands", {}).items():
        yield from _leaves(inner, f"{name} {word}".strip())
    if not hasattr(command, "commands"):
        yield name, command.loaded()


class Ended(NamedTuple):
    """How a command ended. trouble: "" where it ended as it should."""

    code: int
    printed: str
    trouble: str = ""


def say(*words: str) -> Ended:
    """Run `wolflab` with these words, in this process."""
    printed, before = io.StringIO(), sys.argv
    sys.argv = ["wolflab", *words]
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            cli.main()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException as error:  # noqa: BLE001  # whatever a command lets out is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(where.filename).name}:{where.lineno}"
        return Ended(-1, printed.getvalue(), f"{type(error).__name__} at {at}: {str(error)[:200]}")
    finally:
        signal.alarm(0)
        sys.argv = before
    text = printed.getvalue()
    wrong = code not in [one.value for one in ExitCode] or "Traceback" in text
    silent = code == ExitCode.MISTAKE and "wolflab: " not in text and "Usage" not in text
    return Ended(code, text, "a traceback, or no exit code of ours" if wrong else "no sentence" * silent)


def _late(*_: object) -> None:
    raise TimeoutError(f"it did not end within {SECONDS} seconds")


# -- the damages --------------------------------------------------------------------------------

DEEP = "[" * 100_000
LAUGHS = "a0: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
WORDS = ("", "x\x1b[2J", DEEP, "{}", "[]", '{"a": 1}', "village")
JUNK: tuple[object, ...] = (None, -1, 2**62, 1e308, b"\x00\xff", *WORDS)


def file_of(path: Path, chance: random.Random) -> Path:
    """One of the files that something is made of."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return chance.choice(files)


def bytes_changed(path: Path, chance: random.Random) -> str:
    """Some bytes, anywhere in a file."""
    file = file_of(path, chance)
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 8, 200)) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    file.write_bytes(data)
    return f"bytes of {file.name}"


def page_changed(path: Path, chance: random.Random) -> str:
    """A page of a file."""
    file = file_of(path, chance)
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data) // 4096 + 1) * 4096
    data[at : at + 4096] = chance.choice((bytes(4096), chance.randbytes(4096)))
    file.write_bytes(data)
    return f"page {at // 4096} of {file.name}"


def cut(path: Path, chance: random.Random) -> str:
    """A file that ends too early."""
    file = file_of(path, chance)
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data) + 1)])
    return f"the end of {file.name}"


def something_else(path: Path, chance: random.Random) -> str:
    """Another thing in place of a file."""
    file = file_of(path, chance)
    what = chance.choice(("gone", "folder", "empty", "text", "deep", "laughs", "database", "bytes"))
    file.unlink()
    match what:
        case "folder":
            file.mkdir()
        case "empty" | "gone":
            file.write_bytes(b"") if what == "empty" else None
        case "database":
            with closing(sqlite3.connect(file)) as db:
                db.execute("CREATE TABLE games (id TEXT)")
        case "bytes":
            file.write_bytes(chance.randbytes(5000))
        case _:
            file.write_text({"text": "hello", "deep": DEEP, "laughs": LAUGHS}[what])
    return f"{file.name}: {what}"


def a_value(path: Path, chance: random.Random) -> str:
    """Fields of the tables that hold what they never would."""
    files = [path] if path.is_file() else sorted(path.rglob("*.sqlite")) + sorted(path.rglob("*.pool"))
    if not files:
        return bytes_changed(path, chance)
    file = chance.choice(files)
    with closing(sqlite3.connect(file)) as db, db:
        named = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        tables = [row[0] for row in named]
        table = chance.choice(tables)
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        column, value = chance.choice(columns), chance.choice(JUNK)
        how = chance.choice(("all", "some", "gone", "table"))
        where = "" if how == "all" else f" WHERE abs(random()) % 3 = {chance.randrange(3)}"
        if how in ("gone", "table"):
            db.execute(f"DELETE FROM {table}{where}" if how == "gone" else f"DROP TABLE {table}")
        else:
            with suppress(sqlite3.IntegrityError):  # of another kind than the column takes
                db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{where}", (value,))
    return f"{file.name}, {table}.{column}: {how} {str(value)[:20]!r}"


def a_setting(path: Path, chance: random.Random) -> str:
    """A field of a file of settings or of JSON that says something else."""
    found = sorted(path.rglob("*")) if path.is_dir() else []
    files = [file for file in found if file.suffix in (".yaml", ".json", ".jsonl")]
    if not files:
        return bytes_changed(path, chance)
    file = chance.choice(files)
    lines = file.read_text().splitlines() or [""]
    at = chance.randrange(len(lines))
    name = lines[at].partition(":")[0]
    says = chance.choice(("3", "[]", "{a: 1}", "null", "'é\\x1b[2J'", DEEP[:500], "*a", "1e400", "true"))
    lines[at] = chance.choice((f"{name}: {says}", "", lines[at] + lines[at], says))
    file.write_text("\n".join(lines))
    return f"line {at + 1} of {file.name}: {lines[at][:40]!r}"


DAMAGES = (bytes_changed, page_changed, cut, something_else, a_value, a_setting)


def damaged(whole: Path, folder: Path, seed: int) -> dict[str, str]:
    """A copy of everything, each damaged in one way: name → how. Seed 0: undamaged."""
    shutil.copytree(whole, folder)
    told = {name: "whole" for name in MADE if (folder / name).exists()}
    for name in told if seed else ():
        chance = random.Random(f"{seed}/{name}")
        told[name] = chance.choice(DAMAGES)(folder / name, chance)
    return told


class Tried(NamedTuple):
    """A command that was run on one copy. how: the damage."""

    command: Command
    how: str
    ended: Ended


def tried(whole: Path, seed: int, only: Sequence[str]) -> Iterator[Tried]:
    """Every command on one copy, or these alone."""
    folder = whole.with_name(f"seed-{seed}")
    told = damaged(whole, folder, seed)
    for number, command in enumerate(commands()):
        if (not only or command.name in only) and command.path.partition("/")[0] in told:
            here = next(iter(sorted(folder.glob(command.path))), folder / command.path)
            out = folder / f"out-{number}"
            swap = {
                "WHOLE": str(whole / command.path),
                "HERE": str(here),
                "OUT": str(out),
                "OUT.html": f"{out}.html",
            }
            yield Tried(
                command,
                told[command.path.partition("/")[0]],
                say(*(swap.get(word, word) for word in command.words)),
            )
    shutil.rmtree(folder)


def report(seed: int, done: list[Tried]) -> list[str]:
    """The failed commands, and how to repeat them."""
    found = []
    for command, how, ended in done:
        if ended.trouble:
            words = " ".join(command.words).replace("HERE", command.path)
            found.append(f"seed {seed}, {how}\n  wolflab {words}\n  {ended.trouble}")
    if not seed:  # a command that is refused whatever it is given would prove nothing
        works = {one.command.name for one in done if one.ended.code in (ExitCode.DONE, ExitCode.NOT_OVER)}
        for one in done:
            if one.command.name not in {*works, *REFUSED}:
                found.append(f"{one.command.name}: refused, though nothing is damaged: {one.ended.printed}")
    return found


def main() -> None:
    """Parse, play, damage, run, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many copies are damaged")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--only", nargs="*", default=[], help="these commands alone")
    parser.add_argument("--made", nargs="*", default=[*MADE], choices=[*MADE], help="what is damaged")
    given = parser.parse_args()
    codes: Counter[int] = Counter()
    troubles: list[str] = []
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        whole = Path(made, "whole")
        whole.mkdir()
        for name in given.made:
            MADE[name](whole / name)
        for seed in (0, *range(given.first, given.first + given.seeds)):
            done = list(tried(whole, seed, given.only))
            codes += Counter(one.ended.code for one in done)
            found = report(seed, done)
            troubles += found
            print("".join(f"{trouble}\n" for trouble in found), end="", flush=True)
        os.chdir(before)
    ends = ", ".join(f"{n} with {code}" for code, n in sorted(codes.items()))
    print(f"{codes.total()} commands ended on {given.seeds} damaged copies and on a whole one: {ends}")
    print(f"{len(troubles)} of them without a sentence")
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
