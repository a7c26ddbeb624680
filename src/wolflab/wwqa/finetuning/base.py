"""The weights that a training begins with: a folder, a name on the hub, or a GGUF, which becomes a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...errors import WolflabError
from ...files import make_folder
from ...lab.storage.run_files import held
from ...models.catalog import Spec
from ...models.weights import (
    TEMPLATE,
    base_folder,
    find_weights,
    plain_folder,
    template_of,
    weights_made_from,
)
from .plan import FinetuneSettings


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
            make_folder(weights)
            with held(weights):
                plain_folder(gguf, into)
        name = str(plain_folder(gguf, into))
    place = find_weights(name)
    if place.adapter is not None:
        raise WolflabError(f"{model}: that is an adapter; name the base that is to be trained")
    base_folder(place)
    return place.base, weights_made_from(place.base)


def base_spec(base: str, settings: FinetuneSettings, adapter: Path) -> tuple[Spec, str]:
    """How the base is named to an evaluation, and a sentence where its form is not a matter of course.

    adapter: a folder with the template that training used.
    """
    name = f"hf/{base}"
    if settings.form == "chat":
        return name, ""
    place = find_weights(base)
    if template_of(place, base_folder(place)) is None:
        spec = {"model": name, "chat_template": str(adapter / TEMPLATE)}
        return spec, "The base has no chat template; it is asked as the adapters are (form: plain)"
    return name, "The base is asked in its own chat template, adapters in theirs (form: plain)"
