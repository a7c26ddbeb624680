"""Adapters for servers: merged weights, and the commands that serve them. It knows PEFT's folders, not how an
adapter was trained or what its model is asked.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import WolflabError
from ..files import new_folder, read_file
from ..models.weights import (
    ADAPTER_CONFIG,
    TEMPLATE,
    WeightsPlace,
    base_folder,
    find_weights,
    load_weights,
    quiet,
    weights_digest,
)
from .exporting import filled

_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM accepts for --max-lora-rank."""


@dataclass(frozen=True)
class LoraAdapter:
    """A LoRA adapter as PEFT saves it. base: a folder or a name on the hub. rank: its layers' highest."""

    path: Path
    base: str
    rank: int

    @classmethod
    def read(cls, path: Path) -> LoraAdapter:
        """The adapter in that folder. WolflabError if there is none; ModelError if its base is missing."""
        file = path / ADAPTER_CONFIG
        if not file.is_file():
            raise WolflabError(
                f"{path}: there is no adapter in it (no {ADAPTER_CONFIG}); name the folder of one, as "
                "`wolflab wwqa finetune` leaves it"
            )
        place = find_weights(str(path))
        config: dict[str, Any] = json.loads(read_file(file))
        pattern = config.get("rank_pattern") or {}
        ranks = [config.get("r"), *(pattern.values() if isinstance(pattern, dict) else [None])]
        if config.get("peft_type") != "LORA" or not all(isinstance(one, int) for one in ranks):
            raise WolflabError(
                f"{path}: its {ADAPTER_CONFIG} is of no LoRA adapter; only these can be served"
            )
        return cls(path, place.base, max(ranks))

    def save_merged(self, out: Path) -> None:
        """Save base and adapter as one model in transformers' format. Tokenizer and chat template are the
        adapter's. Weights are added in float32 and saved in the base's dtype. StoreError if `out` exists.
        """
        with new_folder(out) as half:
            weights = load_weights(str(self.path), device="cpu", dtype="float32")
            from transformers import AutoConfig

            with quiet():
                saved = AutoConfig.from_pretrained(base_folder(WeightsPlace(self.base))).dtype
                try:
                    model = weights.model.merge_and_unload(safe_merge=True)
                except ValueError as error:
                    raise WolflabError(f"{self.path}: the adapter cannot be merged ({error})") from None
                model.to(saved).save_pretrained(half)
                weights.tokenizer.save_pretrained(half)
            (half / "README.md").write_text(self._merged_card(), encoding="utf-8")

    def _merged_card(self) -> str:
        """The card of merged weights, with the adapter's own card."""
        file = self.path / "README.md"
        own = file.read_text(encoding="utf-8") if file.is_file() else ""
        if own.startswith("---\n"):
            own = own[4:].partition("\n---\n")[2]
        return filled(
            "merged.md",
            base_model=json.dumps(self.base),
            base=self.base,
            rank=self.rank,
            digest=weights_digest(self.path),
            version=__version__,
            own=own.strip(),
        ).decode()

    def serving_lines(
        self, base: str, gguf: Path | None = None, *, rules_text: bool, plain: bool = False
    ) -> str:
        """Markdown: how to serve an adapter with vLLM, llama.cpp and Ollama, and how to use that here.

        base: the folder or the hub name of its base. gguf: a GGUF file of the same base; None: not known.
        rules_text, plain: training's settings, which parity and evaluation must repeat: whether the rules
        were in the prompt, and whether questions stood alone.
        """
        file = self.path / TEMPLATE
        template = shlex.quote(str(file)) if file.is_file() else ""
        return filled(
            "serving.md",
            adapter=shlex.quote(str(self.path)),
            base=shlex.quote(base),
            named=f"{'--base' if Path(base).is_dir() else '--base-model-id'} {shlex.quote(base)}",
            gguf="BASE.gguf" if gguf is None else shlex.quote(str(gguf)),
            rules="" if rules_text else " --rules-text no",
            plain=" --plain" if plain else "",
            rank=next((one for one in _RANKS if one >= self.rank), _RANKS[-1]),
            chat=template and f" --chat-template {template}",
            chat_file=template and f" --jinja --chat-template-file {template}",
        ).decode()
