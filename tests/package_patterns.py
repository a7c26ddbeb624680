"""All patterns of the package: those that its modules hold, and those that its functions hand to `re`.

What a function hands to `re` is found in the source, and worked out with the names of its module. Where that
is not enough, `EXAMPLES` has either values for the function's own names or a call that gives its patterns.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import BuiltinMethodType, FunctionType, ModuleType
from typing import Any

import wolflab
from wolflab.models.village.thoughts import plans
from wolflab.rules import DUTIES, SHERIFF
from wolflab.text import masking
from wolflab.text.asking import disguise
from wolflab.text.reading import spelling
from wolflab.text.replies import chosen_action, reflective_replies, thoughts
from wolflab.wwqa import question_claims

_READ_BY = ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
"""The functions of `re` that take a pattern first."""
_WORDS = ["no", "one of them", "player_3"]
EXAMPLES: dict[str, Mapping[str, Any] | Callable[[], object]] = {
    "lab.storage.quotes:__init__": {"short": _WORDS},
    "lab.storage.run_files:is_held": {"lock": Path().stat()},
    "lab.studies.quoting:without_quotes": {"sentences": _WORDS},
    "models.servers.faults:_refused": {"name": "top_p"},
    "models.village.thoughts.plans:_patterns": lambda: plans._patterns(SHERIFF),
    "text.asking.disguise:__init__": {"first": "aApP", "forms": r"player|one[\s_-]{0,3}of"},
    "text.asking.disguise:_object": lambda: disguise._object(SHERIFF),
    "text.masking:_reader": lambda: masking._reader(SHERIFF.names),
    "text.reading.references:_spoken_to": {"name": "@3"},
    "text.reading.spelling:_namer": lambda: spelling._namer(SHERIFF.names),
    "text.replies.chosen_action:_governing": lambda: [
        *map(chosen_action._governing, [*DUTIES, "vote", "lead"])
    ],
    "text.replies.chosen_action:_name_pattern": lambda: chosen_action._name_pattern(SHERIFF),
    "text.replies.parse:read_role": {"word": "hunter"},
    "text.replies.reflective_replies:_no_question": lambda: reflective_replies._no_question(
        SHERIFF.player_name
    ),
    "text.replies.thoughts:_any_of": lambda: [
        thoughts._any_of(marks) for family in thoughts.MARKS for marks in (family.end, family.done)
    ],
    "text.replies.thoughts:_firsts": thoughts._firsts,
    "text.replies.thoughts:_row": thoughts._table,
    "ui.terminal.seat:chosen_option": {"words": "vote player_3"},
    "wwqa.question_claims:patterns": question_claims.patterns,
    "wwqa.question_claims:_moods": lambda: [re.compile(row[0]) for row in question_claims._MOODS],
    "wwqa.question_claims:plain_words": lambda: [
        re.compile(row[0]) for row in (*question_claims._SPELLING, *question_claims._PHRASES)
    ],
    "wwqa.reply_parser:_choice": {"letters": "ABCD"},
    "wwqa.reply_parser:_thing": {"one_of": "seer|wolves"},
}


class UnknownPatternError(Exception):
    """A function hands something to `re` that cannot be worked out."""


def package_patterns(under: str = "") -> dict[re.Pattern[Any], str]:
    """Every pattern, and the first place where it was found: a module, or module:function.

    under: a module or a room whose patterns are wanted alone, without the package's name ("text.clean").
    """
    found: dict[re.Pattern[Any], str] = {}
    for info in pkgutil.walk_packages(wolflab.__path__, "wolflab."):
        place = info.name.partition(".")[2]
        if info.name.endswith("__main__") or not f"{place}.".startswith(f"{under}." if under else ""):
            continue
        module = importlib.import_module(info.name)
        for pattern in held(vars(module), module, set()):
            found.setdefault(pattern, place)
        source = Path(module.__file__ or "").read_text(encoding="utf-8")
        for function, pattern in named(source, vars(module), place) if "import re\n" in source else ():
            found.setdefault(pattern, f"{place}:{function}")
    return found


def held(thing: object, module: ModuleType | None, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    """The patterns in a value, through containers, objects of the package and the classes of `module`."""
    if isinstance(thing, re.Pattern):
        yield thing
    elif id(thing) not in seen:
        seen.add(id(thing))
        inner: Iterable[object] = ()
        if isinstance(thing, BuiltinMethodType):
            inner = (thing.__self__,)  # PATTERN.findall
        elif isinstance(thing, Mapping):
            inner = list(thing.values())
        elif isinstance(thing, tuple | list | set | frozenset):
            inner = thing
        elif isinstance(thing, type):
            inner = vars(thing).values() if module is not None and thing.__module__ == module.__name__ else ()
        elif type(thing).__module__.startswith("wolflab") and not isinstance(thing, FunctionType):
            inner = [
                getattr(thing, name, None) for name in (*vars(type(thing)), *getattr(thing, "__dict__", ()))
            ]
        for part in inner:
            yield from held(part, module, seen)


def named(source: str, names: Mapping[str, Any], place: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """(function, pattern) for what the functions in a module's source hand to `re`.

    Raises `UnknownPatternError` where neither the module's names nor an example tell what it is.
    """
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        example = EXAMPLES.get(f"{place}:{function.name}", {})
        if callable(example):
            for pattern in held(example(), None, set()):
                yield function.name, pattern
            continue
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _is_of_re(call.func):
                yield function.name, _worked_out(call, {**names, **example}, f"{place}:{function.name}")


def _is_of_re(function: ast.Attribute) -> bool:
    return isinstance(function.value, ast.Name) and function.value.id == "re" and function.attr in _READ_BY


def _worked_out(call: ast.Call, names: dict[str, Any], where: str) -> re.Pattern[Any]:
    values = []
    for word in (*call.args, *(keyword.value for keyword in call.keywords)):
        try:
            values.append(eval(ast.unparse(word), names))
        except (NameError, AttributeError, TypeError):
            values.append(None)
    flags = [value for value in values if isinstance(value, re.RegexFlag)]
    if not isinstance(values[0], str | bytes | re.Pattern):
        raise UnknownPatternError(
            f"{where} hands {ast.unparse(call.args[0])} to re, which its module's names do not tell; "
            "give an example of it in EXAMPLES"
        )
    return re.compile(values[0], *flags)
