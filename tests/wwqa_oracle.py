"""A second oracle for questions on the rules: each answer in one step, from the rules' text alone.

It shares no code with the rules engine and asks it nothing: `docs/rules.md` and the rules text that prompts
carry are its sources, and a ruleset is read as plain data. So an answer on which both agree was found twice,
in two manners. `tests/test_wwqa_oracle.py` compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wolflab.rules import Ruleset

PASS, NOBODY = "pass", "nobody"
SHIELDING = {"Guard": "protect", "Doctor": "save"}
CHOICES = {"Werewolf": "kill", "Seer": "see", **SHIELDING, "Witch": "poison"}
"""What a role is asked for at night. The Witch is asked about her antidote too."""


class NoAnswer(Exception):
    """The situation contradicts the rules, does not tell enough, or leaves the answer to the lot."""


def need(holds: bool) -> None:
    """Raise `NoAnswer` unless that is so."""
    if not holds:
        raise NoAnswer


def oracle(rules: Ruleset, kind: str, facts: dict[str, Any] | None, asked: Mapping[str, Any]) -> Any:
    """The answer's value before any negation; None where the rules give none (KeyError: no such kind).

    facts, asked: as in `wolflab.wwqa.items.Item`, seats from 0.
    """
    try:
        if facts is None:
            return ABOUT_RULES[kind](rules, asked)
        table = Table(rules, facts)
        table.check()
        return ABOUT_TABLES[kind](table, asked)
    except NoAnswer:
        return None


# -- a situation --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Night:
    """What a night comes to. causes: who dies, and of what; looks: whom each Seer has looked at."""

    victim: int | None
    told_witches: frozenset[int]
    causes: dict[int, str]
    looks: dict[int, int]


class Table:
    """A situation under a ruleset."""

    def __init__(self, rules: Ruleset, facts: Mapping[str, Any]) -> None:
        self.rules = rules
        self.moment: str = facts["moment"]
        self.round: int = facts["round"]
        self.barred = {rules.names.index(name) for name in rules.never_sheriff}
        self.person = None if rules.stops_without is None else rules.names.index(rules.stops_without)
        self.players: int = facts["players"]
        self.dead = set(facts.get("dead", ()))
        self.alive = [s for s in range(self.players) if s not in self.dead]
        self.roles: list[str] | None = facts.get("roles")
        self.sheriff: int | None = facts.get("sheriff")
        self.intended: int | None = facts.get("intended")
        self.candidates: list[int] = list(facts.get("candidates", ()))
        self.order: list[int] = list(facts.get("order", ()))
        self.spent = {tuple(s) for s in facts.get("spent", ())}
        self.shielded = {tuple(s) for s in facts.get("shielded", ())}
        self.told: dict[tuple[str, int], int | str] = {(k, s): t for k, s, t in facts.get("told", ())}

    def check(self) -> None:
        """Refuse what cannot be under these rules."""
        rules = self.rules
        need(self.players == rules.players)
        need(not self.barred & {*self.candidates, self.sheriff, self.intended})
        need(self.person not in self.dead)
        office = rules.sheriff != "none"
        unfilled = office and (self.moment == "election" or (self.moment == "night" and self.round == 1))
        need((self.sheriff is not None) == (office and not unfilled))
        secret = rules.sheriff in ("assigned", "contested")
        need((self.intended is not None) == (unfilled and secret))
        need(bool(self.candidates) == (self.moment == "election"))
        if self.moment == "election":
            need(rules.sheriff in ("elected", "contested"))
            need(not set(self.candidates) & self.dead)
            able = [s for s in self.alive if s not in self.barred]
            need(len(self.candidates) == min(rules.candidates, len(able)))
        if self.moment == "succession":
            need(self.sheriff in self.dead and rules.sheriff_death == "succession")
        if self.moment == "order":
            need(self.sheriff not in self.dead)
        if self.moment == "voting" and self.order:
            need(self.order == self.turns())

    def role(self, seat: int) -> str:
        need(self.roles is not None)
        assert self.roles is not None
        return self.roles[seat]

    def holders(self, role: str) -> list[int]:
        """The living players who hold that role, in the order of seats."""
        return [s for s in self.alive if self.role(s) == role]

    def choice(self, kind: str, seat: int, allowed: Iterable[int | str]) -> int | str:
        """What is told of a choice that the rules ask for."""
        need((kind, seat) in self.told and self.told[kind, seat] in set(allowed))
        return self.told[kind, seat]

    # -- the night

    def open_to(self, seat: int, gone: Iterable[int] = ()) -> list[int]:
        """Whom a player may choose at night for what the role does."""
        rules, role = self.rules, self.role(seat)
        seats = [s for s in self.alive if s not in gone]
        if role == "Werewolf":
            pack = [s for s in seats if s != seat and self.role(s) == "Werewolf"]
            barred = [] if rules.wolves_may_target_pack else pack
            return [s for s in seats if s not in barred and (s != seat or rules.wolves_may_target_self)]
        if role in SHIELDING:
            last = {whom for shield, whom in self.shielded if shield == seat}
            seats = [s for s in seats if s != seat or rules.guard_may_shield_self]
            return seats if rules.guard_may_repeat else [s for s in seats if s not in last]
        if role == "Seer":
            return [s for s in seats if s != seat or rules.seer_may_see_self]
        need(role == "Witch")
        return seats

    def choose(self, seat: int, gone: Iterable[int] = ()) -> int | str:
        """What is told of a night choice; pass where there is nothing to choose."""
        role = self.role(seat)
        options: list[int | str] = [*self.open_to(seat, gone)]
        if may_pass(self.rules, role):
            options.append(PASS)
        return self.choice(CHOICES[role], seat, options) if options else PASS

    def victim(self) -> int | None:
        """On whom the Werewolves' choices settle."""
        names = [self.choose(wolf) for wolf in self.holders("Werewolf")]
        return settled(self.rules, names)

    def shields(self) -> set[int | str]:
        """Whom Guard or Doctor shield in this night."""
        return {self.choose(s) for role in SHIELDING for s in self.holders(role)} - {PASS}

    def hears_of(self, witch: int, victim: int | None, shields: set[int | str]) -> bool:
        """Whether a Witch is told of the victim."""
        hidden = victim in shields and self.rules.shield_and_antidote == "not_asked"
        hidden = hidden or (victim == witch and not self.rules.witch_may_save_self)
        return victim is not None and not hidden and (witch, "antidote") not in self.spent

    def antidotes(self, victim: int | None, shields: set[int | str]) -> set[int]:
        """The Witches who spend their antidote in this night."""
        asked = [w for w in self.holders("Witch") if self.hears_of(w, victim, shields)]
        return {w for w in asked if self.choice("antidote", w, ("yes", "no")) == "yes"}

    def dies_of_attack(self, victim: int, shields: set[int | str], cured: bool) -> bool:
        """Whether the Werewolves' victim dies."""
        if victim in shields and cured:
            return self.rules.shield_and_antidote == "kills"
        return victim not in shields and not cured

    def may_poison(self, witch: int, spent_antidote: bool, dies: bool) -> bool:
        """Whether a Witch is asked for her poison. dies: whether the Werewolves kill her in this night."""
        kept = spent_antidote and not self.rules.witch_may_use_both
        too_late = dies and self.rules.deaths == "sequential"
        return (witch, "poison") not in self.spent and not kept and not too_late

    def causes(self, victim: int | None, shields: set[int | str], cures: set[int]) -> dict[int, str]:
        """Who dies in the night, and of what."""
        causes: dict[int, str] = {}
        if victim is not None and self.dies_of_attack(victim, shields, bool(cures)):
            causes[victim] = "kill"
        killed = set(causes)
        for witch in self.holders("Witch"):
            if self.may_poison(witch, witch in cures, witch in killed):
                target = self.choose(witch)
                if isinstance(target, int):
                    causes[target] = "poison"
        return causes

    def gone_by(self, seat: int) -> set[int]:
        """Who has left the game in this night when that player's turn comes."""
        if self.rules.deaths == "simultaneous" or self.role(seat) != "Seer":
            return set()
        victim, shields = self.victim(), self.shields()
        return set(self.causes(victim, shields, self.antidotes(victim, shields)))

    def night(self) -> Night:
        """The whole night, from what is told of it."""
        victim, shields = self.victim(), self.shields()
        simultaneous = self.rules.deaths == "simultaneous"
        looks = {s: self.choose(s) for s in self.holders("Seer")} if simultaneous else {}
        cures = self.antidotes(victim, shields)
        causes = self.causes(victim, shields, cures)
        if not simultaneous:
            looks = {s: self.choose(s, causes) for s in self.holders("Seer") if s not in causes}
        seen = {seer: whom for seer, whom in looks.items() if isinstance(whom, int)}
        told = frozenset(w for w in self.holders("Witch") if self.hears_of(w, victim, shields))
        return Night(victim, told, causes, seen)

    # -- those who leave

    def may_shoot(self, seat: int, cause: str) -> bool:
        return self.role(seat) == "Hunter" and shoots(self.rules, cause)

    def gone_after(self, causes: Mapping[int, str], watched: int | None = None) -> set[int] | None:
        """Who is out once all who leave have shot, in the order of seats.

        causes: who leaves, and by what. None as soon as the player watched is asked for a shot; for one who
        can never be asked the others' shots need not be told.
        """
        if watched is not None and not self.may_shoot(watched, causes.get(watched, "shot")):
            return self.dead
        gone = self.dead | set(causes)
        asked = [(seat, causes[seat]) for seat in sorted(causes)]
        while asked:
            seat, cause = asked.pop(0)
            targets = [s for s in self.alive if s not in gone]
            if not targets or not self.may_shoot(seat, cause):
                continue
            if seat == watched:
                return None
            target = self.choice("shoot", seat, (*targets, PASS))
            if isinstance(target, int):
                gone.add(target)
                asked.insert(0, (target, "shot"))
        return gone

    def outcome(self, causes: Mapping[int, str]) -> str:
        """Who has won when those have left: a side, nobody, or the game goes on."""
        gone = self.gone_after(causes)
        assert gone is not None
        if causes:
            side = winner(self.rules, [self.role(s) for s in range(self.players) if s not in gone])
            if side:
                return side
            if self.intended in gone or (self.sheriff in gone and self.rules.sheriff_death == "stop"):
                return NOBODY
            if self.person in gone:
                return NOBODY
        last = self.moment == "voting" and self.round >= self.rules.max_rounds
        need(self.rules.tell_horizon or not last)  # the text does not name the last round
        return NOBODY if last else "goes on"

    # -- the day

    def turns(self) -> list[int]:
        """The order of speech, and of open votes."""
        way = self.rules.speaking_order
        if way == "ascending":
            row = list(self.alive)
        elif way == "sheriff_side":
            assert self.sheriff is not None
            need(self.sheriff in self.alive)
            at = self.alive.index(self.sheriff)
            right = self.alive[at + 1 :] + self.alive[:at]
            ways: list[int | str] = ["left", "right"]
            told = [[*right[::-1], self.sheriff], [*right, self.sheriff]]
            if self.order:  # what came of it is told in its place
                need(self.order in told)
                return self.order
            return told[ways.index(self.choice("lead", self.sheriff, ways))]
        else:
            need(set(self.alive) <= set(self.order))
            row = [s for s in self.order if s in self.alive]
        return row if self.sheriff is None else [s for s in row if s != self.sheriff] + [self.sheriff]

    def speech(self) -> list[int]:
        """Who speaks today, in order."""
        need(self.rules.discussion)
        return self.turns()

    def may_vote_for(self, voter: int, whom: int) -> bool:
        living = voter in self.alive and whom in self.alive
        return living and (voter != whom or self.rules.may_vote_self)

    def ballots(self) -> dict[int, int | str]:
        """Every vote of the day."""
        votes = {}
        for voter in self.alive:
            options: list[int | str] = [s for s in self.alive if self.may_vote_for(voter, s)]
            if self.rules.may_abstain:
                options.append(PASS)
            votes[voter] = self.choice("vote", voter, options)
        return votes

    def drawn_among(self, votes: Iterable[int | str]) -> list[int]:
        """Those of whom one is voted out: nobody, one for certain, or several among whom the lot decides."""
        counts = Counter(votes)
        passes = counts.pop(PASS, 0)
        most = max(counts.values(), default=0)
        first = sorted(s for s, n in counts.items() if n == most and isinstance(s, int))
        if self.rules.pass_competes and passes >= most:
            return []
        return first if len(first) == 1 or self.rules.tie == "random" else []

    def voted_out(self) -> int | None:
        """Who leaves by the vote, where no lot decides: an Idiot stays, whose card cannot lie open yet."""
        first = self.drawn_among(self.ballots().values())
        need(len(first) < 2)
        return next((s for s in first if not self.is_idiot(s)), None)

    def put_out(self) -> int | None:
        """As `voted_out`; no answer where that is an Idiot, who is voted out and does not leave."""
        need(not any(map(self.is_idiot, self.drawn_among(self.ballots().values()))))
        return self.voted_out()

    def is_idiot(self, seat: int) -> bool:
        return bool(self.rules.count("Idiot")) and self.role(seat) == "Idiot"

    def may_go_out(self, x: int) -> bool:
        among = self.drawn_among(self.ballots().values())
        need(len(among) < 2 or not self.rules.count("Idiot"))
        need(not any(map(self.is_idiot, among)))
        return x in among

    def after_vote(self) -> str:
        out = self.voted_out()
        return self.outcome({} if out is None else {out: "vote"})

    def if_out(self, x: int) -> str:
        """How the game stands when all the others vote for x, whatever x votes."""
        others = [s for s in self.alive if s != x]
        need(x in self.alive)
        own: list[int | str] = [s for s in self.alive if self.may_vote_for(x, s)]
        own += [PASS] if self.rules.may_abstain else []
        ends = {tuple(self.drawn_among([x] * len(others) + [vote])) for vote in own}
        need(ends == {(x,)})
        return self.outcome({} if self.is_idiot(x) else {x: "vote"})

    def elected(self) -> int:
        counts: Counter[int | str] = Counter()
        for voter in self.alive:
            counts[self.choice("elect", voter, (*self.candidates, PASS))] += 1
        del counts[PASS]
        most = max(counts.values(), default=0)
        first = [s for s, n in counts.items() if n == most]
        need(len(first) == 1 and isinstance(first[0], int))
        return int(first[0])


# -- rules that need no situation ----------------------------------------------------------------------


def settled(rules: Ruleset, names: list[int | str]) -> int | None:
    """The victim on whom the Werewolves settle, each naming one or nobody, in the order of seats."""
    if not names:
        return None
    if rules.wolf_agreement == "last":
        chosen = names[-1]
    elif rules.wolf_agreement == "unanimous":
        chosen = names[0] if len(set(names)) == 1 else PASS
    else:
        (chosen, most), *others = Counter(names).most_common()
        if others and others[0][1] == most:
            chosen = PASS
    return chosen if isinstance(chosen, int) else None


def shoots(rules: Ruleset, cause: str) -> bool:
    """Whether a Hunter who left by that may shoot; a shot counts as killed."""
    if cause == "vote":
        return rules.hunter_shoots_when_voted_out
    return rules.hunter_shoots_when_poisoned if cause == "poison" else rules.hunter_shoots_when_killed


def winner(rules: Ruleset, living: list[str]) -> str | None:
    """The side that has won when players with these roles live."""
    wolves = living.count("Werewolf")
    plain = living.count("Villager")
    able = len(living) - wolves - plain
    reached = {
        "parity": wolves >= plain + able,
        "no_villager": not plain,
        "no_villager_or_no_ability": not plain or not able,
        "no_others": not plain + able,
    }[rules.wolves_win]
    if not wolves:
        return rules.last_wolf_and_villager if reached else "village"
    return "werewolves" if reached else None


def may_pass(rules: Ruleset, role: str) -> bool:
    """Whether a role may choose nobody at night."""
    if role in SHIELDING:
        return rules.guard_may_pass
    passes = {"Werewolf": rules.wolves_may_pass, "Seer": rules.seer_may_pass, "Witch": True}
    need(role in passes)
    return passes[role]


def dealt(rules: Ruleset, *roles: str) -> None:
    """No answer unless one of these roles is dealt."""
    need(any(rules.count(role) for role in roles))


Asked = Mapping[str, Any]


def may_choose(rules: Ruleset, asked: Asked) -> bool:
    role, whom = asked["role"], asked["whom"]
    dealt(rules, role)
    if whom == "self":
        own = rules.guard_may_shield_self if role in SHIELDING else role == "Witch"
        return {"Werewolf": rules.wolves_may_target_self, "Seer": rules.seer_may_see_self}.get(role, own)
    if whom == "same":
        return rules.guard_may_repeat if role in SHIELDING else True
    return {"dead": False, "other": True, "pack": rules.wolves_may_target_pack}[str(whom)]


def may_choose_nobody(rules: Ruleset, asked: Asked) -> bool:
    dealt(rules, asked["role"])
    return may_pass(rules, asked["role"])


def votes_for_whom(rules: Ruleset, asked: Asked) -> bool:
    may = {"self": rules.may_vote_self, "nobody": rules.may_abstain, "dead": False, "other": True}
    return may[asked["whom"]]


def acts_at_night(rules: Ruleset, asked: Asked) -> bool:
    dealt(rules, asked["role"])
    return asked["role"] in CHOICES


def pack_differs(rules: Ruleset, asked: Asked) -> str:
    """0 is the player whom the first names; the last one names another."""
    wolves = rules.wolves
    need(wolves > 1)
    names: list[int | str] = [*range(wolves)] if asked["most"] == "no" else [*[0] * (wolves - 1), 1]
    victim = settled(rules, names)
    if victim is None:
        return NOBODY
    return "last" if victim == names[-1] else "most"


def seer_learns_what(rules: Ruleset, _: Asked) -> str:
    dealt(rules, "Seer")
    return "role" if rules.seer_learns == "role" else "side"


def killed_seer_looks(rules: Ruleset, _: Asked) -> bool:
    dealt(rules, "Seer")
    return rules.deaths == "simultaneous"


def witch_switch(name: str) -> Callable[[Ruleset, Asked], bool]:
    def answer(rules: Ruleset, _: Asked) -> bool:
        dealt(rules, "Witch")
        return bool(getattr(rules, name))

    return answer


def shield_and_antidote(rules: Ruleset, _: Asked) -> str:
    dealt(rules, "Witch")
    dealt(rules, *SHIELDING)
    return {"not_asked": "not asked", "saves": "lives", "kills": "dies"}[rules.shield_and_antidote]


def shield_saves_from(rules: Ruleset, asked: Asked) -> bool:
    dealt(rules, asked["role"])
    if asked["how"] == "poison":
        dealt(rules, "Witch")
    return bool(asked["how"] == "kill")


def unusable_choice(rules: Ruleset, asked: Asked) -> str:
    passes = may_choose_nobody(rules, asked) and rules.unusable_night_reply == "pass"
    return "pass" if passes else "random"


def choice_is_public(rules: Ruleset, asked: Asked) -> bool:
    dealt(rules, asked["role"])
    return False


def know_each_other(rules: Ruleset, asked: Asked) -> bool:
    need(rules.count(asked["role"]) > 1)
    return bool(asked["role"] == "Werewolf")


def order_of_speech(rules: Ruleset, _: Asked) -> str:
    need(rules.discussion)
    words = {"sheriff_side": "neighbour", "random_game": "drawn once", "random_day": "drawn daily"}
    return words.get(rules.speaking_order, "ascending")


def sheriff_speaks(rules: Ruleset, asked: Asked) -> bool:
    need(rules.discussion and rules.sheriff != "none")
    return bool(asked["end"] == "last")


def one_vote_is_enough(rules: Ruleset, _: Asked) -> bool:
    need(rules.may_abstain)
    return not rules.pass_competes


def says_last_words(rules: Ruleset, asked: Asked) -> bool:
    return bool(asked["how"] == "vote") and rules.last_words == "voted_out"


def hunter_may_shoot(rules: Ruleset, asked: Asked) -> bool:
    dealt(rules, "Hunter")
    if asked["how"] == "poison":
        dealt(rules, "Witch")
    return shoots(rules, asked["how"])


def idiot_leaves(rules: Ruleset, asked: Asked) -> bool:
    dealt(rules, "Idiot")
    return {"once": False, "twice": True, "kill": True}[asked["how"]]


def how_sheriff(rules: Ruleset, _: Asked) -> str:
    ways = {"none": "none", "assigned": "named", "drawn": "lot"}
    return ways.get(rules.sheriff, "election")


def sheriff_leaves(rules: Ruleset, _: Asked) -> str:
    need(rules.sheriff != "none")
    return "names" if rules.sheriff_death == "succession" else "stop"


def candidates(rules: Ruleset, _: Asked) -> int:
    need(rules.sheriff in ("elected", "contested"))
    return rules.candidates


def werewolves_win_when(rules: Ruleset, asked: Asked) -> bool:
    enough = {
        "parity": ("parity",),
        "no plain": ("no_villager", "no_villager_or_no_ability"),
        "no able": ("no_villager_or_no_ability",),
    }
    return rules.wolves_win in enough[asked["when"]]


def village_wins_when(rules: Ruleset, asked: Asked) -> bool:
    need(asked["when"] == "last" or rules.wolves > 1)  # else the first is the last
    return bool(asked["when"] == "last")


def both_gone(rules: Ruleset, asked: Asked) -> str:
    needed = {
        "the last plain Villager": ("no_villager", "no_villager_or_no_ability"),
        "the last other player": ("parity", "no_others"),
    }
    need(rules.wolves_win in needed[asked["last"]])  # else it hangs on who else lives
    if asked["last"] == "the last other player":
        need(rules.deaths == "simultaneous")  # a Witch who is dying gives no poison
    return rules.last_wolf_and_villager


ABOUT_RULES: dict[str, Callable[[Ruleset, Asked], Any]] = {
    "role-count": lambda rules, asked: rules.count(asked["role"]),
    "role-in-game": lambda rules, asked: rules.count(asked["role"]) > 0,
    "player-count": lambda rules, asked: rules.players,
    "role-kinds": lambda rules, asked: sum(n > 0 for n in rules.roles.values()),
    "side-of-role": lambda rules, asked: "werewolves" if asked["role"] == "Werewolf" else "village",
    "end-of-the-row": lambda rules, asked: 0 if asked["end"] == "lowest" else rules.players - 1,
    "may-choose": may_choose,
    "may-choose-nobody": may_choose_nobody,
    "has-vote": lambda rules, asked: asked["whom"] == "living",
    "votes-for-whom": votes_for_whom,
    "acts-at-night": acts_at_night,
    "pack-differs": pack_differs,
    "seer-learns-what": seer_learns_what,
    "killed-seer-looks": killed_seer_looks,
    "both-potions": witch_switch("witch_may_use_both"),
    "witch-saves-herself": witch_switch("witch_may_save_self"),
    "shield-and-antidote": shield_and_antidote,
    "shield-saves-from": shield_saves_from,
    "unusable-choice": unusable_choice,
    "choice-is-public": choice_is_public,
    "know-each-other": know_each_other,
    "order-of-speech": order_of_speech,
    "is-there-discussion": lambda rules, asked: rules.discussion,
    "sheriff-speaks": sheriff_speaks,
    "votes-shown": lambda rules, asked: "together" if rules.votes == "secret" else "in turn",
    "tie": lambda rules, asked: NOBODY if rules.tie == "nobody" else "lot",
    "one-vote-is-enough": one_vote_is_enough,
    "roles-shown": lambda rules, asked: rules.reveal.replace("_", " "),
    "says-last-words": says_last_words,
    "hunter-may-shoot": hunter_may_shoot,
    "idiot-leaves": idiot_leaves,
    "how-sheriff": how_sheriff,
    "sheriff-leaves": sheriff_leaves,
    "candidates": candidates,
    "rounds": lambda rules, asked: rules.max_rounds,
    "werewolves-win-when": werewolves_win_when,
    "village-wins-when": village_wins_when,
    "both-gone": both_gone,
}


# -- questions about a situation -----------------------------------------------------------------------


def victim_of(table: Table, _: Asked) -> int | str:
    victim = table.night().victim
    return NOBODY if victim is None else victim


def role_shown_at_dawn(table: Table, asked: Asked) -> bool:
    """No answer for those who shoot or are shot at dawn: all may learn a role, but not by a night's death."""
    x, causes = asked["x"], table.night().causes
    shown = {"never": False, "first_night": table.round == 1, "always": True}[table.rules.reveal]
    if x in causes and shown:
        return True
    gone = table.gone_after(causes) or set()
    need(x not in gone or isinstance(table.told.get(("shoot", x), PASS), str))
    need(x not in gone - table.dead - set(causes) or table.rules.reveal != "always")
    return False


def seer_learns(table: Table, asked: Asked) -> str:
    need(table.night().looks.get(asked["x"]) == asked["y"])
    role = table.role(asked["y"])
    if table.rules.seer_learns == "role" or role == "Werewolf":
        return role
    return "not a Werewolf"


def witch_shown(table: Table, asked: Asked) -> bool:
    night = table.night()
    return bool(night.told_witches) and night.victim == asked["x"]


def hears_choice(table: Table, asked: Asked) -> bool:
    x, y = asked["x"], asked["y"]
    killed = table.night().causes
    need(not (table.role(y) == "Seer" and y in killed and table.rules.deaths == "sequential"))
    pack = table.holders("Werewolf")
    if not {x, y} <= set(pack):
        return False
    need(y < x)  # "each told of the earlier choices": of later ones the rules say nothing
    return True


def open_at_night(role: str) -> Callable[[Table, Asked], bool]:
    roles = SHIELDING if role == "Guard" else (role,)

    def answer(table: Table, asked: Asked) -> bool:
        need(asked["x"] in table.alive and table.role(asked["x"]) in roles)
        gone = table.gone_by(asked["x"])
        return asked["x"] not in gone and asked["y"] in table.open_to(asked["x"], gone)

    return answer


def may_poison(table: Table, asked: Asked) -> bool:
    x, y = asked["x"], asked["y"]
    need(x in table.holders("Witch"))
    victim, shields = table.victim(), table.shields()
    for seer in table.holders("Seer"):
        if table.rules.deaths == "simultaneous" and ("see", seer) in table.told:
            table.choose(seer)  # what is told has to be allowed
    cures = table.antidotes(victim, shields)
    killed = victim is not None and victim == x and table.dies_of_attack(victim, shields, bool(cures))
    return table.may_poison(x, x in cures, killed) and y in table.alive


def targets(table: Table, asked: Asked) -> list[int]:
    x = asked["x"]
    need(x in table.alive and table.role(x) != "Witch")
    gone = table.gone_by(x)
    need(x not in gone)
    return table.open_to(x, gone)


def acts_tonight(table: Table, asked: Asked) -> bool:
    x, role = asked["x"], table.role(asked["x"])
    need(role != "Witch")
    if x not in table.alive or role not in CHOICES:
        return False
    gone = table.gone_by(x)
    return x not in gone and (may_pass(table.rules, role) or bool(table.open_to(x, gone)))


def may_pass_tonight(table: Table, asked: Asked) -> bool:
    need(asked["x"] in table.alive)
    return asked["x"] not in table.gone_by(asked["x"]) and may_pass(table.rules, table.role(asked["x"]))


def may_shoot_at_dawn(table: Table, asked: Asked) -> bool:
    return table.gone_after(table.night().causes, asked["x"]) is None


def may_shoot_after_vote(table: Table, asked: Asked) -> bool:
    out = table.voted_out()
    return table.gone_after({} if out is None else {out: "vote"}, asked["x"]) is None


def told_role(table: Table, asked: Asked) -> bool:
    x, y = asked["x"], asked["y"]
    night = table.night()
    if table.role(x) == table.role(y) == "Werewolf":
        return True
    exact = table.rules.seer_learns == "role" or table.role(y) == "Werewolf"
    return night.looks.get(x) == y and exact


def speaks_next(table: Table, asked: Asked) -> int | str:
    row = table.speech()
    need(asked["x"] in row)
    place = row.index(asked["x"])
    return row[place + 1] if place + 1 < len(row) else NOBODY


def place(table: Table, seat: int) -> int:
    """As which number a player speaks, from 1."""
    row = table.speech()
    need(seat in row)
    return row.index(seat) + 1


def voted_out(table: Table, _: Asked) -> int | str:
    out = table.put_out()
    return NOBODY if out is None else out


def sees_vote(table: Table, asked: Asked) -> bool:
    x, y = asked["x"], asked["y"]
    need({x, y} <= set(table.ballots()))
    if table.rules.votes == "secret":
        return False
    row = table.turns()
    return row.index(y) < row.index(x)


def last_words(table: Table, asked: Asked) -> bool:
    return table.rules.last_words == "voted_out" and table.voted_out() == asked["x"]


def may_follow_sheriff(table: Table, asked: Asked) -> bool:
    return asked["x"] in table.alive and asked["x"] not in table.barred


def may_be_drawn(table: Table, asked: Asked) -> bool:
    need(table.rules.sheriff in ("assigned", "contested"))
    return asked["x"] not in table.barred and table.rules.sheriff_role in (None, table.role(asked["x"]))


Answers = dict[str, Callable[[Table, Asked], Any]]

ABOUT_NIGHTS: Answers = {
    "dies-tonight": lambda table, asked: asked["x"] in table.night().causes,
    "night-deaths": lambda table, asked: sorted(table.night().causes),
    "death-count": lambda table, asked: len(table.night().causes),
    "pack-victim": victim_of,
    "announcement": lambda table, asked: ",".join(map(str, sorted(table.night().causes))),
    "role-shown-at-dawn": role_shown_at_dawn,
    "seer-learns": seer_learns,
    "witch-shown": witch_shown,
    "hears-choice": hears_choice,
    "may-kill": open_at_night("Werewolf"),
    "may-shield": open_at_night("Guard"),
    "may-look": open_at_night("Seer"),
    "may-poison": may_poison,
    "targets": targets,
    "acts-tonight": acts_tonight,
    "may-pass-tonight": may_pass_tonight,
    "may-shoot-at-dawn": may_shoot_at_dawn,
    "over-at-dawn": lambda table, asked: table.outcome(table.night().causes) != "goes on",
    "winner-at-dawn": lambda table, asked: table.outcome(table.night().causes),
    "told-role": told_role,
}
ABOUT_SPEECH: Answers = {
    "speaks-first": lambda table, asked: table.speech()[0],
    "speaks-last": lambda table, asked: table.speech()[-1],
    "speaks-next": speaks_next,
    "speech-order": lambda table, asked: table.speech(),
    "speech-place": lambda table, asked: place(table, asked["x"]),
    "speaks-before": lambda table, asked: place(table, asked["x"]) < place(table, asked["y"]),
    "speaks-directly-after": lambda table, asked: place(table, asked["x"]) == place(table, asked["y"]) + 1,
}
ABOUT_VOTES: Answers = {
    "voted-out": voted_out,
    "out-by-vote": lambda table, asked: table.put_out() == asked["x"],
    "may-go-out": lambda table, asked: table.may_go_out(asked["x"]),
    "votes-for": lambda table, asked: list(table.ballots().values()).count(asked["x"]),
    "may-vote-for": lambda table, asked: table.may_vote_for(asked["x"], asked["y"]),
    "may-vote": lambda table, asked: asked["x"] in table.alive,
    "ballots": lambda table, asked: len(table.alive),
    "sees-vote": sees_vote,
    "over-after-vote": lambda table, asked: table.after_vote() != "goes on",
    "winner-after-vote": lambda table, asked: table.after_vote(),
    "over-if-out": lambda table, asked: table.if_out(asked["x"]) != "goes on",
    "winner-if-out": lambda table, asked: table.if_out(asked["x"]),
    "last-words": last_words,
    "may-shoot-after-vote": may_shoot_after_vote,
}
ABOUT_OFFICE: Answers = {
    "elected": lambda table, asked: table.elected(),
    "is-elected": lambda table, asked: table.elected() == asked["x"],
    "may-elect": lambda table, asked: asked["x"] in table.alive and asked["y"] in table.candidates,
    "names-next-sheriff": lambda table, asked: table.sheriff,
    "may-follow-sheriff": may_follow_sheriff,
    "may-be-drawn": may_be_drawn,
}
ABOUT_TABLES = ABOUT_NIGHTS | ABOUT_SPEECH | ABOUT_VOTES | ABOUT_OFFICE
