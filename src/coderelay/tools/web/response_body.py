"""Reads the body of a web page: decompressed, limited in size and decoded to text."""

import codecs
import re
import zlib
from typing import Protocol

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say

MOST_BYTES = 4 * 1024 * 1024
_PIECE_BYTES = 64 * 1024
_GZIP = b"\x1f\x8b"
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_USUAL = re.compile(
    r"(us-?)?ascii|utf-?(8|16|32)([lb]e)?|(iso-?8859|latin|windows|cp|koi8|mac|euc|shift|gb|big5|hz|tis|x-sjis|ks_c)"
    r"[a-z0-9_-]*",
    re.IGNORECASE,
)
# Control characters, direction marks, tags and other invisible characters. Joiners stay: words are made of them.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class WebPage(Protocol):
    """An HTTP response. The names in `headers` are in lower case."""

    status: int
    headers: dict[str, str]

    async def receive(self) -> bytes:
        """The bytes that have arrived; empty at the end of the body."""
        ...


async def read_body(page: WebPage) -> tuple[bytes, bool]:
    """Return the body and whether it is complete. Raises ToolFailed if it cannot be decompressed."""
    body = bytearray()
    unpack = _unpacking(visible(page.headers.get("content-encoding", "")))
    received = 0
    while piece := await page.receive():
        received += len(piece)
        for start in range(0, len(piece), _PIECE_BYTES):
            body += unpack(piece[start : start + _PIECE_BYTES], MOST_BYTES + 1 - len(body))
            if len(body) > MOST_BYTES:
                return bytes(body[:MOST_BYTES]), False
        if received > MOST_BYTES:  # the compressed size is limited as well
            return bytes(body), False
    return bytes(body), unpack.whole


class _Unpack(Protocol):
    @property
    def whole(self) -> bool:
        """Whether the data so far may be the complete body."""
        ...

    def __call__(self, data: bytes, most: int, /) -> bytes: ...


def _unpacking(coding: str) -> _Unpack:
    match coding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip" | "deflate":
            return _Inflating()
        case other:
            raise ToolFailed(say("the page has an unsupported encoding: {coding}", coding=other[:40]))


class _Plain:
    whole = True

    def __call__(self, data: bytes, most: int, /) -> bytes:
        return data[:most]


class _Inflating:
    """Decompresses gzip or deflate, never to more bytes than asked for, however much a few bytes expand to."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # gzip or zlib, detected by its header
        self._begun = False

    @property
    def whole(self) -> bool:
        return self._inflate.eof or not self._begun

    def __call__(self, data: bytes, most: int, /) -> bytes:
        try:
            return self._inflated(data, most)
        except zlib.error as error:
            raise ToolFailed(say("the page cannot be decompressed: {why}", why=error)) from error

    def _inflated(self, data: bytes, most: int) -> bytes:
        unpacked = self._next(data, most)
        while self._inflate.eof and len(unpacked) < most and self._inflate.unused_data.startswith(_GZIP):
            following = self._inflate.unused_data  # several gzip members in a row are one page
            self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            unpacked += self._inflate.decompress(following, most - len(unpacked))
        return unpacked

    def _next(self, data: bytes, most: int) -> bytes:
        if not self._begun:
            self._begun = True
            try:
                return self._inflate.decompress(data, most)
            except zlib.error:  # some servers leave out the zlib header
                self._inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, most)


def visible(text: str) -> str:
    """Remove invisible characters, which a terminal or a model might obey."""
    return _INVISIBLE.sub("", text)


def text_of(body: bytes, content_type: str) -> str:
    """Decode the body in the encoding given by its byte order mark, the header or the page itself, in this order."""
    for mark, encoding in _MARKS.items():
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    said = _CHARSET.search(content_type)
    named = said[1] if said else meta[1].decode() if (meta := _META.search(body[:4096])) else "utf-8"
    try:
        return body.decode(named if _USUAL.fullmatch(named) else "utf-8", "replace")
    except (LookupError, UnicodeError):
        return body.decode("utf-8", "replace")
