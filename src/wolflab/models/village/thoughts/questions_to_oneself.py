"""Questions to oneself (003 §3.3): their topics, and which to ask.

The predefined questions of both wordings (003 Table 2), `village`'s own and other authors' are sorted by
their words into a few topics; all others are "general". The value of a question depends on its topic and on
the ask; draws from the request's key vary it. Own questions are about the situation as the player sees it:
its suspects, those who claim a role, those who claim the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ....rules import DUTIES, ROLES
from ....text.questions import AskQuestions, ChooseQuestions
from ..beliefs.outlook import Outlook
from ..beliefs.worlds import SEER
from ..draws import KeyedDraws
from ..speech.phrases import role_with_article

# -- topics -----------------------------------------------------------------------------------

_READ = 400
"""Characters of a question that are read."""

_TOPICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "draws eyes",
        (r"(?:suspect|accuse|doubt|trust|believe)s?\b(?: \w+)? me", "on myself", "do i (?:look|seem|stand)"),
    ),
    ("rivals", ("both claim", "one of them (?:is )?l(?:ies|ying)")),
    ("phase", ("phase",)),
    (
        "identity",
        ("who am i", "my (?:player )?name", "my (?:final )?(?:objective|goal)", "reach to win"),
    ),
    (
        "consequences",
        (
            r"(?:reveal|told|tell|disclose|uncover|come out)\b.*\b(?:follow|happen|consequence|come of)",
            r"consequences?\b.*\b(?:reveal|role)",
        ),
    ),
    ("known", ("is my role (?:disclosed|known)", "(?:know|knows|guess|guessed) my role", "give it away")),
    ("found", ("did i find", "(?:players? )?i have (?:identified|checked|looked at|found|seen)")),
    (
        "tell now",
        (
            "(?:time|moment) to (?:tell|reveal|claim|come out)",
            "should i (?:now )?(?:disclose|reveal|tell|claim|come out)",
        ),
    ),
    ("potions", ("antidote", "potions?", "drugs?")),
    (
        "pack's choice",
        (
            r"(?:teammates?|pack|fellow)\b.*\b(?:choose|chose|chosen|kill|killing|vote|want)",
            r"kill\w* by my teammate",
        ),
    ),
    ("pack", ("teammates?", "another werewolf", "fellow", "packmates?")),
    (
        "seer believed",
        (
            r"claim\w*\b.*\bseer\b.*\b(?:believe\w*|trust\w*)",
            r"seer\b.*\b(?:claim|statement)\w*.*\b(?:trust|believe)\w*",
        ),
    ),
    ("seer", (r"seer\b.*\balive", "who (?:is|may be|could be|might be) the seer", r"threaten\w*")),
    ("abilities", (r"special (?:roles?|characters?|abilit\w+)",)),
    (
        "look",
        (
            "whose identity",
            "should i (?:identify|look at|check|verify|investigate)",
            "look at next",
        ),
    ),
    (
        "attack",
        (
            "(?:attack|aggressive)",
            r"werewolves\b.*\b(?:kill|want|target)",
            "kill (?:tonight|next)",
        ),
    ),
    (
        "claims",
        (r"(?:shown|claim\w*|implied|revealed|disclosed|come out)\b.*\broles?", "who (?:has )?claim"),
    ),
    (
        "suspect",
        (
            r"most likely\b.*\bwerewol\w*",
            "suspicious",
            "suspect",
            r"who (?:is|may be|could be|might be|are) (?:the |a )?(?:alive )?werewol\w*",
            "who (?:is )?l(?:ies|ying)",
            "vote (?:for|out|against)",
        ),
    ),
    ("trust", ("who(?:m)? (?:can|should|may) i (?:trust|believe)", "trustworthy", "rely on")),
    ("roles", ("roles?",)),
)
_COMPILED = tuple(
    (name, re.compile("|".join(rf"\b{pattern}\b" for pattern in patterns))) for name, patterns in _TOPICS
)


@lru_cache(1 << 12)
def topic_of(question: str) -> str:
    """The first topic that has words in the question."""
    text = question[:_READ].casefold()
    return next((name for name, pattern in _COMPILED if pattern.search(text)), "general")


# -- which to ask -------------------------------------------------------------------------------

_ALWAYS = {
    "suspect": 60, "roles": 55, "claims": 50, "seer": 45, "seer believed": 45, "found": 55, "abilities": 30,
    "attack": 30, "look": 20, "potions": 20, "tell now": 20, "consequences": 15, "known": 25, "pack": 15,
    "pack's choice": 15, "phase": 5, "identity": 15,
}  # fmt: skip
_MORE = {
    "night": {"attack": 25, "look": 60, "potions": 60, "pack's choice": 50, "seer": 25, "abilities": 20},
    "talk": {"tell now": 35, "consequences": 35, "known": 20, "found": 20, "claims": 10},
    "vote": {"suspect": 30, "seer believed": 20, "claims": 10},
}  # fmt: skip
_JITTER = 35


def _occasion(kind: str) -> str:
    if kind in DUTIES:
        return "night"
    return "talk" if kind in ("statement", "campaign", "last-words") else "vote"


def chosen_questions(task: ChooseQuestions, draws: KeyedDraws) -> str:
    """The numbers of the questions chosen, in ascending order: "1, 4, 5, 6, 9"."""
    more = _MORE[_occasion(task.ask.kind)]
    worth = {}
    for number, question in enumerate(task.candidates, 1):
        topic = topic_of(question)
        worth[number] = _ALWAYS.get(topic, 30) + more.get(topic, 0) + draws.below(_JITTER, f"choose {number}")
    best = sorted(worth, key=lambda number: -worth[number])[: task.count]
    return ", ".join(map(str, sorted(best)))


def further_questions(task: AskQuestions, outlook: Outlook, draws: KeyedDraws) -> str:
    """Further questions in one line, separated by '#'."""
    known = {question.casefold() for question in task.chosen}
    own = dict.fromkeys(_own_questions(outlook, _occasion(task.ask.kind)))
    pool = [question for question in own if question.casefold() not in known]
    ranked = sorted(range(len(pool)), key=lambda place: place // 3 * 40 + draws.below(120, f"ask {place}"))
    return " # ".join(pool[place] for place in ranked[: max(task.count, 1)])


def _own_questions(outlook: Outlook, occasion: str) -> list[str]:
    """Questions for the situation, the more urgent first."""
    if ROLES[outlook.situation.role].wolf:
        return _packs_questions(outlook, occasion)
    rules, names = outlook.situation.ruleset, outlook.situation.ruleset.names
    ranked, seers = outlook.ranked(), outlook.claimants(SEER)
    questions = []
    if len(seers) > 1:
        first, other = names[seers[0]], names[seers[1]]
        questions.append(f"{first} and {other} both claim to be the Seer: which of them lies?")
    if ranked:
        first = names[ranked[0]]
        questions += [f"Is {first} a Werewolf?", f"What role may {first} really have?"]
    for seat, role in sorted(outlook.claims.items()):
        if seat in ranked and role != "Werewolf":
            claim = role_with_article(role, rules)
            questions.append(f"Can {names[seat]}, who claims to be {claim}, be trusted?")
    if len(ranked) > 1:
        questions += [
            f"Is {names[ranked[1]]} in league with {names[ranked[0]]}?",
            f"Who may be a Werewolf beside {names[ranked[0]]}?",
        ]
    for speaker, target, _ in outlook.posterior.summary.node.today[-3:]:
        if outlook.situation.seat not in (speaker, target):
            questions.append(f"What does {names[speaker]} want with what was said about {names[target]}?")
    if ranked:
        questions += [f"Whom can I trust more than {names[ranked[-1]]}?", "Do others suspect me by now?"]
    questions += {
        "night": ["Whom will the Werewolves want to kill tonight?", "Who knows more than was told by day?"],
        "talk": ["What would the others believe if I spoke openly?", "Who should be asked to say more?"],
        "vote": ["Who gains if nobody is voted out today?", "Whom will the others vote for?"],
    }[occasion]
    return [*questions, "Who are the Werewolves among the living?", "Who may hold a special role?"]


def _packs_questions(outlook: Outlook, occasion: str) -> list[str]:
    """A Werewolf's questions: who is dangerous, who can be set against whom."""
    rules, names = outlook.situation.ruleset, outlook.situation.ruleset.names
    others = [seat for seat in outlook.others() if seat not in outlook.situation.pack]
    questions = [
        f"Does {names[seat]} really hold the role of {role_with_article(role, rules)}?"
        for seat, role in sorted(outlook.claims.items())
        if seat in others and role != "Werewolf"
    ]
    others.sort(key=lambda seat: -outlook.sure[seat])
    questions += [f"What role may {names[seat]} have?" for seat in others[:3]]
    questions += ["Do others suspect me by now?", "Which of my teammates is in danger?"]
    questions += {
        "night": ["Who would be missed most by the village?", "Whom may the Guard protect tonight?"],
        "talk": ["Whom can I make the others suspect?", "What would a Villager say in my place?"],
        "vote": ["Whom will the others vote for?", "Would my vote give me away?"],
    }[occasion]
    return [*questions, "Who may hold a special role?"]
