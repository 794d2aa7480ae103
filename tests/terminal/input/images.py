"""Small images of every kind, as their first bytes."""

import struct


def png(wide: int, high: int, size: int = 64) -> bytes:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", wide, high)
    return head.ljust(size, b"\0")


def gif(wide: int, high: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", wide, high) + b"\0" * 10


def jpeg(wide: int, high: int) -> bytes:
    frame = struct.pack(">BBHBHHB", 0xFF, 0xC0, 17, 8, high, wide, 3)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"\0" * 14 + frame + b"\0" * 20


def webp(wide: int, high: int) -> bytes:
    size = (wide - 1).to_bytes(3, "little") + (high - 1).to_bytes(3, "little")
    return b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + size
