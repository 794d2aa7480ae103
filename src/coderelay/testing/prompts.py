"""What a person said, without what the model was told besides."""

import re

_TAGS = "environment|instructions|skills|mode|file-changed|reminder"
_NOTES = re.compile(rf"(?:<({_TAGS})\b[^>]*>.*?</\1>\n?)+\n?", re.DOTALL)


def without_notes(content: str) -> str:
    found = _NOTES.match(content)
    return content[found.end() :] if found else content
