"""How wide and how high an image is, by its first bytes."""

import struct

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def picture_size(media_type: str, data: bytes) -> tuple[int, int] | None:
    """None if it cannot be told."""
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
