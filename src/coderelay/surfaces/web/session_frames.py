"""The log of one session as frames for web clients: each event is turned into JSON texts once, for all clients."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.client.views import cowork_messages
from coderelay.client.views.cowork_stream_events import Partials
from coderelay.protocol.asks import Ask, By, Decision, PermissionAsk
from coderelay.protocol.events import (
    AskAnswered,
    AskParked,
    BackgroundEnded,
    CallProposed,
    ChildOpened,
    MessageAdded,
    MessageKept,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    SessionForked,
    StopRequested,
    TurnEnded,
    TurnStarted,
    TurnUndone,
    asks_in,
)
from coderelay.protocol.ids import AskId, CallId, PromptId, SessionId
from coderelay.protocol.live_updates import Live, Notice, OutputDelta, TextDelta, ThinkingDelta
from coderelay.protocol.projected_rows import Summary, title_from
from coderelay.surfaces.web.outgoing_event_json import (
    Payload,
    ask_fields,
    ask_tool,
    decision_fields,
    event_text,
    in_session,
    retold,
)

_ENDINGS = {"done": "completed", "failed": "error", "step_limit": "error", "stopped": "idle"}
_SETTINGS = ("title", "model", "mode", "think", "folders", "agent", "cwd")
_Event = tuple[str, Payload]


class Frame(Struct, frozen=True):
    """One server event, encoded. `session` is the session that clients know it under. `seq` is the number of the
    event in that session's log; a live piece has the number of the event that it follows. Of the frames with one
    number, only the last `completes` it. `ask` is set in a `permission.request`. A frame of a child, or one
    that repeats an open ask for one client, does not have a place in that log."""

    text: str
    session: SessionId
    seq: int = 0
    live: bool = False
    completes: bool = True
    ask: AskId | None = None
    has_place: bool = True


class SessionFrames:
    """What clients are shown of one log. `parents` are the sessions that it works for, nearest first. Of a child,
    only its asks are shown, under the outermost of them. What a fork has copied is not shown: it did not happen now,
    and the history has it."""

    def __init__(self, summary: Summary, parents: list[SessionId], *, is_turn_open: bool = False) -> None:
        self._id = summary.id
        self.shown_as = parents[-1] if parents else summary.id
        self._is_child = bool(parents)
        self._title = summary.title
        self._cwd = summary.cwd
        self._admitted: dict[
            PromptId, _Event
        ] = {}  # received while no turn ran; which of them must wait is known when one begins
        self._queued_behind_turn: list[_Event] = []  # those that wait, because the turn of another prompt began
        self.is_turn_open = is_turn_open
        self._uses: dict[CallId, Payload] = {}  # the tool calls of the open batch
        self._asks: dict[AskId, Ask] = {each.id: each for each in summary.asks} if is_turn_open else {}
        self._decided: dict[str, AskId] = {}  # the asks of the open turn that are closed, by their tool uses
        self._is_copying = False
        self._partials = Partials(summary.id)
        self.seq = summary.head

    @property
    def is_at_rest(self) -> bool:
        """Whether a new view would show the next event just as well."""
        return not self.is_turn_open and not self._is_copying and not self._admitted

    def frames(self, each: Recorded | Live) -> list[Frame]:
        if not isinstance(each, Recorded):
            return [] if self._is_child else [self._live(kind, payload) for kind, payload in self._of_live(each)]
        if self._is_copied(each):
            self.seq = each.seq
            return []
        ends = isinstance(each.event, MessageAdded | MessageKept | TurnEnded)
        stopped = (
            [self._live(*_stream(message)) for message in self._partials.finish()]
            if ends and not self._is_child
            else []
        )
        self.seq = each.seq
        self._note(each)
        asked = [self._asking(ask) for ask in asks_in(each.event)]
        events = [] if self._is_child else self._events(each)
        resolved = self._resolved(each)
        if self._is_child:
            return [self._child_frame(kind, payload, ask) for kind, payload, ask in [*asked, *resolved]]
        made: list[tuple[str, Payload, AskId | None]] = [
            *resolved,
            *((kind, payload, None) for kind, payload in events),
            *asked,
        ]
        return stopped + [
            self._frame(kind, payload, ask, part, len(made)) for part, (kind, payload, ask) in enumerate(made)
        ]

    def apply_without_showing(self, recorded: Recorded) -> None:
        """Take note of an event that is not to be shown."""
        self.seq = recorded.seq
        if not self._is_copied(recorded):
            self._note(recorded)
            self._resolved(recorded)

    def saying(self) -> list[Frame]:
        """The block that is being written, from its beginning, for a client that comes in the middle of it."""
        return [self._live(*_stream(each)) for each in self._partials.again()]

    def forget_live(self) -> None:
        """The feed of live pieces begins anew, with the block that is being written."""
        self._partials = Partials(self._id)

    def unknown_uses(self, asks: Iterable[Ask]) -> list[CallId]:
        """The calls of these asks whose arguments are not known, because they were proposed before the view began."""
        return [ask.call_id for ask in asks if isinstance(ask, PermissionAsk) and ask.call_id not in self._uses]

    def add_call_arguments(self, uses: Mapping[CallId, Payload]) -> None:
        self._uses |= uses

    def request(self, ask: Ask) -> Frame:
        """The `permission.request` of an ask that is open already, for one client."""
        kind, payload, _ = self._asking(ask)
        text = event_text(kind, in_session(self.shown_as, payload))
        return Frame(text, self.shown_as, ask=ask.id, has_place=False)

    def ask_about(self, tool_use: str) -> AskId | None:
        """The ask of the open turn about a tool use, also if it is answered."""
        still_open = {ask_tool(ask): ask.id for ask in self._asks.values()}
        return still_open.get(tool_use) or self._decided.get(tool_use)

    def _is_copied(self, recorded: Recorded) -> bool:
        """A turn of the session's own has an owner, and so an epoch."""
        if isinstance(recorded.event, TurnStarted) and recorded.epoch == 0:
            self._is_copying = True
        if isinstance(recorded.event, SessionForked):
            self._is_copying = False
        return self._is_copying

    def _note(self, recorded: Recorded) -> None:
        match recorded.event:
            case SessionCreated() as event:
                self._title, self._cwd = event.title, event.cwd
            case SessionConfigured(title=str() as title):
                self._title = title
            case PromptAdmitted() as event if not self.is_turn_open:
                self._admitted[event.prompt_id] = _queued(event)
            case PromptRecalled() as event:
                self._admitted.pop(event.prompt_id, None)
            case StopRequested() if not self.is_turn_open:
                self._queued_behind_turn, self._admitted = list(self._admitted.values()), {}
            case TurnStarted() as event:
                self.is_turn_open, self._cwd = True, event.cwd
                self._title = self._title or (title_from(event.typed_text) if event.task == "prompt" else "")
                self._admitted.pop(event.prompt_id, None)
                self._queued_behind_turn, self._admitted = list(self._admitted.values()), {}
            case MessageAdded() as event:
                self._uses = {call.id: cowork_messages.tool_use(call) for call in event.calls}
            case CallProposed() as event:
                self._uses[event.call.id] = cowork_messages.tool_use(event.call)
            case TurnEnded() | SessionDeleted():
                self.is_turn_open, self._uses, self._decided = False, {}, {}
                self._admitted = {}
            case SessionForked():
                self._admitted = {}  # they were copied, too
            case _:
                pass
        self._asks |= {ask.id: ask for ask in asks_in(recorded.event)}

    def _events(self, recorded: Recorded) -> list[_Event]:
        event = recorded.event
        messages = [
            ("stream.message", {"message": msgspec.Raw(row.data.encode())}) for row in cowork_messages.rows(recorded)
        ]
        match event:
            case SessionCreated():
                return []
            case PromptAdmitted():
                return [_queued(event)] if self.is_turn_open else []
            case PromptEdited():
                return [("prompt.edited", {"promptId": event.prompt_id, "prompt": event.text, **_by(event.by)})]
            case PromptRecalled():
                return [("prompt.recalled", {"promptId": event.prompt_id, **_by(event.by)})]
            case TurnStarted():
                settings = {"agent": event.agent, "model": event.model, "mode": event.mode, "turnId": event.turn_id}
                status = {"status": "running", "title": self._title, "cwd": event.cwd, **settings}
                prompt = _prompt(event) | (_by(event.by) if event.by else {})
                return [
                    ("session.status", status),
                    ("stream.user_prompt", prompt),
                    *self._queued_behind_turn,
                    *messages[1:],
                ]
            case PromptTaken():
                return [("stream.user_prompt", _prompt(event) | {"steer": True})]
            case TurnEnded():
                ended: Payload = {"status": _ENDINGS[event.ending], "title": self._title, "cwd": self._cwd}
                error = event.error or ("the step limit was reached" if event.ending == "step_limit" else None)
                return [*messages, ("session.status", ended | ({"error": error, **retold(error)} if error else {}))]
            case SessionConfigured():
                changed = {name: getattr(event, name) for name in _SETTINGS if getattr(event, name) is not None}
                return [("session.settings", {**changed, "nextTurn": event.next_turn, **_by(event.by)})]
            case ChildOpened():
                return [("session.child", {"toolUseId": event.call_id, "childSessionId": event.child})]
            case TurnUndone():
                files = {"restored": event.restored, "removed": event.removed, "conflicts": event.conflicts}
                return [("turn.undone", {"turnId": event.turn_id, **files, **_by(event.by)})]
            case BackgroundEnded():
                return [("background.ended", {"backgroundId": event.background_id})]
            case AskParked():
                return [("permission.parked", {"askId": event.ask_id})]
            case StopRequested() if not self.is_turn_open:
                return self._queued_behind_turn
            case SessionDeleted():
                return [("session.deleted", {})]
            case _:
                return messages

    def _asking(self, ask: Ask) -> tuple[str, Payload, AskId | None]:
        use = None if ask.call_id is None else self._uses.get(ask.call_id)
        child = {"childSessionId": self._id, "task": self._title} if self._is_child else {}
        return "permission.request", ask_fields(ask, use, self._cwd) | child, ask.id

    def _resolved(self, recorded: Recorded) -> list[tuple[str, Payload, AskId | None]]:
        """The asks that an event closes: by an answer, or because the turn is to end."""
        match recorded.event:
            case AskAnswered() as event:
                ask = self._asks.pop(event.ask_id, None)
                return [self._closed(event.ask_id, ask, event.decision, event.by)]
            case StopRequested() as event:
                asks, self._asks = self._asks, {}
                return [self._closed(each.id, each, None, event.by) for each in asks.values()]
            case TurnEnded():
                asks, self._asks = self._asks, {}
                return [self._closed(each.id, each, None, None) for each in asks.values()]
            case _:
                return []

    def _closed(
        self, ask_id: AskId, ask: Ask | None, decision: Decision | None, by: By | None
    ) -> tuple[str, Payload, AskId | None]:
        child = {"childSessionId": self._id} if self._is_child else {}
        who = {"by": "", "via": ""} if by is None else _by(by)
        tool = ask_id if ask is None else ask_tool(ask)
        self._decided[tool] = ask_id
        payload = {"toolUseId": tool, **decision_fields(decision), **who, "askId": ask_id, **child}
        return "permission.resolved", payload, None

    def _of_live(self, live: Live) -> list[_Event]:
        match live:
            case TextDelta(kept=True) | ThinkingDelta(kept=True):
                return []  # the log has it, and is shown
            case TextDelta() | ThinkingDelta():
                return [_stream(each) for each in self._partials.grow(live)]
            case OutputDelta():
                return [("tool.output", {"toolUseId": live.call_id, "text": live.text})]
            case Notice():
                return [("notice", {"text": live.text, **retold(live.text)})]

    def _live(self, kind: str, payload: Payload) -> Frame:
        return Frame(event_text(kind, in_session(self.shown_as, payload)), self.shown_as, self.seq, live=True)

    def _frame(self, kind: str, payload: Payload, ask: AskId | None, part: int, parts: int) -> Frame:
        place = {"seq": self.seq} if parts == 1 else {"seq": self.seq, "part": part, "parts": parts}
        text = event_text(kind, in_session(self.shown_as, payload) | place)
        return Frame(text, self.shown_as, self.seq, completes=part == parts - 1, ask=ask)

    def _child_frame(self, kind: str, payload: Payload, ask: AskId | None) -> Frame:
        """A child has a log of its own, so its events have no place in the parent's."""
        text = event_text(kind, in_session(self.shown_as, payload))
        return Frame(text, self.shown_as, ask=ask, has_place=False)


def _stream(message: dict[str, Any]) -> _Event:
    return "stream.message", {"message": message}


def _prompt(event: TurnStarted | PromptTaken) -> Payload:
    images = {"images": event.images} if event.images else {}
    return {"prompt": event.typed_text, "promptId": event.prompt_id, **images}


def _queued(event: PromptAdmitted) -> _Event:
    payload = {"promptId": event.prompt_id, "prompt": event.typed_text, **_by(event.by), "steer": event.steer}
    return "prompt.queued", payload


def _by(by: By) -> Payload:
    return {"by": by.who, "via": by.via}
