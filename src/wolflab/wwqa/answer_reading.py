"""Read the answer in a model's reply, by our rule (`reply_parser`) or by that of 002's release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from ..rules import ROLES, Ruleset
from ..rules.naming import PACK, VILLAGE, completed, shown_words
from .items import NO, YES, Item
from .reply_parser import Reading, read_reply


def read_answer(item: Item, reply: str) -> Reading:
    """The answer in a reply, and whether it is right."""
    return read_reply(reply, item.answer, item.form, item.choices, item.answer_type, answer_words(item))


def answer_words(item: Item) -> Mapping[str, str]:
    """For open answers that are a side or a role: each possible word, in the item's names, and its
    meaning.
    """
    if item.form != "open" or item.answer_type not in ("side", "role"):
        return {}
    return _words(item.answer_type == "side", item.ruleset)


def read_as_released(item: Item, reply: str, coin: bool) -> Reading:
    """Read a yes-or-no reply by the rule of 002's release: it contains "Yes", else "No", in this case; else
    `coin` decides, True for Yes.
    """
    said = YES if "Yes" in reply else NO if "No" in reply else ""
    drawn = said or (YES if coin else NO)
    return Reading(drawn, drawn == item.answer, bool(said))


def chance_of_yes(likeliest: Iterable[tuple[str, float]]) -> float | None:
    """P(Yes) / (P(Yes) + P(No)) by the first word's tokens and their log-probabilities.

    None if both together have less than `LEAST_MASS`, or neither is listed.
    """
    mass = {"yes": 0.0, "no": 0.0}
    for token, logprob in likeliest:
        word = token.strip().casefold()
        if word in mass:
            mass[word] += math.exp(min(logprob, 0.0))
    both = mass["yes"] + mass["no"]
    return mass["yes"] / both if both >= LEAST_MASS else None


LEAST_MASS = 0.01
"""The least probability of Yes and No together for which their ratio is used."""


@lru_cache(64)
def _words(sides: bool, ruleset: Ruleset | None) -> Mapping[str, str]:
    shown = completed(ruleset.role_names) if ruleset is not None else {}
    dealt = ruleset.roles if ruleset is not None else {}
    roles = [role for role in ROLES if not ROLES[role].everyday or dealt.get(role)]
    words = {key: shown_words(shown.get(key, key)).all for key in (*roles, VILLAGE, PACK)}
    if not sides:
        return {word: role for role in roles for word in words[role]}
    wolf = [key for key in roles if ROLES[key].wolf]
    plain = [key for key in roles if ROLES[key].plain]
    return {word: "village" for key in (VILLAGE, *plain) for word in words[key]} | {
        word: "werewolves" for key in (PACK, *wolf) for word in words[key]
    }
