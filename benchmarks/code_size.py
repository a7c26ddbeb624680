"""The size of the code by package: lines, and numbers of names.

    python benchmarks/code_size.py [--root DIR] [--against DIR]

Packages are those of `src/wolflab/`; of `lab/`, `ui/` and `models/`, those inside. Columns:

- lines: lines of Python, blank lines, comments and docstrings with them;
- data: lines of files that are no Python (presets, word lists, styles, scripts);
- files: Python files;
- public: functions and classes at the top of a module whose names do not begin with `_`;
- private: functions and methods whose name begins with one `_`;
- once: those of them whose name occurs twice in its file, where it is defined and where it is used;
- long: functions of more than 60 lines without their docstring.

The last lines are the sums, and the lines of `tests/`. `--against` names another checkout: each cell then
shows its figure, and this one's.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from pathlib import Path

COLUMNS = "lines", "data", "files", "public", "private", "once", "long"
LONG = 60
_DIVIDED = "lab", "ui", "models"
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def package_of(path: Path) -> str:
    """A file's package; path: relative to `src/wolflab`."""
    depth = 2 if path.parts[0] in _DIVIDED else 1
    return "/".join(path.parts[:-1][:depth]) or "(top)"


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """A function's lines without its docstring."""
    first, end = node.body[0], node.end_lineno or node.lineno
    lines = end - node.lineno + 1
    if ast.get_docstring(node) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def counted(text: str) -> Counter[str]:
    """What one Python file adds to each column."""
    tree = ast.parse(text)
    found = Counter(lines=text.count("\n"), files=1)
    words = Counter(re.findall(r"\w+", text))
    for node in tree.body:
        found["public"] += isinstance(node, _FUNCTIONS | ast.ClassDef) and not node.name.startswith("_")
    for inner in ast.walk(tree):
        if isinstance(inner, _FUNCTIONS):
            private = inner.name.startswith("_") and not inner.name.startswith("__")
            found["private"] += private
            found["once"] += private and words[inner.name] == 2
            found["long"] += length(inner) > LONG
    return found


def sizes(root: Path) -> dict[str, Counter[str]]:
    """package → column → figure, in alphabetical order; `root` is a checkout."""
    source, packages = root / "src" / "wolflab", dict[str, Counter[str]]()
    for path in sorted(source.rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # weights, fonts
        figures = packages.setdefault(package_of(path.relative_to(source)), Counter())
        figures.update(counted(text) if path.suffix == ".py" else Counter(data=text.count("\n")))
    return dict(sorted(packages.items()))


def lines_of_tests(root: Path) -> int:
    """Lines of Python in `tests/`."""
    return sum(path.read_text(encoding="utf-8").count("\n") for path in (root / "tests").rglob("*.py"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    here = Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=Path, default=here, help="the checkout to count (default: this one)")
    parser.add_argument("--against", type=Path, help="an older checkout to compare with")
    options = parser.parse_args()
    roots = [options.root] if options.against is None else [options.against, options.root]
    for root in roots:
        if not (root / "src" / "wolflab").is_dir():
            parser.error(f"{root} is no checkout: it has no src/wolflab; name the folder of one")
    tables = [sizes(root) for root in roots]
    for table in tables:
        table["src"] = sum(table.values(), Counter())
    packages = [*sorted({package for table in tables for package in table} - {"src"}), "src"]
    width, wide = max(map(len, packages)), 8 if len(tables) == 1 else 15
    print(" " * width, *(f"{column:>{wide}}" for column in COLUMNS))
    for package in packages:
        cells = (
            " → ".join(f"{table.get(package, Counter())[column]}" for table in tables) for column in COLUMNS
        )
        print(f"{package:<{width}}", *(f"{cell:>{wide}}" for cell in cells))
    print("lines of tests:", " → ".join(str(lines_of_tests(root)) for root in roots))


if __name__ == "__main__":
    main()
