"""The registration that a run was begun with: its copy and hash in the run, and how the run keeps to it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ...files import read_file, write
from ..plans.registration import FILE, read_registration
from ..storage.store import Store

_HASH = "registration"
"""The name of the hash in the run's store."""


@dataclass(frozen=True, slots=True)
class KeptRegistration:
    """A run's registration. time: when it was written, in UTC; None if the copy was changed. deviations: a
    sentence for each difference of the run from it.
    """

    time: str | None
    deviations: tuple[str, ...]


def keep_registration(store: Store, registration: bytes) -> None:
    """Keep the registration that a run is begun with, and its hash."""
    write(store.path / FILE, registration)
    store.remember(_HASH, _hash(registration))


def kept_registration(store: Store) -> KeptRegistration | None:
    """The registration of a run, if it was begun with one. Raises ExperimentError if it cannot be read."""
    kept, file = store.meta(_HASH), store.path / FILE
    if kept is None:
        return None
    if not file.exists() or _hash(read_file(file)) != kept:
        return KeptRegistration(None, (f"{FILE} was changed or removed after the run began",))
    registration = read_registration(file)
    deviations = [*registration.deviations(store.experiment)]
    if left := sum(not row.over for row in store.games()):
        deviations.append(f"{left:,} of the registered games are not over")
    return KeptRegistration(registration.registered, tuple(deviations))


def _hash(registration: bytes) -> str:
    return blake2b(registration, digest_size=16).hexdigest()
