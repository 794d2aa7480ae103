"""Calls that a model may propose, each with what it would touch."""

import json
from typing import Literal

from msgspec import Struct

from coderelay.policy.judge import Verdict
from coderelay.protocol.asks import (
    Ask,
    PermissionAsk,
    PlanAsk,
    QuestionAsk,
    Unanswered,
)
from coderelay.protocol.calls import Call, Kind, Need, Option, Question
from coderelay.protocol.events import (
    Judged,
)
from coderelay.protocol.ids import AskId, CallId


class Proposed(Struct, frozen=True):
    """A call of a message, with the verdict it gets; without one, the policy judges it."""

    id: CallId
    need: Need
    verdict: Literal["allow", "ask", "deny"] | None = None

    def call(self) -> Call:
        return Call(self.id, self.need.tool, json.dumps({"command": self.need.title}, separators=(",", ":")))

    def judged(self) -> Judged:
        assert self.verdict is not None
        return self.judged_as(Verdict(self.verdict, f"{self.verdict}: a rule"))

    def judged_as(self, verdict: Verdict, deadline: int | None = None, unanswered: Unanswered = "deny") -> Judged:
        return Judged(
            call_id=self.id,
            verdict=verdict.verdict,
            need=self.need,
            reason=verdict.reason,
            ask=self._ask(verdict.reason, deadline, unanswered) if verdict.verdict == "ask" else None,
        )

    def _ask(self, reason: str, deadline: int | None, unanswered: Unanswered) -> Ask:
        if self.need.questions:
            return QuestionAsk(
                ask_of(self.id), self.id, self.need.questions, deadline=deadline, unanswered=unanswered
            )
        if self.need.plan is not None:
            return PlanAsk(ask_of(self.id), self.need.plan, self.id)
        if unanswered == "deny":  # as it was when the failures of the first machines were recorded
            return PermissionAsk(ask_of(self.id), self.id, self.need, reason)
        return PermissionAsk(ask_of(self.id), self.id, self.need, reason, deadline=deadline, unanswered=unanswered)


MAKE = Need(tool="bash", kind="command", title="make", command="make")
COLOUR = Question("Which colour?", header="Colour", options=(Option("Red"), Option("Blue")))
NAME = Question("Which name?")
RULED = "mcp__git__"
PLAN = "1. think\n2. build"


def allowed(name: str) -> Proposed:
    return Proposed(CallId(name), MAKE, "allow")


def asked(name: str) -> Proposed:
    return Proposed(CallId(name), MAKE, "ask")


def denied(name: str) -> Proposed:
    return Proposed(CallId(name), MAKE, "deny")


def broken(name: str) -> Proposed:
    """A call that cannot run at all."""
    need = Need(tool="bash", kind="command", title="make", command="make", problem="bad arguments")
    return Proposed(CallId(name), need, "deny")


def runs(name: str, command: str = "make") -> Proposed:
    return Proposed(CallId(name), Need(tool="bash", kind="command", title=command, command=command))


def writes(name: str, path: str = "a.py") -> Proposed:
    return Proposed(CallId(name), Need(tool="write", kind="edit", title=path, paths=(path,)))


def reads(name: str) -> Proposed:
    return Proposed(CallId(name), Need(tool="read", kind="read", title="a.py", paths=("a.py",)))


def peeks(name: str) -> Proposed:
    """A command that only reads, or so it is said."""
    return Proposed(CallId(name), Need(tool="bash", kind="read", title="ls", command="ls"))


def ruled(name: str, verdict: Literal["allow", "ask", "deny"], kind: Kind = "mcp") -> Proposed:
    """A call on which a rule of the person's own decides, in any mode."""
    return Proposed(CallId(name), Need(tool=f"{RULED}{kind}", kind=kind, title=kind), verdict)


def questions(name: str, *asked: Question) -> Proposed:
    given = asked or (COLOUR,)
    return Proposed(CallId(name), Need(tool="ask_user", kind="ask", title=given[0].question, questions=given))


def plan(name: str) -> Proposed:
    return Proposed(CallId(name), Need(tool="plan_exit", kind="ask", title="1. think", plan=PLAN))


def ask_of(call: str) -> AskId:
    return AskId(f"ask-{call}")
