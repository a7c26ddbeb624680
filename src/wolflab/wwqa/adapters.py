"""A trained adapter handed on to servers: merged weights, files for llama.cpp, and the lines that serve it.

It knows PEFT's folders and llama.cpp's converters; it may not know how an adapter was trained nor what its
model is asked.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .. import __version__
from ..errors import WolflabError
from ..files import aside, new_folder, read_file
from ..models.weights import (
    ADAPTER_CONFIG,
    WeightsPlace,
    base_folder,
    find_weights,
    load_weights,
    quiet,
    weights_digest,
)
from .exporting import filled

AdapterTarget = Literal["merged", "gguf", "merged-gguf"]
"""A folder of whole weights, an adapter for llama.cpp, or whole weights for llama.cpp."""

SOURCE = "llama-cpp-python==0.3.36"
"""Its source distribution holds llama.cpp's converters; no wheel does."""
GET_CONVERTERS = (
    f"pip download --no-deps --no-binary llama-cpp-python {SOURCE} -d llama && "
    "tar -xzf llama/llama_cpp_python-0.3.36.tar.gz -C llama"
)
_LORA, _WHOLE = "convert_lora_to_gguf.py", "convert_hf_to_gguf.py"
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""vLLM takes no other value of --max-lora-rank."""
_LINES = 6
"""The last lines of a converter's output that a sentence shows."""


@dataclass(frozen=True)
class AdapterFolder:
    """A LoRA adapter as PEFT saves it. base: a folder or a name on the hub. rank: its layers' highest."""

    path: Path
    base: str
    rank: int

    @property
    def template(self) -> Path | None:
        """The file of its chat template; None where the folder has none."""
        file = self.path / "chat_template.jinja"
        return file if file.is_file() else None

    @property
    def base_folder(self) -> Path:
        """Where the base's files lie; got from the hub where they are not here yet."""
        return base_folder(WeightsPlace(self.base))


def is_adapter(path: Path) -> bool:
    """Whether a folder says that an adapter lies in it."""
    return (path / ADAPTER_CONFIG).is_file()


def read_adapter(path: Path) -> AdapterFolder:
    """The adapter in that folder. Raises WolflabError for what is none, and ModelError for a lost base."""
    file = path / ADAPTER_CONFIG
    if not is_adapter(path):
        raise WolflabError(
            f"{path}: there is no adapter in it (no {ADAPTER_CONFIG}); name the folder of one, as "
            "`wolflab wwqa finetune` leaves it"
        )
    place = find_weights(str(path))
    config: dict[str, Any] = json.loads(read_file(file))
    pattern = config.get("rank_pattern") or {}
    ranks = [config.get("r"), *(pattern.values() if isinstance(pattern, dict) else [None])]
    if config.get("peft_type") != "LORA" or not all(isinstance(one, int) for one in ranks):
        raise WolflabError(f"{path}: its {ADAPTER_CONFIG} is of no LoRA adapter; only these can be served")
    return AdapterFolder(path, place.base, max(ranks))


# -- whole weights --------------------------------------------------------------------------


def save_merged(adapter: AdapterFolder, out: Path) -> None:
    """Base and adapter as one model, in a new folder as transformers reads and writes it.

    Tokenizer and chat template are the adapter's. StoreError where `out` is there already.
    """
    with new_folder(out) as half:
        _save_merged(adapter, half)


def _save_merged(adapter: AdapterFolder, folder: Path) -> None:
    weights = load_weights(str(adapter.path), device="cpu", dtype="float32")
    with quiet():
        try:
            model = weights.model.merge_and_unload(safe_merge=True)
        except ValueError as error:
            raise WolflabError(f"{adapter.path}: the adapter cannot be merged ({error})") from None
        model.to(_saved_dtype(adapter)).save_pretrained(folder)
        weights.tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text(merged_card(adapter), encoding="utf-8")


def _saved_dtype(adapter: AdapterFolder) -> Any:
    """The type of number that the base's weights are saved in: a merged model is not to be larger."""
    from transformers import AutoConfig

    with quiet():
        return AutoConfig.from_pretrained(adapter.base_folder).dtype


def merged_card(adapter: AdapterFolder) -> str:
    """The card of merged weights: what of, and the adapter's own card."""
    file = adapter.path / "README.md"
    own = file.read_text(encoding="utf-8") if file.is_file() else ""
    if own.startswith("---\n"):
        own = own[4:].partition("\n---\n")[2]
    head = f"---\nbase_model: {json.dumps(adapter.base)}\nlibrary_name: transformers\n---\n\n"
    told = (
        f"Whole weights: the base `{adapter.base}` and a LoRA adapter of rank {adapter.rank} (SHA-256 over "
        f"weights and config `{weights_digest(adapter.path)}`), merged by Wolflab {__version__}.\n"
    )
    rest = f"\n## The adapter's card\n\n{own.strip()}\n" if own.strip() else ""
    return f"{head}# Merged weights\n\n{told}{rest}"


# -- files for llama.cpp --------------------------------------------------------------------


def save_gguf(adapter: AdapterFolder, out: Path, llama_cpp: Path | None, whole: bool = False) -> None:
    """A GGUF file that llama.cpp and what is built on it read.

    llama_cpp: where llama.cpp's converters are; see `converters`. whole: base and adapter merged, in 16-bit
    numbers; else the adapter alone, to be used beside a GGUF of the same base. A file that is there is a
    WolflabError.
    """
    if out.exists():
        raise WolflabError(f"{out}: there is something already; name a new file")
    folder = converters(llama_cpp)
    with aside(out) as half:
        if whole:
            with tempfile.TemporaryDirectory(dir=half.parent, prefix=f"{out.name}.") as merged:
                _save_merged(adapter, Path(merged))
                _convert(folder / _WHOLE, merged, "--outfile", half, "--outtype", "f16")
        else:
            _convert(folder / _LORA, adapter.path, "--base", adapter.base_folder, "--outfile", half)


def save_base_gguf(base: str, out: Path, llama_cpp: Path | None) -> None:
    """Whole weights without an adapter as a GGUF file in 16-bit numbers, made as `save_gguf` makes a tuned
    one: served side by side, both are calculated alike.

    base: a folder or hub name. Raises what `save_gguf` does, and ModelError for weights that are not there.
    """
    if out.exists():
        raise WolflabError(f"{out}: there is something already; name a new file")
    place, folder = find_weights(base), converters(llama_cpp)
    with aside(out) as half:
        _convert(folder / _WHOLE, base_folder(place), "--outfile", half, "--outtype", "f16")


def converters(llama_cpp: Path | None) -> Path:
    """The folder with llama.cpp's converters: a checkout, or the unpacked source of llama-cpp-python.

    Raises WolflabError, with the command that brings them, where they are not there.
    """
    if llama_cpp is None:
        raise WolflabError(
            f"a GGUF file is made by llama.cpp's converters; get them with: {GET_CONVERTERS} - and name the "
            "folder: --llama-cpp llama"
        )
    places = (llama_cpp, llama_cpp / "vendor" / "llama.cpp", *llama_cpp.glob("*/vendor/llama.cpp"))
    for place in places:
        if (place / _LORA).is_file() and (place / _WHOLE).is_file():
            return place
    raise WolflabError(
        f"--llama-cpp {llama_cpp}: {_LORA} is not in it; name a checkout of llama.cpp, or what this leaves: "
        f"{GET_CONVERTERS}"
    )


def _convert(program: Path, *words: object) -> None:
    """Run a converter in a process of its own. WolflabError with its last lines if it fails."""
    command = [sys.executable, str(program.resolve()), *map(str, words)]
    quietly = os.environ | {"TQDM_DISABLE": "1"}
    done = subprocess.run(
        command, env=quietly, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    out = Path(str(words[words.index("--outfile") + 1]))
    if done.returncode == 0 and out.is_file() and out.stat().st_size:
        return
    last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-_LINES:]
    missing = next((line.split("'")[1] for line in last if line.startswith("ModuleNotFoundError")), None)
    what = f"install what it needs: pip install {missing}" if missing else "its last lines"
    shown = "" if missing else ":\n" + "\n".join(last)
    raise WolflabError(f"{program}: llama.cpp's converter failed; {what}{shown}")


# -- the lines ------------------------------------------------------------------------------


def serving_lines(
    adapter: Path, base: str, gguf: Path | None = None, *, rules_text: bool, plain: bool = False
) -> str:
    """Markdown: how to serve an adapter with vLLM, llama.cpp and Ollama, and how to use that here.

    base: the folder or the hub name of its base. gguf: a GGUF file of the same base; None: not known.
    rules_text, plain: what training said, which parity and evaluation are to say as well: whether the rules
    stood in front, and whether questions stood alone.
    """
    known = read_adapter(adapter)
    template = None if known.template is None else shlex.quote(str(known.template))
    return filled(
        "serving.md",
        adapter=shlex.quote(str(adapter)),
        base=shlex.quote(base),
        gguf="BASE.gguf" if gguf is None else shlex.quote(str(gguf)),
        rules="" if rules_text else " --rules-text no",
        plain=" --plain" if plain else "",
        rank=next((one for one in _RANKS if one >= known.rank), _RANKS[-1]),
        chat="" if template is None else f" --chat-template {template}",
        chat_file="" if template is None else f" --jinja --chat-template-file {template}",
        get=GET_CONVERTERS,
    ).decode()
