"""Binary encoding of text and number arrays for PostgreSQL, and escaping of NUL characters in text.

For appends, which are written all the time, this is several times cheaper than the driver's general encoding, and for
large texts by far.
"""

import re
import struct
from collections.abc import Iterable

from coderelay.store.postgres.connection import adapt, pq, psycopg

_TEXT, _TEXTS, _INT8, _INT8S = 25, 1009, 20, 1016  # PostgreSQL's object ids (OIDs) of these types
_EMPTY = struct.Struct(">iii")  # number of dimensions, has nulls, element type
_HEADER = struct.Struct(">iiiii")  # the same, then the length and the index of the first element
_LENGTH = struct.Struct(">i")
_NUMBER = struct.Struct(">iq")
_NULL = _LENGTH.pack(-1)
_MARK = "\u2400"  # ␀, the symbol for NUL
_MARKED = re.compile(f"{_MARK}(.)", re.DOTALL)


class Texts(tuple[str | None, ...]):
    pass


class Numbers(tuple[int, ...]):
    pass


class _TextsDumper(adapt.Dumper):
    format = pq.Format.BINARY
    oid = _TEXTS

    def dump(self, obj: Texts) -> bytes:
        return dump_texts(obj)


class _NumbersDumper(adapt.Dumper):
    format = pq.Format.BINARY
    oid = _INT8S

    def dump(self, obj: Numbers) -> bytes:
        return dump_numbers(obj)


def dump_texts(texts: Texts) -> bytes:
    elements = (_NULL if text is None else _sized(text.encode()) for text in texts)
    return _array(_TEXT, len(texts), elements, has_nulls=None in texts)


def dump_numbers(numbers: Numbers) -> bytes:
    return _array(_INT8, len(numbers), (_NUMBER.pack(8, number) for number in numbers))


def _array(kind: int, length: int, elements: Iterable[bytes], *, has_nulls: bool = False) -> bytes:
    if not length:
        return _EMPTY.pack(0, 0, kind)
    return _HEADER.pack(1, has_nulls, kind, length, 1) + b"".join(elements)


def _sized(text: bytes) -> bytes:
    return _LENGTH.pack(len(text)) + text


psycopg.adapters.register_dumper(Texts, _TextsDumper)


psycopg.adapters.register_dumper(Numbers, _NumbersDumper)


def escape_nul(text: str) -> str:
    """Escape NUL characters, which PostgreSQL cannot store in text."""
    if "\0" not in text and _MARK not in text:
        return text
    return text.replace(_MARK, _MARK * 2).replace("\0", f"{_MARK}0")


def unescape_nul(text: str) -> str:
    """Undo `escape_nul`."""
    return _MARKED.sub(lambda found: "\0" if found[1] == "0" else found[1], text) if _MARK in text else text


def is_encodable(text: str) -> bool:
    """Return False if the text holds a lone surrogate (half of a character), which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
