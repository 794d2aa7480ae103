"""The frames of the platform's long connection: protocol buffers, written and read by hand."""

from collections.abc import Iterator

from msgspec import Struct

CONTROL, DATA = 0, 1
_VARINT, _BYTES = 0, 2


class Frame(Struct):
    """`method` is CONTROL or DATA; `payload` of a data frame is JSON."""

    method: int
    headers: dict[str, str]
    payload: bytes = b""
    seq: int = 0
    log: int = 0
    service: int = 1

    def encode(self) -> bytes:
        numbers = ((1, self.seq), (2, self.log), (3, self.service), (4, self.method))
        headers = [_field(1, key.encode()) + _field(2, value.encode()) for key, value in self.headers.items()]
        return (
            b"".join(_tag(number, _VARINT) + _varint(value) for number, value in numbers)
            + b"".join(_field(5, each) for each in headers)
            + _field(8, self.payload)
        )


def decode_frame(data: bytes) -> Frame:
    frame = Frame(CONTROL, {})
    for number, value in _fields(data):
        match number, value:
            case 4, int():
                frame.method = value
            case 5, bytes():
                pair = dict(_fields(value))
                key, text = pair.get(1, b""), pair.get(2, b"")
                assert isinstance(key, bytes)
                assert isinstance(text, bytes)
                frame.headers[key.decode()] = text.decode()
            case 8, bytes():
                frame.payload = value
            case _:
                pass
    return frame


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _field(number: int, value: bytes) -> bytes:
    return _tag(number, _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        if tag & 7 == _VARINT:
            value, at = _read_varint(data, at)
            yield tag >> 3, value
        elif tag & 7 == _BYTES:
            length, at = _read_varint(data, at)
            yield tag >> 3, data[at : at + length]
            at += length
        else:
            raise ValueError(f"field {tag >> 3} has wire type {tag & 7}")


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
