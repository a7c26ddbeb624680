"""The forms of English verbs, regular and irregular."""

from __future__ import annotations

from functools import cache

_IRREGULAR = {
    "hide": "hide hides hid hidden hiding",
    "lead": "lead leads led leading",
    "panic": "panic panics panicked panicking",
    "lie": "lie lies lied lying",
    "spin": "spin spins spun spinning",
    "throw": "throw throws threw thrown throwing",
    "sit": "sit sits sat sitting",
    "hang": "hang hangs hung hanging",
    "lay": "lay lays laid laying",
    "fly": "fly flies flew flown flying",
    "ring": "ring rings rang rung ringing",
    "stink": "stink stinks stank stunk stinking",
    "make": "make makes made making",
    "have": "have has had having",
    "be": "be is are am was were been being",
    "get": "get gets got gotten getting",
    "give": "give gives gave given giving",
    "keep": "keep keeps kept keeping",
    "say": "say says said saying",
    "put": "put puts putting",
    "take": "take takes took taken taking",
    "come": "come comes came coming",
    "go": "go goes went gone going",
    "buy": "buy buys bought buying",
    "stick": "stick sticks stuck sticking",
    "bus": "bus buses bussed bussing",
    "bet": "bet bets betting",
    "tell": "tell tells told telling",
    "ride": "ride rides rode ridden riding",
    "leave": "leave leaves left leaving",
    "stand": "stand stands stood standing",
    "feel": "feel feels felt feeling",
    "speak": "speak speaks spoke spoken speaking",
    "know": "know knows knew known knowing",
    "mislead": "mislead misleads misled misleading",
    "hold": "hold holds held holding",
    "sow": "sow sows sowed sown sowing",
    "draw": "draw draws drew drawn drawing",
    "bring": "bring brings brought bringing",
    "fall": "fall falls fell fallen falling",
    "swing": "swing swings swung swinging",
    "sell": "sell sells sold selling",
    "win": "win wins won winning",
    "find": "find finds found finding",
    "see": "see sees saw seen seeing",
    "think": "think thinks thought thinking",
    "wear": "wear wears wore worn wearing",
    "show": "show shows showed shown showing",
    "let": "let lets letting",
    "set": "set sets setting",
    "steal": "steal steals stole stolen stealing",
    "freeze": "freeze freezes froze frozen freezing",
}


@cache
def forms(verb: str) -> tuple[str, ...]:
    """All forms of an English verb: dodge, dodges, dodged, dodging."""
    if verb in _IRREGULAR:
        return tuple(_IRREGULAR[verb].split())
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", verb[:-1] + "ing"
    if verb[-1] == "y" and verb[-2] not in "aeou":
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    plural = verb + ("es" if verb.endswith(("s", "sh", "ch", "x")) else "s")
    stem = verb
    if verb[-1] in "bdglmnprt" and verb[-2] in "aeiou" and (len(verb) < 3 or verb[-3] not in "aeiou"):
        short = sum(letter in "aeiou" for letter in verb) == 1 or "-" in verb
        stem = verb + verb[-1] if short else verb
    return verb, plural, stem + "ed", stem + "ing"
