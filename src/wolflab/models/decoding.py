"""Writes a batch of replies step by step with a cache of fixed size, so that a CUDA graph replays the steps.

A small model on a fast GPU waits for Python: `generate` starts some thousand kernels a token, one by one.
Here the forward pass of one token is captured once a batch, and replayed for all tokens after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Forward = Callable[[], None]
"""One forward pass, from tensors that stay where they are into one that does."""


def graphable(model: Any, length: int) -> bool:
    """Whether `write_in_steps` can write with this model: every layer keeps all keys and values, at places
    that a tensor on the device counts. length: tokens of the longest sequence.
    """
    from transformers import StaticCache
    from transformers.cache_utils import StaticLayer

    if not getattr(model, "_can_compile_fullgraph", False):
        return False
    layers = StaticCache(config=model.config, max_cache_len=length).layers
    return all(type(layer) is StaticLayer and hasattr(layer, "cumulative_length") for layer in layers)


def cache_name() -> str:
    """The name of the cache in parameters and results of transformers' models: 5.24 renamed it."""
    from transformers.generation import GenerateDecoderOnlyOutput

    return "cache" if "cache" in GenerateDecoderOnlyOutput.__dataclass_fields__ else "past_key_values"


def write_in_steps(
    model: Any,
    ids: Any,
    mask: Any,
    sampler: Callable[[Any, Any], Any],
    stops: Sequence[int],
    most: int,
    stopped: Callable[[], bool],
    repeated: Callable[[Forward], Forward],
) -> Any:
    """Prompts and replies, (rows, prompt + reply).

    ids, mask: of the prompts, (rows, tokens), filled up on the left. sampler: scores of the next token whose
    largest is the one to take, from the tokens so far and the model's scores. stops: tokens that end a reply.
    most: of a reply's tokens. stopped: whether to break off. repeated: makes a forward pass quick to repeat,
    as `graphed`.
    """
    import torch

    rows, width = ids.shape
    step = _Step(model, ids, mask, width + most)
    ends = torch.tensor(list(stops), device=ids.device)
    ended = torch.zeros(rows, 1, dtype=torch.bool, device=ids.device)
    forward = repeated(step.forward)
    for number in range(most):
        token = sampler(ids, step.scores.float()).argmax(-1, keepdim=True)
        ids = torch.cat([ids, token], -1)
        ended |= torch.isin(token, ends)
        if number == most - 1 or stopped() or bool(ended.all()):
            break
        step.set(token)
        forward()
    return ids


class _Step:
    """The forward pass of one token a row, with all that it reads and writes at fixed places. It begins by
    reading the prompts. scores: of the next token, (rows, vocabulary).
    """

    def __init__(self, model: Any, ids: Any, mask: Any, length: int) -> None:
        import torch
        from transformers import StaticCache

        self._model, self._at = model, ids.shape[1]
        cache = StaticCache(config=model.config, max_cache_len=length)
        self._cached = {cache_name(): cache, "use_cache": True}
        self._token = torch.zeros_like(ids[:, :1])
        self._position = mask.sum(-1, keepdim=True) - 1
        """Of the token in its row, without what fills up."""
        self._seen = torch.zeros(len(ids), 1, 1, length, dtype=torch.bool, device=ids.device)
        self._seen[:, 0, 0, : self._at] = mask
        self.scores = model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
            logits_to_keep=1,
            **self._cached,
        ).logits[:, -1]

    def set(self, token: Any) -> None:
        """Put the next token of each row, (rows, 1), where the forward pass reads it."""
        self._token.copy_(token)
        self._position += 1
        self._seen[..., self._at] = True
        self._at += 1

    def forward(self) -> None:
        """Read that token; the scores of the one after it are in `scores`."""
        self.scores = self._model(
            input_ids=self._token,
            attention_mask=self._seen,
            position_ids=self._position,
            **self._cached,
        ).logits[:, -1]


def graphed(forward: Forward) -> Forward:
    """The forward pass as a CUDA graph. The first call runs it as it is, which sets up the libraries; the
    second captures it; all from then on replay what was captured.
    """
    import torch

    graph, calls = torch.cuda.CUDAGraph(), 0

    def replayed() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            side: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                forward()
            torch.cuda.current_stream().wait_stream(side)
            return
        if calls == 2:
            with torch.cuda.graph(graph):
                forward()
        graph.replay()

    return replayed
