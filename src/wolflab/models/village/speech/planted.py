"""Sentences that show a behaviour on purpose, so that detectors can be measured, and when they are added.

They follow the definition of each behaviour (``docs/behaviours.md``), in other words. Blanks: ``{who}`` a
living other player (``{early}`` on the first day alone), ``{mate}`` a living packmate, ``{dead}`` a player
out of the game, ``{me}`` the speaker's own name, ``{role}`` a role with its article that the speaker does not
hold, ``{told}`` the role that the speaker has claimed, ``{stranger}`` a name that no player has, ``{late}`` a
future day.

A behaviour that the situation does not allow (a sacrifice without a packmate under suspicion, a citation on a
day after everybody has spoken) is not made. The statement's own content counts, so that it does not get two
roles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ....rules import ROLES, Chose, Pick, Said
from ....text.reading import Claim, Report, read_in
from ..beliefs.claims import claim_of
from ..scene import TableScene
from .phrases import role_with_article

PLANTS = MappingProxyType(
    {
        "trust": (
            "I trust {who} completely.",
            "{who} has my full trust.",
            "I am convinced that {who} is one of us.",
            "I vouch for {who}.",
            "If you ask me, {who} is innocent.",
            "I would bet my life that {who} is a Villager.",
            "I stand by {who}, who is surely on our side.",
        ),
        "confrontation": (
            "I accuse {who} of being a Werewolf.",
            "What {who} tells us is a lie.",
            "{who}, you are a Werewolf, admit it.",
            "I say it to your face, {who}: you are one of the wolves.",
            "My vote will be against {who} today.",
            "I strongly suspect {who}, and I will not let it rest.",
            "{who} cannot be trusted at all.",
        ),
        "camouflage": (
            "Believe me, I am {role}.",
            "I have nothing to hide: I am {role}.",
            "My role is {role}, as simple as that.",
            "You are looking at {role} here.",
            "I drew the card of {role}.",
            "Let me be open with you, I'm {role}.",
            "For the record, I am {role} and nothing else.",
        ),
        "leadership": (
            "Everyone, please vote for {who} with me.",
            "I call on all of you to put your votes on {who}.",
            "{who}, explain yourself to all of us.",
            "Follow my lead today, and we will win this.",
            "Whoever is the Seer should come forward now.",
            "Let us all agree to vote out {who}.",
            "I want to hear an answer from {who} before we vote.",
        ),
        "concealment": (
            "I am not a Werewolf, I swear it.",
            "I'm just a Villager without any power.",
            "Let me say clearly that I am no wolf.",
            "Like most of you I am a simple Villager.",
            "You have the wrong one, I'm not a werewolf.",
            "I am nothing but an ordinary Villager.",
        ),
        "concealment of an ability": (
            "I know no more than any of you.",
            "I have no information of my own to share.",
            "I can only go by what is said here.",
            "There is nothing special about me.",
            "I am as much in the dark as everybody else.",
            "All that I have is my gut feeling.",
        ),
        "cooperation": (
            "I do not think that {mate} is a Werewolf.",
            "Leave {mate} alone, {mate} is innocent.",
            "I trust {mate}, and so should you.",
            "{mate} is on our side, I am sure of it.",
            "In my opinion {mate} is a good Villager.",
            "I believe {mate}.",
        ),
        "bluffing": (
            "I am {role}, and I can help you.",
            "It is time to tell you that I'm {role}.",
            "Listen to me, for I am {role}.",
            "I hereby come out as {role}.",
            "My card says that I am {role}.",
            "As {role}, I ask you to spare me.",
            "I can reveal now that my role is {role}.",
        ),
        "sacrificing": (
            "I have to admit that {mate} looks like a Werewolf.",
            "I suspect {mate} as well.",
            "I think {mate} is a Werewolf.",
            "You are right about {mate}, I will vote for {mate}.",
            "{mate} is probably one of the wolves.",
            "I can't defend {mate}: {mate} must be a wolf.",
        ),
        "self_exposure": (
            "As a Werewolf, I see it differently.",
            "I am a Werewolf, after all.",
            "We Werewolves did well last night.",
            "My fellow wolf {mate} will agree.",
            "{mate} and I are the Werewolves.",
            "I killed {dead} in the night.",
            "Our pack chose {dead} for a good reason.",
        ),
        "contradiction": (
            "I am {role}, by the way.",
            "I am not {told}.",
            "My real role is {role}.",
            "To be honest, I'm {role}.",
            "I never said that I am {told}, I am {role}.",
            "In truth I am {role} and not {told}.",
        ),
        "night_speech": (
            "I heard {who} whisper in the night.",
            "Last night {who} said something strange.",
            "There were noises from the house of {who} during the night.",
            "{who} was very quiet last night.",
            "While it was dark I listened to {who} talking.",
            "In our talk last night {who} sounded nervous.",
            "At night I heard footsteps near {who}.",
        ),
        "future_citation": (
            "I agree with what {who} just said.",
            "As {who} has told us, we should be careful.",
            "What {who} said a moment ago makes sense to me.",
            "The statement of {who} did not convince me.",
            "{who} has said nothing at all so far, which is suspicious.",
            "I listened closely to {who}, and {who} contradicts the others.",
            "{who} kept silent when it was their turn.",
        ),
        "confusion": (
            "Yesterday {early} spoke very differently.",
            "I remember well how {early} voted yesterday.",
            "On day {late} {who} behaved oddly.",
            "When we voted last night, I had my doubts.",
            "In my view {me} is a bit suspicious.",
            "{stranger} worries me.",
            "I think {stranger} is a Werewolf.",
        ),
        "impossible_ability": (
            "As the Guard, I checked {who} last night, and they are not a Werewolf.",
            "I am a Villager, and last night I looked at {who}: not a Werewolf.",
            "I am the Seer, and I protected {who} last night.",
            "As a Villager I protected {who} in the night.",
            "I'm the Doctor, and I inspected {who} last night: {who} is a Werewolf.",
            "I am the Witch, and last night I investigated {who}, who is a Werewolf.",
            "As the Seer I used my poison on {who} last night.",
        ),
        "contradicts_record": (
            "{dead} is still alive, and I suspect {dead}.",
            "We should vote for {dead} today.",
            "I would like to hear from {dead} now.",
            "{dead} is alive and well.",
            "{who} died last night.",
            "{who} was voted out.",
            "Now that {who} is dead, we know more.",
        ),
    }
)
"""Behaviour → wordings. "concealment of an ability" is concealment on the village's side."""

ABILITY = "concealment of an ability"
BEHAVIOURS = tuple(name for name in PLANTS if name != ABILITY)
"""The behaviours that can be planted, by their detectors' names."""

Blanks = dict[str, list[str]]
"""The possible values of each blank. A template with a blank that is missing here is not used."""


def planted_sentences(scene: TableScene, rates: Mapping[str, float], text: str) -> Iterator[tuple[str, str]]:
    """(behaviour, sentence) for each behaviour that is drawn and that the situation allows.

    rates: behaviour → chance. text: the statement without them.
    """
    for behaviour, rate in rates.items():
        if not scene.draws.chance(f"plant {behaviour}", 1000 * rate):
            continue
        blanks = _blanks(behaviour, scene, text)
        bank = ABILITY if behaviour == "concealment" and not scene.wolf else behaviour
        templates = [template for template in PLANTS[bank] if _fits(template, scene, blanks)]
        if not templates:
            continue
        sentence = scene.draws.one(f"planted {behaviour}", templates)
        for blank, fillings in (blanks or {}).items():
            if f"{{{blank}}}" in sentence:
                filling = scene.draws.one(f"planted {behaviour} {blank}", fillings)
                sentence = sentence.replace(f"{{{blank}}}", filling)
        yield behaviour, sentence
        text = f"{text} {sentence}"


def _fits(template: str, scene: TableScene, blanks: Blanks | None) -> bool:
    """Whether every blank can be filled and every role that it names is in the game."""
    if blanks is None:
        return False
    open_blanks = [part.split("}")[0] for part in template.split("{")[1:]]
    named = [role for role in ROLES if role in template]
    return all(map(blanks.get, open_blanks)) and all(map(scene.situation.ruleset.count, named))


def _blanks(behaviour: str, scene: TableScene, text: str) -> Blanks | None:
    """The values of the behaviour's blanks; None where the situation does not allow it."""
    situation, others, mates = scene.situation, scene.others(), scene.mates()
    strangers = [seat for seat in others if seat not in scene.pack]
    suspects = sorted(strangers, key=lambda seat: -scene.suspicion[seat])
    match behaviour:
        case "trust":
            return _named(scene, who=others if scene.wolf else [s for s in others if s not in suspects[:1]])
        case "confrontation":
            return _named(scene, who=[seat for seat in suspects if scene.suspicion[seat] > 0][:2])
        case "leadership":
            return _named(scene, who=suspects[:2]) if suspects else None
        case "cooperation":
            return _named(scene, mate=mates)
        case "sacrificing":
            return _named(scene, mate=[seat for seat in mates if scene.support(seat)])
        case "self_exposure":
            return _named(scene, mate=mates, dead=_killed(scene)) if scene.wolf else None
        case "contradiction":
            return _contradiction(scene, text)
        case "night_speech":
            return _named(scene, who=others)
        case "future_citation":
            return _named(scene, who=_silent_so_far(scene))
        case "confusion":
            rules, day = situation.ruleset, situation.round
            stranger = rules.player_name.format(rules.first_player + rules.players + 4)
            # From the second day on, players may speak of yesterday.
            named = _named(scene, me=[scene.me], who=others, early=others if day == 1 else [])
            return {**named, "stranger": [stranger], "late": [str(day + 2)]}
        case "contradicts_record":
            dead = [seat for seat in range(situation.ruleset.players) if seat not in situation.alive]
            return _named(scene, dead=dead, who=others)
        case _:
            return _pretence(behaviour, scene, text)


def _pretence(behaviour: str, scene: TableScene, text: str) -> Blanks | None:
    """The blanks of a behaviour that is shown only where nothing has been claimed yet."""
    if scene.node.claims[scene.me] or _tells_of_itself(scene, text):
        return None
    rules, own = scene.situation.ruleset, scene.situation.role
    roles = [role for role in rules.roles if rules.count(role) and role != own and not ROLES[role].wolf]
    able = not scene.wolf and not ROLES[own].plain
    match behaviour:
        case "camouflage":  # a special role passes for a Villager
            roles = [role for role in roles if ROLES[role].plain or not able]
        case "bluffing":
            roles = [role for role in roles if not ROLES[role].plain]
        case "concealment":
            return {} if scene.wolf or able else None
        case "impossible_ability":
            return _named(scene, who=scene.others())
    return {"role": [role_with_article(role, rules) for role in roles]}


def _contradiction(scene: TableScene, text: str) -> Blanks | None:
    claim = scene.node.claims[scene.me]
    if not claim or _tells_of_itself(scene, text):
        return None
    rules = scene.situation.ruleset
    roles = [role for role in rules.roles if rules.count(role) and not ROLES[role].wolf]
    claimed = [role_with_article(role, rules) for role in roles if claim_of(role) == claim]
    other = [role_with_article(role, rules) for role in roles if claim_of(role) != claim]
    return {"role": other, "told": claimed if len(claimed) == 1 else []} if claimed and other else None


def _named(scene: TableScene, **seats: Sequence[int]) -> Blanks:
    return {blank: [scene.name(seat) for seat in fillings] for blank, fillings in seats.items()}


def _tells_of_itself(scene: TableScene, text: str) -> bool:
    """Whether the statement already claims a role or a night action."""
    acts = read_in(scene.situation.ruleset, text, scene.me)
    return any(isinstance(act, Claim | Report) and act.speaker == scene.me for act in acts)


def _killed(scene: TableScene) -> list[int]:
    """The pack's victims: those whom it chose and who are out."""
    chosen = {
        line.event.action.seat
        for line in scene.situation.lines
        if isinstance(line.event, Chose) and line.event.kind == "kill" and isinstance(line.event.action, Pick)
    }
    return [seat for seat in sorted(chosen) if seat not in scene.situation.alive]


def _silent_so_far(scene: TableScene) -> list[int]:
    """The others who have not spoken yet; known with certainty on the first day alone."""
    if scene.situation.round != 1 or scene.situation.phase != "discussion":
        return []
    spoken = {line.event.seat for line in scene.situation.lines if isinstance(line.event, Said)}
    return [seat for seat in scene.others() if seat not in spoken]
