"""Images attached to a prompt: reading them, their type and dimensions, and whether they can be sent."""

import os
import stat
import struct
from base64 import b64encode

from msgspec import Struct

from coderelay.client.i18n import t
from coderelay.protocol.errors import BadInput
from coderelay.protocol.message_content import Image
from coderelay.tools.read import MOST_BYTES, image_kind

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class Picture(Struct, frozen=True):
    name: str
    media_type: str
    data: bytes

    @property
    def image(self) -> Image:
        return Image(self.media_type, b64encode(self.data).decode())

    @property
    def described(self) -> str:
        """The name, the width and height if they are known, and the size in bytes."""
        size = picture_size(self.media_type, self.data)
        return " ".join([self.name, *([f"{size[0]}x{size[1]}"] if size else []), amount(len(self.data))])


def read_picture(path: str, name: str) -> Picture:
    """Read an image file. Raises BadInput if it cannot be sent; the message calls it `name`."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BadInput(t("cannot read {name}: {why}", name=name, why=error.strerror or error)) from error
    with open(file, "rb") as opened:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise BadInput(t("{name} is not a file", name=name))
        _refuse_too_much(found.st_size, name)
        return picture_of(opened.read(MOST_BYTES + 1), name)


def picture_of(data: bytes, name: str) -> Picture:
    """Check that the data is an image that can be sent. Raises BadInput."""
    _refuse_too_much(len(data), name)
    kind = image_kind(data)
    if kind is None:
        raise BadInput(t("{name} is not a supported image (PNG, JPEG, GIF or WebP)", name=name))
    return Picture(name, kind, data)


def amount(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _refuse_too_much(size: int, name: str) -> None:
    if size > MOST_BYTES:
        told = t("{name} is too large to send: {size} (limit {most})", name=name, size=amount(size), most=_MOST)
        raise BadInput(told)


_MOST = amount(MOST_BYTES)


def picture_size(media_type: str, data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, or None if the data does not tell."""
    try:
        match media_type:
            case "image/png":
                return struct.unpack_from(">II", data, 16)
            case "image/gif":
                return struct.unpack_from("<HH", data, 6)
            case "image/jpeg":
                return _jpeg(data)
            case "image/webp":
                return _webp(data)
            case _:
                return None
    except (struct.error, IndexError):
        return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            high, wide = struct.unpack_from(">HH", data, at + 5)
            return wide, high
        at += 1 if marker == 0xFF else 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = struct.unpack_from("<I", data, 21)[0]
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            wide, high = struct.unpack_from("<HH", data, 26)
            return wide & 0x3FFF, high & 0x3FFF
        case _:
            return None
