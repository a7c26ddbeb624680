"""Kinds about a night: who dies, what is announced, who may choose whom, what is learned, and what dawn
brings.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from ...rules import (
    PASS,
    Action,
    Ask,
    Chose,
    DayBroke,
    GameEnded,
    Learned,
    Revealed,
    Ruleset,
    Shot,
    VictimShown,
    pick,
)
from ...rules.engine import Step, table
from ...rules.events import NOT_WOLF
from ...rules.roles import DUTIES, ROLES, SHIELDS
from ...text.asking.sentences import a_role, listed
from ..items import NOBODY
from ..situations import (
    GameSituation,
    Impossible,
    Playout,
    allowed,
    as_action,
    note,
    only_first,
    playout,
    remark,
    steps,
    told_actions,
)
from .kind import Answers, AskedAbout, Asks, DrawnFrom, QuestionKind, Value, living, nothing, seats

NIGHT = DrawnFrom("night", ("night", "departure"))
UNTIL_DAWN = DrawnFrom("night", ("night",))
BEFORE_CHOICES = DrawnFrom("night")


def night(rules: Ruleset, s: GameSituation) -> Playout:
    """The night and what those who left do at once, as told; Impossible where something that is asked is not
    told.
    """
    played = playout(rules, s, "night", "departure")
    if any(ask.phase in ("night", "departure") for ask in played.unanswered):
        raise Impossible(f"{played.unanswered[0].id} is asked and not told")
    return played


def until_dawn(rules: Ruleset, s: GameSituation) -> Playout:
    """The night alone, as told; what those who have died may still do comes after it."""
    played = playout(rules, s, "night")
    if any(ask.phase == "night" for ask in played.unanswered):
        raise Impossible(f"{played.unanswered[0].id} is asked and not told")
    return played


def deaths(rules: Ruleset, s: GameSituation) -> list[int]:
    """Who dies in the night, ascending."""
    events = until_dawn(rules, s).events
    return list(only_first(event.deaths for event in events if isinstance(event, DayBroke)))


def ask_tonight(rules: Ruleset, s: GameSituation, kind: str, seat: int) -> Ask | None:
    """The ask of that kind to that seat; None where the night passes without it.

    Others for whom nothing is told take their last option; what that seat is asked before has to be told.
    """
    told = told_actions(s)
    blind = rules.deaths == "sequential" and DUTIES[kind].reads and seat in s.living

    def reply(ask: Ask) -> Action:
        assert ask.options is not None
        if (ask.kind, ask.seat) in told:
            return allowed(ask, told[ask.kind, ask.seat])
        if ask.seat == seat and ask.kind in DUTIES[kind].after:
            raise Impossible(f"{ask.id} is asked and not told")
        if blind and not DUTIES[ask.kind].reads:
            raise Impossible(f"who has died by then hangs on {ask.id}, which is not told")
        return ask.options[-1]

    def replies(now: Step) -> list[Action] | None:
        return [reply(ask) for ask in now.asks] if now.asks[0].phase == "night" else None

    for now in steps(rules, s, replies):
        for ask in now.asks:
            if (ask.kind, ask.seat) == (kind, seat):
                note(rules, (), (ask,))
                return ask
    remark(f"{rules.names[seat]} is not asked ({kind}).")
    return None


# -- who dies, and what is announced ------------------------------------------------------------------


def _dies(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return asked["x"] in deaths(rules, s)


def _deaths(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return deaths(rules, s)


def _death_count(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return len(deaths(rules, s))


def _victim(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    until_dawn(rules, s)
    choices = tuple(as_action(target) for kind, _, target in s.told if kind == "kill")
    victim = table(rules).agreed(choices)
    return NOBODY if victim is None else victim


def _announced(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return ",".join(map(str, deaths(rules, s)))


def _announcements(
    rules: Ruleset, s: GameSituation, asked: AskedAbout, value: Value, rng: random.Random
) -> Mapping[str, str]:
    """The right announcement and three others, of nobody, of one and of two players."""
    named = [target for kind, _, target in s.told if isinstance(target, int) and target in s.living]
    pool = list(dict.fromkeys([*named, *s.living]))
    others = ["", *(str(seat) for seat in pool[:3])]
    others += [",".join(map(str, sorted(rng.sample(pool[:4], 2)))) for _ in range(2) if len(pool) > 1]
    wrong = [text for text in dict.fromkeys(others) if text != value]
    return {text: announcement(text) for text in [str(value), *rng.sample(wrong, min(3, len(wrong)))]}


def announcement(value: str) -> str:
    """The moderator's words for the night's dead; seats in braces, to be named."""
    names = [f"{{{seat}}}" for seat in value.split(",") if seat]
    if not names:
        return "No player was killed."
    return f"{listed(names)} {'was' if len(names) == 1 else 'were'} killed."


def _revealed(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    events = night(rules, s).events
    if any(isinstance(event, Shot) and asked["x"] in (event.seat, event.target) for event in events):
        raise Impossible("a shot shows a role as well")
    return any(isinstance(event, Revealed) and event.seat == asked["x"] for event in events)


# -- what is told to whom -----------------------------------------------------------------------------


def _learns(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    for event in until_dawn(rules, s).events:
        if isinstance(event, Learned) and event.seat == asked["x"] and event.target == asked["y"]:
            return event.what
    raise Impossible("nothing is learned")


def _looks(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for kind, seat, target in s.told:
        if kind == "see" and isinstance(target, int):
            yield {"x": seat, "y": target}


def _what_is_learned(
    rules: Ruleset, s: GameSituation, asked: AskedAbout, value: Value, rng: random.Random
) -> Mapping[str, str]:
    role = s.roles[int(asked["y"])]
    others = [name for name in rules.roles if rules.roles[name] and name not in (role, "Werewolf")]
    names = [*dict.fromkeys([role, "Werewolf", *rng.sample(others, len(others))])][:3]
    return {name: f"That {{y}} is {a_role(name)}." for name in names} | {
        NOT_WOLF: "That {y} is not a Werewolf, and no more."
    }


def _witch_shown(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return any(
        isinstance(event, VictimShown) and event.victim == asked["x"] for event in until_dawn(rules, s).events
    )


def _where_witches_live(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return living(rules, s, rng) if s.holders("Witch") else ()


def _hears_choice(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    chose = [
        event
        for event in until_dawn(rules, s).events
        if isinstance(event, Chose) and event.seat == asked["y"]
    ]
    if not chose:
        raise Impossible("y chooses nothing")
    return bool(chose[0].audience >> int(asked["x"]) & 1)


def _who_hears(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    """Always x with the higher number: of what later ones of a pack choose no rule tells, and who is later
    must not tell the answer.
    """
    actors = sorted({seat for kind, seat, _ in s.told if kind != "shoot"})
    for y in rng.sample(actors, min(3, len(actors))):
        for x in rng.sample(s.living, min(4, len(s.living))):
            shown = s.roles[x] == "Witch" and ROLES[s.roles[y]].wolf  # she is told the victim, not by whom
            if x > y and not shown:
                yield {"x": x, "y": y}


# -- who may choose whom ------------------------------------------------------------------------------


def _may(kinds: Iterable[str]) -> tuple[Answers, Asks]:
    wanted = frozenset(kinds)

    def answer(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
        ask = ask_tonight(rules, s, _duty(rules, s, int(asked["x"]), wanted), int(asked["x"]))
        return ask is not None and pick(int(asked["y"])) in (ask.options or ())

    def asks(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
        for x in rng.sample(s.living, len(s.living)):
            if any(duty.kind in wanted for duty in ROLES[s.roles[x]].duties):
                barred = [x, *s.dead, *(target for seat, target in s.shielded if seat == x)]
                barred += [seat for seat, role in enumerate(s.roles) if role == s.roles[x]]
                for y in {rng.choice(barred), rng.choice([*s.dead, x]), rng.randrange(s.players)}:
                    yield {"x": x, "y": y}

    return answer, asks


def _duty(rules: Ruleset, s: GameSituation, seat: int, wanted: frozenset[str]) -> str:
    for duty in ROLES[s.roles[seat]].duties:
        if duty.kind in wanted:
            return duty.kind
    raise Impossible("that role has no such duty")


may_kill, ask_killers = _may(["kill"])
may_shield, ask_shielders = _may(SHIELDS)
may_look, ask_lookers = _may(["see"])
may_poison, ask_poisoners = _may(["poison"])
_CHOOSERS = frozenset(kind for kind, duty in DUTIES.items() if duty.when == "night") - {"antidote", "poison"}


def _targets(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    x = int(asked["x"])
    ask = ask_tonight(rules, s, _duty(rules, s, x, _CHOOSERS), x)
    if ask is None or ask.options is None:
        raise Impossible("nothing is asked")
    return [option.seat for option in ask.options if hasattr(option, "seat")]


def _choosers(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    for x in rng.sample(s.living, len(s.living)):
        if any(duty.kind in _CHOOSERS for duty in ROLES[s.roles[x]].duties):
            yield {"x": x}


def _may_pass(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    x = int(asked["x"])
    ask = ask_tonight(rules, s, _duty(rules, s, x, _CHOOSERS), x)
    return ask is not None and PASS in (ask.options or ())


def _acts(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    x = int(asked["x"])
    kinds = [duty.kind for duty in ROLES[s.roles[x]].duties if duty.when == "night"]
    if len(kinds) > 1:
        raise Impossible("some of what that role is asked is not told")
    if not kinds:
        remark(f"{rules.names[x]} is {a_role(s.roles[x])}, who has nothing to do at night.")
    return any(ask_tonight(rules, s, kind, x) is not None for kind in kinds)


def _no_witches(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    return [asked for asked in seats(rules, s, rng) if s.roles[int(asked["x"])] != "Witch"]


def _may_shoot(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return may_shoot(s, asked, until_dawn(rules, s))


def may_shoot(s: GameSituation, asked: AskedAbout, played: Playout) -> bool:
    """Whether x is asked for a shot after what was played; Impossible where another's shot may decide it."""
    if s.roles[int(asked["x"])] == "Hunter" and len(s.holders("Hunter")) > 1:
        raise Impossible("whether another Hunter shoots is not told")
    return ("shoot", asked["x"]) in [(ask.kind, ask.seat) for ask in played.unanswered]


def _where_hunters_are(rules: Ruleset, s: GameSituation, rng: random.Random) -> Iterable[AskedAbout]:
    if "Hunter" in s.roles:
        hunter = s.roles.index("Hunter")
        for x in {hunter, *rng.sample(s.living, min(2, len(s.living)))} & {*s.living}:
            yield {"x": x}


# -- what dawn brings ---------------------------------------------------------------------------------


def winner_of(played: Playout) -> str:
    """ "village", "werewolves" or "nobody" of a game that is over, else "goes on"."""
    for event in played.events:
        if isinstance(event, GameEnded):
            return event.outcome.winner.value
    return "goes on"


WINNERS = {
    "village": "The village wins.",
    "werewolves": "The Werewolves win.",
    "nobody": "The game ends and nobody wins.",
    "goes on": "The game goes on.",
}


def winners(*_: object) -> Mapping[str, str]:
    """The options of who wins."""
    return WINNERS


def _over(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return winner_of(night(rules, s)) != "goes on"


def _winner(rules: Ruleset, s: GameSituation, asked: AskedAbout) -> Value:
    return winner_of(night(rules, s))


KINDS = (
    QuestionKind(
        "dies-tonight",
        "Whether x is among those who die in the night (whom the moderator names at dawn).",
        (
            "Does {x} die in this night?",
            "Is {x} dead when this night is over?",
            "Once these choices are settled, has {x} been killed?",
            "!Does {x} live to see the next morning?",
            "When dawn comes, is {x} one of the dead of this night?",
            "!Is {x} still in the game after the deaths of this night?",
        ),
        _dies,
        living,
        UNTIL_DAWN,
    ),
    QuestionKind(
        "night-deaths",
        "All who die in the night.",
        (
            "Who dies in this night?",
            "Which players are killed in this night?",
            "Name everybody whom this night puts out of the game.",
            "Which players does the moderator name as dead at dawn?",
            "List the dead of this night.",
        ),
        _deaths,
        nothing,
        UNTIL_DAWN,
        "open",
        "players",
    ),
    QuestionKind(
        "death-count",
        "How many die in the night.",
        (
            "How many players die in this night?",
            "What is the number of deaths in this night?",
            "How many players does this night put out of the game?",
            "How many dead does the moderator announce at dawn?",
            "Count the players who are killed in this night: how many are they?",
        ),
        _death_count,
        nothing,
        UNTIL_DAWN,
        "open",
        "number",
    ),
    QuestionKind(
        "pack-victim",
        "Whom the Werewolves' choices together are aimed at, before any protection or antidote; nobody "
        "where they do not agree as these rules ask.",
        (
            "Whom do the Werewolves' choices settle on, protection left aside?",
            "Leaving protection and antidote aside, who is the victim that the Werewolves agree on?",
            "Which player do the Werewolves attack together in this night?",
            "Before anybody is saved, who is the Werewolves' victim?",
            "On which player does the attack of the Werewolves fall, if any?",
        ),
        _victim,
        nothing,
        UNTIL_DAWN,
        "open",
        "player",
    ),
    QuestionKind(
        "announcement",
        "What the moderator announces at dawn: all who died in the night, or that nobody did.",
        (
            "What does the moderator announce at dawn?",
            "Which announcement do the players hear in the morning?",
            "How does the announcement phase of this day begin?",
            "What is said about the night when the day begins?",
            "Which of these sentences does the moderator say after this night?",
        ),
        _announced,
        nothing,
        UNTIL_DAWN,
        "choice",
        options=_announcements,
        matched=False,
    ),
    QuestionKind(
        "role-shown-at-dawn",
        "Whether the role of x is made public because x died in the night.",
        (
            "Is the role of {x} made public in the morning?",
            "At dawn, does everybody learn which role {x} had?",
            "Does the moderator reveal the role of {x} after this night?",
            "When the deaths of this night are announced, is the role of {x} revealed?",
            "Is it told to all what role {x} held once this night is over?",
        ),
        _revealed,
        living,
        NIGHT,
    ),
    QuestionKind(
        "seer-learns",
        "What x, a Seer, learns about y by this night's look: the exact role, or only whether it is a "
        "Werewolf.",
        (
            "What does {x} learn about {y}?",
            "What is {x} told about {y} in this night?",
            "What does the look of {x} at {y} show?",
            "What does {x} know of {y} after looking?",
            "Which of these does the moderator tell {x} about {y}?",
        ),
        _learns,
        _looks,
        UNTIL_DAWN,
        "choice",
        options=_what_is_learned,
        matched=False,
    ),
    QuestionKind(
        "witch-shown",
        "Whether a Witch is told in this night that the Werewolves kill x.",
        (
            "Is the Witch told in this night that {x} is being killed?",
            "Does the moderator show {x} to the Witch as the victim of this night?",
            "Does the Witch hear that the Werewolves kill {x}?",
            "Does the moderator tell the Witch that the Werewolves agreed on {x} in this night?",
            "In this night, does the Witch learn that {x} was attacked?",
        ),
        _witch_shown,
        _where_witches_live,
        UNTIL_DAWN,
    ),
    QuestionKind(
        "hears-choice",
        "Whether x is told in this night whom (or what) y chose.",
        (
            "Does {x} get to know in this night what {y} chose?",
            "Is {x} told the choice that {y} made in this night?",
            "Does the moderator let {x} know what {y} chose?",
            "Is the choice of {y} shown to {x} in the night?",
            "Does {x} learn by the rules what {y} decided in this night?",
        ),
        _hears_choice,
        _who_hears,
        UNTIL_DAWN,
    ),
    QuestionKind(
        "may-kill",
        "Whether x, a living Werewolf, may name y as victim in this night.",
        (
            "May {x} choose {y} as victim in this night?",
            "Do the rules allow {x} to name {y} as the one to kill?",
            "Is {y} somebody whom {x} can choose to kill in this night?",
            "!Is {x} barred from choosing {y} to be killed?",
            "Can {x} legally attack {y} in this night?",
            "Is it allowed that {x} picks {y} as the victim?",
        ),
        may_kill,
        ask_killers,
        BEFORE_CHOICES,
    ),
    QuestionKind(
        "may-shield",
        "Whether x, a living Guard or Doctor, may choose y to protect (save) in this night.",
        (
            "May {x} shield {y} from the Werewolves in this night?",
            "Do the rules allow {x} to choose {y} for protection?",
            "Is {y} somebody whom {x} can protect in this night?",
            "!Is {x} barred from protecting {y} in this night?",
            "Can {x} legally keep {y} safe in this night?",
            "Is it allowed that {x} picks {y} to be protected?",
        ),
        may_shield,
        ask_shielders,
        BEFORE_CHOICES,
    ),
    QuestionKind(
        "may-look",
        "Whether x, a living Seer, may look at y in this night.",
        (
            "May {x} look at {y} in this night?",
            "Do the rules allow {x} to check {y}?",
            "Is {y} somebody whom {x} can look at in this night?",
            "!Is {x} barred from looking at {y}?",
            "Can {x} legally inspect {y} in this night?",
            "Is it allowed that {x} picks {y} to be looked at?",
        ),
        may_look,
        ask_lookers,
        BEFORE_CHOICES,
    ),
    QuestionKind(
        "may-poison",
        "Whether x, a living Witch, may poison y in this night, after what is told of the night.",
        (
            "May {x} poison {y} in this night?",
            "Do the rules allow {x} to give the poison to {y} now?",
            "Is {y} somebody whom {x} can poison in this night?",
            "!Is {x} barred from poisoning {y} in this night?",
            "Can {x} legally use the poison on {y} now?",
            "Is it allowed that {x} picks {y} to be poisoned?",
        ),
        may_poison,
        ask_poisoners,
        DrawnFrom("night", ("night",), ("poison",)),
    ),
    QuestionKind(
        "targets",
        "All players whom x may choose in this night (passing left aside).",
        (
            "Whom may {x} choose in this night?",
            "Which players are open to {x} as a choice in this night?",
            "Name every player whom {x} is allowed to choose tonight.",
            "Among which players does {x} choose in this night?",
            "List all players whom {x} can pick in this night.",
        ),
        _targets,
        _choosers,
        BEFORE_CHOICES,
        "open",
        "players",
    ),
    QuestionKind(
        "acts-tonight",
        "Whether x is asked for a choice in this night (x is no Witch).",
        (
            "Is {x} asked for a choice in this night?",
            "Does {x} act in this night?",
            "Does the moderator wake {x} in this night to choose somebody?",
            "Has {x} anything to choose in this night?",
            "Does {x} take an action of its own before the next morning?",
        ),
        _acts,
        _no_witches,
        BEFORE_CHOICES,
    ),
    QuestionKind(
        "may-pass-tonight",
        "Whether x may choose nobody in this night.",
        (
            "May {x} pass in this night?",
            "Do the rules allow {x} to choose nobody in this night?",
            "Can {x} decline to choose anybody tonight?",
            "!Must {x} choose somebody in this night?",
            "Is passing open to {x} in this night?",
            "!Is {x} forced to name a player in this night?",
        ),
        _may_pass,
        _choosers,
        BEFORE_CHOICES,
    ),
    QuestionKind(
        "may-shoot-at-dawn",
        "Whether x may shoot somebody at once, after dying in this night.",
        (
            "May {x} shoot somebody when this night is over?",
            "After this night, is {x} asked whether to shoot?",
            "Do the rules allow {x} a shot at dawn?",
            "Can {x} take somebody along at dawn by a shot?",
            "Does the end of this night give {x} a shot?",
        ),
        _may_shoot,
        _where_hunters_are,
        UNTIL_DAWN,
    ),
    QuestionKind(
        "over-at-dawn",
        "Whether the game is over once the night's deaths, and what follows at once from them, are settled.",
        (
            "Is the game over in the morning?",
            "Does the game end with this night?",
            "Has the game come to its end once the deaths of this night count?",
            "!Does the game go on after this night?",
            "When the day begins, is the game finished?",
            "!Do the players still have something to play for after this night?",
        ),
        _over,
        nothing,
        NIGHT,
    ),
    QuestionKind(
        "winner-at-dawn",
        "Who has won once the night's deaths, and what follows at once from them, are settled; or that the "
        "game goes on, or ends without a winner.",
        (
            "How does the game stand in the morning?",
            "What follows from this night for the game?",
            "Does this night decide the game, and for whom?",
            "What does the end of this night mean for the game?",
            "Which of these is true at dawn?",
        ),
        _winner,
        nothing,
        NIGHT,
        "choice",
        options=winners,
    ),
)
