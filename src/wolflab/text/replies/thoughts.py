"""Thoughts in a reply, and the answer that is left without them.

Some models think aloud before they answer, and mark their thoughts in their own way. A server may pass on
both in one text. `MARKS` names the marks of each family of models once. This module knows texts, not what was
asked, and of JSON only where an object ends. It needs nothing but Python: the file goes along with exported
questions, beside the one that reads their replies.

Any text is allowed, and none raises. The time is linear in the text's length.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from typing import Literal, NamedTuple


class WithoutThoughts(NamedTuple):
    """text: what is left of a reply without its thoughts. thought: whether there were any. unfinished: the
    reply ends within its thoughts or with them, so that there is no answer; `text` is "" then.
    """

    text: str
    thought: bool = False
    unfinished: bool = False


class Family(NamedTuple):
    """Marks that belong together. who: whose they are.

    begin, end: of thoughts; each of several ends them. answer, done: of the answer. A mark is a tag
    (`<think>`), which may have attributes and is taken in any case (in capitals alone where it is written so
    here), or tokens and words in a row, with blanks between them or not. `*` stands for letters and digits.
    alone: an end without a beginning says that the text began with thoughts. stray: but not where nothing
    follows it. paired: a beginning without an end is no mark. wraps: the answer's marks are words that models
    also use otherwise; see `_Reader._wraps`.
    """

    who: str
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    alone: bool = True
    paired: bool = False
    stray: bool = False
    wraps: bool = False


MARKS: tuple[Family, ...] = (
    Family("DeepSeek, Qwen, GLM, MiniMax, Kimi, Phi and most others", ("<think>",), ("</think>",)),
    Family("Reflection 70B, Amazon Nova, Claude as it is prompted", ("<thinking>",), ("</thinking>",)),
    Family("EXAONE Deep, Marco-o1, Gemini", ("<thought>",), ("</thought>",)),
    Family("Hermes, LLaVA-CoT, models as they are prompted", ("<reasoning>",), ("</reasoning>",)),
    Family("models as they are prompted", ("<reason>",), ("</reason>",)),
    Family("Reflection 70B, Hermes", ("<reflection>",), ("</reflection>",)),
    Family("Claude, Hermes", ("<scratchpad>",), ("</scratchpad>",)),
    Family("Claude", ("<antThinking>",), ("</antThinking>",)),
    Family("Hermes", ("<inner_monologue>",), ("</inner_monologue>",)),
    Family("models as they are prompted", ("<analysis>",), ("</analysis>",)),
    Family("models as they are prompted", ("<chain_of_thought>",), ("</chain_of_thought>",)),
    Family("models as they are prompted", ("<thought_process>",), ("</thought_process>",)),
    Family("models as they are prompted", ("<brainstorm>",), ("</brainstorm>",)),
    Family("proxies", ("<redacted_thinking>",), ("</redacted_thinking>",)),
    Family("Hunyuan 3 and 4", ("<think:*>",), ("</think:*>",)),
    Family("Doubao", ("<think_never_used_*>",), ("</think_never_used_*>",)),
    Family("Seed-OSS", ("<seed:think>",), ("</seed:think>",)),
    Family("MiniMax M3", ("<mm:think>",), ("</mm:think>",)),
    Family("LongCat", ("<longcat_think>",), ("</longcat_think>",)),
    Family("K2 Horizon", ("<ifm|think*>",), ("</ifm|think*>",)),
    Family("Kimi-VL, Kimi-Dev", ("◁think▷",), ("◁/think▷",)),
    Family("Magistral, Ministral", ("[THINK]",), ("[/THINK]",)),
    Family("models as they are prompted", ("[THINKING]",), ("[/THINKING]",), paired=True),
    Family("models as they are prompted", ("[THOUGHT]",), ("[/THOUGHT]",), paired=True),
    Family("models as they are prompted", ("[REASONING]",), ("[/REASONING]",), paired=True),
    Family(
        "Cohere Command",
        ("<|START_THINKING|>",),
        ("<|END_THINKING|>",),
        ("<|START_RESPONSE|>", "<|START_TEXT|>"),
        ("<|END_RESPONSE|>", "<|END_TEXT|>"),
    ),
    Family("Apertus", ("<|inner_prefix|>",), ("<|inner_suffix|>",)),
    Family(
        "Solar Open",
        ("<|think|>",),
        ("<|end|>", "<|begin|>"),
        ("<|content|>",),
        ("<|end|>",),
        alone=False,
    ),
    Family("Solar Open 2", ("<|think:start|>",), ("<|think:end|>",)),
    Family("models as they are prompted", ("<|thinking|>",), ("<|/thinking|>",)),
    Family("PLaMo 3", ("<|plamo:begin_think:plamo|>",), ("<|plamo:end_think:plamo|>",)),
    Family(
        "OpenThinker, Sky-T1, Bespoke-Stratos",
        ("<|begin_of_thought|>",),
        ("<|end_of_thought|>",),
        ("<|begin_of_solution|>",),
        ("<|end_of_solution|>",),
    ),
    Family(
        "Kimi K3",
        ("<|open|>think<|sep|>",),
        ("<|close|>think<|sep|>",),
        ("<|open|>response<|sep|>",),
        ("<|close|>response<|sep|>",),
    ),
    Family(
        "Inkling",
        ("<|content_thinking|>",),
        ("<|end_message|>", "<|message_model|>"),
        ("<|content_text|>",),
        ("<|end_message|>",),
        alone=False,
    ),
    Family("Gemma 4", ("<|channel>thought",), ("<channel|>",), stray=True),
    Family("MedGemma", ("<unused94>",), ("<unused95>",)),
    Family("openPangu", ("[unused16]",), ("[unused17]",)),
    Family("s1", ("<|im_start|>think",), (), ("<|im_start|>answer",), ("<|im_end|>",)),
    Family("Apriel", answer=("[BEGIN FINAL RESPONSE]",), done=("[END FINAL RESPONSE]",)),
    Family("Hunyuan-A13B, GLM-4.1V, R1-Zero", answer=("<answer>",), done=("</answer>",), wraps=True),
    Family("Granite 3.3, ERNIE 4.5", answer=("<response>",), done=("</response>",), wraps=True),
    Family("Reflection 70B, Marco-o1", answer=("<output>",), done=("</output>",), wraps=True),
    Family("models as they are prompted", answer=("<final>",), done=("</final>",), wraps=True),
    Family("LLaVA-CoT", answer=("<CONCLUSION>",), done=("</CONCLUSION>",), wraps=True),
    Family("GLM-V", answer=("<|begin_of_box|>",), done=("<|end_of_box|>",), wraps=True),
)
"""The marks by family. Those of `_HARMONY`, `_FRONT_ENDS` and `_PHRASES` have a form of their own."""

_HARMONY = Family(
    "gpt-oss and others in OpenAI's harmony format, Muse Glimmer",
    ("<|channel|>analysis<|message|>",),
    ("<|end|>", "<|return|>", "<|call|>", "<|eom|>", "<|eot|>"),
    ("<|start|>assistant<|channel|>final<|constrain|>json<|message|>",),
    alone=False,
)
"""A message is a header up to `<|message|>`, a text, and an end. Which channel the header names (analysis,
commentary, final) and whom it is for (`to=…`) say what the text is."""
_HARMONY_END = re.compile(r"<\|(?:end|return|call|eom|eot)\|>|(?=<\|(?:start|channel)\|>)")
"""A header ends the message before it as well."""
_FRONT_ENDS = Family("front ends", ('<details type="reasoning">',), ("</details>",), alone=False, paired=True)
_BARE = Family("harmony without its tokens, which some servers leave out")


class _Phrases(NamedTuple):
    """Phrases at the beginning of a text before thoughts (first), and before the answer (then)."""

    who: str
    first: re.Pattern[str]
    then: re.Pattern[str]


_PHRASES = (
    _Phrases(
        "Granite 3.2",
        re.compile(r"\s{0,99}Here(?:['’]s| is) my thought process:"),
        re.compile(r"Here(?:['’]s| is) my response:"),
    ),
    _Phrases(
        "HuatuoGPT-o1",
        re.compile(r"\s{0,99}## Thinking\b"),
        re.compile(r"^## Final Response\b", re.MULTILINE),
    ),
    _Phrases(
        "front ends", re.compile(r"\s{0,99}### ?Thinking\b"), re.compile(r"^### ?Response\b", re.MULTILINE)
    ),
    _Phrases(
        _BARE.who,
        re.compile(r"\s{0,99}(?:assistant)?(?:analysis|commentary)"),
        re.compile(r"assistantfinal"),
    ),
)
_BARE_ANALYSIS = re.compile(r"\s{0,99}(?:assistant)?analysis(?=[A-Z{])")
"""The last of them in a text that does not come to its answer: "analysisWe need to …"."""


# -- finding marks ----------------------------------------------------------------------------

_HEADED = r"<\|(?:start|channel|constrain)\|>[^<]{0,100}"
_TOKEN = re.compile(
    rf"{_HEADED}(?:{_HEADED}){{0,4}}<\|message\|>|<\|channel\|>\s{{0,3}}(?:analysis|commentary|final)\b|<[^<>\n]{{1,120}}>"
    r"|\[/?(?:THINK|THINKING|THOUGHT|REASONING|unused1[67])\]|\[(?:BEGIN|END) FINAL RESPONSE\]"
    r"|◁/?think▷|assistantfinal(?=[A-Z{\[*#\d])"
)
"""Whatever may be a mark, or begin one."""
_PARTS = re.compile(r"<[^<>]+>|\[[^\[\]]+\]|◁[^▷]+▷|[^<\[◁]+")
_TAG = re.compile(r"<(/?)([\w:*-]+)>")
_ATTRIBUTES = r"(?:\s+[\w:-]{1,40}\s?=\s?(?:\"[^\"<>]{0,100}\"|'[^'<>]{0,100}'|[\w.-]{1,100})){0,5}"
_DETAILS = re.compile(r"<details\b[^<>]*\stype=\"reasoning\"[^<>]*>")
_ROLE = re.compile(r"<\|start\|>\s*(?!to=)([\w.]*)")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"\bto=(\w+)")


class _Mark(NamedTuple):
    """The effect of a mark. rest: what has to follow its first token. aside: it begins an answer only where
    nothing comes after it.
    """

    kind: Literal["begin", "end", "answer"]
    family: Family
    rest: re.Pattern[str] | None = None
    aside: bool = False


class _Found(NamedTuple):
    mark: _Mark
    start: int
    end: int


def _pattern(mark: str, complete: bool = True) -> str:
    """A mark as a pattern. complete: with its first token."""
    tag = _TAG.fullmatch(mark)
    if tag is not None:
        name = re.escape(tag[2]).replace(r"\*", r"[\w-]{0,64}")
        case = "" if tag[2].isupper() else "i"
        return rf"(?{case}:<{tag[1]}\s?{name}{'' if tag[1] else _ATTRIBUTES}\s?>)"
    parts = [re.escape(part).replace(r"\*", r"[\w-]{0,64}") for part in _PARTS.findall(mark)]
    return r"\s{0,3}".join(parts if complete else ["", *parts[1:]])


@cache
def _any_of(marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_pattern, marks)) or r"(?!)")


@cache
def _table() -> tuple[tuple[re.Pattern[str], _Mark], ...]:
    """The first token of a mark as a pattern → the mark, of all families."""
    rows = [(_DETAILS, _Mark("begin", _FRONT_ENDS))]
    for family in MARKS:
        for mark in family.begin:
            rows.append(_row(mark, "begin", family))
        for mark in family.end if family.alone else ():
            rows.append(_row(mark, "end", family))
        for mark in family.answer:
            rows.append(_row(mark, "answer", family))
    return tuple(rows)


def _row(mark: str, kind: Literal["begin", "end", "answer"], family: Family) -> tuple[re.Pattern[str], _Mark]:
    first = _PARTS.findall(mark)[0]
    rest = re.compile(_pattern(mark, complete=False)) if first != mark else None
    return re.compile(_pattern(first)), _Mark(kind, family, rest)


@cache
def _firsts() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{first.pattern})" for first, _ in _table()))


@lru_cache(1 << 12)
def _marks_of(token: str) -> tuple[_Mark, ...]:
    """The marks that a token may begin."""
    if token == "assistantfinal":
        return (_Mark("answer", _BARE),)
    if token != "<|channel|>" and (token.startswith("<|channel|>") or token.endswith("<|message|>")):
        return (_of_header(token),)
    if _firsts().fullmatch(token) is None:
        return ()
    return tuple(mark for first, mark in _table() if first.fullmatch(token))


def _of_header(header: str) -> _Mark:
    """The mark that a header of harmony is. A message to anybody but the user is no answer, nor is one from
    anybody but the model. A commentary is an answer only if nothing follows it.
    """
    channels, recipients = _CHANNEL.findall(header), _RECIPIENT.findall(header)
    channel = channels[-1] if channels else "final"
    if not {*_ROLE.findall(header)} <= {"", "assistant"}:
        return _Mark("begin", _HARMONY)
    if channel == "commentary" and not recipients:
        return _Mark("answer", _HARMONY, aside=True)
    answers = channel in ("final", "commentary") and {*recipients} <= {"user", "assistant"}
    return _Mark("answer" if answers else "begin", _HARMONY)


def _find(text: str, at: int) -> _Found | None:
    """The next mark, whatever it stands in."""
    for token in _TOKEN.finditer(text, at):
        said = token[0]
        if said == "<|message|>":  # what Muse Glimmer says before it is a header without a token
            said = text[max(0, token.start() - 30) : token.start()].rpartition(">")[2] + said
        for mark in _marks_of(said):
            rest = mark.rest.match(text, token.end()) if mark.rest is not None else token
            if rest is not None:
                return _Found(mark, token.start(), rest.end())
    return None


class _Objects:
    """The JSON objects of a text, as far as they have to be known."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = 0
        self._end = 0
        self._failures = 0

    def hold(self, at: int, after: int) -> bool:
        """Whether position `at` lies in an object that begins after position `after`. Both only grow."""
        self._next = max(self._next, after)
        while self._end <= at and self._failures < _FAILURES:
            start = self._text.find("{", self._next, at)
            if start < 0:
                self._next = max(self._next, at)
                return False
            self._end, self._next = self._decode(start)
        return self._end > at

    def after(self, at: int) -> int:
        """The end of the object that begins at `at`; `at` where none does."""
        start = _TO_OBJECT.match(self._text, at)
        if start is None or self._failures >= _FAILURES:
            return at
        return self._decode(start.end())[0] or at

    def _decode(self, start: int) -> tuple[int, int]:
        """(end of the object or 0 for a broken one, where to look for the next)."""
        try:
            _, end = _DECODER.raw_decode(self._text, start)
            return end, end
        except json.JSONDecodeError as error:
            self._failures += 1
            return 0, max(start + 1, error.pos)
        except (ValueError, RecursionError):  # a number of thousands of digits, or too deep
            self._failures = _FAILURES
            return 0, start + 1


_TO_OBJECT = re.compile(r"\s{0,99}(?:```\w{0,20}\s{0,99})?(?=\{)")
_DECODER = json.JSONDecoder(strict=False)
_FAILURES = 1_000
"""Braces that begin no object, after which none is looked for."""


# -- reading ----------------------------------------------------------------------------------


def without_thoughts(text: str) -> WithoutThoughts:
    """The answer of a reply, without the thoughts before, between and after.

    A block of thoughts goes up to its end. Without one it goes to where an answer is marked, or to the end of
    the text; then there is no answer. An end without a beginning says that the text began with thoughts,
    wherever it stands. Where several marks say where the answer is, the last one counts. Marks in quotation
    marks are words, and so are those within a JSON object that is itself no thought.
    """
    return _Reader(text).read() if may_be_marked(text) else WithoutThoughts(text)


def may_be_marked(text: str) -> bool:
    """Whether there is anything in a text that might be a mark."""
    return _SIGN.search(text) is not None or _FIRST.match(text) is not None


_SIGN = re.compile(r"<|\[(?:THINK|THOUGHT|/|REASONING|unused|BEGIN FINAL)|◁|assistantfinal")
"""Every text with marks has one of these."""
_FIRST = re.compile("|".join(f"(?:{one.first.pattern})" for one in _PHRASES))
"""… or begins with a phrase."""
TOKENS = frozenset(
    part
    for family in (*MARKS, _HARMONY)
    for mark in (*family.begin, *family.end, *family.answer, *family.done)
    for part in _PARTS.findall(mark)
    if part[0] in "<[" and "*" not in part
)
"""Marks, or parts of them, that are special tokens of some models. A program that turns the tokens of a reply
into text must not leave them out."""
_OPENING, _CLOSING = "\"'`“‘«", "\"'`”’»"
_BLANK = re.compile(r"(?:\s|<\|(?:end|return|call|eom|eot|im_end|eot_id)\|>|<turn\|>|<eos>|</s>)*\Z")
"""Nothing but the end of a turn."""
_CLOSED = re.compile(r"(?:\s|<[^<>\s]{1,40}>)*\Z")
"""The same, further ends of tags among it."""
_LOOKED_BACK = 200
"""Characters before a tag in which a line's beginning is looked for."""


class _LastEnd(NamedTuple):
    """The last closing tag of a family, if there is one, and whether nothing follows it."""

    found: re.Match[str] | None
    nothing_follows: bool


class _Reader:
    """The reading of one text; each mark is looked at once.

    kept: parts of the answer so far. start: where the part begins that is being read; None after the marked
    end of an answer. limit: that end. inside: the beginning of thoughts that do not end.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.kept: list[str] = []
        self.start: int | None = 0
        self.limit = len(text)
        self.inside: _Found | None = None
        self.thought = False
        self._objects = _Objects(text)
        self._seen: dict[re.Pattern[str], tuple[int, re.Match[str] | None]] = {}
        self._last: dict[Family, _LastEnd] = {}

    def read(self) -> WithoutThoughts:
        """The answer of the whole text."""
        at = self._after_phrases()
        while (found := _find(self.text, at)) is not None:
            at = self._take(found)
        if self.inside is not None and _BLANK.match(self.text, self.inside.end) is None:
            return WithoutThoughts("", True, True)
        if self.inside is None:
            self._keep(self.limit)
        left = "".join(self.kept)
        if self.thought and not any(map(str.isalnum, left)):
            return WithoutThoughts("", True, True)
        return WithoutThoughts(left, self.thought)

    def _after_phrases(self) -> int:
        """The start of reading: after a phrase before the answer."""
        at = 0
        for phrases in _PHRASES:
            if phrases.first.match(self.text):
                for last in phrases.then.finditer(self.text):
                    at = last.end()
        bare = _BARE_ANALYSIS.match(self.text) if not at else None
        if bare is not None:
            self.inside = _Found(_Mark("begin", _BARE), 0, bare.end())
        self.start, self.thought = at, bool(at or bare)
        return bare.end() if bare else at

    def _keep(self, end: int) -> None:
        """The part that is read now goes up to here."""
        if self.start is not None:
            self.kept.append(self.text[self.start : end])
            self.start = None

    def _take(self, found: _Found) -> int:
        """Process a mark. Returns where the next one may begin."""
        if found.start >= self.limit:
            self._keep(self.limit)
        if self._is_word(found):
            return found.end
        if found.mark.kind == "answer":
            return self._answer(found)
        if self.inside is not None or self.start is None:
            return found.end
        if found.mark.kind == "begin":
            return self._begin(found)
        self._keep(found.start)
        if found.mark.family.stray and _BLANK.match(self.text, found.end):
            return found.end
        self.kept.clear()
        self.start, self.thought = found.end, True
        return found.end

    def _begin(self, found: _Found) -> int:
        """Thoughts begin."""
        family = found.mark.family
        end = self._next(_HARMONY_END if family is _HARMONY else _any_of(family.end), found.end)
        if end is not None and self._is_quoted(found.start, end.end()):
            return end.end()
        outside = self.limit < len(self.text) and (end is None or end.end() > self.limit)
        if outside or (end is None and family.paired):
            return found.end
        self._keep(found.start)
        self.thought = True
        if family is _HARMONY:
            self.kept.clear()  # what stands before a message is none
        if end is None:
            self.inside = found
            return found.end
        self.start = end.end()
        return end.end()

    def _answer(self, found: _Found) -> int:
        """The answer begins here; everything before it was thought."""
        family = found.mark.family
        if family.wraps:
            if not self._wraps(found):
                return found.end
            end = self._last_of(family).found
            end = end if end is not None and end.start() >= found.end else None
        else:
            ends = _HARMONY_END if family is _HARMONY else _any_of(family.done)
            end = self._next(ends, self._objects.after(found.end))
        after = end.end() if end else len(self.text)
        if found.mark.aside and not _BLANK.match(self.text, after):
            return self._begin(found) if self.inside is None and self.start is not None else found.end
        if self.start is not None and self.text[self.start : found.start].strip():
            self.thought = True
        self.kept.clear()
        self.inside, self.start, self.limit = None, found.end, end.start() if end else len(self.text)
        return found.end

    def _wraps(self, found: _Found) -> bool:
        """Whether a tag wraps the answer, and is no ordinary word: it begins the text, a line or the part
        after thoughts, and nothing follows its closing tag. Within thoughts without an end, it has a closing
        tag.
        """
        before = self.text[max(self.start or 0, found.start - _LOOKED_BACK) : found.start].rstrip(" \t\r")
        begins = not before or before[-1] == "\n"
        end, nothing_follows = self._last_of(found.mark.family)
        if end is None or end.start() < found.end:
            return begins and self.inside is None
        return (begins or self.inside is not None) and nothing_follows

    def _is_word(self, found: _Found) -> bool:
        """Whether a mark is only mentioned."""
        if self._is_quoted(found.start, found.end):
            return True
        if self.inside is not None or self.start is None:
            return False
        return self._objects.hold(found.start, self.start)

    def _is_quoted(self, start: int, end: int) -> bool:
        """Whether a part of the text stands in quotation marks."""
        text = self.text
        if not start or end == len(text) or text[start - 1] not in _OPENING:
            return False
        before = text[max(0, start - 2) : start - 1].strip("([{,:;—–-")
        return not before.strip() and text[end] == _CLOSING[_OPENING.index(text[start - 1])]

    def _next(self, end: re.Pattern[str], at: int) -> re.Match[str] | None:
        """The next end from here on; matches are cached."""
        since, found = self._seen.get(end, (len(self.text) + 1, None))
        if since > at or (found is not None and found.start() < at):
            found = end.search(self.text, at)
            self._seen[end] = at, found
        return found

    def _last_of(self, family: Family) -> _LastEnd:
        """The last end of the answer that a family's tags mark, cached."""
        if family not in self._last:
            last = None
            for end in _any_of(family.done).finditer(self.text):
                last = end
            closed = last is not None and _CLOSED.match(self.text, last.end()) is not None
            self._last[family] = _LastEnd(last, closed)
        return self._last[family]
