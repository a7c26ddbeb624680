"""Night actions in talk: checks and their results, shields and potions.

Written for normalised sentences (see `spelling`). First come exact patterns. Where they find no result, a
sentence that tells of a check is searched for pairs of players and verdicts with nothing but linking words
between them: "my magic showed @2 as human", "1 - good, 12 - wolf". It knows words, and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...rules import ROLES
from .acts import GOOD, WEREWOLF, Report
from .sentence import ME, Sentence, meant
from .spelling import seats_named
from .vocabulary import COP, FILL, MANY, NAMED, PRED, ROLE, STATE, is_bad

_CHECKED = (
    r"(?:checked|check|saw|(?<!\bi )see|seen|looked (?:at|into)|inspected|verified|investigated|examined|"
    r"divined|observed|peeked(?: at)?|peeped|scanned|used my (?:ability|power|vision|sight|gift) (?:on|to "
    r"(?:see|check)))"
)

_FOUND = r"(?:found(?: out)?|discovered|learn(?:ed|t)|saw|seen|verified|observed|can confirm|" r"confirmed)"

_AUX = (
    r"(?:(?: |, )(?:have|had|has|did|also|just|already|then|personally|chose to|decided to|last night|"
    r"tonight|on night \d+|the (?:first|second|third) night|can tell you i|was able to|managed to))*"
)

_SHIELDED = (
    r"(?P<verb>protect(?:ed)?|guard(?:ed)?|saved?|shield(?:ed)?|heal(?:ed)?|covered|watched over|used (?:my|"
    r"the) antidote on|used (?:my|the) antidote to save|poison(?:ed)?|used (?:my|the) poison on)"
)

_SELF = r"myself|himself|herself|themselves|themself"

_CHECK = re.compile(
    rf"(?:\b(?P<who>i|@\d+){_AUX} {_CHECKED}|(?:^|[,~] ?|\band )(?:checked|inspected|investigated|verified|"
    r"scanned|peeked(?: at)?|looked at))"
    rf" (?P<whom>{MANY}|{_SELF})|\b(?:my|the) (?:night )?(?:check|vision|investigation|inspection|result|"
    rf"look|reading|peek|scan)(?: last night)?(?: on| of| at| for| into) (?P<mine>{MANY})"
)

_FIND = re.compile(
    rf"(?:\bi{_AUX}|(?<=\band)(?: also| then)?) {_FOUND}(?: last night)?(?: that)? (?={MANY} (?:{COP}))|"
    r"\b(?:checks?|results?|visions?|peeks?)(?: so far| last night| tonight| today)?"
    rf"(?: (?:is|are|was|were|shows?|showed))?(?: that)?,? (?=@\d+ (?:{COP}))|"
    rf"\bin my (?:vision|dream|check|investigation)s?,? (?={MANY} (?:{COP}))"
)

_CHECKED_THEM = re.compile(rf"\bi{_AUX} {_CHECKED} (?:them|him|her|it)\b")
"""A check told after its result: "… is a Werewolf, because I checked them"."""

_PROTECTION = re.compile(r"\bmy (?:protection|shield|guard) (?:of|on|for|over) (?P<whom>@\d+)")

_SHIELD = re.compile(rf"\b(?P<who>i|@\d+){_AUX} {_SHIELDED} (?P<whom>@\d+|{_SELF})")

_RESULT = re.compile(
    r"(?:^@\d+,|^|\b(?:found|saw|got|is|was|result was|shows?|showed|said|says|read|reads|came (?:back|up|"
    r"out|in)(?: as)?|comes (?:back|up|out)(?: as)?|turned (?:up|out)(?: as| to be)?|result,|"
    rf"night,))(?P<fill>{FILL}) {PRED}"
)

_BAD = (
    r"red|black|guilty|evil|bad|mafia|positive|wolf's|wolfish|corrupted?|dark|tainted|hostile|fangs|one of "
    r"them|one of the (?:were)?wolves|on the evil side|the enemy|a monster|fur"
)
_GOOD = (
    r"green|white|gold|good|clean|clear(?:ed)?|innocent|human|village|town|negative|safe|harmless|pure|fine|"
    r"one of us|on our side|on the good side|village-aligned|gold water|nothing(?! to)|okay|ok|certified|"
    r"nothing (?:evil|wrong|bad|suspicious|wolfish|dark)"
)
_VERDICT = rf"(?P<bad>{_BAD})\b|(?P<role>{ROLE})|(?P<good>{_GOOD})\b"
# A comma is read apart from the word behind it, and no entry is a row of other entries ("has cleared"): a
# text that can be read in two ways at every word takes a time that doubles with each.
_LINK = (
    r"(?:,| (?:is|are|was|were|came|comes?|back|up|as|turned|out|to|be|the|a|an|results?|shows?|showed|"
    r"reads?|reading|and|he|she|they|it|got|both|also|definitely|my|that|being|heart|very|again|who|check|"
    r"night|tonight|last|then|not|no|never|on|of|-+|--+>|\d+|n\d|absolutely|really|all|right|answer|verdict|"
    r"saw|see|found|in|fact|one|other|i|learned|discovered|indeed|completely|totally|for|real|certified|"
    r"plain|pure|have|has|been|him|her|them|only|just|clearly|sleeping|like|baby|cleared|revealed|proved|"
    r"proven|testing|tested)\b| ?->| ?=)*"
)
_PAIR = re.compile(
    rf"(?P<whom>{MANY})(?:'s (?:card|heart|soul|nature|true nature|alignment|result|role|"
    rf"aura))?(?P<link>{_LINK}),? ?(?:{_VERDICT})"
)
_ON = re.compile(
    rf"(?:{_VERDICT})(?: (?:check|result|results|read|reading|peek|vision|verdict|one|report|card|answer|"
    rf"scan|inspection|water|bill of health))* (?:on|for|about|from|to) (?P<whom>{MANY})"
)
_LONE = re.compile(
    r"^(?:[, ]*+(?:it|he|she|they|the|result|came|back|up|turned|out|is|was|are|verdict|answer|and|saw|i|"
    r"read|as|a|an|good|bad|news|not|no|shows?|showed|to|be|colou?r|that|one|card|said|says|looks|my|"
    r"absolutely|definitely|100|heart|pure|very|their|his|her|alignment|role)\b)*?"
    rf"[, ]*+(?:{_VERDICT})(?P<end>(?:,? (?:card|result|heart|check|all|for sure|as|can|be|through|and|again|"
    r"side|one|here|folks|guys|everyone|everybody|snow|day|night)\b)*)$"
)
_MAGIC = (
    r"(?:check(?:s|ed)?|peeks?|visions?|investigations?|inspections?|results?|magic|crystal ball|crystal|"
    r"dreams?|readings?|scans?|sight|second sight|gift|orb|tarot|cards|divination|seeing|night action|"
    r"ability|power|look|lookups?|insight|eye|findings?)"
)
_OWN = re.compile(
    r"\b(?:i|we)\b(?:,? (?!@|he\b|she\b|they\b|you\b|think\b|believe\b|suspect\b|trust\b|vot\w*\b|agree\b|"
    r"doubt\b)[\w'-]+){0,5}? (?:check(?:ed)?|peek(?:ed)?|peeped|inspect(?:ed)?|investigate[d]?|scan(?:ned)?|"
    r"divine[d]?|look(?:ed)? (?:at|into|in)|examined?|vetted|probed|turned my|pointed my|gazed|used my|cast "
    r"my|went for|saw|seen|dreamt|dreamed|tested|verified|learned|learnt|discovered|found|peered|gave @\d+ "
    r"the)\b|"
    r"(?:^|[,;~] ?|\b(?:both|all|two|one|first|second|of|from|by|in|and|with|here are|these are|told|was|"
    rf"that) )(?:of )?my (?:[\w']+ ){{0,2}}{_MAGIC}\b|"
    r"\b(?:moon|spirits?|stars?|gods?|cards|orb|crystal(?: ball)?|fates?|vision|dream|magic|moderator|tarot|"
    r"bones|ancestors)"
    r" (?:showed|shows|shown|told|tells|revealed to|gave|has shown|have shown|whispered to|has told|have "
    r"told) me\b|"
    rf"^(?:[\w']+ )?(?:{_MAGIC})(?: so far| were| are| in order| for| is|,)|\b(?:yesterday|last night|"
    r"tonight)(?:'s)? (?:check|investigation|inspection|peek|result|vision)|"
    r"^(?:\w+ )?(?:seer|prophet) (?:here|claim|reveal|speaking|result)|^used my|\bnight (?:\d|one|two|"
    r"three),? @|\bn\d(?:,| |-)|^(?:peeked|checked|inspected|investigated|scanned|looked at) @"
)
_WHOSE = re.compile(
    r"(?P<who>@\d+)(?:'s (?:[\w']+ ){0,2}(?:checks?|visions?|results?|investigations?|peeks?|inspections?|"
    r"findings?|readings?)\b|[^~;@]*? (?:claim|introduc|reveal|came out|come out|says|said|announc|declar|"
    r"report|has a|have a|got a|with a|had a))"
)
_CUT = re.compile(
    r",? (?:and |but |so )?(?:honestly|personally|i (?:also |really )?(?:think|believe|suspect|trust|lean|"
    r"vote|say|propose|suggest|want)|because|which means|so (?:let|we|i|vote)|let us|please|therefore|but "
    r"(?:i|we)|vote|we (?:should|must|need))\b.*$"
)
_NEGATED = re.compile(r"\b(?:not|no|never|hardly|neither|cannot)\b(?! (?:doubt|question))")

_SOMEBODY = (-2,)
"""Stands for players who were checked and will be named."""


def checks(sentence: Sentence) -> None:
    """Read the night actions told."""
    me = sentence.me
    for match in sentence.each(_SHIELD):
        who = me if match["who"] == "i" else int(match["who"][1:])
        shielded = who if match["whom"][0] != "@" else int(match["whom"][1:])
        poisoned, saved = "poison" in match["verb"], "antidote" in sentence.text
        kind = "poison" if poisoned else "antidote" if saved else "protect"
        sentence.acts.append(Report(who, kind, shielded, "", me))
    for match in sentence.each(_PROTECTION):
        sentence.acts.append(Report(me, "protect", int(match["whom"][1:]), "", me))
    check = _CHECK.search(sentence.text)
    if check is not None:
        who = me if check["who"] in ("i", None) else int(check["who"][1:])
        whom = seats_named(check["whom"] or check["mine"]) or (who,)
        has_result = _results(sentence, who, whom, check.end(), check)
        sentence.checking = () if has_result or who != me else whom
    elif "@" in sentence.text and (finding := _FIND.search(sentence.text)):
        start = finding.end()
        _results(sentence, me, seats_named(sentence.text[start : start + 60]), start, finding)
    elif checked := _CHECKED_THEM.search(sentence.text):
        whom = sentence.named_before(checked.start())
        has_result = _results(sentence, me, whom, 0, None)
        sentence.checking = () if has_result else whom
    elif sentence.was and sentence.was != _SOMEBODY:
        _results(sentence, me, sentence.was, 0, None)
    if not any(isinstance(act, Report) and act.kind == "see" for act in sentence.acts):
        _free_results(sentence)


def _results(
    sentence: Sentence, who: int, whom: tuple[int, ...], start: int, head: re.Match[str] | None
) -> bool:
    """Read what a check showed from `start` on; True when a result was told."""
    tail, has_result = sentence.text[start:], False
    if head is not None and head.re is _CHECK:
        tail = (f"@{whom[-1]}" if whom[-1] != ME else "they") + tail
    elif head is None:
        tail = " " + tail
    for match in STATE.finditer(tail):
        seats = meant(match["subj"], whom or sentence.last)
        seats = tuple(seat for seat in seats if head is not None or not whom or seat in whom)
        sentence.see(who, seats, check_result_of(match))
        has_result = has_result or bool(seats)
    result = None if has_result else _RESULT.search(tail)
    if result is not None:
        sentence.see(who, whom, check_result_of(result))
        has_result = True
    if has_result:
        sentence.strike(head.start() if head is not None else 0, len(sentence.text))
    return has_result


def _free_results(sentence: Sentence) -> None:
    """Read the results that the exact patterns leave."""
    has_result = False
    by = _whose(sentence.text)
    if by is None and sentence.was == _SOMEBODY:
        by = ""
    if by is not None:
        for players, result, start, end in list(_verdicts(sentence.text)):
            sentence.see(int(by[1:]) if by else sentence.me, seats_named(players), result)
            sentence.strike(start, end)
            has_result = True
    if by == "" and not has_result and "@" not in sentence.full:
        sentence.checking = sentence.checking or _SOMEBODY  # "I have checked two players": who comes next
    whom = sentence.checking or sentence.was
    if not has_result and whom and whom != _SOMEBODY and (result := _lone(sentence.text)):
        sentence.see(sentence.me, whom, result)
        sentence.strike(0, len(sentence.text))
        has_result = True
    if has_result:
        sentence.checking = ()


def check_result_of(match: re.Match[str]) -> str:
    """The result that an "X is Y" tells."""
    word = match["pred"]
    negated = bool(re.search(r"\b(?:not|never|no|cannot)\b", match[0][: match.start("pred") - match.start()]))
    if is_bad(word):
        return GOOD if negated else WEREWOLF
    role = NAMED.get(word, "")
    if negated:
        return "" if role else WEREWOLF
    return role or GOOD


def _whose(text: str) -> str | None:
    """Whose check a sentence reports: "" for the speaker's, a player as "@2", None for nobody's."""
    other = _WHOSE.search(text)
    own = _OWN.search(text)
    if other is not None and (own is None or other.start() < own.start()):
        return other["who"] if re.search(rf"\b{_MAGIC}\b", text) else None
    return "" if own is not None else None


def _verdicts(text: str) -> Iterator[tuple[str, str, int, int]]:
    """(players, result, start, end) for every result in `text`; result: `what` of a `Report`."""
    cut = _CUT.search(text)
    text = text[: cut.start()] if cut else text
    taken = 0
    for match in sorted(
        [*_PAIR.finditer(text), *_ON.finditer(text)],
        key=lambda match: (match.start(), -match.end()),
    ):
        if match.start() < taken:
            continue
        before = match["link"] if match.re is _PAIR else text[max(0, match.start() - 12) : match.start()]
        if result := _verdict(match, before):
            taken = match.end()
            yield match["whom"], result, match.start(), match.end()


def _lone(text: str) -> str:
    """The verdict of a sentence that names nobody: "It's red.", "Good."; empty when there is none."""
    match = _LONE.search(text)
    return _verdict(match, match.group(0)[: _at(match) - match.start()]) if match is not None else ""


def _at(match: re.Match[str]) -> int:
    return next(match.start(name) for name in ("bad", "role", "good") if match[name] is not None)


def _verdict(match: re.Match[str], before: str) -> str:
    """The result that a matched verdict names. before: the words in front, which may deny it."""
    negated = _NEGATED.search(before) is not None
    role = NAMED.get(match["role"] or "", "")
    bad = match["bad"] is not None or (bool(role) and ROLES[role].wolf)
    if role and not bad:
        return "" if negated else role
    return GOOD if bad == negated else WEREWOLF
