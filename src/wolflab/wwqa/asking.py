"""The message that puts an item to a model, the same in evaluations and exports."""

from __future__ import annotations

from functools import lru_cache

from ..errors import WolflabError
from ..rules import Ruleset
from ..text.asking.disguise import disguised
from ..text.asking.rules_text import rules_text
from .items import GENERAL, Item

_FORMS = {"yes_no": "Answer with Yes or No.", "choice": "Answer with the letter of one option."}
_OPEN = {
    "player": "Answer with the name of one player, or with nobody.",
    "players": "Answer with the names of the players, parted by commas, or with nobody.",
    "order": "Answer with the names of the players in order, parted by commas.",
    "number": "Answer with a number.",
    "side": "Answer with the name of a side: the village or the Werewolves.",
    "role": "Answer with the name of a role.",
    "text": "Answer in one sentence.",
    "words": "Write only the answer.",
    "exact": "Write nothing else.",
    "json": "Write nothing else.",
}
"""The instruction on the form of an answer, by form and by type of open answer."""


@lru_cache(256)
def rules_in_words(ruleset: Ruleset) -> str:
    """The rules as text, with their names of the roles. It tells of a stop always: questions may be
    about it. Questions about the last round and the stand-ins are asked only where players are told of them.
    """
    return disguised(rules_text(ruleset.with_(tell_stop=True), "paper"), ruleset)


def prompt(item: Item, rules: bool | Ruleset, told: bool = True) -> str:
    """The message. rules: whether the item's rules are in front (WolflabError if they are unknown), or which
    rules; none for questions of general ability. told: with the instruction. The released evaluation has
    rules and question alone (002 §4.1).
    """
    parts = []
    if rules and item.category != GENERAL:
        ruleset = item.ruleset if rules is True else rules
        if ruleset is None:
            raise WolflabError("the questions do not say which rules they are about; name them with --rules")
        parts.append(rules_in_words(ruleset))
    parts.append("\n".join((item.question, *item.options)))
    if told:
        parts.append(_FORMS.get(item.form) or _OPEN[item.answer_type])
    return "\n\n".join(parts)
