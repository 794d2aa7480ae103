"""What a line typed by a person is: a shell command, a built-in command, or a prompt."""

from msgspec import Struct


class Shell(Struct, frozen=True):
    command: str


class Slash(Struct, frozen=True):
    name: str
    rest: str = ""


class Prompted(Struct, frozen=True):
    text: str


def classify(line: str) -> Shell | Slash | Prompted:
    text = line.strip()
    if text.startswith("!"):
        return Shell(text[1:].strip())
    if text.startswith("/"):
        name, *rest = text[1:].split(maxsplit=1) or [""]
        if name.startswith("mcp:"):
            return Slash("mcp", text[len("/mcp:") :])
        return Slash(name, *rest)
    return Prompted(text)
