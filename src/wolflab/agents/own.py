"""Agents of your own: classes that an experiment names as ``module:Class``.

The class derives from `OwnAgent`. `own_agent` imports it and makes an instance with its settings. No other
code imports what a file names; commands that only read a run never do. Errors of such code are reported with
their place.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from abc import ABC, abstractmethod
from asyncio import CancelledError, current_task
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, spec_from_file_location
from inspect import iscoroutinefunction
from pathlib import Path
from traceback import walk_tb
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import msgspec

from ..errors import AgentError, ExperimentError, Interrupted
from ..fields import FieldError, from_plain, nearest
from ..rules import Ask, View
from .base import IO, Reply

GROUP = "wolflab.recipes"
"""The group of entry points by which an installed package gives its agents short names."""
_PAGE = 2000
"""The number of characters that are kept of an error of such code."""


class OwnAgent(ABC):
    """Base class of an agent of your own; it only needs `reply`.

    The fields of a dataclass are settings, which an experiment gives beside the name. asks_model: whether it
    uses its seat's model; otherwise it has none. One instance may hold several seats of many games, so it
    must keep no state.
    """

    instant: bool = True
    asks_model: bool = False

    @abstractmethod
    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """The seat's answer to `ask`, from what it may know."""

    def describe(self) -> dict[str, Any]:
        """For the record's header: the class and all its settings. No hash covers its code."""
        description: dict[str, Any] = {"recipe": f"{type(self).__module__}:{type(self).__qualname__}"}
        settings = msgspec.to_builtins(self, order="deterministic") if is_dataclass(self) else None
        return {**description, "settings": settings} if settings else description


@cache
def _registered() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


def class_named(name: str) -> str | None:
    """``module:Class`` for a recipe's name: the name itself, or the class that a package registered for it.

    None for other names. Nothing is imported.
    """
    return name if ":" in name else _registered().get(name)


def own_agent(name: str, settings: Mapping[str, Any]) -> OwnAgent:
    """The agent ``module:Class``. Its module is searched where Python searches, and in the current directory.
    ExperimentError if it is missing, is no agent, or does not take these settings.
    """
    kind = _class(name)
    known = is_dataclass(kind)
    if settings and not known:
        raise ExperimentError(
            f"recipe {name}: it takes no settings, and {', '.join(settings)} is given; make "
            f"{kind.__qualname__} a dataclass with a field of that name"
        )
    try:
        with _agent_errors(f"recipe {name}", kind.__module__):
            return from_plain(kind, settings) if known else kind()
    except FieldError as wrong:
        field = f", field {wrong.place}" if wrong.place else ""
        raise ExperimentError(f"recipe {name}{field}: {wrong.words}") from None


def _class(name: str) -> type[OwnAgent]:
    module, attribute = _module("recipe", name, "module:Class, such as my_player:Gossip")
    reached: Any = module
    for part in attribute.split("."):
        if not hasattr(reached, part):
            there = [agent for agent, value in vars(reached).items() if _is_own(value)]
            file = getattr(reached, "__file__", None) or reached.__name__
            known = nearest(part, there) if there else "there is no agent in it"
            raise ExperimentError(f"recipe {name}: {file} has no {part!r}; {known}")
        reached = getattr(reached, part)
    if not _is_own(reached):
        raise ExperimentError(
            f"recipe {name}: {attribute} is no agent; write class {attribute}(OwnAgent), of wolflab.agents"
        )
    kind: type[OwnAgent] = reached
    if not iscoroutinefunction(kind.reply) or kind.__abstractmethods__:
        raise ExperimentError(f"recipe {name}: write its reply as: async def reply(self, view, ask, io)")
    return kind


@cache
def own_function(name: str) -> Callable[..., Any]:
    """A user's function ``module:function``, imported as the class of an agent is; ExperimentError if it is
    missing.
    """
    module, attribute = _module("script", name, "module:function, such as my_scripts:boldest")
    function = getattr(module, attribute, None)
    if not callable(function):
        raise ExperimentError(f"script {name}: {module.__file__} has no function {attribute!r}")
    _function_modules.add(module.__name__.partition(".")[0])
    return function  # type: ignore[no-any-return]


_function_modules: set[str] = set()
"""The packages of the functions that `own_function` imported."""


def _module(kind: str, name: str, form: str) -> tuple[ModuleType, str]:
    """The module of ``module:attribute``, imported, and the attribute's name. kind, form: what is named and
    how, for errors.
    """
    if not re.fullmatch(r"\w+(\.\w+)*:\w+(\.\w+)*", name):
        raise ExperimentError(f"{kind} {name!r}: write it as {form}")
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        with _agent_errors(f"{kind} {name}", module):
            return import_module(module), attribute
    except ModuleNotFoundError as error:
        raise ExperimentError(
            f"{kind} {name}: there is no module {error.name!r}, neither in {os.getcwd()} nor installed; go "
            "to the folder of its file, or install its package"
        ) from None


class ModuleSource(NamedTuple):
    """The source of a module. file: where it was read. package: whether it has modules of its own."""

    file: str
    package: bool
    source: bytes


def own_modules() -> dict[str, ModuleSource]:
    """The modules of the current directory that agents or functions of one's own may import, by name: those
    that are imported already, with all modules of their packages. Empty where there is no such code.
    """
    if not _function_modules and not any(_kinds(OwnAgent)):
        return {}
    here, found = Path.cwd(), {}
    for top in {name.partition(".")[0] for name in [*sys.modules]} - {__name__.partition(".")[0]}:
        file = getattr(sys.modules.get(top), "__file__", None)
        if file == str(here / f"{top}.py"):
            found[top] = ModuleSource(file, False, Path(file).read_bytes())
        elif str(here / top) in list(getattr(sys.modules.get(top), "__path__", ())):
            for path in (here / top).rglob("*.py"):
                name = ".".join(path.relative_to(here).with_suffix("").parts).removesuffix(".__init__")
                found[name] = ModuleSource(str(path), path.stem == "__init__", path.read_bytes())
                for folder in path.relative_to(here).parents[:-1]:  # some have no __init__.py
                    init = str(here / folder / "__init__.py")
                    found.setdefault(".".join(folder.parts), ModuleSource(init, True, b""))
    return found


class _SentModules(InspectLoader):
    """Imports modules from their sources."""

    def __init__(self, sources: Mapping[str, ModuleSource]) -> None:
        self._sources = sources

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if (module := self._sources.get(name)) is None:
            return None
        inside: list[str] | None = [os.path.dirname(module.file)] if module.package else None
        return spec_from_file_location(name, module.file, loader=self, submodule_search_locations=inside)

    def get_source(self, fullname: str) -> str:
        """See `InspectLoader`."""
        return decode_source(self._sources[fullname].source)

    def get_code(self, fullname: str) -> CodeType:
        """See `InspectLoader`; places in errors name the file."""
        return self.source_to_code(self._sources[fullname].source, self._sources[fullname].file)


def import_from(sources: Mapping[str, ModuleSource]) -> None:
    """Import these modules from their sources in this process, wherever else they are."""
    sys.meta_path.insert(0, _SentModules(sources))


def _is_own(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, OwnAgent) and value is not OwnAgent


@contextmanager
def _agent_errors(what: str, module: str) -> Iterator[None]:
    """Turn errors of a user's code while it is made into one sentence with their place."""
    try:
        yield
    except FieldError:
        raise
    except ModuleNotFoundError as error:
        if module == error.name or module.startswith(f"{error.name}."):
            raise
        raise ExperimentError(f"{what}: {_error_sentence(error, module)}") from None
    except (Exception, SystemExit, CancelledError) as error:  # noqa: BLE001 (it may raise anything)
        raise ExperimentError(f"{what}: {_error_sentence(error, module)}") from None


class ContainedExits:
    """A `with` block that turns exits of an agent's code (such as `sys.exit()`) into an AgentError, so that
    they do not end a run. Ctrl-C and a cancellation from outside are let through.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing is done before."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise the AgentError, if the block was left by an exit."""
        if error is None or isinstance(error, Exception | GeneratorExit):
            return
        place = error_place(error)
        if not place or _ended_by_others(error):
            return
        words = printed_form(error)
        name, said = type(error).__name__, f" ({words})" if words else ""
        raise AgentError(
            f"{place}: {name}{said}, which would end more than its game; raise another error, or return a "
            "Reply"
        ) from None


EXITS_CONTAINED = ContainedExits()
"""The block itself: it has no state, and entering it costs little."""


def _ended_by_others(error: BaseException) -> bool:
    """Whether the exit may come from Ctrl-C, a signal, or the code that waits for the agent."""
    if isinstance(error, KeyboardInterrupt):
        by_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        return by_default or isinstance(error, Interrupted)
    if isinstance(error, CancelledError):
        try:
            task = current_task()
        except RuntimeError:  # no loop runs
            return False
        return task is not None and task.cancelling() > 0
    return False


def _error_sentence(error: BaseException, module: str) -> str:
    at, said = error_place(error, module.partition(".")[0]), printed_form(error).partition("\n")[0]
    if isinstance(error, SyntaxError):
        at, said = f"{os.path.basename(error.filename or module)}, line {error.lineno}", error.msg
    return f"{at + ': ' if at else ''}{type(error).__name__}: {said}"


def printed_form(thing: object, written: Callable[[object], str] = str) -> str:
    """The text of an error or value of an agent's code, shortened to a page. Its own method may fail."""
    try:
        said = written(thing)
    except Exception:  # noqa: BLE001 (it may raise anything)
        return "(it cannot be printed)"
    return said if len(said) <= _PAGE else f"{said[:_PAGE]}…"


def error_place(error: BaseException, module: str = "") -> str:
    """The place in an own agent's code where an error was raised: "my_player.py, line 12, in Gossip.reply".

    "" if no such code was involved. module: a package whose agents are not made yet.
    """
    packages = (
        {kind.__module__.partition(".")[0] for kind in _kinds(OwnAgent)}
        | _function_modules
        | ({module} - {""})
    )
    places = list(error_places(error, packages))
    function = next((name for _, name in places if name), "")
    return f"{places[-1][0]}{', in ' if function else ''}{function}" if places else ""


def error_places(error: BaseException, packages: Collection[str]) -> Iterator[tuple[str, str]]:
    """(file and line, function) of the frames of these packages in an error's traceback, the innermost
    last.
    """
    for frame, line in walk_tb(error.__traceback__):
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] in packages:
            place = f"{module.replace('.', '/')}.py, line {line}"
            yield place, frame.f_code.co_qualname.removesuffix("<module>")


def _kinds(kind: Any) -> Iterator[type]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _kinds(subclass)
