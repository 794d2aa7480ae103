"""Settings of the workflow: initial todo lists, verification after edits, language."""

from typing import Literal

from msgspec import Struct

Language = Literal["en", "zh"]

MOST_RETRIES = 2


class VerificationSettings(Struct, frozen=True):
    enabled: bool = True
    attempts: int = MOST_RETRIES
    commands: tuple[str, ...] = ()

    @property
    def most_runs(self) -> int:
        """How often a check may run. The configuration can only lower this limit."""
        return 1 + min(MOST_RETRIES, self.attempts)


class WorkflowSettings(Struct, frozen=True):
    """`todos` says whether a complex prompt begins with a todo list. `language` is the language of the workflow's
    messages."""

    todos: bool = True
    verification: VerificationSettings = VerificationSettings()
    language: Language = "en"
