"""Base64 in a text: decodes it, and masks what holds a secret."""

import re
from binascii import Error, a2b_base64
from collections.abc import Callable

_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_-])"
    r"(?:(?:[A-Za-z0-9+/_-]{60,200}+\r?\n){1,900}[A-Za-z0-9+/_-]{0,200}|[A-Za-z0-9+/_-]{16,65536}+)={0,2}"
)
_HEAD = 64
_PRINTED = bytes(range(32, 127)) + b"\t\r\n"


def hide_encoded(text: str, is_secret: Callable[[str], bool]) -> str:
    def hidden(found: re.Match[str]) -> str:
        plain = decoded(found[0])
        return found[0] if plain is None or not is_secret(plain) else "[hidden secret: encoded]"

    return _BASE64.sub(hidden, text)


def decoded(text: str) -> str | None:
    """The plain text that a base64 text holds; None if it is not base64 or does not hold plain text."""
    if "\n" in text:
        text = text.replace("\r", "").replace("\n", "")
    if "-" in text or "_" in text:
        text = text.replace("-", "+").replace("_", "/")
    text = text.rstrip("=")
    try:
        if a2b_base64(text[:_HEAD] + "=" * (-len(text[:_HEAD]) % 4)).translate(None, _PRINTED):
            return None
        data = a2b_base64(text + "=" * (-len(text) % 4))
    except Error:
        return None
    return None if data.translate(None, _PRINTED) else data.decode("ascii")
