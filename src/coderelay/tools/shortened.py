"""Text from outside, as much of it as a model is shown."""

SHOWN_CHARS = 50_000


def shortened(text: str, most: int = SHOWN_CHARS) -> str:
    """The beginning and the end; what is left out between them is counted."""
    text = text.replace("\0", "\ufffd")
    if len(text) <= most:
        return text
    head, tail = most - most // 4, most // 4
    return f"{text[:head]}\n[{len(text) - most} characters left out]\n{text[-tail:]}"
