"""The vocabulary of `text.reading`: its words and patterns, and nothing that uses them.

Patterns are written for normalised sentences: lower case, contractions spelt out, a player's name as
``@`` and the seat ("@3"). They stand in the order in which `reading` tries them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...rules import ROLES, Role, Ruleset

SLANG = {
    **dict.fromkeys(
        ("prophet", "oracle", "fortune teller", "fortune-teller", "soothsayer", "seeress"), "Seer"
    ),
    **dict.fromkeys(
        ("townsperson", "townie", "civilian", "vanilla", "vt", "peasant", "townsman", "commoner"), "Villager"
    ),
    **dict.fromkeys(("townsfolk", "vanilla town", "vanilla townie", "villie"), "Villager"),
    **dict.fromkeys(("doc", "healer", "medic", "physician"), "Doctor"),
    **dict.fromkeys(("bodyguard", "protector"), "Guard"),
    **dict.fromkeys(("ww", "wolfman", "scum"), "Werewolf"),
}
"""Words for roles that are no role's name or alias."""


_MARK = "_role"
"""The end of an everyday word that means a role."""


def _words_of(role: Role) -> tuple[str, ...]:
    """A role's name, its plural and its aliases, in lower case."""
    return tuple(word.lower() for word in (role.name, role.plural, *role.aliases))


def role_words() -> dict[str, str]:
    """Words for roles, in lower case, to the roles' names; everyday words with their mark."""
    by_word = dict(SLANG)
    for role in ROLES.values():
        for word in _words_of(role):
            by_word[word + _MARK * role.everyday] = role.name
    return by_word


@lru_cache(64)
def _everyday(ruleset: Ruleset) -> re.Pattern[str] | None:
    """The everyday words that mean a role in this game; None without any."""
    words = [re.escape(word) for role in ruleset.cast if role.everyday for word in _words_of(role)]
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(longest_first)})\b", re.IGNORECASE) if words else None


def with_roles_marked(text: str, ruleset: Ruleset) -> str:
    """`text` with a mark on each everyday word that is the name of a role in this game.

    Only marked words are read as such a role. Without such a role in the game the same object comes back.
    """
    words = _everyday(ruleset)
    return text if words is None else words.sub(rf"\1{_MARK}", text)


NAMED = role_words()
"""Every word for a role, singular or plural, to the role's name; everyday words with their mark."""
PLURALS = frozenset({"wolves", *(role.plural.lower() + _MARK * role.everyday for role in ROLES.values())})
ROLE = "(?:" + "|".join(sorted(map(re.escape, NAMED), key=len, reverse=True)) + r")\b"
GOODS = (
    r"(?:innocent|good|clean|clear|cleared|trustworthy|safe|human|harmless|honest|genuine|reliable|(?:on|"
    r"with) (?:our|the village|the good)(?:'s)? (?:side|team)|one of us|on our side|telling the truth|"
    r"(?:good|innocent) (?:player|person|one)|village-aligned|town)\b"
)
BADS = (
    r"(?:evil|guilty|bad|one of them|one of (?:the|those|these|our) (?:wolves|werewolves)|the enemy|an "
    r"enemy|(?:part|a member|member) of the (?:pack|wolf team|werewolf team|werewolves)|on the (?:wolves'|"
    r"werewolves'|wolf|werewolf) (?:side|team))(?!\w)"
)
HINTS = (
    r"(?:suspicious|suspect(?! (?:me|us|him|her|them|you|that|i|it)\b| @)|suspects|sus|lying|a liar|a fraud|"
    r"liars?|shady|deceptive|dishonest|fake|a fake|hiding something|untrustworthy|not to be trusted|up to "
    r"something|a (?:prime |top |main )?suspect|concerning|evasive|misleading us|too quiet|too silent|"
    r"nervous)(?!\w)"
)
PRED = rf"(?P<pred>{ROLE}(?!')|{GOODS}|{BADS}|{HINTS})"
MANY = r"@\d+(?:(?:, (?:and |or )?| and | or | & )@\d+){0,11}"
"""Players in a row; more than a table has are no list, and would be looked at over and over."""
# No entry may be a row of other entries ("most likely" is most + likely): a text that can be read in two
# ways at every word takes a time that doubles with each.
FILL = (
    r"(?:(?: |, )(?:in fact|be|a bit|a little|somewhat|slightly|not|never|no|a|an|the|our|my|really|"
    r"actually|definitely|certainly|clearly|surely|probably|likely|very|quite|highly|rather|so|also|still|"
    r"both|indeed|just|too|more|most|simply|possibly|perhaps|maybe|like|plain|ordinary|simple|regular|"
    r"normal|fellow|true|real|only|two|three|confirmed|obvious|obviously|known|proven|second|first|other|"
    r"another|remaining|last|alive|living|one of|to be|in my opinion|i think|i believe|acting|being|"
    r"behaving|looking|sounding))*"
)
COP = (
    r"(?:is|are|was|were|be|being|seems?|seemed|appears?|looks?(?: like)?|sounds?(?: like)?|feels?(?: "
    r"like)?|reads?(?: as| like)?|strikes me as|turned out|turns out|came back(?: as)?|came up(?: as)?|"
    r"comes? back(?: as)?|has to|must|might|may|could|can|cannot|has been|as)(?: be| to be)?"
)

STATE = re.compile(
    rf"(?P<subj>{MANY}|\bthey|\bhe|\bshe|\bit|\bboth|\byou)"
    r"(?:'s (?:silence|behaviou?r|votes?|words|statements?|story|actions|conduct|defen[cs]e))?"
    r"(?: both| all)? "
    r"(?:(?:probably|definitely|clearly|certainly|likely|surely|also|really|still|just|then) "
    rf")*(?P<cop>{COP})(?P<fill>{FILL}) {PRED}"
)


def is_bad(word: str) -> bool:
    """Does a predicate (of `PRED`) tell of a Werewolf?"""
    role = NAMED.get(word, "")
    return bool(role and ROLES[role].wolf) or bool(re.fullmatch(f"(?:{BADS}|{HINTS})", word))
