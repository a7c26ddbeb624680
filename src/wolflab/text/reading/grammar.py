"""Small words by what they do in a sentence: negations, pronouns, verbs of saying, bounds of clauses.

For `text.reading.cues`. It knows English, and no game.
"""

from __future__ import annotations

import re

from .vocabulary import MANY


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PSEUDO = re.compile(
    r"\bno (?:doubt|question|wonder|surprise)\b(?! (?:about|that i trust))|\bnot (?:only|just|solely|simply|"
    r"blindly|exclusively)\b|\bso far\b|"
    r"\bcan not (?:help but|shake|ignore|wait)\b|\b(?:not (?:going to|gonna|about to)|will not|would not|"
    r"can not|no|never|to not) lie\b(?! (?:about|to))|\bnever mind\b|\bnot to mention\b|"
    r"\bmore (?:than|so than) (?=@)|\bat least\b|\bi do not know about you\b|\bdo not know why but\b|"
    r"\bno more than\b|"
    r"\bnothing but\b|\bnone other than\b|\bnot the only one\b|\bnot surprised\b|\bnot shy\b"
)
"""What looks like a negation and is none."""

SHERIFF = re.compile(
    r"\b(?:former|next|new|our|the|as) (?:the )?sheriff\b|\bas far as i (?:am concerned|can tell)\b"
)

RAISED = re.compile(
    r"\b(?:everyone|everybody|anyone|anybody|all|nobody|no-one)(?: \w+)?,? (?:except|but|besides|other than|"
    rf"apart from)(?: for)? {MANY}|"
    rf"\b(?:(?:raised |made |shared |mentioned |voiced |pointed out )by|(?:dis)?agree with) {MANY}(?:'s)?|"
    rf"{MANY}'s (?=(?:concern|suspicion|accusation|worr|doubt|observation)s?(?: that| about| on| of|$))"
)
"""Whose suspicion is shared: not who is suspected."""

CALLED = re.compile(r"(?:^|[,~] ?)(@\d+)(?=,|$)")
"""A player who is spoken to."""

BOUNDARY = _set(
    "but while because although though yet since so whereas therefore hence then which cause cuz coz as "
    "given considering unlike until when whenever after before plus except and or ; ,"
)

NEGATIONS = _set(
    "not never no hardly without nothing nobody none cannot neither nor less barely scarcely rarely seldom "
    "unlikely lacks lack lacking zero impossible refuse doubt"
)

MINE = _set("i we me us my our let myself")

THEIRS = _set(
    "he she they it who everyone everybody people somebody someone some anyone nobody others wolves "
    "werewolves seer doctor guard witch you villagers"
)

PRONOUNS = _set("he she they him her them his their himself herself that-one themself")

YOURS = _set("you your yourself u ur")

SAYING = _set(
    "said says say saying claim claims claimed claiming accuse accuses accused accusing suspect suspects "
    "suspected suspecting think thinks thought thinking believe believes believed believing told tells tell "
    "telling wants want wanted call calls called calling defend defends defended defending vouch vouches "
    "vouched trust trusts trusted doubts doubted suggest suggests suggested suggesting report reports "
    "reported insist insists insisted ask asks asked mention mentions mentioned argue argues argued "
    "questioned questions named finds considers considered sees regards"
)

PREPOSITIONS = _set(
    "on for against of to with at about from over towards toward by behind around into than like versus "
    "after before onto between in under regarding concerning"
)

OPEN = re.compile(
    r"\b(?:can not (?:say|tell|place|decide|figure)|not (?:(?:see|understand|know|get) (?:why|how|what)|"
    r"sure|saying|convinced(?! by| of)|certain|enough|over ?look|forget|necessarily|accus\w+|claiming|"
    r"calling)|unsure|undecided|too (?:early|soon)|no (?:strong )?(?:read|opinion|idea)|hard to (?:tell|say|"
    r"read)|never said|whether|(?<!wolf )(?<!one )(?<!person )(?<!player )who(?= (?:might|could|is|are|we|"
    r"do|to|among|the wol\w+))|what (?:if|do|does|did|is|are|was|were)|why (?:do|does|did|is|are)|wonder\w*|"
    r"thoughts|curious(?! (?:how|that))|(?:to|will|should|let us|must|we) hear|hear from|other players|each "
    r"of you|(?:share|any|their|your|everyone's|our|other|further) (?:\w+ ){0,2}(?:suspicions?|concerns?|"
    r"suspicious)|it would be|(?:he|she|they|it|i|we|@) (?:would|could) have|had @\d+ been|supposed|"
    r"(?<!acting )(?<!acts )(?<!talks )(?<!behaves )(?<!acted )as if|suppose|either way|tooth|rip|"
    r"congrat\w*|(?:should|could|will|please|let us|must|seer|i would|may|might) (?:\w+ )?(?:check|verify|"
    r"protect|save|peek|inspect|investigate)\b|was killed|died|night kill|(?:to|please|should|must|you|"
    r"will) (?:explain|respond)|ask(?! @ why)|asking|not (?:yet )?been \w+ or \w+|(?:only|just|merely|"
    r"simply) (?:asking|questioning|curious)|sufficient (?:grounds|evidence|reason)|would like to know|tell "
    r"us|pretend game|if)\b"
)

HEDGED = re.compile(
    r"\b(?:might|may|could|perhaps|possibly|maybe|guess|bit|little|somewhat|slightly|eyes?|watch\w*|"
    r"observ\w+|attention|focus|concern\w*|wary)\b"
)


COPULAS = _set(
    "is are was were be been looks look seems seem feels feel sounds sound reads read appears appear as "
    "being find consider call think like were = feel"
)

FILLERS = _set(
    "a an the very pretty quite probably really so more most also still perfectly totally fully completely "
    "definitely certainly clearly likely rather far not never both all just to me be at least been looking "
    "no in my book mostly fairly entirely 100"
)

STOPS = _set("to in for by with at on now here today so far from as or and if this than enough i right")


CARRIES = _set(
    "is are was were has have had does did do keeps kept looks seems sounds feels acts just also still even "
    "clearly obviously probably definitely not never always too very whose who and then very"
)
STANDING_FOR = _set("it that this man guy fellow woman lady dude chap girl boy")
"""What refers back to a player without being a pronoun of persons."""
OWNING = _set("'s his her their your my the a an this that no any our")
"""Before a "claim" or a "vote", these make a noun of it."""
PEOPLE = _set(
    "man men woman women person people folk folks player players soul souls villager villagers townie "
    "townies reaction reactions one ones victim victims bystander bystanders blood"
)
HUNTED = _set(
    "catch catches caught find finds found hunt hunting expose exposed lynch lynched hang hanged kill "
    "killed eliminate eliminated"
)
"""Before "a wolf", these tell of one that is hunted, not of who hunts."""
