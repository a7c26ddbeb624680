"""The weights that a training begins with: a folder, a name on the hub, or a GGUF, which becomes a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...errors import WolflabError
from ...files import writing
from ...lab.storage.run_files import held
from ...models.weights import base_folder, find_weights, plain_folder, weights_made_from


def trained_base(
    model: str, weights: Path, tell: Callable[[str], None] = lambda sentence: None
) -> tuple[str, dict[str, str] | None]:
    """The folder or hub name of the base, and the GGUF that the folder was made from.

    model: as given ("hf/" in front may be left out). weights: where folders that are made of GGUF files lie,
    each made once. What lies on the hub is got. WolflabError for an adapter, and for weights that cannot be
    had.
    """
    name = model.removeprefix("hf/")
    if name.endswith(".gguf"):
        gguf = Path(name).expanduser()
        into = weights / gguf.stem
        if gguf.is_file() and not into.exists():
            tell(f"{gguf.name} is turned into a plain folder, once: {into}")
            with writing(weights):
                weights.mkdir(parents=True, exist_ok=True)
            with held(weights):
                plain_folder(gguf, into)
        name = str(plain_folder(gguf, into))
    place = find_weights(name)
    if place.adapter is not None:
        raise WolflabError(f"{model}: that is an adapter; name the base that is to be trained")
    base_folder(place)
    return place.base, weights_made_from(place.base)
