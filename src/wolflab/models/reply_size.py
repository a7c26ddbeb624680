"""A cap on what is read of a server's reply: it is read in pieces, and no further than that.

A request says in a header of ours how many bytes its reply may have, unpacked. The client takes the header
off before anything is sent. Packed replies are unpacked here, because a few packed bytes can hold a thousand
times as many.
"""

from __future__ import annotations

import zlib
from typing import Any

LARGEST_REPLY = 16 * 2**20
"""Bytes of one reply, unless the setting says otherwise: some four million tokens of text."""
HEADER = "x-wolflab-largest-reply"
_UNPACKED = ("gzip", "deflate")
_PACKING = ("content-encoding", "content-length", "transfer-encoding")
"""What a body that is unpacked and whole has no more."""


class ReplyTooLong(Exception):
    """A reply that has more bytes than it may have."""

    def __init__(self, largest: int) -> None:
        super().__init__(f"a reply of more than {largest:,} bytes (the setting max_reply_bytes)")


class _Body:
    """Takes a reply piece by piece. encoding: how it says that it is packed."""

    def __init__(self, encoding: str, largest: int) -> None:
        self.whole, self._largest = bytearray(), largest
        self._unpacker = zlib.decompressobj(wbits=47) if encoding in _UNPACKED else None  # 47: either form

    def take(self, piece: bytes) -> None:
        """One piece more; ReplyTooLong where that is too much."""
        room = self._largest - len(self.whole) + 1
        try:
            self.whole += piece[:room] if self._unpacker is None else self._unpacker.decompress(piece, room)
        except zlib.error as error:
            raise ConnectionError(f"a reply that cannot be unpacked ({error})") from None
        if len(self.whole) > self._largest:
            raise ReplyTooLong(self._largest)


def capped_client() -> Any:
    """An HTTP client for the library `openai` that reads replies so."""
    from openai import DefaultAioHttpClient

    kind: Any = DefaultAioHttpClient

    class CappedClient(kind):  # type: ignore[misc]
        async def send(self, request: Any, *, stream: bool = False, **more: Any) -> Any:
            largest = int(request.headers.pop(HEADER, LARGEST_REPLY))
            request.headers["accept-encoding"] = ", ".join(_UNPACKED)
            response = await super().send(request, stream=True, **more)
            if stream:
                return response
            body = _Body(response.headers.get("content-encoding", "").lower(), largest)
            try:
                async for piece in response.aiter_raw():
                    body.take(piece)
            finally:
                await response.aclose()
            headers = [pair for pair in response.headers.multi_items() if pair[0] not in _PACKING]
            content = bytes(body.whole)
            return type(response)(response.status_code, headers=headers, content=content, request=request)

    return CappedClient()
