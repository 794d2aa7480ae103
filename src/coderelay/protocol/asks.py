"""Asks: what a person must decide (a permission, questions, a plan, a budget, an offer), decisions and approvals.

An ask is opened once; exactly one answer, or the end of its turn, closes it. At its `deadline`, if it has one, it is
`unanswered`. Every kind can be denied. Apart from that, each kind is `answered_by` one type of decision, and
`wrong_answer_message` is the message for a person who gives another.

To add a kind of ask, add its class here and to `Ask`, and to `session/decide` or `session/fold` what an answer
changes. If yes or no answers it, its `yes_no` says how it is put to a person, and every surface draws it from that.
Another kind of answer needs more: `client/ask_view` (how it is shown and which words answer it), and each surface
with buttons.

An ask about a call is opened in `host/ask_about_call`, the ask about money in `host/spending_limits`, the ask about
what a client offers in `host/resources_lent_by_clients`, the ask about the plan of a turn that ended in
`session/turn_event_builder`.
"""

from typing import Any, ClassVar, Literal

from msgspec import Struct

from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.calls import Need, Question, Right
from coderelay.protocol.ids import AskId, CallId, MachineId
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.translatable import Translatable, keep_templates

Scope = Literal["once", "session", "project", "person"]
EditMode = Literal["auto-edit"]
"""The mode in which files are edited without asking."""
AskCause = Literal["policy", "hook", "tool"]
PlanOption = Literal["smart", "default", "keep", "feedback"]
Unanswered = Literal["deny", "stop", "park"]
"""What happens to an ask at its deadline: it is denied, or denied with the turn stopped, or it stays open and nobody
waits for it any longer. Silence is never consent."""


class By(Struct, frozen=True):
    """Who did something, and from which surface."""

    who: str
    via: str

    def __str__(self) -> str:
        return f"{self.who} ({self.via})"


class Allow(Struct, frozen=True, tag="allow", omit_defaults=True):
    """Permission granted. `scope` says how far it reaches beyond this call: the same action again in this session, in
    this folder, or wherever this person works. With a `mode`, which the ask must offer, the session also switches to
    that mode."""

    scope: Scope = "once"
    mode: EditMode | None = None


class Deny(Struct, frozen=True, tag="deny", omit_defaults=True):
    message: str = ""


class DenyAndStop(Struct, frozen=True, tag="deny_and_stop"):
    """Deny every open ask and stop the turn."""


class Answers(Struct, frozen=True, tag="answers"):
    """Answers keyed by the text of the question. An answer is a label, several labels joined by a comma, or free
    text."""

    answers: dict[str, str]


class PlanDecision(Struct, frozen=True, tag="plan", omit_defaults=True):
    """`smart` and `default` approve the plan and switch to a `mode`. `keep` stays in plan mode. `feedback` stays in
    plan mode and says what to change."""

    option: PlanOption
    feedback: str = ""

    @property
    def mode(self) -> Mode | None:
        """The mode in which the plan is carried out; None if it is not approved."""
        return _PLAN_MODES.get(self.option)


_PLAN_MODES: dict[PlanOption, Mode] = {"smart": "auto-edit", "default": "default"}

Decision = Allow | Deny | DenyAndStop | Answers | PlanDecision


class YesNo(Struct, frozen=True):
    """The texts of an ask that is answered with yes or no: what happened (one line), the question, and the label of
    the refusal. The texts are templates for the `values`. Front ends made for Claude Code are asked about the use of
    a tool, with the `external_name` of the ask, the arguments `external_input` and a `title`; without one, it is what
    happened."""

    situation: Localized
    question: Localized
    no: Localized
    values: dict[str, str] = {}
    external_input: dict[str, Any] = {}
    title: str = ""


class PermissionAsk(Struct, frozen=True, tag="permission", omit_defaults=True):
    """Asks whether a call may run. `said` is the `reason` with its template and values. `mode` is set if the call
    changes files and the policy would not ask about it in that mode; the answer may then switch to it.

    `cause` is who asks: the policy alone, a hook (perhaps with the policy), or the tool, which has found while it ran
    that it needs permission. It is empty in logs of older versions. Only an ask of the policy is answered by an
    approval, or a mode, with which the policy would not ask."""

    answered_by: ClassVar[type[Struct]] = Allow
    wrong_answer_message: ClassVar[str] = "this is a permission request: allow or deny it"

    id: AskId
    call_id: CallId
    need: Need
    reason: str
    deadline: int | None = None
    unanswered: Unanswered = "deny"
    said: Translatable | None = None
    mode: EditMode | None = None
    cause: AskCause | Literal[""] = ""

    def __post_init__(self) -> None:
        keep_templates(self, "reason")


class QuestionAsk(Struct, frozen=True, tag="question", omit_defaults=True):
    """Questions of the agent; the answers become the result of the call. `deadline` is in milliseconds since 1970."""

    answered_by: ClassVar[type[Struct]] = Answers
    wrong_answer_message: ClassVar[str] = "this is a question: answer it or deny it"
    external_name: ClassVar[str] = "AskUserQuestion"

    id: AskId
    call_id: CallId
    questions: tuple[Question, ...]
    deadline: int | None = None
    unanswered: Unanswered = "deny"


class PlanAsk(Struct, frozen=True, tag="plan", omit_defaults=True):
    """Asks whether a plan is approved. There is no `call_id` if the agent ended its turn in plan mode without asking
    for approval."""

    answered_by: ClassVar[type[Struct]] = PlanDecision
    wrong_answer_message: ClassVar[str] = "this is a plan: answer smart, default or keep, or say what to change"
    external_name: ClassVar[str] = "ExitPlanMode"

    id: AskId
    plan: str
    call_id: CallId | None = None
    deadline: int | None = None
    unanswered: Unanswered = "deny"


class BudgetAsk(Struct, frozen=True, tag="budget", omit_defaults=True):
    """The budget is used up; asks whether the turn may go on. If allowed, the budget of that `span` (`session`, or a
    day like 2026-11-15) is raised to `until`. The budget of a day is that of one `person`; in old logs it is
    everybody's, and `person` is empty. All amounts are in US dollars."""

    answered_by: ClassVar[type[Struct]] = Allow
    wrong_answer_message: ClassVar[str] = "this is a permission request: allow or deny it"
    external_name: ClassVar[str] = "Budget"

    id: AskId
    span: str
    spent: float
    limit: float
    until: float
    deadline: int | None = None
    unanswered: Unanswered = "deny"
    person: str = ""

    @property
    def call_id(self) -> None:
        return None

    @property
    def yes_no(self) -> YesNo:
        return YesNo(
            _SESSION_BUDGET_REACHED if self.span == "session" else _DAY_BUDGET_REACHED,
            Localized("Continue up to {until}?", "继续吗？最多到 {until}"),
            Localized("No, stop here", "拒绝，到此停止"),
            {"spent": _dollars(self.spent), "limit": _dollars(self.limit), "until": _dollars(self.until)},
            {"span": self.span, "spent": self.spent, "limit": self.limit, "until": self.until},
        )

    @property
    def allowance(self) -> str:
        """What the answer counts for: the span, or this person's span."""
        return f"{self.span} {self.person}" if self.person else self.span


_SESSION_BUDGET_REACHED = Localized(
    "Budget for this session reached: {spent} of {limit} spent", "本会话的预算已用完：{limit} 中已花费 {spent}"
)
_DAY_BUDGET_REACHED = Localized(
    "Budget for today reached: {spent} of {limit} spent", "今天的预算已用完：{limit} 中已花费 {spent}"
)


def _dollars(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"


class OfferAsk(Struct, frozen=True, tag="offer", omit_defaults=True):
    """Asks whether a session may use what a client offers: an MCP server, or a folder besides the session's own. The
    answer counts for the session, and is remembered by the `mark`: the fingerprint of the server, or the path.
    `shown` is the command or the address of the server without secrets, or the path."""

    answered_by: ClassVar[type[Struct]] = Allow
    wrong_answer_message: ClassVar[str] = "this is a permission request: allow or deny it"
    external_name: ClassVar[str] = "Offer"

    id: AskId
    what: Literal["server", "folder"]
    name: str
    mark: str
    shown: str
    deadline: int | None = None
    unanswered: Unanswered = "deny"

    @property
    def call_id(self) -> None:
        return None

    @property
    def yes_no(self) -> YesNo:
        title = f"{self.name}: {self.shown}" if self.what == "server" else self.shown
        return YesNo(
            _SERVER_OFFERED if self.what == "server" else _FOLDER_OFFERED,
            _USE_SERVER if self.what == "server" else _USE_FOLDER,
            Localized("No, do not use it", "否，不使用"),
            {"name": self.name, "shown": self.shown},
            {"MCP server" if self.what == "server" else "folder": title},
            title,
        )


_SERVER_OFFERED = Localized(
    "The client offers the MCP server {name}: {shown}", "客户端提供了 MCP 服务器 {name}：{shown}"
)
_FOLDER_OFFERED = Localized("The client wants to use the folder {shown}", "客户端想使用文件夹 {shown}")
_USE_SERVER = Localized("Start it and use its tools in this session?", "要启动它并在本会话中使用其工具吗？")
_USE_FOLDER = Localized("Use this folder in this session?", "要在本会话中使用这个文件夹吗？")


Ask = PermissionAsk | QuestionAsk | PlanAsk | BudgetAsk | OfferAsk


class Approval(Struct, frozen=True, omit_defaults=True):
    """An action that is allowed without asking again: exactly this command, commands of these `words` (with `prefix`,
    more words may follow), any edit to this file (`edits`), this tool on exactly these paths, or this tool of this
    MCP server with any arguments. It never covers more rights than it was given for. If it was given for a command in
    a `sandbox`, it never covers that command without one. It covers changed install `scripts` only if it was given
    for such a change. `expires` is in milliseconds since 1970.

    `person` gave it; with the scope `person` it counts only for them. With the scope `project` it counts only on its
    `machine`. In old logs both are empty, and it counts for everybody and everywhere; an
    edit of an old log covers only its own tool."""

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
    person: str = ""
    machine: MachineId = MachineId("")
    edits: bool = False
