"""The progress of a session's subagents: a line for each finished call and remark, and what runs at the moment."""

import time

from coderelay.protocol.calls import Need
from coderelay.protocol.events import (
    AnyEvent,
    BatchOpened,
    CallEnded,
    CallProposed,
    CallStarted,
    MessageAdded,
    SessionCreated,
    TurnEnded,
    judged_in,
)
from coderelay.protocol.ids import CallId, SessionId
from coderelay.protocol.message_content import text_of
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import CYAN, DIM, paint
from coderelay.surfaces.terminal.drawing.calls import call_name, call_summary
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut, width_of

_START = "  ↳ "
_TITLE = 24


class SubagentProgress:
    """Renders the events of child sessions. It prints nothing itself."""

    def __init__(self) -> None:
        self._titles: dict[SessionId, str] = {}
        self._children: dict[CallId, SessionId] = {}
        self._needs: dict[tuple[SessionId, CallId], Need] = {}  # a child may use its parent's call ids
        self._running: dict[tuple[SessionId, CallId], float] = {}

    def opened(self, call: CallId, child: SessionId) -> None:
        """A call of the session has opened this child."""
        self._children[call] = child

    def take(self, child: SessionId, event: AnyEvent, width: int) -> str:
        """The text to print for an event of a child. Its asks are shown elsewhere."""
        match event:
            case SessionCreated():
                self._titles[child] = " ".join(visible(event.title).split())
            case BatchOpened() | CallProposed():
                self._needs.update({(child, each.call_id): each.need for each in judged_in(event)})
            case CallStarted():
                self._running[child, event.call_id] = time.monotonic()
            case CallEnded():
                self._running.pop((child, event.call_id), None)
                need = self._needs.pop((child, event.call_id), None)
                start, room = self._start(child, width)
                return f"{start}{call_summary(need, event.outcome, event.ms, room)}\n" if need is not None else ""
            case MessageAdded() if event.calls and (text := text_of(event.blocks).strip()):
                start, room = self._start(child, width)
                return f"{start}{paint(cut(_one_line(text), room), DIM)}\n"
            case TurnEnded():
                self._forget(child)
            case _:
                pass
        return ""

    def doing(self, call: CallId, width: int) -> list[str]:
        """What the child that this call opened runs at the moment."""
        child = self._children.get(call)
        running = [(number, since) for (owner, number), since in self._running.items() if owner == child]
        lines: list[str] = []
        for number, since in running:
            if child is not None and (need := self._needs.get((child, number))) is not None:
                seconds = f"{int(time.monotonic() - since)}s"
                name, title = call_name(need)
                lines.append(paint(f"{_START}{cut(f'{name}  {title}', width - len(seconds) - 6)} {seconds}", DIM))
        return lines

    def _start(self, child: SessionId, width: int) -> tuple[str, int]:
        """How a line about this child begins, and how many columns are left."""
        title = cut(self._titles.get(child, ""), _TITLE)
        start = f"{paint(_START, DIM)}{paint(title, CYAN)}  " if title else paint(_START, DIM)
        return start, max(width - len(_START) - (width_of(title) + 2 if title else 0), 16)

    def _forget(self, child: SessionId) -> None:
        self._running = {key: since for key, since in self._running.items() if key[0] != child}
        self._needs = {key: need for key, need in self._needs.items() if key[0] != child}


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())
