"""Reading English Werewolf talk: claims, reports, accusations, defences and suggestions.

Other packages import this module alone. `read_in` finds the acts of a statement in a game, `read` those of a
text without one. `normal` gives the form in which its patterns see a sentence, and the other names are for
whoever writes patterns of their own for it. A statement for which `can_be_read` is False was not read; it
must not count as silent about anything.
"""

from .acts import GOOD, WEREWOLF, Accusation, Act, Agreement, Claim, Defence, Report, Suggestion
from .language import LONGEST, can_be_read
from .spelling import normal, seats_named
from .statements import CONDITION, SENTENCE, claimed_against, claims_of, read, read_in
from .verbs import forms
from .vocabulary import MANY, NAMED, ROLE, with_roles_marked

__all__ = [
    "CONDITION",
    "GOOD",
    "LONGEST",
    "MANY",
    "NAMED",
    "ROLE",
    "SENTENCE",
    "WEREWOLF",
    "Accusation",
    "Act",
    "Agreement",
    "Claim",
    "Defence",
    "Report",
    "Suggestion",
    "can_be_read",
    "claimed_against",
    "claims_of",
    "forms",
    "normal",
    "read",
    "read_in",
    "seats_named",
    "with_roles_marked",
]
