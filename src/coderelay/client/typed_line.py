"""Classifies a typed line as a shell command, a slash command or a prompt."""

from msgspec import Struct


class ShellLine(Struct, frozen=True):
    command: str


class Slash(Struct, frozen=True):
    name: str
    rest: str = ""


class PromptToSend(Struct, frozen=True):
    text: str


_BARE_WORDS = {"exit": Slash("exit"), "quit": Slash("exit"), "?": Slash("help", "keys")}


def bare_command(text: str) -> Slash | None:
    """The command that a word alone stands for, as in other programs. Not while a question is open: there it is an
    answer."""
    return _BARE_WORDS.get(text.strip())


def classify(line: str) -> ShellLine | Slash | PromptToSend:
    text = line.strip()
    if text.startswith("!"):
        return ShellLine(text[1:].strip())
    if text.startswith("/"):
        name, *rest = text[1:].split(maxsplit=1) or [""]
        if name.startswith("mcp:"):
            return Slash("mcp", text[len("/mcp:") :])
        return Slash(name, *rest)
    return PromptToSend(text)
