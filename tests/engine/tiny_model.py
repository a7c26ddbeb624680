"""A random Llama of half a megabyte, written with `gguf`: it knows nothing, but it is a real model.

Its tokens are single characters and bytes, so a prompt has about one token a character.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

CONTEXT = 16384
WIDTH, LAYERS, HEADS = 64, 2, 2
_SPECIAL = ("<unk>", "<s>", "</s>")
_FIRST_CHAR = len(_SPECIAL) + 256


def token(char: str) -> int:
    """The id of a printable ASCII character's token."""
    return _FIRST_CHAR + ord(char) - 32


def build(path: Path, seed: int = 0) -> None:
    """Write the model to `path`; the same seed gives the same weights."""
    import gguf
    import numpy as np

    rng = np.random.default_rng(seed)
    kind = gguf.TokenType
    chars = ["▁" if code == 32 else chr(code) for code in range(32, 127)]
    tokens = [*_SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *chars]
    kinds = [kind.UNKNOWN, kind.CONTROL, kind.CONTROL, *[kind.BYTE] * 256, *[kind.NORMAL] * len(chars)]

    out = gguf.GGUFWriter(str(path), "llama")
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(2 * WIDTH)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(len(tokens))
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens)
    out.add_token_scores([0.0] * len(tokens))
    out.add_token_types(kinds)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)

    def random(*shape: int) -> Any:
        return (rng.standard_normal(shape) * 0.1).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    out.add_tensor("token_embd.weight", random(len(tokens), WIDTH))
    out.add_tensor("output_norm.weight", ones)
    out.add_tensor("output.weight", random(len(tokens), WIDTH))
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            out.add_tensor(f"{block}{name}.weight", random(WIDTH, WIDTH))
        for name in ("ffn_gate", "ffn_up"):
            out.add_tensor(f"{block}{name}.weight", random(2 * WIDTH, WIDTH))
        out.add_tensor(f"{block}ffn_down.weight", random(WIDTH, 2 * WIDTH))
        for name in ("attn_norm", "ffn_norm"):
            out.add_tensor(f"{block}{name}.weight", ones)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
