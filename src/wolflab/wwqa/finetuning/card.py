"""The card of an adapter: what it is, what it was trained on, how it is served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from ... import __version__
from ...files import write
from ...models.weights import base_folder, find_weights, weights_digest
from ..adapters import serving_lines
from ..exporting import filled
from ..items import Item
from .plan import FinetunePlan, TuningCell
from .training import adapter_of, losses_of

CARD = "README.md"


def write_card(
    folder: Path, plan: FinetunePlan, cell: TuningCell, seen: Sequence[Item], command: str
) -> None:
    """Write the card into the adapter's folder. folder: of the training. seen: the questions it was trained
    on. command: by which it was made.
    """
    adapter = adapter_of(folder)
    looks = {line["step"]: line["eval_loss"] for line in losses_of(folder) if "eval_loss" in line}
    best = min(looks, key=lambda step: looks[step]) if looks else None
    made_from = plan.made_from
    card = filled(
        "adapter.md",
        front=yaml.safe_dump(_front(plan), sort_keys=False).rstrip(),
        version=__version__,
        base=plan.base,
        base_digest=weights_digest(base_folder(find_weights(plan.base))),
        made_from=f", made from {made_from['file']} (SHA-256 `{made_from['sha256']}`)" if made_from else "",
        digest=weights_digest(adapter),
        n=f"{len(seen):,}",
        questions=_questions(seen),
        sources="; ".join(f"{name} (SHA-256 `{digest}`)" for name, digest in plan.files.items()),
        settings=_settings(plan, cell),
        best="There were no questions for validation: it is the last step."
        if best is None
        else f"The validation loss was lowest at step {best:,.0f} ({looks[best]:.3f}); this is that step.",
        command=command,
        form="the model's own chat template"
        if plan.settings.form == "chat"
        else "texts alone, without a chat template (002's release)",
        serving=serving_lines(
            adapter,
            plan.base,
            None if made_from is None else Path(plan.model.removeprefix("hf/")),
            rules_text=plan.settings.rules_text,
            plain=plan.settings.form == "plain",
        ),
    )
    write(adapter / CARD, card)


def _front(plan: FinetunePlan) -> Mapping[str, object]:
    return {
        "base_model": plan.base,
        "library_name": "peft",
        "pipeline_tag": "text-generation",
        "language": ["en"],
        "tags": ["lora", "werewolf", "wwqa"],
    }


def _questions(seen: Sequence[Item]) -> str:
    forms, categories = (Counter(getattr(item, what) for item in seen) for what in ("form", "category"))
    told = {"yes_no": "yes or no", "choice": "choices", "open": "open questions"}
    parts = [f"{n:,} {told.get(form, form)}" for form, n in forms.most_common()]
    about = {"rule": "about the rules", "situation": "about situations"}
    parts += [f"{n:,} {about[one]}" for one, n in categories.most_common() if one in about]
    return ", ".join(parts)


def _settings(plan: FinetunePlan, cell: TuningCell) -> str:
    told = {**plan.settings.model_dump(mode="json"), "questions": cell.questions, "seed": cell.seed}
    return "\n".join(f"| {name} | {value} |" for name, value in told.items())
