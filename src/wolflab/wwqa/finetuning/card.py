"""The card of an adapter: its model, its training questions, how to serve it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ... import __version__
from ...files import write
from ...models.weights import ADAPTER, base_folder, find_weights, weights_digest
from ..adapters import LoraAdapter
from ..exporting import filled
from ..items import Item
from .lora_training import losses_of
from .tuning_plan import FinetunePlan, TuningCell

CARD = "README.md"


def write_card(
    folder: Path, plan: FinetunePlan, cell: TuningCell, seen: Sequence[Item], command: str
) -> None:
    """Write the card into the adapter's folder. folder: of the training. seen: the training questions.
    command: the one that made it.
    """
    adapter, settings, made_from = folder / ADAPTER, plan.settings, plan.made_from
    looks = [(line["eval_loss"], line["step"]) for line in losses_of(folder) if "eval_loss" in line]
    best = "There were no questions for validation: it is the last step."
    if looks:
        loss, step = min(looks)
        best = f"The validation loss was lowest at step {step:,.0f} ({loss:.3f}); this is that step."
    table = {**settings.model_dump(mode="json"), "questions": cell.questions, "seed": cell.seed}
    card = filled(
        "adapter.md",
        base_model=json.dumps(plan.base),
        version=__version__,
        base=plan.base,
        base_digest=weights_digest(base_folder(find_weights(plan.base))),
        made_from=f", made from {made_from['file']} (SHA-256 `{made_from['sha256']}`)" if made_from else "",
        digest=weights_digest(adapter),
        n=f"{len(seen):,}",
        questions=_in_words(seen),
        sources="; ".join(f"{name} (SHA-256 `{digest}`)" for name, digest in plan.files.items()),
        settings="\n".join(f"| {name} | {value} |" for name, value in table.items()),
        best=best,
        command=command,
        form="the model's own chat template"
        if settings.form == "chat"
        else "texts alone, without a chat template (002's release)",
        serving=LoraAdapter.read(adapter).serving_lines(
            plan.base,
            None if made_from is None else Path(plan.model.removeprefix("hf/")),
            rules_text=settings.rules_text,
            plain=settings.form == "plain",
        ),
    )
    write(adapter / CARD, card)


def _in_words(seen: Sequence[Item]) -> str:
    """The number of questions of each form and category, in words."""
    names = {
        "yes_no": "yes or no",
        "choice": "choices",
        "open": "open questions",
        "rule": "about the rules",
        "situation": "about situations",
    }
    counts = (Counter(getattr(item, what) for item in seen).most_common() for what in ("form", "category"))
    return ", ".join(f"{n:,} {names[one]}" for found in counts for one, n in found if one in names)
