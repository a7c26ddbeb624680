"""Which models and embedders of players are behind a server, and on which host: statements are sent
there.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from ...models.catalog import BUILT_IN, is_local_model
from ...models.person import PersonModel
from ...models.servers.addresses import VARIABLE, host_of, openai_address
from ...models.servers.http import is_loopback as is_loopback
from ...models.servers.keys import public_url
from .specs import HasPlayers

_HERE = (BUILT_IN, PersonModel.name, "hashing", "minilm")


def is_served(name: str) -> bool:
    """Whether a model or an embedder of that name is no part of this process."""
    return not (name in _HERE or is_local_model(name) or name.startswith("sentence-transformers/"))


def servers_of(experiment: HasPlayers) -> dict[str, str]:
    """Every model and embedder of the players that is behind a server → the server's host, "" if it is not
    known.
    """
    hosts: dict[str, str] = {}
    for condition in experiment.conditions:
        for spec in experiment.cast(condition).values():
            past = None if spec.experience is None else spec.experience.embedder
            for kind, named in (("model", spec.model), ("embedder", spec.embedder), ("embedder", past)):
                given = {kind: named} if isinstance(named, str) else dict(named or {})
                if isinstance(name := given.get(kind), str) and is_served(name):
                    hosts[name] = host_of(name, given.get("base_url"))
    return hosts


def openai_stand_in(experiment: HasPlayers) -> tuple[str, list[str]]:
    """The address in `OPENAI_BASE_URL` ("" without it), and the players' models that are asked there."""
    url = openai_address()
    if url is None:
        return "", []
    at = host_of(VARIABLE, url)
    return public_url(url), [name for name, host in servers_of(experiment).items() if host == at]


def elsewhere(experiment: HasPlayers) -> set[str]:
    """The models and embedders of the players that are behind a server on another machine."""
    hosts = servers_of(experiment)
    return {name for name, host in hosts.items() if is_elsewhere(host)}


def is_elsewhere(host: str) -> bool:
    """Whether a host, with its port or without, is another machine."""
    return not is_loopback(urlsplit(f"//{host}").hostname or "")
