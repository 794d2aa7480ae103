"""What can be set of the workflow."""

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
        """Settings can only tighten it."""
        return 1 + min(MOST_RETRIES, self.attempts)


class WorkflowSettings(Struct, frozen=True):
    """`todos`: a complex prompt begins with a list. `language` is what the workflow speaks."""

    todos: bool = True
    verification: VerificationSettings = VerificationSettings()
    language: Language = "en"
