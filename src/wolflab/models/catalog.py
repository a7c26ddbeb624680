"""From what an experiment writes to a model: names, settings, and whether it can be reached.

It may not know what models are asked; adapters are imported when one is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, ServerError
from .base import Model, Sampling, settings_of
from .budget import Budget
from .servers.addresses import VARIABLE, address_of, unnamed_provider
from .servers.keys import key_value, missing_key
from .servers.providers import PROVIDERS, Provider

if TYPE_CHECKING:
    from .local import LocalSettings
    from .servers.chat import ServerModel

BUILT_IN = "village"
LOCAL_PREFIX = "hf"
"""The prefix of models whose weights are run here."""

Spec = str | Mapping[str, Any]
"""A name ("village", "openai/gpt-4o"), or a mapping with `model` and settings beside it."""


def resolve(spec: Spec, budget: Budget | None = None) -> Model:
    """The model that `spec` names. No network: see `check_model`.

    "village" takes its own settings, "hf/FOLDER" those of `local.LocalSettings`; "PROVIDER/NAME" takes those
    of `servers.chat.HttpSettings`; any other name needs `base_url`. Raises ModelError for an unknown provider
    or setting, naming the known ones.
    """
    name, settings = name_and_settings(spec)
    if name == BUILT_IN:
        from .village import Village

        return Village(**settings)
    if is_local_model(name):
        from .local import LocalModel

        return LocalModel(name, _local_settings(name, settings), budget=budget)
    from .servers.chat import HttpSettings, ServerModel

    provider, model = _served(name, settings)
    given = settings_of(HttpSettings, f"model {name!r}", settings)
    return ServerModel(name, model, provider, given, budget=budget)


def check_settings(spec: Spec) -> None:
    """Raise ModelError for a name or a setting that `resolve` refuses; no model is made."""
    name, settings = name_and_settings(spec)
    if name == BUILT_IN:
        from .village.settings import VillageSettings

        settings_of(VillageSettings, "model 'village'", settings)
    elif is_local_model(name):
        _local_settings(name, settings)
    else:
        from .servers.chat import HttpSettings

        _served(name, settings)
        settings_of(HttpSettings, f"model {name!r}", settings)


def is_local_model(name: str) -> bool:
    """Whether a model runs on this machine, which costs nothing."""
    return name.startswith(f"{LOCAL_PREFIX}/")


def _local_settings(name: str, settings: Mapping[str, Any]) -> LocalSettings:
    from .local import LocalSettings

    if not name.removeprefix(f"{LOCAL_PREFIX}/"):
        raise ModelError(f"model {name!r} names no weights: write {LOCAL_PREFIX}/FOLDER")
    return settings_of(LocalSettings, f"model {name!r}", settings)


def _served(name: str, settings: Mapping[str, Any]) -> tuple[Provider, str]:
    """The provider of a model that is not built in, and the model's name there."""
    prefix, slash, rest = name.partition("/")
    if slash and prefix in PROVIDERS:
        if not rest:
            raise ModelError(f"model {name!r} names a provider but no model: write {prefix}/NAME")
        return PROVIDERS[prefix], rest
    if settings.get("base_url"):
        return PROVIDERS["custom"], name
    if meant := get_close_matches("base_url", settings, 1):
        raise ModelError(
            f"model {name!r}, setting {meant[0]!r}: there is no such field; did you mean base_url?"
        )
    known = ", ".join(f"{prefix}/…" for prefix in (LOCAL_PREFIX, *PROVIDERS))
    raise ModelError(
        f"model {name!r} is not known: use {BUILT_IN}, one of {known}, or any name with base_url "
        f"or with the variable {VARIABLE}"
    )


def name_and_settings(
    spec: object, kind: str = "a model", examples: str = "openai/gpt-4o or village"
) -> tuple[str, dict[str, Any]]:
    """The name and the settings in an experiment's entry for a model (or for another `kind`), or
    ModelError.
    """
    field = kind.split()[-1]
    if isinstance(spec, str):
        name, settings = spec, {}
    elif isinstance(spec, Mapping):
        settings = dict(spec)
        name = settings.pop(field, None)
    else:
        raise ModelError(f"{kind} is a name or a mapping with {field!r}, not {spec!r}")
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"{kind}'s settings need {field!r}, its name, such as {examples}")
    name = name.strip()
    if field == "model" and not settings.get("base_url") and _has_no_provider(name):
        settings = {**unnamed_provider(), **settings}
    return name, settings


def with_address(spec: Spec) -> Spec:
    """A spec with the settings that it has from `OPENAI_BASE_URL` written out."""
    name, settings = name_and_settings(spec)
    known = {} if isinstance(spec, str) else spec
    return spec if settings.keys() <= known.keys() else {"model": name, **settings}


def _has_no_provider(name: str) -> bool:
    return name != BUILT_IN and name.partition("/")[0] not in (*PROVIDERS, LOCAL_PREFIX)


def without_settings(name: str) -> str:
    """The name of a model as records tell it, without its settings in parentheses."""
    return name.partition("(")[0]


async def check_model(model: Model, ask: bool = False) -> None:
    """Whether `model` can be used, before any game is played.

    One short call is made with `ask`, or where the server does not list the model. Raises ModelError
    (ServerError when nothing answers) with a sentence: key missing or refused, server unreachable, model
    unknown. Weights on this machine are loaded with `ask` alone.
    """
    from .local import LocalModel
    from .servers.chat import HELLO, ServerModel

    if isinstance(model, LocalModel):
        hello = tuple((one["role"], one["content"]) for one in HELLO)
        await (model.converse(hello, Sampling(max_tokens=16), "check") if ask else model.check())
        return
    if not isinstance(model, ServerModel):
        return
    model.endpoint.forget_refusals()
    if model.endpoint.variable and model.endpoint.key() is None:
        raise ModelError(
            f"model {model.name!r}: {missing_key(model.endpoint.variable, model.endpoint.base_url)}"
        )
    was_open = model.endpoint.open
    try:
        listed = await model.listed() if model.provider.lists else ()
        if ask or model.model not in listed:
            await _greet(model, () if model.model in listed else listed)
    finally:
        if not was_open:
            await model.close()


async def _greet(model: ServerModel, listed: tuple[str, ...]) -> None:
    """Make one short call; the error for an unknown model names models that the server has."""
    from .servers.chat import HELLO
    from .servers.served import HEALTH_CHECK

    try:
        await model.converse(HELLO, Sampling(temperature=None, max_tokens=16), kind=HEALTH_CHECK, retries=1)
    except ServerError:
        raise
    except ModelError as error:
        if not listed:
            raise
        near = get_close_matches(model.model, listed, 5, 0.3) or list(listed[:5])
        raise ModelError(f"{error}; the server lists {', '.join(near)}") from None


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One line of `wolflab models`: what to write, which key it reads, and whether the key is set."""

    pattern: str
    key: str
    base_url: str
    configured: bool


def listing() -> tuple[CatalogRow, ...]:
    """The models that can be named. A row that needs no key counts as configured; no server is asked."""
    here = CatalogRow(f"{LOCAL_PREFIX}/…", "", "weights on this machine", True)
    rows = [CatalogRow(BUILT_IN, "", "", True), here]
    for provider in PROVIDERS.values():
        ready = provider.key is None or key_value(provider.key) is not None
        where = address_of(provider.name, None) or ""
        rows.append(CatalogRow(f"{provider.name}/…", provider.key or "", where, ready))
    return tuple(rows)
