"""The log of one session as `session/update` notifications."""

import os
import time
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from coderelay.acp.update_payloads import (
    Chunk,
    Fields,
    Status,
    ToolKind,
    chunk,
    diff_content,
    fenced,
    image_block,
    in_content,
    plan,
    text_block,
    tool_call,
    tool_call_update,
)
from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.client.i18n import retell
from coderelay.client.todo_text import items_set_by
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Kind, Need, Outcome, Stopped, Unknown, one_line
from coderelay.protocol.events import (
    CallAsked,
    CallEnded,
    CallProposed,
    CallStarted,
    Judged,
    MessageAdded,
    PromptAdmitted,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionConfigured,
    TurnEnded,
    TurnStarted,
    judged_in,
)
from coderelay.protocol.ids import CallId, MessageId, PromptId
from coderelay.protocol.live_updates import Live, Notice, OutputDelta, TextDelta, ThinkingDelta
from coderelay.protocol.message_content import Image, text_of, thinking_of
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.text_escaping_and_width import visible

_TITLE = 300
_TAIL = 8192  # characters of an output while its command runs
_PAUSE_SECONDS = 0.3
_KINDS: dict[Kind, ToolKind] = {
    "read": "read",
    "edit": "edit",
    "command": "execute",
    "network": "fetch",
    "mcp": "other",
    "ask": "other",
}


class _Written(Struct):
    """What the client has been sent of a message while it was written."""

    text: str = ""
    thinking: str = ""


class _Output(Struct):
    """What is shown of a command's output while it runs, and when it may be shown again."""

    text: str = ""
    next_at: float = 0.0


class SessionUpdates:
    """Makes the updates, event by event. The prompts in `own` came from this client, which shows them itself. If
    `is_midway` is true, it began while a message was being written; that message is shown when it is complete."""

    def __init__(self, cwd: str, mode: Mode, *, shows_notices: bool) -> None:
        self.cwd = cwd
        self.mode: Mode = mode
        self.own: set[PromptId] = set()
        self.is_midway = False
        self._is_own_turn = False
        self._shows_notices = shows_notices
        self._calls: dict[CallId, Call] = {}
        self._needs: dict[CallId, Need] = {}
        self._images: dict[PromptId, tuple[Image, ...]] = {}
        self._written: dict[MessageId, _Written] = {}
        self._outputs: dict[CallId, _Output] = {}

    def knows(self, call: CallId | None) -> bool:
        return call in self._needs

    def of(self, each: Recorded | Live) -> list[Fields]:
        if not isinstance(each, Recorded):
            return self._of_live(each)
        event = each.event
        match event:
            case PromptAdmitted():
                self._images[event.prompt_id] = event.images
                return []
            case PromptRecalled():
                self._images.pop(event.prompt_id, None)
                return []
            case TurnStarted():
                self.is_midway = False
                self.cwd, self._is_own_turn = event.cwd, event.prompt_id in self.own
                return [*self._in_mode(event.mode), *self._prompt(event.prompt_id, event.typed_text)]
            case PromptTaken():
                return self._prompt(event.prompt_id, event.typed_text)
            case MessageAdded():
                self.is_midway = False
                self._calls |= {call.id: call for call in event.calls}
                return self._message(event)
            case CallProposed():
                self._calls[event.call.id] = event.call
                return [self._proposed(event.judged)]
            case CallStarted():
                return [tool_call_update(event.call_id, "in_progress")]
            case CallAsked():
                return [tool_call_update(event.call_id, "pending")]
            case CallEnded():
                return self._ended(event)
            case SessionConfigured():
                title = (
                    [] if event.title is None else [{"sessionUpdate": "session_info_update", "title": event.title}]
                )
                return [*title, *(self._in_mode(event.mode) if event.mode is not None else [])]
            case TurnEnded():
                self._calls, self._needs, self._written, self._outputs = {}, {}, {}, {}
                return self._problem(event)
            case _:
                return [self._proposed(judged) for judged in judged_in(event)]

    def notice(self, text: str) -> Fields:
        """Something that people should know, although nothing has changed."""
        if self._shows_notices:
            return {"sessionUpdate": "notice", "severity": "info", "title": visible(text)}
        return chunk("agent_message_chunk", text_block(f"{visible(text)}\n\n"))

    def call_fields(self, need: Need) -> Fields:
        """What a call does, in the fields of a tool call."""
        kind: ToolKind = tool_specs().spec_of(need.tool).acp_kind or _KINDS[need.kind]
        fields: Fields = {"title": _title(need), "kind": kind}
        if need.paths:
            fields["locations"] = [{"path": self._absolute(path)} for path in need.paths]
        if need.diff:
            fields["content"] = self.diffs(need)
        return fields

    def diffs(self, need: Need) -> list[Fields]:
        return diff_content(visible(need.diff), [self._absolute(path) for path in need.paths])

    def _of_live(self, live: Live) -> list[Fields]:
        match live:
            case TextDelta() | ThinkingDelta() if self.is_midway:
                return []
            case TextDelta():
                self._so_far(live.message_id).text += live.text
                return [chunk("agent_message_chunk", text_block(live.text), live.message_id)]
            case ThinkingDelta():
                self._so_far(live.message_id).thinking += live.text
                return [chunk("agent_thought_chunk", text_block(live.text), live.message_id)]
            case Notice():
                return [self.notice(retell(live.text, live.said))]
            case OutputDelta():
                return self._output_so_far(live)
            case _:
                assert_never(live)

    def _output_so_far(self, live: OutputDelta) -> list[Fields]:
        """The last part of a command's output. Each update repeats it, so there are only a few in a second."""
        shown = self._outputs.setdefault(live.call_id, _Output())
        shown.text = (shown.text + live.text)[-_TAIL:]
        now = time.monotonic()
        if now < shown.next_at:
            return []
        shown.next_at = now + _PAUSE_SECONDS
        content = [_output(shown.text, is_markdown=False)]
        return [tool_call_update(live.call_id, "in_progress", content=content)]

    def _so_far(self, message: MessageId) -> _Written:
        return self._written.setdefault(message, _Written())

    def _in_mode(self, mode: Mode) -> list[Fields]:
        if mode == self.mode:
            return []
        self.mode = mode
        return [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]

    def _prompt(self, prompt: PromptId, said: str) -> list[Fields]:
        images = self._images.pop(prompt, ())
        if prompt in self.own:
            return []
        blocks = [*([text_block(said)] if said else []), *map(image_block, images)]
        return [chunk("user_message_chunk", block, prompt) for block in blocks]

    def _message(self, event: MessageAdded) -> list[Fields]:
        """The rest of a message. Live pieces may have been lost; then the message is sent again as a whole, because
        what was sent cannot be taken back."""
        sent = self._written.pop(event.message_id, _Written())
        text = text_of(event.blocks)
        if event.author == "workflow":
            text = f"{retell(text)}\n\n" if text else ""
        return [
            *_rest("agent_thought_chunk", thinking_of(event.blocks), sent.thinking, event.message_id),
            *_rest("agent_message_chunk", text, sent.text, event.message_id),
        ]

    def _proposed(self, judged: Judged) -> Fields:
        self._needs[judged.call_id] = judged.need
        call = self._calls.get(judged.call_id)
        given: Fields = {} if call is None else {"rawInput": _arguments(call)}
        given["_meta"] = {"coderelay": {"toolName": judged.need.tool}}
        return tool_call(judged.call_id, "pending", **self.call_fields(judged.need), **given)

    def _ended(self, event: CallEnded) -> list[Fields]:
        need, call = self._needs.get(event.call_id), self._calls.get(event.call_id)
        content = self._result(event.outcome, need)
        is_done = isinstance(event.outcome, Finished)
        status: Status = "completed" if is_done else "failed"
        updates = [tool_call_update(event.call_id, status, **({"content": content} if content else {}))]
        items = items_set_by(call) if call is not None and is_done else None
        if items is not None:
            updates.append(plan((each.content, each.priority, each.status) for each in items))
        return updates

    def _result(self, outcome: Outcome, need: Need | None) -> list[Fields]:
        match outcome:
            case Finished() if need is not None and need.kind == "edit" and need.diff:
                return self.diffs(need)
            case Finished():
                shown = "output" if need is None else tool_specs().spec_of(need.tool).result_shown
                text = "" if shown == "todos" else "\n".join(filter(None, (outcome.output, outcome.errors)))
                block = [] if not text.strip() else [_output(text, is_markdown=shown == "markdown")]
                return [*block, *(in_content(image_block(each)) for each in outcome.images)]
            case Failed():
                return [_output(outcome.message, is_markdown=False)]
            case Stopped() if outcome.output:
                return [_output(outcome.output, is_markdown=False)]
            case Denied() | Stopped() | Unknown():
                return [in_content(text_block(visible(retell(one_line(outcome)))))]
            case _:
                assert_never(outcome)

    def _problem(self, event: TurnEnded) -> list[Fields]:
        """Why a turn failed. The client that sent the prompt is told in its answer."""
        if event.error is None or self._is_own_turn:
            return []
        return [chunk("agent_message_chunk", text_block(visible(retell(event.error, event.said))))]

    def _absolute(self, path: str) -> str:
        return os.path.join(self.cwd, path)


def _rest(kind: Chunk, whole: str, sent: str, message: MessageId) -> list[Fields]:
    if whole == sent:
        return []
    rest = whole[len(sent) :] if whole.startswith(sent) else f"\n\n{whole}"
    return [chunk(kind, text_block(rest), message)]


def _title(need: Need) -> str:
    said = need.said if need.problem is None else None
    text = need.command if need.command is not None else f"{need.tool} {retell(need.title, said)}"
    line = " ⏎ ".join(each.strip() for each in text.splitlines() if each.strip())
    return visible(line if len(line) <= _TITLE else f"{line[:_TITLE]}…")


def _output(text: str, *, is_markdown: bool) -> Fields:
    shown = visible(text)
    return in_content(text_block(shown if is_markdown else fenced(shown)))


def _arguments(call: Call) -> Any:
    try:
        return msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}
