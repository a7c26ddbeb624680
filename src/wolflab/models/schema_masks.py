"""Holds replies of weights on this machine to their JSON schemas, by llguidance: it rules out tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

_FORM: Any = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""JSON in one line: weak models may fill their replies with white space."""
_ITEMS = 8
"""The most items of a list whose schema gives no number."""


def fitting(schema: Mapping[str, Any], characters: float) -> dict[str, Any]:
    """The schema with a limit on every free text and list. characters: of all free texts together."""
    texts = _free_texts(schema)
    return _limited(schema, max(20, int(characters / texts))) if texts else dict(schema)


def _free_texts(schema: Mapping[str, Any]) -> int:
    """The number of free texts in a reply, with the longest lists."""
    if schema.get("type") == "string":
        return int("enum" not in schema)
    inner = sum(map(_free_texts, schema.get("properties", {}).values()))
    listed = _free_texts(schema["items"]) * schema.get("maxItems", _ITEMS) if "items" in schema else 0
    return inner + listed


def _limited(schema: Mapping[str, Any], characters: int) -> dict[str, Any]:
    if schema.get("type") == "string" and "enum" not in schema:
        return {**schema, "maxLength": characters}
    limited = dict(schema)
    if "properties" in schema:
        limited["properties"] = {
            name: _limited(form, characters) for name, form in schema["properties"].items()
        }
    if "items" in schema:
        limited["items"] = _limited(schema["items"], characters)
        limited.setdefault("maxItems", _ITEMS)
    return limited


class SchemaMasks:
    """Rules out, for each row of a batch, the tokens that its schema does not allow next.

    schemas: as JSON texts, one a row. vocabulary: the number of the model's scores. ends: ids of tokens that
    end a reply. Raises ValueError for a schema that llguidance does not know.
    """

    def __init__(
        self, tokenizer: Any, vocabulary: int, ends: tuple[int, ...], schemas: Sequence[str]
    ) -> None:
        from llguidance import LLExecutor, LLMatcher

        known = _tokenizer(tokenizer, vocabulary, ends)
        self._matchers = [
            LLMatcher(known, LLMatcher.grammar_from_json_schema(schema, overrides=_FORM))
            for schema in schemas
        ]
        if problem := next((one.get_error() for one in self._matchers if one.is_error()), ""):
            raise ValueError(problem)
        self._executor = LLExecutor()
        self._allowed = np.zeros((len(schemas), (vocabulary + 31) // 32), np.int32)
        self._vocabulary, self._begun = vocabulary, False

    def __call__(self, ids: Any, scores: Any) -> Any:
        """The scores, −∞ for tokens that are ruled out. ids: (rows, so far); scores: (rows, vocabulary)."""
        import torch
        from llguidance.numpy import fill_next_token_bitmask_par

        if self._begun:
            for matcher, token in zip(self._matchers, ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped():
                    matcher.consume_token(token)
        self._begun = True
        rows = [(matcher, row) for row, matcher in enumerate(self._matchers)]
        fill_next_token_bitmask_par(self._executor, rows, self._allowed)
        words = torch.from_numpy(self._allowed).to(scores.device)
        bits = torch.arange(32, device=scores.device, dtype=torch.int32)
        allowed = ((words[:, :, None] >> bits) & 1).flatten(1)[:, : self._vocabulary]
        return scores.masked_fill(allowed == 0, -torch.inf)


@lru_cache(4)
def _tokenizer(tokenizer: Any, vocabulary: int, ends: tuple[int, ...]) -> Any:
    """llguidance's form of a tokenizer of transformers."""
    from llguidance.hf import from_tokenizer

    return from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=list(ends))
