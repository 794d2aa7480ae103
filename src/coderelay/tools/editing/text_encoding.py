"""Decodes the bytes of a file to text and back to the same bytes: encoding, byte order mark, line endings."""

import codecs
import re
from bisect import bisect_left

from msgspec import Struct

from coderelay.protocol.translatable import say

_MARKS = (  # the longer ones first: the mark of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 8192
_TWO_BYTES = rb"[\x81-\xfe][\x30-\x39\x40-\xfe]"
_BOTH_HIGH = rb"[\xa1-\xf7][\xa1-\xfe]"


class TextFile(Struct, frozen=True):
    """`mark` is the byte order mark, if there is one."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Raises UnicodeEncodeError if the file's encoding has no such character."""
        return self.mark + text.encode(self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict")

    @property
    def shown(self) -> str:
        """The text as it can be sent to a model: undecodable bytes are replaced, CRLF becomes LF."""
        return sendable(self.text).replace("\r\n", "\n")

    @property
    def note(self) -> str:
        return "" if self.encoding == "utf-8" else say("written in {encoding}", encoding=self.encoding)


def text_file(data: bytes, *, whole: bool = True) -> TextFile | None:
    """None if the data is not text. `whole` means that nothing was cut off at the end, where a character might be
    broken."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, mark, whole)
    beginning = data[:_LOOKED_AT]
    if b"\0" in beginning:
        encoding = _utf16_encoding(beginning)
        return None if encoding is None else _decoded(data, encoding, b"", whole)
    return _decoded(data, "utf-8", b"", whole) or _in_another_encoding(data, whole)


def sendable(text: str) -> str:
    """Replace undecodable bytes (surrogate escapes), because they cannot be sent out of this process."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def lines_of(text: str) -> list[str]:
    """Split into lines as editors and grep do: only a line feed ends a line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


class PlainLines:
    """A text with LF line endings, and the offsets of its characters in the original text."""

    def __init__(self, text: str) -> None:
        self._written = text
        self.text = text.replace("\r\n", "\n")
        self._dropped = [found.start() - number for number, found in enumerate(re.finditer("\r\n", text))]

    def place(self, at: int) -> int:
        """The offset in the original text. An offset just before a CRLF stays before both of its characters."""
        return at + bisect_left(self._dropped, at)

    def with_line_endings_of(self, text: str, start: int, end: int) -> str:
        """`text` with the line endings used from `start` to `end`, or else those of the first line."""
        if not self._dropped:
            return text
        plain = text.replace("\r\n", "\n")
        here = self._written.find("\n", self.place(start), self.place(end))
        here = self._written.find("\n") if here < 0 else here
        return plain.replace("\n", "\r\n") if self._written[here - 1 : here] == "\r" else plain


def _decoded(data: bytes, encoding: str, mark: bytes, whole: bool) -> TextFile | None:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except UnicodeDecodeError:
        return None
    return TextFile(text, encoding, mark)


def _utf16_encoding(beginning: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: most bytes at every other position are 0, and none of the others."""
    even, odd = beginning[0::2].count(0), beginning[1::2].count(0)
    half = len(beginning) // 2
    if half < 4:
        return None  # too little to tell
    if odd > half * 0.7 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.7 and not odd else None


def _in_another_encoding(data: bytes, whole: bool) -> TextFile:
    """Decode invalid UTF-8: as UTF-8 with a few broken places, else as Chinese (GB18030) if that is plausible, else
    as a Western encoding, where every byte is a character."""
    text = data.decode("utf-8", "surrogateescape")
    broken = sum("\udc80" <= each <= "\udcff" for each in text)
    if sum(each > "\x7f" for each in text) > 2 * broken:
        return TextFile(text)
    if len(re.findall(_BOTH_HIGH, data)) > 0.8 * len(re.findall(_TWO_BYTES, data)):
        chinese = _decoded(data, "gb18030", b"", whole)
        if chinese is not None:
            return chinese
    return _decoded(data, "cp1252", b"", whole) or TextFile(data.decode("latin-1"), "latin-1")
