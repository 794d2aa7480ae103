"""The results of slash commands: what the surface on which a command was typed shows, sends or does."""

from msgspec import Struct

from coderelay.client.typed_line import PromptToSend
from coderelay.protocol.ids import SessionId


class ChangedFiles(Struct, frozen=True):
    """Changed files: `text` for the person, and below it a unified `diff` that a surface may draw in its own way."""

    text: str
    diff: str

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.text, self.diff.rstrip("\n"))))


class RewoundTurns(Struct, frozen=True):
    """Turns were undone. `prompt` began the first of them: a surface may put it back into the input. `told` is a
    message for the person."""

    told: str
    prompt: str


class SwitchedSession(Struct, frozen=True):
    """The surface shows `session` from now on, following it from `after`. `told` is a message for the person. Asks
    raised before `after` are found among the session's open asks."""

    session: SessionId
    after: int
    told: str


class OutputLines(Struct, frozen=True):
    """The person wants to see so many lines of a tool's output; 0 for all, None to be told how many."""

    lines: int | None


class TextToCopy(Struct, frozen=True):
    """A text for the clipboard of the person's machine."""

    text: str


class ViKeys(Struct, frozen=True):
    """The person switches vi keys on or off; None toggles them."""

    on: bool | None


class LeftSession(Struct, frozen=True):
    """The person wants to leave; the session stays."""


SlashResult = (
    str
    | ChangedFiles
    | PromptToSend
    | RewoundTurns
    | SwitchedSession
    | OutputLines
    | TextToCopy
    | ViKeys
    | LeftSession
)
"""The result of a command: a text for the person, changed files, a prompt for the surface to send, undone turns, a
move to another session, something for the terminal to do, or leaving."""
