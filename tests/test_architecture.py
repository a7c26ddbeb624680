"""The packages of Wolflab and what each may import, read from the source itself.

A package may import what its row in `PACKAGES` names, and nothing else of Wolflab; the same holds inside a
package (`INNER`); nothing imports itself by way of others; heavy libraries stay inside the functions that
need them; functions stay short; every module says what it is for.
"""

from __future__ import annotations

import ast
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

import wolflab
from network_lock import NetworkLocked, is_local
from wolflab.rules import ChoiceEvent, ClockEvent, Event, FactEvent, OfficeEvent, TalkEvent

PACKAGE = Path(wolflab.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = {path: str(path.relative_to(PACKAGE)) for path in FILES}
MODULES = {
    name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path, name in NAMES.items()
}

PACKAGES: dict[str, set[str]] = {
    "rules": set(),
    "stats": set(),
    "text": {"rules"},
    "record": {"rules"},
    "models": {"rules", "text"},
    "agents": {"rules", "text", "models"},
    "match": {"rules", "record", "agents"},
    "metrics": {"rules", "text", "record", "stats"},
    "env": {"rules", "text", "models", "agents", "match"},
    "policy": {"agents", "match", "record", "rules"},
    "lab": {"rules", "text", "record", "models", "agents", "match", "metrics", "stats", "policy"},
    "bench": {"rules", "text", "record", "models", "agents", "match", "policy", "lab"},
    "wwqa": {"models", "rules", "text", "stats", "lab"},
    "ui": {"rules", "text", "record", "metrics", "stats", "match", "lab", "wwqa"},
}
INNER: dict[str, set[str]] = {
    "text/reading": set(),
    "text/asking": {"text", "text/reading"},
    "text/replies": {"text", "text/asking"},
    "text": {"text/reading", "text/asking"},
    "models/servers": {"models"},
    "models/embedders": {"models", "models/servers"},
    "models/village/beliefs": {"models/village"},
    "models/village/speech": {"models/village", "models/village/beliefs"},
    "models/village/choices": {"models/village", "models/village/beliefs", "models/village/speech"},
    "models/village/thoughts": {
        "models/village",
        "models/village/beliefs",
        "models/village/speech",
        "models/village/choices",
    },
    "models/village": {
        "models",
        "models/village/beliefs",
        "models/village/speech",
        "models/village/choices",
        "models/village/thoughts",
    },
    "metrics/behaviours": set(),
    "lab/engines": set(),
    "lab/plans": set(),
    "lab/storage": {"lab/plans"},
    "lab/experience": {"lab/plans", "lab/storage"},
    "lab/runs": {"lab/engines", "lab/plans", "lab/storage", "lab/experience"},
    "lab/studies": {"lab/plans", "lab/storage", "lab/runs"},
    "lab/labels": {"lab/plans", "lab/storage", "lab/runs"},
    "lab/results": {"lab/plans", "lab/storage", "lab/experience", "lab/runs", "lab/studies"},
    "lab/training": {"lab/engines", "lab/plans", "lab/storage", "lab/runs"},
    "lab/data": {"lab/plans", "lab/storage", "lab/runs", "lab/studies", "lab/labels"},
    "lab/transcripts": {"lab/plans", "lab/storage", "lab/runs", "lab/data"},
    "ui": set(),
    "ui/report": {"ui"},
    "ui/terminal": {"ui", "ui/report"},
    "ui/labelling": {"ui"},
    "ui/web": {"ui", "ui/replay"},
    "ui/replay": {"ui", "ui/report"},
    "ui/study": {"ui", "ui/web"},
    "ui/browse": {"ui", "ui/report", "ui/replay", "ui/web"},
    "ui/commands": {
        "ui",
        "ui/report",
        "ui/terminal",
        "ui/labelling",
        "ui/web",
        "ui/replay",
        "ui/study",
        "ui/browse",
    },
}
"""Packages inside packages, and what they may import of their own; "text": the modules of text itself."""
EXCEPTIONS: dict[tuple[str, str], str] = {
    (
        "record",
        "text.notes",
    ): "a record writes typed notes down and reads them back, whatever they say",
    ("policy", "text.kinds"): "decisions are counted by kind of action",
    ("policy", "text.notes"): "a note of a turn says which candidate was taken",
    ("env", "record"): "an environment names the type of a recorded turn",
    ("match", "text.questions"): "a recorded call carries the question that it serves",
    ("match", "text.clean"): "statements are cleaned where they enter the game",
    ("match", "models.embedders.embedder"): "match passes the agents' texts on to their embedders",
    ("match", "models.base"): "match passes the agents' requests on to their models",
    ("ui", "bench.suite"): "a command measures how fast Wolflab is",
    ("ui", "models.servers"): "a command asks before a key goes to a server that it does not belong to",
    ("match", "models.calls"): "match writes down the hashes of the calls that its agents make",
}
"""Single modules that a package may import against the rules, with the reason."""
ANYBODY = {"defaults", "errors", "fields", "files", "renamed", "usage", ""}
"""Modules at the top of the package, and the package itself (its version)."""

PUBLIC_RULES_ONLY = {"models", "agents", "ui"}
"""These see rulesets, roles, asks, actions, events and views: `wolflab.rules` itself and no module of it."""
INNER_RULES = {"rules.state", "rules.engine", "rules.rules_cache"}
MAY_DRIVE = {"rules", "match", "record", "wwqa"}
"""State and engine are for these alone."""

HEAVY = {
    "torch",
    "transformers",
    "sentence_transformers",
    "peft",
    "trl",
    "datasets",
    "ray",
    "matplotlib",
    "openai",
    "scipy",
    "statsmodels",
    "sklearn",
    "pandas",
    "polars",
    "pyarrow",
}
RULES_MAY_USE = set(sys.stdlib_module_names)
MAX_FUNCTION = 60
MAX_NARRATIVE = 120
NARRATIVES = {"ui/commands/wwqa_finetune.py finetune"}
"""Functions of more than `MAX_FUNCTION` lines: straight stories, which a reader follows from top to bottom,
and which parts with names of their own would make harder to read. At most 15. Each is `file function`.
"""

EVENTS = {event.__name__ for event in get_args(Event)}
KINDS = (ChoiceEvent, ClockEvent, FactEvent, OfficeEvent, TalkEvent)


@dataclass(frozen=True)
class Import:
    """One import in a file: the dotted module, and whether it stands inside a function."""

    module: str
    line: int
    lazy: bool
    typing: bool


def package_of(module: str) -> str:
    return module.split(".")[0]


@cache
def imports_of(path: Path) -> Sequence[Import]:
    """All imports of a file, lazy ones too; relative ones resolved, ``wolflab.`` cut off."""
    package = ["wolflab", *path.relative_to(PACKAGE).parts[:-1]]
    return [*_walk(tree_of(path), package, False, False)]


def _walk(node: ast.AST, package: list[str], lazy: bool, typing: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, lazy, typing)
        elif isinstance(child, ast.ImportFrom):
            base = package[: len(package) - child.level + 1] if child.level else []
            module = ".".join([*base, *([child.module] if child.module else [])])
            # `from .. import rules` names the module in the list of names
            inside = module == "wolflab"
            for alias in child.names if inside else child.names[:1]:
                yield Import(f"{module}.{alias.name}" if inside else module, child.lineno, lazy, typing)
        else:
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from _walk(child, package, lazy or function, typing or checking)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def named_by(path: Path) -> set[str]:
    """Every module of Wolflab that a file imports; of a package, the module that is taken from it."""
    package = ["wolflab", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])]).removeprefix("wolflab.")
            for alias in node.names:
                inside = f"{module}.{alias.name}".removeprefix("wolflab.")
                found.add(inside if inside in MODULES else module)
    return found & set(MODULES)


def ours(found: Import) -> str | None:
    """The module inside Wolflab ("rules.events"), or None for another package's."""
    head, _, rest = found.module.partition(".")
    return rest if head == "wolflab" else None


def inner_package(module: str) -> str:
    """The innermost package of a module: "text/reading"; "text" for the modules of text itself."""
    parts = module.split(".")
    inside = ("/".join(parts[:depth]) for depth in (3, 2))
    return next((package for package in inside if package in INNER), parts[0])


def breaches_inside(path: Path) -> list[str]:
    """What `path` imports against the rules inside its package."""
    here = inner_package(NAMES[path].removesuffix(".py").replace("/", "."))
    allowed = INNER.get(here)
    if allowed is None:
        return []
    found = [(one.line, ours(one)) for one in imports_of(path)]
    there = [(line, inner_package(module)) for line, module in found if module is not None]
    return [
        f"line {line}: {here}/ imports {package}/"
        for line, package in there
        if package != here
        and package not in allowed
        and package_of(package.replace("/", ".")) == here.split("/")[0]
    ]


def circle(imports: Mapping[str, Iterable[str]]) -> list[str]:
    """Modules of which each imports the next and the last is the first; none where there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def breaches_between(path: Path) -> list[str]:
    """What `path` imports against the rules."""
    package = package_of(NAMES[path].removesuffix(".py").replace("/", "."))
    if package not in PACKAGES:
        return []
    breaches = []
    for found in imports_of(path):
        module = ours(found)
        if module is None:
            top = found.module.split(".")[0]
            if package == "rules" and top not in RULES_MAY_USE:
                breaches.append(f"line {found.line}: rules/ imports {found.module}")
            continue
        target = package_of(module)
        if target in ANYBODY or target.startswith("__"):
            continue
        if target != package and target not in PACKAGES[package] and (package, module) not in EXCEPTIONS:
            breaches.append(f"line {found.line}: {package}/ imports {target}/")
        if target == "rules" and package not in MAY_DRIVE and any(module.startswith(m) for m in INNER_RULES):
            breaches.append(f"line {found.line}: {package}/ imports wolflab.{module}")
        if target == "rules" and package in PUBLIC_RULES_ONLY and module != "rules":
            breaches.append(f"line {found.line}: {package}/ imports wolflab.{module}, not its public types")
    return breaches


def public_names(tree: ast.Module) -> Iterator[str]:
    """A module's types (aliases too, by their spelling: `TwoWords`) and functions that others may use."""
    for node in tree.body:
        names = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            assigned = [target.id for target in targets if isinstance(target, ast.Name)]
            names = [name for name in assigned if name[0].isupper() and not name.isupper()]
        yield from (name for name in names if not name.startswith("_"))


def commands(tree: ast.Module) -> Iterator[str]:
    """The functions that a module registers as commands."""
    for node in tree.body:
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else ()
        if any(ast.unparse(one).startswith("commands.command(") for one in decorators):
            yield node.name  # type: ignore[union-attr]


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    """(qualified name, lines) of every function, without its docstring."""
    for node in ast.iter_child_nodes(tree):
        name = f"{prefix}{getattr(node, 'name', '')}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                assert first.end_lineno is not None
                lines -= first.end_lineno - first.lineno + 1
            yield name, lines
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from functions(node, f"{name}.")


def open_matches(tree: ast.AST) -> Iterator[int]:
    """The lines of matches over several kinds of events that let a further kind pass.

    Such a match ends in `assert_never`: in its last case, or in the statement after it.
    """
    for node in ast.walk(tree):
        for block in ("body", "orelse", "finalbody"):
            inside = getattr(node, block, None)
            statements = [*inside, None] if isinstance(inside, list) else []
            for one, following in pairwise(statements):
                if isinstance(one, ast.Match) and len(events_matched(one)) > 1:
                    last = one.cases[-1]
                    ends = last.body[-1] if _matches_all(last) else following
                    if not (isinstance(ends, ast.Expr) and ast.unparse(ends).startswith("assert_never(")):
                        yield one.lineno


def events_matched(match: ast.Match) -> set[str]:
    """The events and kinds of events that its patterns name."""
    found = [node for case in match.cases for node in ast.walk(case.pattern)]
    known = EVENTS | {kind.__name__ for kind in KINDS}
    return known & {ast.unparse(node.cls) for node in found if isinstance(node, ast.MatchClass)}


def _matches_all(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None


# -- the package ----------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _no_tree_stays() -> Iterator[None]:
    """The trees of all files are parsed once; other tests run without them in memory."""
    yield
    tree_of.cache_clear()


def in_all(check: Callable[[Path], Iterable[object]]) -> dict[str, list[object]]:
    """What a check finds, by file."""
    found = {NAMES[path]: list(check(path)) for path in FILES}
    return {name: breaches for name, breaches in found.items() if breaches}


def test_imports_between_packages() -> None:
    assert not in_all(breaches_between)


def test_imports_inside_packages() -> None:
    assert not in_all(breaches_inside)


def test_talk_is_read_by_one_module() -> None:
    assert not in_all(
        lambda path: (
            f"line {found.line}: {found.module}"
            for found in imports_of(path)
            if found.module.startswith("wolflab.text.reading.") and "text/reading/" not in NAMES[path]
        )
    )


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports inside functions and for types alone count as well."""
    assert not circle({name: named_by(path) - {name} for name, path in MODULES.items()})


def test_heavy_libraries_are_imported_inside_functions() -> None:
    assert not in_all(
        lambda path: (
            f"line {found.line}: {found.module}"
            for found in imports_of(path)
            if found.module.split(".")[0] in HEAVY and not found.lazy and not found.typing
        )
    )


def test_modules_say_what_they_are_for() -> None:
    docstrings = {NAMES[path]: ast.get_docstring(tree_of(path)) or "" for path in FILES}
    assert not [name for name, words in docstrings.items() if len(words.split()) < 3]


def test_one_name_is_one_thing() -> None:
    """No two modules give a type or a public function the same name, so that a search finds one of them.

    The files of `rules/roles/` are alike on purpose, and commands have the names that people type.
    """
    homes: dict[str, list[str]] = {}
    for path in FILES:
        if not NAMES[path].startswith("rules/roles/"):
            tree = tree_of(path)
            for name in {*public_names(tree)} - {*commands(tree)}:
                homes.setdefault(name, []).append(NAMES[path])
    assert not {name: where for name, where in homes.items() if len(where) > 1}


def test_public_names_are_types_and_functions() -> None:
    types = "class A: ...\ndef b(): ...\nTwo = list[int]\nThree: Any = int\n"
    source = types + "FOUR = 4\nfive = 5\n_Six = int\ndef _c(): ..."
    assert list(public_names(ast.parse(source))) == ["A", "b", "Two", "Three"]


def test_functions_are_short() -> None:
    lengths = {f"{NAMES[path]} {name}": count for path in FILES for name, count in functions(tree_of(path))}
    assert {name for name, count in lengths.items() if count > MAX_FUNCTION} == NARRATIVES
    assert all(lengths[name] <= MAX_NARRATIVE for name in NARRATIVES)
    assert len(NARRATIVES) <= 15


def test_no_group_is_repeated_possessively() -> None:
    """Python before 3.11.5 loses its place there (gh-106052): write (?>(?:…)*) for (?:…)*+."""
    assert not in_all(lambda path: re.findall(r"(?<!\\)\)[*+?]\+", path.read_text(encoding="utf-8")))


def test_a_new_kind_of_event_is_nowhere_missed() -> None:
    """Whoever takes events kind by kind lists all of them, so that mypy names the place for a new one."""
    assert not in_all(lambda path: open_matches(tree_of(path)))


def test_every_exception_is_used() -> None:
    used = {
        (package_of(NAMES[path].replace("/", ".")), module)
        for path in FILES
        for module in map(ours, imports_of(path))
        if module is not None
    }
    assert set(EXCEPTIONS) <= used


def test_every_folder_is_a_known_package() -> None:
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert folders <= set(PACKAGES)
    assert {one for one in INNER if "/" in one} <= {
        str(p.parent.relative_to(PACKAGE)) for p in PACKAGE.rglob("__init__.py")
    }


def test_no_broad_except_but_where_a_failure_is_recorded() -> None:
    broad = []
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ExceptHandler):
                names = {"BaseException"} if node.type is None else set(ast.unparse(node.type).split(", "))
                last = node.body[-1]
                passes_on = isinstance(last, ast.Raise) and last.exc is None
                if names & {"Exception", "BaseException"} and not passes_on:
                    broad.append(f"{NAMES[path]}:{node.lineno}")
    told = {
        "lab/engines/worker.py",  # raised in the driver
        "lab/engines/workers.py",  # raised in the worker, or by every task
        "lab/runs/game_workers.py",
        "lab/runs/runner.py",
        "lab/runs/work.py",
        "lab/training/side_by_side.py",  # raised in the driver
        "agents/own.py",  # code of somebody's own
        "lab/storage/call_store.py",  # raised by every call that waits for it
    }
    assert {entry.split(":")[0] for entry in broad} <= told, broad


def test_importing_the_package_and_its_command_is_light() -> None:
    """No heavy library is loaded by `import wolflab`, by the command, or by any package's `__init__`."""
    packages = sorted(package for package in PACKAGES if (PACKAGE / package / "__init__.py").exists())
    modules = ["wolflab", *(f"wolflab.{package}" for package in packages)]
    if (PACKAGE / "cli.py").exists():
        modules.append("wolflab.cli")
    script = f"import {', '.join(modules)}; import sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "wolflab" in loaded
    assert not loaded & HEAVY


# -- the checks themselves ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "source", "breached"),
    [
        ("rules/x.py", "from ..text import notes", True),
        ("rules/x.py", "import numpy", True),
        ("rules/x.py", "import json", False),
        ("rules/x.py", "from ..errors import IllegalReply", False),
        ("text/x.py", "def f():\n    from wolflab.models import base", True),
        ("text/x.py", "from .. import rules", False),
        ("text/x.py", "from .. import lab", True),
        ("text/x.py", "from ..rules.engine import step", True),
        ("models/x.py", "from ..rules.state import State", True),
        ("models/x.py", "from ..rules.events import Said", True),
        ("models/x.py", "from ..rules import Said", False),
        ("match/x.py", "from ..rules.engine import step", False),
        ("rules/roles/x.py", "from ...match import play", True),
        ("rules/roles/x.py", "from ..duties import Duty", False),
        ("agents/deep/x.py", "from ...lab import runner", True),
    ],
)
def test_a_forbidden_import_is_found(
    where: str, source: str, breached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / where
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    monkeypatch.setitem(NAMES, path, where)
    assert bool(breaches_between(path)) is breached


@pytest.mark.parametrize(
    ("where", "source", "breached"),
    [
        ("text/reading/x.py", "from ..questions import Question", True),
        ("text/reading/x.py", "from .acts import Claim", False),
        ("text/asking/x.py", "from ..questions import Question", False),
        ("text/asking/x.py", "from ..replies.parse import parse", True),
        ("text/x.py", "from .replies import parse", True),
        ("lab/storage/x.py", "def f():\n    from ..runs import runner", True),
        ("lab/runs/x.py", "from ..storage.store import Store", False),
        ("lab/runs/x.py", "from ...models.village import Village", False),
        ("models/village/beliefs/x.py", "from ..speech.wording import speak", True),
        ("models/village/speech/x.py", "from ..beliefs.worlds import SEER", False),
    ],
)
def test_a_forbidden_import_inside_is_found(
    where: str, source: str, breached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / where
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    monkeypatch.setitem(NAMES, path, where)
    assert bool(breaches_inside(path)) is breached


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"d"}}) == []
    assert set(circle({"a": {"b", "d"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("cases", "after", "found"),
    [
        ("case Said(): a\n case Voted(): b\n case _: pass", "", True),
        ("case Said(): a\n case Voted(): b\n case other: pass", "", True),
        ("case Said(): a\n case Voted(): b", "", True),
        ("case Said() | Voted(): a", "return 1", True),
        ("case Said(): a\n case Voted(): b\n case _ if c: assert_never(event)", "", True),
        ("case Said(): a\n case Voted(): b\n case _: assert_never(event)", "", False),
        ("case Said(): a\n case Voted(): b", "assert_never(event)", False),
        ("case TalkEvent(): a\n case FactEvent(): b", "", True),
        ("case Said('', _): a\n case Said(): b\n case _: pass", "", False),
        ("case Claim(): a\n case Report(): b\n case _: pass", "", False),
    ],
)
def test_open_matches_are_found(cases: str, after: str, found: bool) -> None:
    tree = ast.parse(f"def f(event):\n match event:\n  {cases.replace(chr(10), chr(10) + ' ')}\n {after}")
    assert bool(list(open_matches(tree))) is found


@pytest.mark.parametrize("event", get_args(Event))
def test_every_event_is_of_one_kind(event: type) -> None:
    assert sum(issubclass(event, kind) for kind in KINDS) == 1


def test_function_lengths_leave_out_the_docstring() -> None:
    tree = ast.parse(
        'class C:\n    def f(self):\n        """One.\n\n        Two.\n        """\n        return 1\n'
    )
    assert dict(functions(tree)) == {"C.f": 2}


# -- the network lock of the tests ----------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "local"),
    [
        (("127.0.0.1", 80), True),
        (("127.8.8.8", 80), True),
        (("::1", 80, 0, 0), True),
        (("localhost", 80), True),
        ("/tmp/a.sock", True),
        (("192.0.2.1", 80), False),
        (("10.0.0.1", 80), False),
        (("2001:db8::1", 80, 0, 0), False),
        (("example.org", 80), False),
        (("localhost.example.org", 80), False),
    ],
)
def test_what_counts_as_this_machine(address: object, local: bool) -> None:
    assert is_local(address) is local


def test_the_network_is_locked(network_attempts: list[object]) -> None:
    with socket.socket() as one, pytest.raises(NetworkLocked):
        one.connect(("192.0.2.1", 80))
    with pytest.raises(NetworkLocked):
        socket.create_connection(("example.org", 80), timeout=1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two, pytest.raises(NetworkLocked):
        two.sendto(b"x", ("192.0.2.1", 53))
    assert network_attempts == [("192.0.2.1", 80), ("example.org",), ("192.0.2.1", 53)]
    network_attempts.clear()  # these were meant


def test_loopback_is_open() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        client.sendall(b"hello")
        connection, _ = server.accept()
        with connection:
            assert connection.recv(5) == b"hello"
