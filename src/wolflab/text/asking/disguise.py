"""Role names in disguise: what a model is told the roles are called, and its words read back (003 §5).

Do models play Werewolf as they do because they have read about Werewolf? The control keeps the rules and
renames the roles: a Werewolf becomes a "pretty girl", or the two sides swap their names. Only the text that a
model sees is disguised. Rules, record, reading and measures know the roles' own names alone: `disguised` is
applied to a finished prompt, `undisguised` to a reply before anything reads it.

Each is one simultaneous pass over whole words, so that two names can be swapped. Case ("WEREWOLF",
"Werewolf", "werewolf"), number ("wolves") and the article before ("a Werewolf", "an Elf") follow the word.
All words for one role ("wolf", "werewolf") come back as the role's name. A word that is plainly a verb ("I
will guard Player 3") is no role. This module knows words and nothing of a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from ...errors import RulesetError
from ...rules import ROLES, Ruleset
from ...rules.naming import completed, own_words, plural, shown_words
from ..reading import forms
from .rewording import phrasings
from .rules_text import rules_text
from .templates import template_texts

_FIRST_ROLES = ("Werewolf", "Villager", "Seer", "Guard", "Witch", "Doctor", "Hunter")
"""The order of their names in the mappings and thus in records; other roles follow."""


def _ready(name: str) -> Mapping[str, str]:
    """The mapping of a ready disguise: role → the role's name in it, of the roles that have one."""
    words = {role: ROLES[role].pseudonyms for role in dict.fromkeys((*_FIRST_ROLES, *ROLES))}
    return MappingProxyType({role: said[name] for role, said in words.items() if name in said})


UNRELATED = _ready("unrelated")
"""003's own words for the five roles of its game, and further ones. Most of them hint at what they do."""

OPPOSITE = _ready("opposite")
"""Words of opposite meaning; the village is the "wolf pack", the Werewolves' pack the "village"."""

INVENTED = _ready("invented")
"""Words that mean nothing: the strictest control, because no name hints at a task."""

DISGUISES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"unrelated": UNRELATED, "opposite": OPPOSITE, "invented": INVENTED}
)
"""The ready mappings by the name that an experiment may write for `role_names`."""


def disguise(name: str, ruleset: Ruleset) -> dict[str, str]:
    """A ready mapping for a ruleset: its roles' names alone, so that a name for a role that is added later
    changes no game without it. name: one of `DISGUISES`.
    """
    return {role: word for role, word in DISGUISES[name].items() if ruleset.count(role)}


def disguised(text: str, ruleset: Ruleset) -> str:
    """`text` with every word for a role replaced as the ruleset's `role_names` say.

    The same object comes back where no role is renamed. RulesetError: a shown name is a word that the prompts
    use otherwise (see `check_disguise`).
    """
    return _passes(ruleset)[0].over(text) if ruleset.role_names else text


def undisguised(text: str, ruleset: Ruleset) -> str:
    """`text` with the shown names put back to the roles' own; the inverse of `disguised`.

    Reads any text, JSON too, in any case, with spaces, hyphens or underscores between a name's words.
    The same object comes back where no role is renamed.
    """
    return _passes(ruleset)[1].over(text) if ruleset.role_names else text


def disguised_schema(schema: dict[str, Any], ruleset: Ruleset) -> dict[str, Any]:
    """A JSON schema with every string in it disguised: enums, keys, titles and descriptions."""
    if not ruleset.role_names:
        return schema
    out = _passes(ruleset)[0]

    def walk(node: Any) -> Any:
        match node:
            case str():
                return out.over(node)
            case dict():
                return {out.over(key): walk(value) for key, value in node.items()}
            case list():
                return [walk(value) for value in node]
        return node

    return {key: walk(value) for key, value in schema.items()}


def check_disguise(ruleset: Ruleset) -> None:
    """RulesetError where a shown name is also an ordinary word of the prompts ("player", "vote").

    Neither a model nor `undisguised` could tell which of the two is meant. Rulesets without `role_names`
    always pass.
    """
    if ruleset.role_names:
        _passes(ruleset)


# -- the two passes ---------------------------------------------------------------------------


class _Target(NamedTuple):
    """The replacement of a word. source: the word as prompts show it, where its capitals are its own
    ("DJ").
    """

    word: str
    source: str


class _Pass:
    """One simultaneous replacement of whole words."""

    def __init__(self, targets: dict[str, _Target], object_: re.Pattern[str]) -> None:
        self.targets = targets
        self.object = object_
        longest_first = sorted(targets, key=lambda form: (-len(form), form))
        forms = "|".join(form.replace("-", " ").replace(" ", r"[\s_-]{0,3}") for form in longest_first)
        first = "".join(sorted({form[0] + form[0].upper() for form in (*targets, "a")}))
        # The look-ahead is for speed alone: most places of a text begin no word of interest. Before a word
        # of raw JSON there may stand an escape that ends in a letter ("\\nWolves").
        self.pattern = re.compile(
            rf"(?=[{first}])(?:(?<![^\W_])|(?<=\\[nrt])|(?<=\\u[0-9a-fA-F]{{4}}))"
            r"(?:(?P<article>(?ai:an?))(?P<gap>\s{1,3}[\"'‘“*_(]{0,2}))?"
            rf"(?P<word>(?ai:{forms}))(?![^\W_])"
        )
        self._by_letters = {_letters(form): form for form in targets}

    def over(self, text: str) -> str:
        """`text` with every word of the table replaced."""
        return self.pattern.sub(self._replaced, text)

    def _replaced(self, m: re.Match[str]) -> str:
        word_there, article = m["word"], m["article"]
        form = self._by_letters[_letters(word_there)]
        if article is None and form in _VERBS.split() and _is_verb(m.string, *m.span("word"), self.object):
            return m[0]
        target = self.targets[form]
        word = _cased(word_there, target)
        if article is None:
            return word
        return _article(article, word) + m["gap"] + word


def _letters(form: str) -> str:
    """A form's letters in lower case, without spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]+", "", form).lower()


@lru_cache(64)
def _passes(ruleset: Ruleset) -> tuple[_Pass, _Pass]:
    """The passes from the roles' own words to the shown ones and back."""
    shown = completed(ruleset.role_names)
    out: dict[str, _Target] = {}
    back: dict[str, _Target] = {}
    for key, name in shown.items():
        own, other = own_words(key), shown_words(name)
        out |= dict.fromkeys(own.singular, _Target(name, ""))
        out |= dict.fromkeys(own.plural, _Target(plural(name), ""))
        back |= dict.fromkeys(other.singular, _Target(key, _titled(name)))
        back |= dict.fromkeys(other.plural, _Target(plural(key), _titled(plural(name))))
    passes = _Pass(out, _object(ruleset)), _Pass(back, _object(ruleset))
    _check_words(*passes, ruleset)
    return passes


# -- case and article -------------------------------------------------------------------------


def _titled(name: str) -> str:
    """Each word with a capital; capitals that are there stay."""
    return re.sub(r"(?<![A-Za-z])[a-z]", lambda m: m[0].upper(), name)


def _cased(word_there: str, target: _Target) -> str:
    if word_there == target.source:
        return _titled(target.word)
    if word_there.isupper() and len(_letters(word_there)) > 1:
        return target.word.upper()
    return _titled(target.word) if word_there[0].isupper() else target.word.lower()


_AS_A = re.compile(r"(?:eu|uni(?!n)|use|usu|ut[ei]|ub|ur[aeiu]|one|once|ewe)", re.IGNORECASE)
_AS_AN = re.compile(r"(?:[aeiou]|hour|hono|heir|honest)", re.IGNORECASE)


def _article(article_there: str, word: str) -> str:
    """ "a" or "an" for `word`, in the case of the article that stood there."""
    new = "an" if _AS_AN.match(word) and not _AS_A.match(word) else "a"
    if article_there[0].islower():
        return new
    shouted = article_there == "AN" or (article_there == "A" and word.isupper())
    return new.upper() if shouted else new.title()


# -- verbs ------------------------------------------------------------------------------------

_VERBS = "guard doctor judge nurse cook watch scout pilot spy fool guide butcher"
"""Names of roles that are verbs too."""

_NEAR = 40
_HELPED = re.compile(
    r"(?:\b(?:to|will|would|can|could|shall|should|must|may|might|cannot|did|do|does|please|never|i|we)|"
    r"\blet['’]s|n['’]t|['’]ll|['’]d)(?: (?:not|never|also|always|only|just|still))?\s{1,3}$",
    re.IGNORECASE,
)
"""Before a verb."""
_OPENING = re.compile(r"(?:^|[.!?:;,\"'(]\s{0,3}|\b(?:and|or|then|so)\s{1,3})$", re.IGNORECASE)
"""A place where a command may begin."""
_WHOM = "player|me|him|her|them|us|you|myself|yourself|someone|somebody|anyone|anybody|everyone|nobody|no one"
_IDIOM = re.compile(r"\s{1,3}(?:against|down|up)\b", re.IGNORECASE)
_WATCHFUL = re.compile(r"\b(?:on|off)[ -]$", re.IGNORECASE)


def _object(ruleset: Ruleset) -> re.Pattern[str]:
    """The object of a command: a player's name or a pronoun."""
    names = "|".join(map(re.escape, ruleset.names))
    return re.compile(rf"\s{{1,3}}(?:{names}|{_WHOM})(?![^\W\d_])", re.IGNORECASE)


def _is_verb(text: str, start: int, end: int, object_: re.Pattern[str]) -> bool:
    """Whether the word at [start, end) is a verb or an idiom's part: "to guard", "guard Player 3!"."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    if text[start].islower() and (_HELPED.search(before) or _WATCHFUL.search(before) or _IDIOM.match(after)):
        return True
    return _OPENING.search(before) is not None and object_.match(after) is not None


# -- words that are taken ---------------------------------------------------------------------

_ALSO_SAID = (
    "Uncertain. Pass. Yes, no, left, right, nobody. The Sheriff, the moderator, your teammate. "
    "A statement, a speech, a vote, an announcement, a name, a role, a night, a day, a round, a phase. "
    "An empty reply. Twelve players."
)
"""Words of prompts that stand in the code and not in a template."""


def _check_words(out: _Pass, back: _Pass, ruleset: Ruleset) -> None:
    """Look for shown names among what is left of the prompts' words without the roles' own, and in talk."""
    said = [_ALSO_SAID, rules_text(ruleset, "own"), rules_text(ruleset, "paper"), *template_texts()]
    if ruleset.wording:
        said += [text for texts in phrasings().values() for text in texts]
    stripped = [out.pattern.sub("\n", text) for text in said]
    for text in stripped:
        taken = back.pattern.search(text)
        if taken:
            _refuse(taken["word"], "a word that the prompts use for something else")
    prompts, talk = _forms_of(stripped), _words_of_talk()
    for form in back.targets:
        if _letters(form) in prompts:
            _refuse(form, "a form of a word that the prompts use for something else")
        if _letters(form) in talk:
            _refuse(form, "an everyday word that players need when they talk")


def _refuse(word: str, why: str) -> NoReturn:
    raise RulesetError("role_names", f"{word!r} is {why}; take another name")


# -- words of talk, which stand in no template: players need them for what they mean ----------
# Were the Seer called "suspect", then "I suspect player_3" would speak of a Seer.

_SMALL = """
a about above after afterwards again against ago all almost also although always am among an and another any
anybody anyone anything apart are around as ascending at away back be because been before behind being below
beside besides between beyond both but by can cannot certainly clearly could definitely did do does done down
during each earlier early either else enough equally especially even ever every everybody everyone everything
exactly except fairly far few fewer finally first five for four from further had hardly has have having he
hence her here hers herself him himself his how however i if in indeed inside instead into is it its itself
just last late lately later least less lest like likely little many may maybe me might mine more most much
must my myself near nearly neither never next nine no nobody none nor not nothing now of off often on once one
only onto or other others otherwise our ours ourselves out outside over perhaps please possibly probably quite
rather really same second seven several shall she should since six so some somebody someone something
sometimes soon still such surely ten than thank thanks that the their theirs them themselves then there
therefore these they third this those though three through thus till to today together tomorrow tonight too
toward towards twice two under unless until up upon us usually very was we well were what whatever when
whenever where wherever whether which while who whoever whole whom whose why will with within without would
yes yesterday yet you your yours yourself
"""
"""Words that hold every sentence together."""

_PLAYED = """
abstain accept accuse act add admit agree allow announce answer appear argue ask assume attack avoid back
bandwagon banish be begin believe betray blame bluff bring bury buy call campaign cast cause challenge change
check choose claim clear come commit compare conclude confess confirm connect consider contradict convince
count counterclaim cover cure deal deceive decide deduce defend deflect demand deny determine die disagree
discover discuss distrust do dodge doubt draw elect eliminate end evade examine execute exile exonerate expect
explain expose extract face fake fall feel fight fill find finger fit follow forget frame gain get give go
guess hang happen have heal hear help hesitate hide hold hope hunt hurt identify imply insist inspect
interview investigate join keep kill know lead learn leave lend let lie like listen live look lose lynch make
mean mention mislead miss mistrust move murder name need nominate notice object observe offer oppose out pass
persuade pick plan play point poison post pretend prevent promise propose prosecute protect prove push put
question quit reach reaction read realise realize recall receive reckon recommend refuse refute reject relate
remain remember remove reply report rescue respond rest reveal ride ring rule run save say see seem select
send settle shield show side sit slip sound speak stand start state stay stop strike succeed suggest sum
support suppose survive suspect switch take talk target tell tend thank think tie treat trust try turn
understand urge use vary verify view vote vouch wait wake want warn weigh win wish withhold wonder work worry
"""
"""Verbs of the game, in all their forms."""

_IRREGULAR = """
became began begun bought built caught chose chosen died drawn drew dying fallen fell felt forgot forgotten
fought given got heard held hid hidden hurt kept learnt led left lent lied lost meant met misled proven ran
read ridden rode said sat saw seen sent shown sounded spoke spoken stood struck stuck taken thought told took
understood went woke woken won wore written wrote
"""
"""Forms of theirs that follow no rule and are unknown to `reading.verbs.forms`."""

_OTHERS = """
accusation action advice alibi alive ally announcement answer argument asleep attitude awake aware bad badge
ballot behavior behaviour belief best better bit bloc box bus calm candidate card careful case certain chance
chat choice clean clear close clue coalition conclusion confident connection consensus consistent
contradiction conversation correct counter-claim crowd cunning danger dangerous dark dawn day daybreak daytime
dead deal death debate decision deck defence defense defensive details different difficult discovery
discussion doubtful dusk duty election elimination enemy equally evening event everything evidence evil exact
execution explanation eye face fact fair faith false farewell fault fear finger foe frank free friend full
game genuine good ground group guilt guilty half hand hanging hard harmless head heart hello help helpful
hesitation hidden high higher honest hurry idea identity important impression inactive inconsistent
information innocence innocent intention interest investigation issue item judgement key kind last law leader
league liar life list log logic logical long loser loss lot loud low lower loyal lynching main majority mark
match matter mayoral meeting member message midnight mind minority minute mistake moderator moment mood
morning motive mouth move murder narrator neighbor neighbour neutral new news next night nightfall nighttime
noise nominee noon note number obvious old open opening openly opinion opponent opportunity option order
outcome pack pair partner partnership party passive pattern people perfect period person phase piece place
plain plan plea point position possible potion power pressure pretence previous priority private problem proof
public quarter quick quiet reaction ready reason reasonable recommendation record reliability reliable
remaining reply result right risk round row rule rumor rumour safe scum seat secret sense sensible serious set
sheriff short sick side sign signal silence silent simple situation sleep slow small solid sorry sort speaker
speech stage statement step story straight strange strategy strong stupid style succession summary sunrise
sunset support sure suspicion suspicious swing table tactic talkative target task team teammate theory thing
thought threat tie time tone top trap trial trick true trustworthy truth turn unanimous uncertain unknown
unseen useful usual victim victory view voice voter wagon warm wary watchful way weak week white whole winner
winning word world worst worth wrong
"""
"""Nouns and adjectives of talk in the game. Words for a kind of person ("traitor", "saint") are left free:
they are names for roles, and `docs/disguise.md` says what that costs."""


@cache
def _words_of_talk() -> frozenset[str]:
    """All of them, in lower case: verbs in every form, nouns in the plural too."""
    verbs = (form for verb in _PLAYED.split() for form in forms(verb))
    return frozenset(
        (
            *_SMALL.split(),
            *verbs,
            *_IRREGULAR.split(),
            *_OTHERS.split(),
            *(f"{noun}s" for noun in _OTHERS.split()),
        )
    )


def _forms_of(texts: Iterable[str]) -> frozenset[str]:
    """Every word of `texts` in every form that it would have as a verb: "vote" bars "voting" too."""
    words = {word for text in texts for word in re.findall(r"[a-z]{2,}", text.lower())}
    return frozenset(form for word in words if word.isascii() for form in forms(word))
