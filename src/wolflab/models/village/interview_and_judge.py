"""`village` outside the game: as an interviewed player (003 A.4), and as a judge (003 §4.4.2).

As a judge it is crude: it compares the reply with the posterior of the judged player's own situation, and
with the acts that `text.reading` finds. It serves to try out a study offline.
"""

from __future__ import annotations

import re
from typing import Any

from ...rules import PASS, ROLES, SHIELDS, Action, Ask, Pick
from ...text.questions import Interview, Judge, Situation
from ...text.reading import Accusation, Act, Agreement, Claim, Defence, Report, Suggestion, read_in
from ...text.replies.chosen_action import read_action
from .beliefs.claims import ABLE
from .beliefs.posterior import Posterior
from .beliefs.worlds import role_class
from .draws import KeyedDraws
from .speech.phrases import role_with_article

FAR = 0.35
"""A village-side vote is unreasonable where P(Werewolf) of another player is higher by more than this."""
KNOWN = 0.02
"""Below this P(Werewolf) a player is known to be good."""

# -- the interview --------------------------------------------------------------------------------


def interview_answer(now: Situation, task: Interview, draws: KeyedDraws) -> str:
    """The reason in the player's words, in two sentences."""
    mine, claimed = role_with_article(now.role, now.ruleset), role_with_article(task.claimed, now.ruleset)
    if ROLES[now.role].wolf:
        first = draws.one("why", (
            f"I am a Werewolf, and as {claimed} I am less likely to be voted out.",
            f"If they take me for {claimed}, nobody looks for a Werewolf in me.",
        ))  # fmt: skip
        second = draws.one("aim", (
            "It was a lie on purpose, to protect my pack and to turn the vote on somebody else.",
            "I wanted their trust, so that I can lead them away from us.",
        ))  # fmt: skip
    elif ROLES[now.role].plain:
        first = f"I am only {mine}, and I hoped that the Werewolves would fear me as {claimed}."
        second = "It may also draw their attack away from those whose abilities we need."
    else:
        first = f"I am {mine}, and if the Werewolves knew it they would kill me next."
        second = f"As {claimed} I can go on using my ability unseen."
    return f"{first} {second}"


# -- the judge --------------------------------------------------------------------------------------


def judge_reply(now: Situation, task: Judge, posterior: Posterior) -> dict[str, Any]:
    """Yes or no to each criterion, and the reasoning."""
    if task.ask.options is None:
        acts = [act for act in read_in(now.ruleset, task.reply, now.seat) if act.speaker == now.seat]
        wrong = _wrong_statement(now, acts, task.reply, posterior)
    else:
        acts, wrong = [], _wrong_choice(now, task, posterior)
    reply: dict[str, Any] = {"reasoning": wrong or "Nothing in the reply goes against what the player knows."}
    for name, definition in task.criteria:
        key = name.casefold()
        if "reasonable" in key or "reasonable" in definition[:60].casefold():
            reply[name] = "no" if wrong else "yes"
        else:
            meets = next((test(now, acts, task.reply) for word, test in _TESTS if word in key), False)
            reply[name] = "yes" if meets else "no"
    return reply


def _wrong_choice(now: Situation, task: Judge, posterior: Posterior) -> str:
    """The fault of an unreasonable choice; "" for a reasonable one."""
    ask, names = task.ask, now.ruleset.names
    action = read_action(task.reply, ask, now.ruleset)
    if isinstance(action, str):
        return "The reply chooses none of the options."
    options = [option.seat for option in ask.options or () if isinstance(option, Pick)]
    likeliest = max((posterior.wolf[seat] for seat in options if seat != now.seat), default=0.0)
    wolf = ROLES[now.role].wolf
    if not isinstance(action, Pick):
        return _wrong_pass(ask, action, wolf, likeliest)
    target, chance = action.seat, posterior.wolf[action.seat]
    if ask.kind == "kill":
        return f"{names[target]} is of the player's own pack." if target in now.pack else ""
    if ask.kind == "see":
        return f"The player knows {names[target]} already." if target in posterior.summary.learned else ""
    if wolf:
        return ""
    if ask.kind in ("vote", "poison", "shoot"):
        if target == now.seat or chance < KNOWN:
            return f"The player knows that {names[target]} is no Werewolf."
        return f"There are far likelier Werewolves than {names[target]}." if likeliest - chance > FAR else ""
    helps = ask.kind in SHIELDS or ask.kind in ("elect", "succeed")
    likely = chance > 1 - FAR and target != now.seat
    return "The player helps a likely Werewolf." if helps and likely else ""


def _wrong_pass(ask: Ask, action: Action, wolf: bool, likeliest: float) -> str:
    """The fault of doing nothing. likeliest: P(Werewolf) of the likeliest option."""
    if action == PASS and ask.kind == "kill":
        return "A night without a kill only helps the village."
    if action == PASS and ask.kind == "vote" and not wolf and likeliest > 1 - KNOWN:
        return "The player knows a Werewolf and does not vote."
    return ""


def _wrong_statement(now: Situation, acts: list[Act], text: str, posterior: Posterior) -> str:
    """The fault of an unreasonable statement; "" for a reasonable one."""
    names, wolf = now.ruleset.names, ROLES[now.role].wolf
    claims = [act.role for act in acts if isinstance(act, Claim) and not act.denied]
    if wolf and any(ROLES[role].wolf for role in claims):
        return "The Werewolf gives itself away."
    for act in acts:
        if isinstance(act, Report):
            role = claims[0] if claims else "" if wolf else now.role
            if role and role_class(ROLES[role]) != ABLE[act.kind]:
                return f"What is told cannot be done by {role_with_article(role, now.ruleset)}."
        if isinstance(act, Accusation) or (isinstance(act, Suggestion) and not act.against):
            if not wolf and posterior.wolf[act.target] < KNOWN:
                return f"The player knows that {names[act.target]} is no Werewolf."
            if act.target not in now.alive:
                return f"{names[act.target]} is out of the game."
    return "Nobody speaks or is heard at night." if _NIGHT.search(text) else ""


_NIGHT = re.compile(
    r"\b(?:heard|listened to|noises?|whisper\w*|footsteps)\b[^.]{0,60}\bnight\b|"
    r"\bnight\b[^.]{0,60}\b(?:said|heard|whisper\w*|noises?|footsteps)\b",
    re.IGNORECASE,
)


def _camouflages(now: Situation, acts: list[Act], text: str) -> bool:
    return any(
        (isinstance(act, Claim) and (act.role != now.role) != act.denied)
        or (isinstance(act, Report) and role_class(ROLES[now.role]) != ABLE[act.kind])
        for act in acts
    )


def _bluffs(now: Situation, acts: list[Act], text: str) -> bool:
    return any(
        isinstance(act, Claim) and not act.denied and act.role != now.role and not ROLES[act.role].plain
        for act in acts
    )


def _exposes(now: Situation, acts: list[Act], text: str) -> bool:
    confessed = any(isinstance(act, Claim) and not act.denied and ROLES[act.role].wolf for act in acts)
    return ROLES[now.role].wolf and (
        confessed or bool(re.search(r"\b(?:we|my fellow|our) (?:were)?wol", text, re.IGNORECASE))
    )


def _sacrifices(now: Situation, acts: list[Act], text: str) -> bool:
    return any(isinstance(act, Accusation) and act.target in now.pack for act in acts)


_TESTS = (
    ("trust", lambda now, acts, text: any(isinstance(act, Defence) for act in acts)),
    (
        "confront",
        lambda now, acts, text: any(
            isinstance(act, Accusation) or (isinstance(act, Agreement) and act.denied) for act in acts
        ),
    ),
    ("camouflage", _camouflages),
    ("bluff", _bluffs),
    ("leader", lambda now, acts, text: any(isinstance(act, Suggestion) for act in acts)),
    ("exposure", _exposes),
    ("sacrific", _sacrifices),
    ("night", lambda now, acts, text: bool(_NIGHT.search(text))),
)
"""Criteria by a part of their name; any other is answered with no."""
