"""What kind of image some bytes are, by what they are and not by what they are called."""

_STARTS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}

MOST_BYTES = 5 * 1024 * 1024 * 3 // 4  # 5 MB in base64; more is refused by most providers


def image_kind(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS.items() if content.startswith(start)), None)
