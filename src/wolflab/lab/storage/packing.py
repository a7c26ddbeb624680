"""Packs a finished game for the disk: its two chains of lines and the calls that they name, in one compressed
blob.

A line's hash follows from the lines before it, so only the last hash of each chain is kept. A response's hash
follows from its text, so the text is stored in its place, right before the notes that repeat it. The key of
such a call is read from its line. Its request's hash is stored as bytes after the compressed text. Unpacking
restores every line byte for byte.

zlib's level is 6: level 9 saves 2 % more for 1.7 times the time, level 4 makes blobs 22 % larger. Plain lines
with their calls, packed by msgpack and zlib, take 1.5 to 2.1 times the space of this, and with lzma 1.1 to
1.3 times the space and 8 times the time (measured on games of the built-in player).
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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

# Bytes that JSON never holds mark places in the packed words; each reaches to the next _END.
_GAME, _PROBES = b"\x01", b"\x02"
"""Marks before a response's text in lines of the game or of the probes: they stand for the next request's
hash and the hash of that text.
"""
_HASH, _AGAIN = b"\x04", b"\x05"
"""Stands for the next hash; before a number, for an earlier one. No longer written."""
_END = b"\x03"
_ESCAPE = b"\x10"
_BETWEEN = {_GAME: b',"response":', _PROBES: b","}
"""The text between a request's hash and its response's in a line of either chain."""

_MARKED = re.compile(rb"([\x01\x02\x04\x05])([^\x03]*+)\x03")
_CONTROL = re.compile(rb"[\x00-\x1f]")
_ESCAPED = re.compile(rb"\x10(.)")


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call for the store."""

    key: str
    request: str
    model: str
    response: Response


class Packed(NamedTuple):
    """A packed game. data: the blob; totals: of its calls, by model; rest: calls without a line in the
    record, to be stored as rows.
    """

    data: bytes
    totals: Mapping[str, CallTotals]
    rest: tuple[CallRow, ...]


_About = tuple[str, str, int, int, int, float, float]
"""A call without key, request and text: model, finish, the four numbers of its usage, latency."""


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
    fork: dict[str, Any] | None = None


_game_line = msgspec.json.Decoder(_GameLine).decode
_probe_line = msgspec.json.Decoder(_ProbeLine).decode
_header = msgspec.json.Decoder(_Header).decode
_head = msgspec.json.Decoder(tuple[_About | None, dict[str, _About | None]]).decode


def _calls_named(chain: Sequence[bytes], mark: bytes, play: str) -> Iterator[list[tuple[str, str, str]]]:
    """For each line, (key, request's hash, response's hash) of the calls that it names. play: the first part
    of the keys.
    """
    for line in chain:
        if mark == _PROBES:
            probe = _probe_line(line)
            calls = probe.calls
            yield [(f"{play}|{probe.ask}|{step}|{n}", asked, reply) for step, n, asked, reply in calls]
        elif begins_with(line, "call"):
            call = _game_line(line)
            yield [(f"{play}|{call.ask}|{call.call}|{call.attempt}", call.request, call.response)]
        else:
            yield []


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The content of a blob: the lines of both chains, and calls. texts: of responses, by hash. usual: the
    other fields of most calls; unusual: those of the rest, by key, None for a call of the game that this one
    forks from.
    """

    lines: list[bytes]
    probes: list[bytes]
    texts: dict[str, str]
    usual: _About | None
    unusual: dict[str, _About | None]

    def calls(self) -> dict[str, CallRow]:
        """The calls by key. They may include a call that is also a row, if another call had the same reply.

        RecordError for a damaged line.
        """
        found: dict[str, CallRow] = {}
        if self.usual is None:
            return found
        try:
            play = _play(self.lines)
            for mark, chain in ((_GAME, self.lines), (_PROBES, self.probes)):
                for named in _calls_named(chain, mark, play):
                    for key, request, response in named:
                        about = self.unusual.get(key, self.usual)
                        if response in self.texts and about is not None:
                            model, finish, prompt, completion, cached, cost, latency = about
                            usage = Usage(prompt, completion, cached, cost)
                            reply = Response(self.texts[response], usage, Finish.read(finish), latency)
                            found[key] = CallRow(key, request, model, reply)
        except msgspec.MsgspecError as error:
            raise RecordError(f"record: a line that names calls makes no sense ({error})") from None
        return found

    def without_requests(self, requests: Collection[str] | None = None) -> Packed:
        """The game packed again without the hashes of these requests; see `forgotten`."""
        lines, probes, now = forgotten(self.lines, self.probes, requests)
        calls = [replace(call, request=now.get(call.request, call.request)) for call in self.calls().values()]
        return pack(lines, probes, calls)


def _play(lines: Sequence[bytes]) -> str:
    """The first part of the keys of a game's calls."""
    return _header(lines[0]).play if lines else ""


def forgotten(
    lines: Sequence[bytes], probes: Sequence[bytes], requests: Collection[str] | None = None
) -> tuple[list[bytes], list[bytes], dict[str, str]]:
    """Both chains without the hashes of these requests (None: of all), with new hashes of lines; and old hash
    → new hash, of lines and of these requests. Nothing else changes, so the rules can still be checked.
    """
    game, polls = Chain(), Chain()
    now: dict[str, str] = {}

    def without(request: str) -> str:
        if requests is not None and request not in requests:
            return request
        now[request] = FORGOTTEN
        return FORGOTTEN

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


def pack(lines: Sequence[bytes], probes: Sequence[bytes], calls: Sequence[CallRow] = ()) -> Packed:
    """Pack one game. lines, probes: both chains, as `record.Writer` made them."""
    left = {call.key: call for call in calls if not call.response.prompt}
    rest = [call for call in calls if call.response.prompt]
    held: list[CallRow] = []
    others: dict[str, str] = {}
    pieces: list[bytes] = []
    play = _play(lines)
    for mark, chain in ((_GAME, lines), (_PROBES, probes)):
        for line, named in zip(chain, _calls_named(chain, mark, play), strict=True):
            parts, body = [], line[_HEAD:]
            for key, request, response in named:
                call = left.get(key)
                if call and (call.request, response_digest(call.response)) == (request, response):
                    place = b'"%b"%b"%b"' % (request.encode(), _BETWEEN[mark], response.encode())
                    before, _, body = body.partition(place)
                    parts += [before, mark, _escaped(call.response.text), _END]
                    held.append(left.pop(key))
                else:
                    others[key] = response
            pieces.append(b"".join((*parts, body)))
        pieces.append(b"")
    about: dict[str, _About] = {
        one.key: (one.model, one.response.finish.stored, *one.response.usage.figures, one.response.latency)
        for one in held
    }
    usual = Counter(about.values()).most_common(1)[0][0] if about else None
    unusual: dict[str, _About | None] = {key: own for key, own in about.items() if own != usual}
    if held and _header(lines[0]).fork is not None:
        texts = {response_digest(call.response) for call in held}
        unusual |= {key: None for key, response in others.items() if response in texts}
    head = msgspec.json.encode((usual, unusual))
    hashes = [hash_of(chain[-1]) if chain else ROOT for chain in (lines, probes)]
    hashes += [call.request for call in held]
    data = zlib.compress(b"\n".join((head, *pieces)), LEVEL) + bytes.fromhex("".join(hashes))
    return Packed(data, totals_by_model(held), (*rest, *left.values()))


def _escaped(text: str) -> bytes:
    if text.isprintable():
        return text.encode()
    return _CONTROL.sub(lambda match: _ESCAPE + bytes([match[0][0] + 64]), text.encode())


def totals_by_model(
    calls: Iterable[CallRow], others: Mapping[str, CallTotals] | None = None
) -> dict[str, CallTotals]:
    """The totals of calls and `others` by model, in order of name."""
    totals, responses = dict(others or {}), dict[str, list[Response]]()
    for call in calls:
        responses.setdefault(call.model, []).append(call.response)
    for model, made in responses.items():
        before = totals.get(model, CallTotals())
        prompt, completion, cached, cost = before.usage.figures
        latency = before.latency
        for response in made:
            usage = response.usage
            prompt += usage.prompt_tokens
            completion += usage.completion_tokens
            cached += usage.cached_tokens
            cost += usage.cost
            latency += response.latency
        totals[model] = CallTotals(before.calls + len(made), Usage(prompt, completion, cached, cost), latency)
    return dict(sorted(totals.items()))


def unpack(data: object, where: str = "record") -> Unpacked:
    """Unpack a blob of `pack`. RecordError if it is damaged or not such a blob."""
    try:
        if not isinstance(data, bytes):
            raise ValueError("it is no blob")
        reader = zlib.decompressobj()
        words, raw = reader.decompress(data, LARGEST), reader.unused_data
        if not reader.eof or len(raw) % 16:
            raise ValueError("it is cut short, or too large")
        if len(raw) < 2 * 16:
            raise ValueError("hashes are missing at its end")
        last, last_probe, *hashes = (raw[at : at + 16].hex() for at in range(0, len(raw), 16))
        words, texts = _filled(words, hashes)
        head, *bodies = words.split(b"\n")
        between = bodies.index(b"")
        usual, unusual = _head(head)
        lines = _chained(bodies[:between], last)
        return Unpacked(lines, _chained(bodies[between + 1 : -1], last_probe), texts, usual, unusual)
    except (zlib.error, msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise RecordError(f"{where}: what is stored is no record ({error})") from None


def _filled(words: bytes, hashes: list[str]) -> tuple[bytes, dict[str, str]]:
    """(lines with their hashes restored, response texts by hash)."""
    texts: dict[str, str] = {}
    fresh = iter(hashes)

    def replaced(match: re.Match[bytes]) -> bytes:
        mark, said = match.groups()
        if mark == _AGAIN:
            return b'"%b"' % hashes[int(said) - 2].encode()  # the last hashes of both chains are counted
        taken = next(fresh, "").encode()
        if not taken:
            raise ValueError("hashes are missing at its end")
        if mark == _HASH:
            return b'"%b"' % taken
        text = _ESCAPED.sub(lambda found: bytes([found[1][0] - 64]), said).decode()
        response = response_digest(Response(text))
        texts[response] = text
        return b'"%b"%b"%b"' % (taken, _BETWEEN[mark], response.encode())

    filled = _MARKED.sub(replaced, words)
    if next(fresh, None) is not None:
        raise ValueError("there is more at its end than was written")
    return filled, texts


def _chained(bodies: Sequence[bytes], last: str) -> list[bytes]:
    """The lines of a chain whose last hash is `last`."""
    chain = Chain()
    for body in bodies:
        chain.add_encoded(b"{" + body)
    if chain.last != last:
        raise ValueError("one of its lines was changed after it was written")
    return chain.lines
