"""Prompts that wait for their turn, as the log tells."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from coderelay.protocol.events import (
    AnyEvent,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    PromptTaken,
    TurnStarted,
)
from coderelay.protocol.ids import PromptId


class WaitingPrompts:
    def __init__(self, known: Iterable[PromptAdmitted] = ()) -> None:
        self._waiting: dict[PromptId, PromptAdmitted] = {each.prompt_id: each for each in known}

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[PromptAdmitted]:
        return iter(self._waiting.values())

    @property
    def last(self) -> PromptAdmitted | None:
        return next(reversed(self._waiting.values()), None)

    def take(self, event: AnyEvent) -> None:
        match event:
            case PromptAdmitted():
                self._waiting[event.prompt_id] = event
            case PromptEdited() if event.prompt_id in self._waiting:
                self._waiting[event.prompt_id] = replace(self._waiting[event.prompt_id], text=event.text, typed="")
            case TurnStarted() | PromptTaken() | PromptRecalled():
                self._waiting.pop(event.prompt_id, None)
            case _:
                pass
