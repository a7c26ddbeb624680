"""Pieces of JSON schemas: an object with every field required, and the fields of a reply that acts.

No ranges and no lengths: servers differ in what they take, and the reading of a reply checks them anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...rules import Ask, Ruleset
from ..asking.options import labels


def text_schema(*choices: str) -> dict[str, Any]:
    """A text; out of `choices`, if there are any."""
    return {"type": "string", "enum": list(choices)} if choices else {"type": "string"}


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object that has all of these fields and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def acting_fields(ask: Ask, ruleset: Ruleset, reasoning: bool = True) -> dict[str, Any]:
    """Reasoning if it is wanted, then "statement", or "action" out of the ask's options."""
    fields = {"reasoning": text_schema()} if reasoning else {}
    if ask.options is None:
        return fields | {"statement": text_schema()}
    return fields | {"action": text_schema(*labels(ask, ruleset))}
