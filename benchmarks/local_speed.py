"""Tokens a second of `hf/…` with many calls at once, beside a plain batch of transformers' `generate`.

    python benchmarks/local_speed.py [--rows 64] [--tokens 64] [--device auto] [--shape tiny]

Weights are random. The shape `tiny` is small with a large vocabulary, so that drawing tokens weighs as much
as it can; `smollm2` is that of SmolLM2-135M; `--weights FOLDER` takes real ones. Prompts have `--prompt`
tokens. Printed: tokens a second of `generate` with its own sampling, of `hf/…` through its queue, with a seed
for each reply, and the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from tiny_models import CHAT, save_random, tokenizer_of_texts
from wolflab.models.base import Chat, Request, Sampling
from wolflab.models.catalog import resolve
from wolflab.models.weights import load_weights

TEXTS = ["Player 1 votes for Player 2. Player 3 is the Seer and saw a Werewolf."] * 3
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "tiny": {
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
    },
    "smollm2": {
        "num_hidden_layers": 30,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
    },
}


def plain(folder: Path, prompts: Sequence[str], tokens: int, device: str) -> float:
    """Tokens a second of one batch by `generate`."""
    import torch

    weights = load_weights(str(folder), device=device)
    tokenizer, model = weights.tokenizer, weights.model
    rows = [tokenizer.encode(prompt) for prompt in prompts]
    ids = torch.tensor([row[: min(map(len, rows))] for row in rows], device=model.device)
    begun = perf_counter()
    with torch.inference_mode():
        model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=True,
            top_k=0,
            max_new_tokens=tokens,
            min_new_tokens=tokens,
            pad_token_id=0,
        )
    return len(prompts) * tokens / (perf_counter() - begun)


async def through_queue(folder: Path, prompts: Sequence[str], tokens: int, device: str) -> float:
    """Tokens a second of as many calls at once."""
    model = resolve({"model": f"hf/{folder}", "device": device, "batch": len(prompts)})
    sampling = Sampling(1.0, tokens)
    await model.generate(Request(Chat((("user", "Begin."),)), "first", Sampling(1.0, 1)))  # loads the weights
    begun = perf_counter()
    replies = await asyncio.gather(
        *(
            model.generate(Request(Chat((("user", prompt),)), str(k), sampling))
            for k, prompt in enumerate(prompts)
        )
    )
    spent = perf_counter() - begun
    await model.close()
    return sum(reply.usage.completion_tokens for reply in replies) / spent


def main(words: Sequence[str]) -> None:
    """Make weights, write, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--rows", type=int, default=64)
    options.add_argument("--tokens", type=int, default=64)
    options.add_argument("--vocabulary", type=int, default=49152)
    options.add_argument("--device", default="auto")
    options.add_argument("--shape", choices=SHAPES, default="tiny")
    options.add_argument("--prompt", type=int, default=16)
    options.add_argument("--weights", type=Path)
    given = options.parse_args(words)
    tokenizer = tokenizer_of_texts(TEXTS, 400, CHAT)
    long = " ".join(TEXTS) * (1 + given.prompt // 20)
    long = tokenizer.decode(tokenizer(long)["input_ids"][: given.prompt])
    prompts = [f"{k}. {long}" for k in range(given.rows)]
    with tempfile.TemporaryDirectory() as home:
        folder, shape = given.weights, f"weights of {given.weights}"
        if folder is None:
            folder = Path(home) / "weights"
            save_random(folder, tokenizer, **SHAPES[given.shape], vocab_size=given.vocabulary)
            shape = f"shape {given.shape}, a vocabulary of {given.vocabulary:,}"
        for turn in ("to warm up", "measured"):
            whole = plain(folder, prompts, given.tokens, given.device)
            queued = asyncio.run(through_queue(folder, prompts, given.tokens, given.device))
            if turn == "measured":
                print(
                    f"{given.rows} rows, prompts of about {given.prompt} tokens, {given.tokens} tokens each, "
                    f"{shape}"
                )
                print(f"generate: {whole:,.0f} tokens a second")
                print(f"hf/…: {queued:,.0f} tokens a second, {queued / whole:.2f} of it")


if __name__ == "__main__":
    main(sys.argv[1:])
