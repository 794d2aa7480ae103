"""What a person must decide, and the decision.

Four kinds of ask: may this call run, what is the answer to these questions, is this plan approved, may more be
spent. An ask is opened once; exactly one answer, or the end of its turn, closes it. Every kind may be denied; apart
from that it is `answered_by` one kind of decision, and `misfit` is what a person is told who tries another. How each
kind is shown and which words answer it is in `client/ask_text`.
"""

from typing import ClassVar, Literal

from msgspec import Struct

from coderelay.protocol.calls import Need, Question, Right
from coderelay.protocol.ids import AskId, CallId
from coderelay.protocol.translatable import Translatable, keep_templates

Scope = Literal["once", "session", "project", "person"]
PlanOption = Literal["smart", "default", "keep", "feedback"]


class By(Struct, frozen=True):
    """Who did something, and through which surface."""

    who: str
    via: str

    def __str__(self) -> str:
        return f"{self.who} ({self.via})"


class Allow(Struct, frozen=True, tag="allow", omit_defaults=True):
    """`scope` says for how much more than this call: the same thing again in this session, in this folder,
    or wherever this person works."""

    scope: Scope = "once"


class Deny(Struct, frozen=True, tag="deny", omit_defaults=True):
    message: str = ""


class DenyAndStop(Struct, frozen=True, tag="deny_and_stop"):
    """Deny every open ask and stop the turn."""


class Answers(Struct, frozen=True, tag="answers"):
    """By the text of each question: a label, several labels joined by a comma, or free text."""

    answers: dict[str, str]


class PlanDecision(Struct, frozen=True, tag="plan", omit_defaults=True):
    """`smart` and `default` approve the plan and change to that mode; `keep` stays in plan mode; `feedback`
    stays there and says what to change."""

    option: PlanOption
    feedback: str = ""


Decision = Allow | Deny | DenyAndStop | Answers | PlanDecision


class PermissionAsk(Struct, frozen=True, tag="permission", omit_defaults=True):
    """May this call run? `said` is the `reason` with its template and values."""

    answered_by: ClassVar[type[Struct]] = Allow
    misfit: ClassVar[str] = "this asks for permission: allow or deny it"

    id: AskId
    call_id: CallId
    need: Need
    reason: str
    deadline: int | None = None
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "reason")


class QuestionAsk(Struct, frozen=True, tag="question", omit_defaults=True):
    """The answers become the result of the call. `deadline` is milliseconds since 1970."""

    answered_by: ClassVar[type[Struct]] = Answers
    misfit: ClassVar[str] = "this is a question: answer it or deny it"

    id: AskId
    call_id: CallId
    questions: tuple[Question, ...]
    deadline: int | None = None


class PlanAsk(Struct, frozen=True, tag="plan", omit_defaults=True):
    """Is this plan approved? Without a call if the agent ended its turn in plan mode without asking."""

    answered_by: ClassVar[type[Struct]] = PlanDecision
    misfit: ClassVar[str] = "this is a plan: smart, default, keep or feedback"

    id: AskId
    plan: str
    call_id: CallId | None = None
    deadline: int | None = None


class BudgetAsk(Struct, frozen=True, tag="budget", omit_defaults=True):
    """The budget is used up; may the turn go on? Allowed, the budget of that `span` (`session`, or a day like
    2026-11-15) becomes `until`. All in US dollars."""

    answered_by: ClassVar[type[Struct]] = Allow
    misfit: ClassVar[str] = "this asks for permission: allow or deny it"

    id: AskId
    span: str
    spent: float
    limit: float
    until: float
    deadline: int | None = None

    @property
    def call_id(self) -> None:
        return None


Ask = PermissionAsk | QuestionAsk | PlanAsk | BudgetAsk


class Approval(Struct, frozen=True, omit_defaults=True):
    """Something that need not be asked again: exactly this command, commands of these words, this tool on exactly
    these paths, or this tool of this MCP server whatever it is told; never with more rights, and never without a
    `sandbox` if it was given for a command in one; and with changed install
    `scripts` only if it was given for such a change. `expires` is milliseconds since 1970."""

    id: AskId
    scope: Scope
    tool: str
    title: str
    project: str | None = None
    command: str | None = None
    paths: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    prefix: bool = False
    rights: tuple[Right, ...] = ()
    expires: int | None = None
    server: str = ""
    sandbox: str = ""
    scripts: tuple[str, ...] = ()
