"""How fast `wolflab wwqa finetune` trains weights of a shape on this machine, and how much memory it takes.

    python benchmarks/finetune_speed.py [--shape 0.5b] [--questions 400] [SETTINGS …]

The weights are random: speed and memory do not ask what they are. The tokenizer is made of these questions,
so they have fewer tokens than with a real one. SETTINGS is a line of the table: settings of the training as
`--set` takes them, more than one with a blank between ("rank=64 batch=16"). The first line is what the others
are set beside; it is trained once before, for whoever comes first waits for the machine. Each is a command of
its own, one pass through the questions, and nobody is asked afterwards. Tokens are those of questions,
without what is filled up. Memory is the most that was held: by tensors on the graphics card where one trains,
else by the process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from tiny_models import save_random, tokenizer_of_texts
from wolflab.errors import WolflabError
from wolflab.models.weights import libraries
from wolflab.rules import SHERIFF
from wolflab.ui.commands.wwqa_eval import RESULTS
from wolflab.wwqa.building import build_items
from wolflab.wwqa.finetuning.lora_training import LIBRARIES
from wolflab.wwqa.items import write_items

SHAPES: Mapping[str, tuple[int, ...]] = {
    "tiny": (2, 32, 64, 2, 1, 1000),
    "0.5b": (24, 896, 4864, 14, 2, 151936),
    "1b": (16, 2048, 8192, 32, 8, 128256),
}
"""Values of `FIELDS`. The last two are those of Qwen2.5-0.5B and Llama-3.2-1B."""
FIELDS = (
    "num_hidden_layers",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
)
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
QUESTIONS, WEIGHTS = "questions.jsonl", "weights"
LINES = ("rank=8", "rank=64", "rank=8 batch=16", "rank=8 recompute=true", "rank=8 dtype=float32")


def trained(out: Path, settings: str) -> dict[str, Any]:
    """Train with these settings; what the command wrote down. out: its directory, beside what it needs."""
    command = [sys.executable, "-m", "wolflab", "wwqa", "finetune", str(out.parent / QUESTIONS)]
    command += ["--model", str(out.parent / WEIGHTS), "-o", str(out), "--no-eval", "--set", "epochs=1"]
    for change in ("questions=null", "validation=0", *settings.split()):
        command += ["--set", change]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{settings}: {done.stderr or done.stdout}")
    told = json.loads((out / RESULTS).read_text(encoding="utf-8"))
    [taken] = told["resources"].values()
    return dict(taken)


def main(words: Sequence[str]) -> None:
    """Print a line for each settings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("settings", nargs="*", default=LINES)
    parser.add_argument("--shape", choices=SHAPES, default="0.5b")
    parser.add_argument("--questions", type=int, default=400)
    wanted = parser.parse_args(words)
    if wanted.questions < 1:
        parser.error(f"--questions: got {wanted.questions}; write 1 or more")
    try:
        libraries(*LIBRARIES)
    except WolflabError as error:
        raise SystemExit(str(error)) from None
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        items = build_items(SHERIFF, wanted.questions, 1, shares={"train": 1.0}).items
        write_items(home / QUESTIONS, items)
        shape = dict(zip(FIELDS, SHAPES[wanted.shape], strict=True))
        tokenizer = tokenizer_of_texts(
            (item.question for item in items), min(8000, shape["vocab_size"]), CHAT
        )
        save_random(home / WEIGHTS, tokenizer, "bfloat16", **shape)
        trained(home / "first", wanted.settings[0])
        first: dict[str, Any] | None = None
        print(f"shape {wanted.shape}, {len(items)} questions")
        print("| settings | learn / all (million) | on | seconds | tokens a second | of the first | GiB |")
        print("|---|---|---|---|---|---|---|")
        for at, settings in enumerate(wanted.settings):
            found = trained(home / str(at), settings)
            first = first or found
            speed, reference = (one["tokens"] / one["seconds"] for one in (found, first))
            print(
                f"| {settings} | {found['trained'] / 1e6:.1f} / {found['parameters'] / 1e6:,.0f} "
                f"| {found['device']}, {found['dtype']} | {found['seconds']:.1f} | {speed:,.0f} "
                f"| {speed / reference:.2f} | {found['memory'] / 2**30:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
