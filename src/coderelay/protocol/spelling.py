"""File names compared as the most forgiving file system compares them: many spellings can open one file."""

END_OF_NAME = r"[ .]*(?::[^/]*)?(?=/|$)"
"""A pattern for the end of a name. Windows and its network shares ignore blanks, dots and a stream name there."""

_HANGUL_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters by category, but drawn as nothing


def folded(path: str) -> str:
    """A relative path with a slash before every name, without case, width, accents and invisible characters."""
    return "/" + (path.lower() if path.isascii() else _fold(path)).replace("\\", "/").lstrip("/")


def _fold(text: str) -> str:
    from unicodedata import category, normalize  # most names are ASCII

    folded = normalize("NFKD", normalize("NFKD", text).upper().casefold())
    return "".join(each for each in folded if category(each)[0] not in "CM" and each not in _HANGUL_FILLERS)
