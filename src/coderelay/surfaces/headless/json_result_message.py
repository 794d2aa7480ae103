"""The result message of one run of `coder -p`: the end of its turn, and what only a follower of the turn knows."""

from collections.abc import Sequence
from typing import Any, Literal

from coderelay.client.views import cowork_messages
from coderelay.protocol.asks import Ask
from coderelay.protocol.calls import Call, Denied
from coderelay.protocol.events import (
    CallEnded,
    CallProposed,
    MessageAdded,
    Recorded,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import CallId, SessionId, new_id
from coderelay.protocol.message_content import text_of
from coderelay.protocol.projected_rows import AskRow
from coderelay.protocol.usage_and_cost import Usage, plus
from coderelay.surfaces.headless.exit_codes import DENIED, RunState
from coderelay.surfaces.headless.output_interface import CutShort

_Cut = Literal["error_parked", "error_during_execution"]


class RunResult:
    """Collects what the result is made of, from the events of the turn and from the run itself."""

    def __init__(self, session: SessionId, run: RunState) -> None:
        self.session = session
        self._run = run
        self._begin(0)

    def _begin(self, at: int) -> None:
        self._calls: dict[CallId, Call] = {}
        self._denials: list[dict[str, Any]] = []
        self._verification: dict[str, str] | None = None
        self._started_at = self._last_at = at
        self._api_ms = 0
        self._steps = 0
        self._usage = Usage()
        self._cost: float | None = None

    def take(self, recorded: Recorded) -> None:
        """Must be given every event of the session and of its children."""
        self._collect_denials(recorded)
        if recorded.session != self.session:
            return
        match recorded.event:
            case TurnStarted():
                self._begin(recorded.at)
            case MessageAdded(author="model") as event:
                self._api_ms += max(0, recorded.at - self._last_at)
                self._steps += 1
                self._usage, self._cost = self._usage.plus(event.usage), plus(self._cost, event.cost)
            case MessageAdded(author="workflow", verification=status) as event if status is not None:
                self._verification = {"status": status, "message": text_of(event.blocks)}
            case _:
                pass
        self._last_at = max(self._last_at, recorded.at)

    def _collect_denials(self, recorded: Recorded) -> None:
        match recorded.event:
            case MessageAdded(author="model") as event:
                self._calls |= {call.id: call for call in event.calls}
            case CallProposed() as event:
                self._calls[event.call.id] = event.call
            case CallEnded() as event:
                call = self._calls.pop(event.call_id, None)
                if call is not None and isinstance(event.outcome, Denied):
                    self._denials.append(_denial(call))
            case _:
                pass

    def of_turn(self, ended: Recorded) -> dict[str, Any]:
        """The result message of a turn that has ended."""
        event = ended.event
        assert isinstance(event, TurnEnded)
        message = cowork_messages.result_message(ended, event)
        if self._run.exit_code(event.ending) == DENIED:
            message["subtype"] = "error_max_budget_usd" if self._run.over_budget else "error_permission_denied"
            message["is_error"] = True
        return message | self._collected()

    def interrupted_result(self, cut: CutShort) -> dict[str, Any]:
        """The result message of a run that ends before its turn has ended."""
        if cut.asks is not None:
            return self._parked(cut.asks)
        if cut.problem is None:
            return self._cut_short("error_during_execution", "cancelled")
        failed = self._cut_short("error_during_execution", None)
        return failed | {"error": cut.problem, "errors": [cut.problem]}

    def _parked(self, rows: Sequence[AskRow]) -> dict[str, Any]:
        from coderelay.client.ask_view import headline  # few runs are parked

        asks = [
            {"id": each.ask.id, "session_id": each.session, "tool_use_id": each.ask.call_id, "kind": _kind(each.ask)}
            | {"title": headline(each.ask)}
            for each in rows
        ]
        return self._cut_short("error_parked", "tool_deferred") | {"asks": asks} | self._deferred(rows)

    def _cut_short(self, subtype: _Cut, stop_reason: str | None) -> dict[str, Any]:
        return {
            "type": "result",
            "subtype": subtype,
            "uuid": new_id(),
            "session_id": self.session,
            "is_error": True,
            "duration_ms": self._last_at - self._started_at,
            "num_turns": self._steps,
            "result": "",
            "stop_reason": stop_reason,
            "usage": cowork_messages.usage_fields(self._usage),
            "total_cost_usd": self._cost or 0.0,
        } | self._collected()

    def _collected(self) -> dict[str, Any]:
        verification = {} if self._verification is None else {"verification": self._verification}
        return {"duration_api_ms": self._api_ms, "permission_denials": self._denials} | verification

    def _deferred(self, rows: Sequence[AskRow]) -> dict[str, Any]:
        """The call that waits, under the name that programs made for Claude know."""
        calls = (self._calls.get(row.ask.call_id) for row in rows if row.ask.call_id is not None)
        call = next(filter(None, calls), None)
        if call is None:
            return {}
        shown = cowork_messages.tool_use(call)
        return {"deferred_tool_use": {name: shown[name] for name in ("id", "name", "input")}}


def _denial(call: Call) -> dict[str, Any]:
    shown = cowork_messages.tool_use(call)
    return {"tool_name": shown["name"], "tool_use_id": shown["id"], "tool_input": shown["input"]}


def _kind(ask: Ask) -> str:
    return str(ask.__struct_config__.tag)
