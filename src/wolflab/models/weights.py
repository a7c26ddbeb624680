"""Weights of language models on this machine: finding them, their digests, loading by transformers.

A name is a folder in Hugging Face's form, a name on its hub, or the folder of an adapter (peft), which names
its base. This module does not know what the model is asked. torch, transformers and peft are imported when
weights are loaded; a digest needs none of them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import file_digest, sha256
from importlib import import_module
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from ..errors import ModelError
from ..files import new_folder

INSTALL = "install torch (the build for this machine), then: pip install 'wolflab[finetune]'"
ADAPTER_CONFIG, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
"""The files of an adapter that peft saves."""
ADAPTER = "adapter"
"""The folder of the adapter in a training's folder."""
TEMPLATE = "chat_template.jinja"
"""The file of a chat template, beside weights."""
MADE_FROM = "made-from.json"
"""The file that marks a folder as made from a GGUF."""

_PLACES = ("base_model_name_or_path", "_name_or_path", "_model_name_or_path")
"""The paths in a config, which do not count for its digest."""
_FILES = ["*.safetensors", "*.json", "*.jinja", "*.model", "*.txt"]
_NOT = ["*/*", "consolidated*"]
"""Files to get from the hub and files to leave: weights, configs, tokenizers; no code, no pickles."""
_BROKEN = (OSError, ValueError, TypeError, KeyError, ImportError, RuntimeError, AssertionError, UserWarning)
"""Errors of the libraries for files that are missing, cut short or of another kind."""
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True)
class LoadedWeights:
    """A loaded model: what `generate` or a trainer needs.

    model: transformers' causal language model (with peft's around it where there is an adapter), ready for
    answers, not for training. tokenizer: transformers'.
    """

    model: Any
    tokenizer: Any


@dataclass(frozen=True)
class WeightsPlace:
    """The place of weights. base: folder or hub name. adapter: its folder, or None."""

    base: str
    adapter: Path | None = None


def find_weights(name: str) -> WeightsPlace:
    """The place that a name stands for, from files alone; the hub is not asked.

    Raises ModelError for a folder that is missing, unreadable or without weights, for an adapter whose base
    is gone, and for an invalid hub name.
    """
    folder = Path(name).expanduser()
    with _reading(folder):
        if not (folder / ADAPTER_CONFIG).is_file():
            return WeightsPlace(_base(name, f"weights {name!r}"))
        base = _json(folder / ADAPTER_CONFIG).get("base_model_name_or_path")
        if not isinstance(base, str) or not base:
            raise ModelError(
                f"adapter {folder}: its {ADAPTER_CONFIG} names no base; write its folder or hub name there, "
                "as base_model_name_or_path"
            )
        beside = folder / base  # as seen from here, or else from the adapter's folder
        found = str(beside) if beside.is_dir() and not Path(base).is_dir() else base
        found = _base(
            found, f"adapter {folder}: its base is {base} (base_model_name_or_path in {ADAPTER_CONFIG})"
        )
        if not (folder / ADAPTER_WEIGHTS).is_file():
            raise ModelError(f"adapter {folder}: there is no {ADAPTER_WEIGHTS} in it; put its weights there")
        return WeightsPlace(found, folder)


def _base(name: str, owner: str) -> str:
    """The base by its folder or hub name. owner: the adapter or weights, for errors."""
    if not name.strip():
        raise ModelError("weights: no name is given; name a folder, or weights on the hub")
    folder = Path(name).expanduser()
    if folder.is_file():
        made = ", or make a folder of it by wolflab wwqa finetune" if folder.suffix == ".gguf" else ""
        raise ModelError(f"{owner}: {name} is a file; name the folder that the weights lie in{made}")
    if not folder.is_dir():
        if _HUB_NAME.fullmatch(name) and name.strip("."):
            return name
        raise ModelError(f"{owner}: there is no folder {name}; correct its name, or put the weights there")
    if not (folder / "config.json").is_file():
        raise ModelError(f"{owner}: there is no config.json in {name}; name a folder in Hugging Face's form")
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"{owner}: there are no weights (*.safetensors) in {name}; put them there")
    return str(folder)


def base_folder(place: WeightsPlace, fetch: bool = True) -> Path:
    """The folder of the base: as named, or the hub's cache of it on this machine.

    fetch: download missing files from the hub. Raises ModelError where that fails.
    """
    folder = Path(place.base)
    if folder.is_dir():
        return folder
    libraries("huggingface_hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HTTPError

    # The cache is asked for these files alone, as the hub is: others were never downloaded.
    snapshot = partial(snapshot_download, place.base, allow_patterns=_FILES, ignore_patterns=_NOT)
    with quiet():
        try:
            folder = Path(snapshot(local_files_only=True))
            if (folder / "config.json").is_file() and any(folder.glob("*.safetensors")):
                return folder
        except (OSError, ValueError):
            pass
        try:
            if fetch:
                return Path(_base(snapshot(), f"weights {place.base!r} of the hub"))
        except GatedRepoError:
            raise ModelError(
                f"weights {place.base!r}: they need their makers' permission; ask for it on their page of "
                "the hub, then log in here: hf auth login"
            ) from None
        except (OSError, ValueError, RuntimeError, HTTPError) as error:
            raise ModelError(
                f"weights {place.base!r}: there is no such folder here, nor are they in the hub's cache, and "
                f"the hub does not give them ({short(error)}); correct the name, name a folder, or get them "
                "where there is a network (what was broken off goes on)"
            ) from None
    raise ModelError(
        f"weights {place.base!r}: there is no such folder here, nor are they in the hub's cache; get them by "
        f"wolflab models --check hf/{place.base}"
    )


# -- loading --------------------------------------------------------------------------------


def load_weights(name: str, *, dtype: str = "auto", device: str = "auto") -> LoadedWeights:
    """The weights that `name` stands for, in memory.

    name: see the module. dtype: "float32", "bfloat16", "float16"; "auto" is float32 on a cpu and bfloat16
    elsewhere. device: "cpu", "cuda", "cuda:1", "mps"; "auto" is cuda where there is one. A folder never needs
    the network; a hub name does if its files are not in the hub's cache yet. Raises ModelError, one sentence.
    """
    tokenizer = tokenizer_of(name, device=device, dtype=dtype)
    import torch

    place, where = find_weights(name), _device(name, device)
    with quiet():
        model = _model(place, base_folder(place), getattr(torch, dtype_name(name, dtype, device)))
        with _loading(f"weights {name!r}: device {device!r} cannot take them", "take another one"):
            model = model.to(where)
    return LoadedWeights(model.eval(), tokenizer)


def tokenizer_of(name: str, *, device: str = "auto", dtype: str = "auto") -> Any:
    """The tokenizer that `load_weights` would give. All that can be checked without loading weights is
    checked: ModelError as there. Missing weights are downloaded from the hub.
    """
    place = find_weights(name)
    libraries("torch", "transformers", *(["peft"] if place.adapter else []))
    _device(name, device)
    dtype_name(name, dtype, device)
    folder = base_folder(place)
    with quiet():
        return _tokenizer(place, folder)


def libraries(*names: str) -> None:
    """Import these libraries, without their progress bars and messages. ModelError with the command to
    install a missing one.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        for name in names:
            import_module(name)
        # If the hub's library was imported before, it has read the environment already.
        vars(import_module("huggingface_hub.constants"))["HF_HUB_DISABLE_TELEMETRY"] = True
    except ImportError as error:
        raise ModelError(
            f"weights on this machine need a package that is not installed ({error}): {INSTALL}"
        ) from None
    for name in ("transformers", "huggingface_hub", "trl"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    import_module("huggingface_hub.utils").disable_progress_bars()
    if "transformers" in names:
        import_module("transformers.utils.logging").disable_progress_bar()
    if "datasets" in names:
        import_module("datasets").disable_progress_bars()


@contextmanager
def quiet() -> Iterator[None]:
    """A context in which the libraries print no bars and no warnings. It admits one thread at a time, since
    Python has one list of warnings for all.
    """
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_QUIET = threading.RLock()


def _device(name: str, device: str) -> Any:
    import torch

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.device(device)
    except RuntimeError:
        raise ModelError(
            f"weights {name!r}: {device!r} is no device; use auto, cpu, cuda, cuda:1 or mps"
        ) from None


def dtype_name(name: str, dtype: str, device: str) -> str:
    """The dtype in which `load_weights` loads the weights `name`."""
    if dtype == "auto":
        libraries("torch")
        return "float32" if _device(name, device).type == "cpu" else "bfloat16"
    if dtype not in ("float32", "bfloat16", "float16"):
        raise ModelError(f"weights {name!r}: {dtype!r} is no dtype; use auto, float32, bfloat16 or float16")
    return dtype


@contextmanager
def _loading(what: str, then: str) -> Iterator[None]:
    """Turns the libraries' errors about broken files into a ModelError. what: what fails; then: what to
    do.
    """
    from safetensors import SafetensorError

    try:
        yield
    except (*_BROKEN, SafetensorError) as error:
        raise ModelError(f"{what} ({short(error)}); {then}") from None


def _model(place: WeightsPlace, folder: Path, dtype: Any) -> Any:
    """The base's model from its folder, with the adapter on it. It keeps the given name, which a trainer
    writes down.
    """
    from transformers import AutoModelForCausalLM

    options: dict[str, Any] = {"dtype": dtype, "use_safetensors": True, "trust_remote_code": False}
    advice = "name a folder that holds a complete causal language model"
    with _loading(f"weights {place.base!r}: they cannot be loaded", advice):
        model, loading = AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, output_loading_info=True, **options
        )
    if missing := sorted(loading["missing_keys"]):
        raise ModelError(
            f"weights {place.base!r}: {len(missing)} parts of the model are in none of its files, such as "
            f"{missing[0]}; download the folder again"
        )
    model.name_or_path = place.base
    if place.adapter is None:
        return model
    from peft import PeftModel

    fitting = f"name the base that it was trained on in its {ADAPTER_CONFIG}"
    with (
        _loading(f"adapter {place.adapter}: it does not fit its base", fitting),
        warnings.catch_warnings(),
    ):
        # Parameters missing in the file would keep their initial values, and the adapter would do nothing.
        warnings.filterwarnings("error", "Found missing adapter keys")
        return PeftModel.from_pretrained(model, str(place.adapter), local_files_only=True)


def _tokenizer(place: WeightsPlace, folder: Path) -> Any:
    """The adapter's tokenizer where its folder has one, with its chat template; else the base's."""
    from transformers import AutoTokenizer

    own = place.adapter if place.adapter and (place.adapter / "tokenizer_config.json").is_file() else None
    files = "put its files beside the weights (tokenizer.json, tokenizer_config.json)"
    with _loading(f"weights {place.base!r}: the tokenizer cannot be loaded", files):
        tokenizer = AutoTokenizer.from_pretrained(
            str(own or folder), local_files_only=True, trust_remote_code=False
        )
    tokenizer.chat_template = template_of(place, folder) or tokenizer.chat_template
    tokenizer.clean_up_tokenization_spaces = False  # True (Llama 3) changes what was said
    return tokenizer


def template_of(place: WeightsPlace, folder: Path) -> str | None:
    """The chat template (Jinja) of the adapter, else of the base in `folder`, if there is one."""
    for where in (place.adapter, folder):
        if where is None:
            continue
        file, config = where / TEMPLATE, where / "tokenizer_config.json"
        if file.is_file():
            return file.read_text(encoding="utf-8")
        template = _json(config).get("chat_template") if config.is_file() else None
        if isinstance(template, list):  # several, by name
            template = next((one.get("template") for one in template if one.get("name") == "default"), None)
        if isinstance(template, str):
            return template
    return None


def short(error: Exception) -> str:
    """A library's message, in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Turns the system's errors about an unreadable folder into a ModelError."""
    try:
        yield
    except (PermissionError, OSError) as error:
        raise ModelError(
            f"weights {str(folder)!r}: they cannot be read ({error.strerror or error}); correct that, or "
            "name another folder"
        ) from None


def _json(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):  # RecursionError: brackets without end
        read = None
    if not isinstance(read, dict):
        raise ModelError(f"{path}: it is not a JSON object; download the folder again")
    return read


# -- digests --------------------------------------------------------------------------------


def weights_digest(folder: Path) -> str:
    """SHA-256 (64 hex digits) over weights (*.safetensors) and config of a model's or an adapter's folder.

    Paths in the config are left out, so that a moved base does not change the digest. Raises ModelError for a
    folder without weights or that cannot be read.
    """
    hashed = sha256()
    with _reading(folder):
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise ModelError(
                f"weights {str(folder)!r}: there are no weights (*.safetensors) in it; put them there"
            )
        for path in files:
            hashed.update(f"{path.name} {_file_sha256(path)}\n".encode())
        for name in ("config.json", ADAPTER_CONFIG):
            if (folder / name).is_file():
                said = {key: value for key, value in _json(folder / name).items() if key not in _PLACES}
                hashed.update(f"{name} {json.dumps(said, sort_keys=True)}\n".encode())
    return hashed.hexdigest()


def _file_sha256(path: Path) -> str:
    stat = path.stat()
    return _sha256_of(path.resolve(), stat.st_size, stat.st_mtime_ns)


@lru_cache(256)
def _sha256_of(path: Path, size: int, changed: int) -> str:
    """The digest, cached by the file's size and time, since every record's header needs it."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


# -- from GGUF ------------------------------------------------------------------------------


def plain_folder(gguf: Path, into: Path) -> Path:
    """Convert a GGUF file to a plain folder `into` in Hugging Face's form, in float32. Returns `into`.

    The folder is made once, completely or not at all, and names its source in `MADE_FROM`; a second call
    finds it. Raises ModelError for a file that is no GGUF, and for a folder that is something else or was
    made from another file; StoreError where it cannot be written.
    """
    with _reading(gguf):
        if not gguf.is_file():
            raise ModelError(f"there is no file {gguf}; name a GGUF file")
        with gguf.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ModelError(f"{gguf}: it is no GGUF file; name one, or a folder in Hugging Face's form")
        made_from = {"file": gguf.name, "sha256": _file_sha256(gguf)}
    if into.exists():
        if not (into / MADE_FROM).is_file():
            raise ModelError(f"{into}: it exists already, and was not made from a GGUF; name another folder")
        if _json(into / MADE_FROM).get("sha256") != made_from["sha256"]:
            raise ModelError(
                f"{into}: it was made from another file than {gguf}; rename the file, or name another folder"
            )
        return into
    libraries("torch", "transformers", "gguf")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    # Its progress bar ignores all settings.
    with new_folder(into) as half, quiet(), redirect_stderr(StringIO()):
        with _loading(f"{gguf}: transformers cannot read it", "name weights in Hugging Face's form"):
            tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **options)
            model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), dtype=torch.float32, **options)
        # transformers treats a model from a GGUF as quantized, though its weights are plain numbers by now:
        # it neither saves nor trains such a model.
        model.is_quantized = False
        model.hf_quantizer = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(half)
        tokenizer.save_pretrained(half)
        made_from["transformers"] = version("transformers")
        (half / MADE_FROM).write_text(json.dumps(made_from, indent=2) + "\n", encoding="utf-8")
    return into


def weights_made_from(folder: str) -> dict[str, str] | None:
    """The GGUF that a plain folder was made from (`file`, `sha256`); None for any other folder or name."""
    file = Path(folder) / MADE_FROM
    return {name: str(_json(file)[name]) for name in ("file", "sha256")} if file.is_file() else None
