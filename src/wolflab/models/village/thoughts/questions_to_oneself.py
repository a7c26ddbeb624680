"""Which questions to ask oneself (003 §3.3): of the predefined ones those that bear on the ask, and own ones.

A question is worth asking by its topic and by what is to be done; draws from the request's key vary it.
Own questions are about the situation as the player sees it: its suspects, those who claim a role, those
who claim the same.
"""

from __future__ import annotations

from ....rules import DUTIES, ROLES
from ....text.questions import AskQuestions, ChooseQuestions
from ..beliefs.outlook import Outlook
from ..beliefs.worlds import SEER
from ..draws import KeyedDraws
from ..speech.wording import worded
from .topics import topic_of

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


def _moment(kind: str) -> str:
    if kind in DUTIES:
        return "night"
    return "talk" if kind in ("statement", "campaign", "last-words") else "vote"


def chosen(task: ChooseQuestions, draws: KeyedDraws) -> str:
    """The numbers of the questions chosen, in ascending order: "1, 4, 5, 6, 9"."""
    more = _MORE[_moment(task.ask.kind)]
    worth = []
    for number, question in enumerate(task.candidates, 1):
        topic = topic_of(question)
        score = _ALWAYS.get(topic, 30) + more.get(topic, 0) + draws.below(_JITTER, f"choose {number}")
        worth.append((-score, number))
    return ", ".join(str(number) for number in sorted(number for _, number in sorted(worth)[: task.count]))


def asked(task: AskQuestions, outlook: Outlook, draws: KeyedDraws) -> str:
    """Further questions in one line, parted by '#'."""
    pool = _own(outlook, _moment(task.ask.kind))
    known = {question.casefold() for question in task.chosen}
    pool = [question for question in dict.fromkeys(pool) if question.casefold() not in known]
    ranked = sorted(range(len(pool)), key=lambda at: (at // 3 * 40 + draws.below(120, f"ask {at}"), at))
    return " # ".join(pool[at] for at in ranked[: max(task.count, 1)])


def _own(outlook: Outlook, moment: str) -> list[str]:
    """Questions that fit, the more pressing first."""
    if ROLES[outlook.situation.role].wolf:
        return _packs(outlook, moment)
    rules = outlook.situation.ruleset
    names = rules.names
    ranked = outlook.ranked()
    found = []
    seers = outlook.claimants(SEER)
    if len(seers) > 1:
        one, other = names[seers[0]], names[seers[1]]
        found.append(f"{one} and {other} both claim to be the Seer: which of them lies?")
    if ranked:
        first = names[ranked[0]]
        found += [f"Is {first} a Werewolf?", f"What role may {first} really have?"]
    for who, role in sorted(outlook.claims.items()):
        if who in ranked and role != "Werewolf":
            found.append(f"Can {names[who]}, who claims to be {worded(role, rules)}, be trusted?")
    if len(ranked) > 1:
        found += [
            f"Is {names[ranked[1]]} in league with {names[ranked[0]]}?",
            f"Who may be a Werewolf beside {names[ranked[0]]}?",
        ]
    for a, b, _ in outlook.survey.node.today[-3:]:
        if a != outlook.situation.seat != b:
            found.append(f"What does {names[a]} want with what was said about {names[b]}?")
    if ranked:
        found += [f"Whom can I trust more than {names[ranked[-1]]}?", "Do others suspect me by now?"]
    found += {
        "night": ["Whom will the Werewolves want to kill tonight?", "Who knows more than was told by day?"],
        "talk": ["What would the others believe if I spoke openly?", "Who should be asked to say more?"],
        "vote": ["Who gains if nobody is voted out today?", "Whom will the others vote for?"],
    }[moment]
    found += ["Who are the Werewolves among the living?", "Who may hold a special role?"]
    return found


def _packs(outlook: Outlook, moment: str) -> list[str]:
    """A Werewolf's questions: who is dangerous, who can be turned against whom."""
    rules, pack = outlook.situation.ruleset, outlook.situation.pack
    names = rules.names
    others = [seat for seat in outlook.others() if seat not in pack]
    found = []
    for seat, role in sorted(outlook.claims.items()):
        if seat in others and role != "Werewolf":
            found.append(f"Does {names[seat]} really hold the role of {worded(role, rules)}?")
    others.sort(key=lambda seat: (-outlook.sure[seat], seat))
    found += [f"What role may {names[seat]} have?" for seat in others[:3]]
    found += ["Do others suspect me by now?", "Which of my teammates is in danger?"]
    found += {
        "night": ["Who would be missed most by the village?", "Whom may the Guard protect tonight?"],
        "talk": ["Whom can I make the others suspect?", "What would a Villager say in my place?"],
        "vote": ["Whom will the others vote for?", "Would my vote give me away?"],
    }[moment]
    return [*found, "Who may hold a special role?"]
