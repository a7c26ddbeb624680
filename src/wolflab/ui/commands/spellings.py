"""Earlier spellings of options. For one version they are understood, with a warning."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from ...errors import WolflabError
from ..terminal.console import console, say

_RENAMED: Mapping[str, Mapping[str, str]] = {
    "play": {"--as": "--role"},
    "compare": {"--to": "--files"},
    "export": {"--as": "--format", "--to": "--format"},
    "wwqa export": {"--to": "--format"},
}
"""Command → an option's earlier name → its name."""
_WHERE = ("-o", "--out")
_CHANGE = re.compile(r"[^\s/=]+=")
"""A value of `--out` that begins so is a change (`temperature=0.5`), and no place."""


def respelled(command: str, options: Collection[str], words: Sequence[str]) -> list[str]:
    """The words of a command, with its options' present names and each change as `--set`.

    `-o` was another name of `--set` in some commands: there `-o place=value` is a change. Where a command
    takes no changes, such a value is refused; so it is with `--out`. No folder is made of a change.

    command: its words, such as "wwqa export". options: the names of all its options.
    """
    end = words.index("--") if "--" in words else len(words)
    given, found = iter(words[:end]), list[str]()
    for word in given:
        name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        if name in _WHERE:
            values = [value] if equals else [*islice(given, 1)]
            change = next((one for one in values if _CHANGE.match(one)), None)
            found += [name, *values] if change is None else _placed(name, change, options)
        elif (new := _RENAMED.get(command, {}).get(name)) is not None:
            warn(f"{name} is now called {new}")
            found.append(word.replace(name, new, 1))
        else:
            found.append(word)
    return [*found, *words[end:]]


def _placed(name: str, change: str, options: Collection[str]) -> tuple[str, str]:
    """What `--out` with a change means; WolflabError if it cannot be meant."""
    if name == "-o" and "--set" in options:
        warn(f"-o {change} is understood as --set {change}; -o says where to")
        return "--set", change
    changed = f"write a change as --set {change}, and" if "--set" in options else "write"
    raise WolflabError(f"{name} {change}: {name} says where to; {changed} a folder or file as ./{change}")


def warn(sentence: str) -> None:
    """Print a sentence on an earlier spelling, on stderr."""
    say(console(stderr=True), sentence, "yellow")
