"""A finished game on disk: its two chains and the calls that they name, in one compressed blob.

Much of a record is hashes, and words said twice. A line's hash follows from the lines before it,
so only the last one of each chain is kept. A response's hash follows from its text, so the text stands in
its place, right before the notes that repeat it; the key and the request's hash of such a call are read
from its line. Every other hash is kept once, raw, behind the compressed words: hexadecimal digits would
cost zlib more than the bytes that they spell. Unpacking gives back every line byte for byte.

Level 6 of zlib: level 9 saves 2 % more for 1.7 times its time, level 4 makes blobs 22 % larger (measured on
built-in games). zlib and not lzma, because every build of Python has it; lzma saves about a tenth.

It knows lines and calls, and nothing of the database or of where calls come from.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from ...errors import RecordError
from ...files import LARGEST
from ...models.base import Response
from ...models.calls import response_digest
from ...record.chain import ROOT, Chain, begins_with, hash_of
from ...text.digest import FORGOTTEN
from ...text.replies.finish import Finish
from ...usage import CallTotals, Usage

LEVEL = 6
_HEAD = len(b'{"h":"') + 32 + len(b'",')
_LASTS = 2
"""The first raw hashes are those of the last lines of both chains."""

# Bytes that JSON never holds, as signs in the packed words; each reaches to the next _END.
_IN_GAME, _IN_PROBES = b"\x01", b"\x02"
"""Before a response's text: hash of the request, which is the next of the raw ones, and hash of the text, as
the one chain or the other writes them."""
_HASH, _AGAIN = b"\x04", b"\x05"
"""The next of the raw hashes; before a number: one that came before."""
_END = b"\x03"
_ESCAPE = b"\x10"

_BETWEEN = {_IN_GAME: b',"response":', _IN_PROBES: b","}
"""What stands between a request's hash and its response's in a line of either chain."""

_QUOTED_HASH = re.compile(rb'"([0-9a-f]{32})"')
_SIGNED = re.compile(rb"([\x01\x02\x04\x05])([^\x03]*+)\x03")
_CONTROL = re.compile(rb"[\x00-\x1f]")
_ESCAPED = re.compile(rb"\x10(.)")


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call as it goes into the store."""

    key: str
    request: str
    model: str
    response: Response


class Packed(NamedTuple):
    """A game ready for the store. data: the blob; totals: of the calls in it, by model; rest: calls that have
    no line in the record, so that they must be stored as rows.
    """

    data: bytes
    totals: Mapping[str, CallTotals]
    rest: tuple[CallRow, ...]


class _About(NamedTuple):
    """What a call has besides key, request and text."""

    model: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float
    latency: float

    @classmethod
    def of(cls, call: CallRow) -> _About:
        return cls(
            call.model, call.response.finish.stored, *call.response.usage.figures, call.response.latency
        )

    def call(self, key: str, request: str, text: str) -> CallRow:
        usage = Usage(self.prompt_tokens, self.completion_tokens, self.cached_tokens, self.cost)
        return CallRow(
            key, request, self.model, Response(text, usage, Finish.read(self.finish), self.latency)
        )


class _Head(msgspec.Struct, array_like=True):
    """The first of the packed words.

    usual: what most calls have besides key, request and text; unusual: the others, by key.
    """

    usual: _About | None
    unusual: dict[str, _About]


class _GameLine(msgspec.Struct):
    call: str
    attempt: int
    ask: str
    request: str
    response: str


class _ProbeLine(msgspec.Struct):
    ask: str
    calls: list[tuple[str, int, str, str]]


class _Header(msgspec.Struct):
    play: str = ""


_game_line = msgspec.json.Decoder(_GameLine).decode
_probe_line = msgspec.json.Decoder(_ProbeLine).decode
_header = msgspec.json.Decoder(_Header).decode
_head = msgspec.json.Decoder(_Head).decode


class _Named(NamedTuple):
    """A call as a line of the record names it."""

    key: str
    request: str
    response: str


def _named_in(line: bytes, sign: bytes, play: str) -> Sequence[_Named]:
    """The calls that a line of the game, or of the probes, names. play: the first part of their keys."""
    if sign == _IN_PROBES:
        probe = _probe_line(line)
        return [
            _Named(f"{play}|{probe.ask}|{step}|{attempt}", request, response)
            for step, attempt, request, response in probe.calls
        ]
    if begins_with(line, "call"):
        call = _game_line(line)
        return (_Named(f"{play}|{call.ask}|{call.call}|{call.attempt}", call.request, call.response),)
    return ()


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What a blob holds: the lines of both chains, and calls."""

    lines: list[bytes]
    probes: list[bytes]
    _about: _Head
    _texts: dict[str, str]
    """Of responses, by their hashes."""

    def without_requests(self, requests: Collection[str] | None = None) -> Packed:
        """The blob without the hashes of these requests; see `forgotten`."""
        lines, probes, now = forgotten(self.lines, self.probes, requests)
        calls = [replace(call, request=now.get(call.request, call.request)) for call in self.calls().values()]
        return pack(lines, probes, calls)

    def calls(self) -> dict[str, CallRow]:
        """The calls by key. A row's call is among them when one of these had the same reply.

        RecordError when a line that names calls is none that was written so.
        """
        if self._about.usual is None:
            return {}
        usual, unusual, texts = self._about.usual, self._about.unusual, self._texts
        try:
            play = _play(self.lines)
            return {
                named.key: unusual.get(named.key, usual).call(named.key, named.request, texts[named.response])
                for sign, chain in ((_IN_GAME, self.lines), (_IN_PROBES, self.probes))
                for line in chain
                for named in _named_in(line, sign, play)
                if named.response in texts
            }
        except msgspec.MsgspecError as error:
            raise RecordError(f"record: a line that names calls makes no sense ({error})") from None


def _play(lines: Sequence[bytes]) -> str:
    """What the keys of a game's calls begin with."""
    return _header(lines[0]).play if lines else ""


# -- erasing ----------------------------------------------------------------------------------


def forgotten(
    lines: Sequence[bytes], probes: Sequence[bytes], requests: Collection[str] | None = None
) -> tuple[list[bytes], list[bytes], dict[str, str]]:
    """Both chains, without the hashes of these requests (None: of all), chained anew; and each hash of a line
    or of such a request → what it is now. Nothing else is changed: what is read of the lines and checked by
    the rules stays.
    """
    game, polls = Chain(), Chain()

    def without(request: str) -> str:
        if requests is not None and request not in requests:
            return request
        now[request] = FORGOTTEN
        return FORGOTTEN

    now: dict[str, str] = {}
    for line in lines:
        body = b"{" + line[_HEAD:]
        if begins_with(line, "call"):
            value = msgspec.json.decode(body)
            value["request"] = without(value["request"])
            body = msgspec.json.encode(value)
        game.add_encoded(body)
        now[hash_of(line)] = game.last
    for line in probes:
        value = msgspec.json.decode(b"{" + line[_HEAD:])
        value["after"] = now[value["after"]]
        value["calls"] = [(*call[:2], without(call[2]), *call[3:]) for call in value["calls"]]
        polls.add(value)
        now[hash_of(line)] = polls.last
    return game.lines, polls.lines, now


# -- packing ----------------------------------------------------------------------------------


def pack(lines: Sequence[bytes], probes: Sequence[bytes], calls: Sequence[CallRow] = ()) -> Packed:
    """The blob of one game. lines, probes: both chains, as `record.Writer` made them."""
    left = {call.key: call for call in calls if not call.response.prompt}
    rest = [call for call in calls if call.response.prompt]
    held: list[CallRow] = []
    pieces = [b""]
    hashes = _Hashes([hash_of(chain[-1]) if chain else ROOT for chain in (lines, probes)])
    play = _play(lines)
    for sign, chain in ((_IN_GAME, lines), (_IN_PROBES, probes)):
        for line in chain:
            texts = []
            for named in _named_in(line, sign, play):
                call = left.get(named.key)
                if (
                    call
                    and call.request == named.request
                    and response_digest(call.response) == named.response
                ):
                    texts.append((named, call.response.text))
                    held.append(left.pop(named.key))
            pieces.append(hashes.leave(line[_HEAD:], sign, texts))
        pieces.append(b"")
    about = {call.key: _About.of(call) for call in held}
    usual = Counter(about.values()).most_common(1)[0][0] if about else None
    pieces[0] = msgspec.json.encode(_Head(usual, {k: own for k, own in about.items() if own != usual}))
    data = zlib.compress(b"\n".join(pieces), LEVEL) + bytes.fromhex("".join(hashes.raw))
    return Packed(data, totals_by_model(held), (*rest, *left.values()))


class _Hashes:
    """Takes hashes out of words. `raw`: those at the start, then those taken, in hexadecimal digits."""

    def __init__(self, raw: list[str]) -> None:
        self.raw = raw
        self._numbers: dict[bytes, int] = {}

    def leave(self, body: bytes, sign: bytes, texts: Sequence[tuple[_Named, str]]) -> bytes:
        """The body of a line without its hashes, with `texts` in place of those of their calls."""
        parts, rest = [], body
        for named, text in texts:  # what was put in is not searched again: it may say anything
            hashes = b'"%b"%b"%b"' % (named.request.encode(), _BETWEEN[sign], named.response.encode())
            before, _, rest = rest.partition(hashes)
            parts += [_QUOTED_HASH.sub(self._take, before), sign, _escaped(text), _END]
            self.raw.append(named.request)
        return b"".join((*parts, _QUOTED_HASH.sub(self._take, rest)))

    def _take(self, match: re.Match[bytes]) -> bytes:
        number = self._numbers.get(match[1])
        if number is not None:
            return b"%b%d%b" % (_AGAIN, number, _END)
        self._numbers[match[1]] = len(self.raw)
        self.raw.append(match[1].decode())
        return _HASH + _END


def _escaped(text: str) -> bytes:
    data = text.encode()
    if text.isprintable():
        return data
    return _CONTROL.sub(lambda match: _ESCAPE + bytes([match[0][0] + 64]), data)


def totals_by_model(calls: Iterable[CallRow]) -> dict[str, CallTotals]:
    """What calls come to, model by model, in order of name."""
    totals: dict[str, CallTotals] = {}
    for call in calls:
        fresh = CallTotals(1, call.response.usage, call.response.latency)
        totals[call.model] = totals.get(call.model, CallTotals()) + fresh
    return dict(sorted(totals.items()))


def together(first: Mapping[str, CallTotals], second: Mapping[str, CallTotals]) -> dict[str, CallTotals]:
    """The sums of two, model by model, in order of name."""
    names = sorted({*first, *second})
    return {name: first.get(name, CallTotals()) + second.get(name, CallTotals()) for name in names}


# -- unpacking --------------------------------------------------------------------------------


def unpack(data: object, where: str = "record") -> Unpacked:
    """What `pack` packed. RecordError when the blob is damaged, or no blob of a game."""
    if not isinstance(data, bytes):
        raise RecordError(f"{where}: what is stored is no record")
    try:
        return _unpack(data)
    except (zlib.error, msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise RecordError(f"{where}: what is stored is no record ({error})") from None


def _unpack(data: bytes) -> Unpacked:
    reader = zlib.decompressobj()
    body = reader.decompress(data, LARGEST)
    raw = reader.unused_data
    if not reader.eof or len(raw) % 16:
        raise ValueError("it is cut short, or too large")
    hashes = [raw[at : at + 16].hex() for at in range(0, len(raw), 16)]
    if len(hashes) < _LASTS:
        raise ValueError("hashes are missing at its end")
    body, texts = _filled(body, hashes)
    head, *bodies = body.split(b"\n")
    between = bodies.index(b"")
    lines = _chained(bodies[:between], hashes[0])
    probes = _chained(bodies[between + 1 : -1], hashes[1])
    return Unpacked(lines, probes, _head(head), texts)


def _filled(body: bytes, hashes: Sequence[str]) -> tuple[bytes, dict[str, str]]:
    """(words with their hashes again, the texts that stood there by their hash)."""
    texts: dict[str, str] = {}
    fresh = iter(hashes[_LASTS:])

    def replace(match: re.Match[bytes]) -> bytes:
        sign, said = match.groups()
        if sign == _AGAIN:
            return b'"%b"' % hashes[int(said)].encode()
        taken = next(fresh, None)
        if taken is None:
            raise ValueError("hashes are missing at its end")
        if sign == _HASH:
            return b'"%b"' % taken.encode()
        text = _plain(said)
        response = response_digest(Response(text))
        texts[response] = text
        return b'"%b"%b"%b"' % (taken.encode(), _BETWEEN[sign], response.encode())

    filled = _SIGNED.sub(replace, body)
    if next(fresh, None) is not None:
        raise ValueError("there is more at its end than was written")
    return filled, texts


def _plain(escaped: bytes) -> str:
    if _ESCAPE not in escaped:
        return escaped.decode()
    return _ESCAPED.sub(lambda match: bytes([match[1][0] - 64]), escaped).decode()


def _chained(bodies: Sequence[bytes], last: str) -> list[bytes]:
    """The lines of a chain whose last hash is `last`."""
    chain = Chain()
    for body in bodies:
        chain.add_encoded(b"{" + body)
    if chain.last != last:
        raise ValueError("one of its lines was changed after it was written")
    return chain.lines
