"""The body of a page: unpacked, no more of it than is wanted, as text."""

import codecs
import re
import zlib
from typing import Protocol

from coderelay.protocol.errors import ToolFailed

MOST_BYTES = 4 * 1024 * 1024
_PIECE_BYTES = 64 * 1024
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_USUAL = re.compile(
    r"(us-?)?ascii|utf-?(8|16|32)([lb]e)?|(iso-?8859|latin|windows|cp|koi8|mac|euc|shift|gb|big5|hz|tis|x-sjis|ks_c)"
    r"[a-z0-9_-]*",
    re.IGNORECASE,
)
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Page(Protocol):
    """`headers` have names in lower case."""

    status: int
    headers: dict[str, str]

    async def receive(self) -> bytes:
        """As much as has arrived; nothing at the end."""
        ...


async def read_body(page: Page, most: int = MOST_BYTES) -> tuple[bytes, bool]:
    """And whether that is all of it. Raises ToolFailed for what cannot be unpacked."""
    body = bytearray()
    unpack = _unpacking(page.headers.get("content-encoding", ""))
    received = 0
    while piece := await page.receive():
        received += len(piece)
        for start in range(0, len(piece), _PIECE_BYTES):
            body += unpack(piece[start : start + _PIECE_BYTES], most + 1 - len(body))
            if len(body) > most:
                return bytes(body[:most]), False
        if received > most:  # packed, and yet no shorter
            return bytes(body), False
    return bytes(body), True


class _Unpack(Protocol):
    def __call__(self, data: bytes, most: int, /) -> bytes: ...


def _unpacking(coding: str) -> _Unpack:
    match coding.strip().lower():
        case "" | "identity":
            return lambda data, most: data[:most]
        case "gzip" | "x-gzip" | "deflate":
            return _Inflating()
        case other:
            raise ToolFailed(f"the page is packed as {other[:40]}, which cannot be read")


class _Inflating:
    """Never makes more than it is asked for, however much is packed in a few bytes."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # of gzip or zlib, by its head
        self._begun = False

    def __call__(self, data: bytes, most: int, /) -> bytes:
        try:
            return self._inflated(data, most)
        except zlib.error as error:
            raise ToolFailed(f"the page is packed in a way that cannot be read: {error}") from error

    def _inflated(self, data: bytes, most: int) -> bytes:
        if not self._begun:
            self._begun = True
            try:
                return self._inflate.decompress(data, most)
            except zlib.error:  # some servers leave out the head
                self._inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, most)


def text_of(body: bytes, content_type: str) -> str:
    """In the encoding that the bytes, the header or the page itself say, in this order."""
    for mark, encoding in _MARKS.items():
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    said = _CHARSET.search(content_type)
    named = said[1] if said else meta[1].decode() if (meta := _META.search(body[:4096])) else "utf-8"
    try:
        return body.decode(named if _USUAL.fullmatch(named) else "utf-8", "replace")
    except (LookupError, UnicodeError):
        return body.decode("utf-8", "replace")
