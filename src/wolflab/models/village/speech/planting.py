"""Which planted sentence a situation allows, and with which names in it.

A behaviour that the situation does not allow (a sacrifice without a packmate under suspicion, a citation
on a day after everybody has spoken) is not made. What a statement already says is kept in mind, so that a
planted role does not meet another one in the same breath.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ....rules import ROLES, Chose, Pick, Said
from ....text.reading import Claim, Report
from ....text.reading import read
from ..beliefs.claims import claim_of
from ..scene import TableScene
from .planted import ABILITY, PLANTS
from .wording import worded

Blanks = dict[str, list[str]]
"""What each blank may be filled with. A template with a blank that is missing here is not used."""


def planted(scene: TableScene, rates: Mapping[str, float], text: str) -> Iterator[tuple[str, str]]:
    """(behaviour, sentence) for each behaviour whose turn it is and that the situation allows.

    rates: behaviour → chance. text: what the statement says without them.
    """
    for name, rate in rates.items():
        if not scene.draws.chance(f"plant {name}", 1000 * rate):
            continue
        allowed = _ALLOWED[name](scene, text)
        if allowed is None:
            continue
        bank, blanks = allowed
        templates = [one for one in PLANTS[bank] if _fits(one, scene, blanks)]
        if not templates:
            continue
        sentence = scene.draws.one(f"planted {name}", templates)
        for blank, fillings in blanks.items():
            if f"{{{blank}}}" in sentence:
                filling = scene.draws.one(f"planted {name} {blank}", fillings)
                sentence = sentence.replace(f"{{{blank}}}", filling)
        yield name, sentence
        text = f"{text} {sentence}"


def _fits(template: str, scene: TableScene, blanks: Blanks) -> bool:
    """Whether every blank can be filled and every role that it names is in the game."""
    open_ = [part.split("}")[0] for part in template.split("{")[1:]]
    named = [role for role in ROLES if role in template]
    return all(blanks.get(one) for one in open_) and all(
        scene.situation.ruleset.count(role) for role in named
    )


Allowed = tuple[str, Blanks] | None


def _names(scene: TableScene, seats: list[int]) -> list[str]:
    return [scene.name(seat) for seat in seats]


def _mates(scene: TableScene) -> list[int]:
    return [seat for seat in scene.others() if seat in scene.mates]


def _dead(scene: TableScene) -> list[str]:
    return [
        name for seat, name in enumerate(scene.situation.ruleset.names) if seat not in scene.situation.alive
    ]


def _told(scene: TableScene, text: str) -> bool:
    """Whether the statement already tells a role or a night action of the speaker's."""
    acts = read(text, scene.situation.ruleset.names, scene.me)
    return any(isinstance(act, Claim | Report) and act.speaker == scene.me for act in acts)


def _roles_not_held(scene: TableScene) -> list[str]:
    rules = scene.situation.ruleset
    return [r for r in rules.roles if rules.count(r) and r != scene.situation.role and not ROLES[r].wolf]


# -- what each behaviour needs ----------------------------------------------------------------------


def _trust(scene: TableScene, text: str) -> Allowed:
    suspect = max(scene.others(), key=lambda seat: scene.suspicion[seat], default=None)
    friends = [seat for seat in scene.others() if seat != suspect or scene.wolf]
    return ("trust", {"who": _names(scene, friends)}) if friends else None


def _confrontation(scene: TableScene, text: str) -> Allowed:
    foes = [s for s in scene.others() if s not in scene.mates and scene.suspicion[s] > 0]
    foes.sort(key=lambda seat: -scene.suspicion[seat])
    return ("confrontation", {"who": _names(scene, foes[:2])}) if foes else None


def _camouflage(scene: TableScene, text: str) -> Allowed:
    roles = _roles_not_held(scene)
    if not scene.wolf and not ROLES[scene.situation.role].plain:
        roles = [role for role in roles if ROLES[role].plain]  # a special role passes for a Villager
    return _claim(scene, text, "camouflage", roles)


def _bluffing(scene: TableScene, text: str) -> Allowed:
    return _claim(scene, text, "bluffing", [role for role in _roles_not_held(scene) if not ROLES[role].plain])


def _claim(scene: TableScene, text: str, bank: str, roles: list[str]) -> Allowed:
    """A false claim where nothing has been claimed yet."""
    if scene.node.claims[scene.me] or _told(scene, text) or not roles:
        return None
    return bank, {"role": [worded(role, scene.situation.ruleset) for role in roles]}


def _leadership(scene: TableScene, text: str) -> Allowed:
    foes = [s for s in scene.others() if s not in scene.mates]
    foes.sort(key=lambda seat: -scene.suspicion[seat])
    return ("leadership", {"who": _names(scene, foes[:2])}) if foes else None


def _concealment(scene: TableScene, text: str) -> Allowed:
    if scene.node.claims[scene.me] or _told(scene, text):
        return None
    if scene.wolf:
        return "concealment", {}
    return None if ROLES[scene.situation.role].plain else (ABILITY, {})


def _cooperation(scene: TableScene, text: str) -> Allowed:
    mates = _mates(scene)
    return ("cooperation", {"mate": _names(scene, mates)}) if mates else None


def _sacrificing(scene: TableScene, text: str) -> Allowed:
    mates = [seat for seat in _mates(scene) if scene.support(seat)]
    return ("sacrificing", {"mate": _names(scene, mates)}) if mates else None


def _self_exposure(scene: TableScene, text: str) -> Allowed:
    if not scene.wolf:
        return None
    killed = [scene.name(seat) for seat in _killed(scene)]
    return "self_exposure", {"mate": _names(scene, _mates(scene)), "dead": killed}


def _killed(scene: TableScene) -> list[int]:
    """The pack's own victims: those whom it is known to have chosen and who are out."""
    chosen = {
        line.event.action.seat
        for line in scene.situation.lines
        if isinstance(line.event, Chose) and line.event.kind == "kill" and isinstance(line.event.action, Pick)
    }
    return [seat for seat in sorted(chosen) if seat not in scene.situation.alive]


def _contradiction(scene: TableScene, text: str) -> Allowed:
    made = scene.node.claims[scene.me]
    if not made or _told(scene, text):
        return None
    rules = scene.situation.ruleset
    roles = [role for role in rules.roles if rules.count(role) and not ROLES[role].wolf]
    told = [role for role in roles if claim_of(role) == made]
    other = [role for role in roles if role not in told]
    if not told or not other:
        return None
    return "contradiction", {
        "role": [worded(role, rules) for role in other],
        "told": [worded(told[0], rules)] if len(told) == 1 else [],
    }


def _night_speech(scene: TableScene, text: str) -> Allowed:
    return ("night_speech", {"who": _names(scene, scene.others())}) if scene.others() else None


def _future_citation(scene: TableScene, text: str) -> Allowed:
    """On the first day alone is it certain who has not spoken yet."""
    if scene.situation.round != 1 or scene.situation.phase != "discussion":
        return None
    spoken = {line.event.seat for line in scene.situation.lines if isinstance(line.event, Said)}
    silent = [seat for seat in scene.others() if seat not in spoken]
    return ("future_citation", {"who": _names(scene, silent)}) if silent else None


def _confusion(scene: TableScene, text: str) -> Allowed:
    rules, day = scene.situation.ruleset, scene.situation.round
    stranger = rules.player_name.format(rules.first_player + rules.players + 4)
    others = _names(scene, scene.others())
    return "confusion", {
        "me": [scene.name(scene.me)],
        "stranger": [stranger],
        "late": [str(day + 2)],
        "who": others,
        "early": others if day == 1 else [],  # later on there is a yesterday, and it may be spoken of
    }


def _impossible_ability(scene: TableScene, text: str) -> Allowed:
    if scene.node.claims[scene.me] or _told(scene, text) or not scene.others():
        return None
    return "impossible_ability", {"who": _names(scene, scene.others())}


def _contradicts_record(scene: TableScene, text: str) -> Allowed:
    return "contradicts_record", {"dead": _dead(scene), "who": _names(scene, scene.others())}


_ALLOWED: Mapping[str, Callable[[TableScene, str], Allowed]] = {
    "trust": _trust,
    "confrontation": _confrontation,
    "camouflage": _camouflage,
    "leadership": _leadership,
    "concealment": _concealment,
    "cooperation": _cooperation,
    "bluffing": _bluffing,
    "sacrificing": _sacrificing,
    "self_exposure": _self_exposure,
    "contradiction": _contradiction,
    "night_speech": _night_speech,
    "future_citation": _future_citation,
    "confusion": _confusion,
    "impossible_ability": _impossible_ability,
    "contradicts_record": _contradicts_record,
}
