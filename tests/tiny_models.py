"""Random language models, a tiny one above all, and an adapter for it, as folders: made off the network.

Their tokenizers know every byte, so they read any text; a prompt on the rules has about one token of the tiny
one for every three letters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wolflab.models.weights import quiet

CHAT = (
    "{{ bos_token }}"
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou are helpful.<|im_end|>\n{% endif %}"
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template like those of real models."""
SPECIAL = ["<s>", "<|im_start|>", "<|im_end|>"]
WINDOW = 16384
RULES = Path(__file__).parent.parent / "docs" / "rules.md"


def tiny_tokenizer(template: str | None = CHAT) -> Any:
    """transformers' tokenizer: bytes, and merges of a page of these docs."""
    said = ["Answer with Yes or No. player_1 votes for player_2. "] * 3
    return tokenizer_of_texts([*said, RULES.read_text(encoding="utf-8")], 600, template)


def tokenizer_of_texts(texts: Iterable[str], words: int, template: str | None) -> Any:
    """transformers' tokenizer of at most so many tokens: bytes, and merges of these texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=words,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    tokenizer.chat_template = template
    return tokenizer


def tiny_base(
    folder: Path, template: str | None = CHAT, spread: float = 0.02, *, brief: bool = False
) -> Path:
    """The folder, with a random model in it. spread: of its weights; from 0.2 on replies differ by prompt.
    brief: its replies end with their first token, whichever it is.
    """
    tokenizer = tiny_tokenizer(template)
    save_random(
        folder,
        tokenizer,
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        initializer_range=spread,
    )
    if brief:
        file = folder / "generation_config.json"
        told = json.loads(file.read_text(encoding="utf-8"))
        told["eos_token_id"] = [*range(len(tokenizer))]
        file.write_text(json.dumps(told), encoding="utf-8")
    return folder


def save_random(folder: Path, tokenizer: Any, dtype: str = "float32", **shape: Any) -> Path:
    """The folder, with random weights of a shape in it (fields of `LlamaConfig`), and their tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        max_position_embeddings=WINDOW,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
        **shape,
    )
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        LlamaForCausalLM(config).to(getattr(torch, dtype)).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


def tiny_adapter(folder: Path, base: Path, rank: int = 4) -> Path:
    """The folder, with a random adapter in it that changes the answers of `base`."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    settings = LoraConfig(
        r=rank,
        lora_alpha=64,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
        init_lora_weights=False,
    )
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        get_peft_model(AutoModelForCausalLM.from_pretrained(base), settings).save_pretrained(folder)
        AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    return folder
