"""Asks as cards: confirm, batch, question, input and plan, while they are open and after they are closed.

A button carries the action, the session, the request and the nonce of its card; what an action means is in
`click_decisions`.
"""

import shlex
import time
from collections.abc import Sequence

from msgspec import Struct

from coderelay.client.ask_view import full_text
from coderelay.client.i18n import localize, t
from coderelay.client.permission_ask_text import permission_in_words
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    By,
    Decision,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.calls import Need, Question
from coderelay.protocol.ids import AskId, SessionId
from coderelay.surfaces.feishu.card_layout import (
    MOST_BYTES,
    Button,
    ButtonKind,
    Buttons,
    Choice,
    Colour,
    Divider,
    Form,
    Layout,
    Paragraph,
    Part,
    TextField,
    cut,
)
from coderelay.surfaces.feishu.turn_and_notice_cards import TIMED_OUT, web_link

PLEASE_CONFIRM = Localized("Please confirm", "请确认")
CONFIRM = Localized("Confirm", "确认")
CANCEL = Localized("Cancel", "取消")
PLEASE_REPLY = Localized("Please reply: ", "请回复: ")
MOST_IN_A_BATCH = 8
"""More asks than these are put on several cards, because the platform limits the size of a card."""
DEADLINE = "deadline"
"""What `By.via` is if nobody answered in time."""

_MOST_BUTTONS = 12  # more options are a list to select from
_MOST_SELECTED_FROM = 80  # of all questions; more are answered with their numbers, because a card has few elements
_DELETE = Localized("Dangerous operation: delete the file {files}?", "发现危险操作：是否删除文件 {files}？")
_SESSION = Localized("Allow in this session", "本次会话允许")
_ALWAYS = Localized("Always allow", "始终允许")
_EDITS = Localized("Allow all edits in this session", "本次会话允许所有编辑")
_STOP = Localized("Stop", "停止")
_ALL = Localized("Confirm all", "全部确认")
_NONE = Localized("Cancel all", "全部取消")
_QUESTION = Localized("Please choose", "请选择")
_INPUT = Localized("Waiting for your reply", "等待回复")
_OWN_WORDS = Localized("In your own words", "或输入其他内容")
_SUBMIT = Localized("Submit", "提交")
_REPLY_BELOW = Localized("Send the number of an option or your own words.", "可直接回复选项编号或文字。")
_REPLY_LINES = Localized(
    "Fill in the form, or reply with one line for each question.", "请填写表单，或每行回答一个问题。"
)
_PLAN = Localized("Plan to approve", "请审阅方案")
_PLAN_SMART = Localized("Approve, edit freely", "批准，自动接受编辑")
_PLAN_DEFAULT = Localized("Approve, ask before edits", "批准，编辑前询问")
_PLAN_KEEP = Localized("Keep planning", "继续规划")
_PLAN_CHANGE = Localized("What should change?", "需要修改什么？")
_SESSION_LINE = Localized("Session: {title}", "会话：{title}")
_CONFIRMED = Localized("Confirmed", "已确认")
_CONFIRMED_SESSION = Localized("Allowed in this session", "已允许（本次会话）")
_CONFIRMED_ALWAYS = Localized("Always allowed", "已允许（始终）")
_CANCELLED = Localized("Cancelled", "已取消")
_STOPPED = Localized("Stopped", "已停止")
_ANSWERED = Localized("Answered", "已回复")
_APPROVED = Localized("Plan approved", "方案已批准")
_KEPT = Localized("Plan not approved", "方案未批准")
_OVER = Localized("No longer needed", "已失效")


class Closed(Struct, frozen=True):
    """How an ask was closed: by a decision, or without one because its turn ended. `at` is in milliseconds."""

    decision: Decision | None = None
    by: By | None = None
    at: int = 0

    @property
    def is_timed_out(self) -> bool:
        return self.by is not None and self.by.via == DEADLINE


class AskCard(Struct, frozen=True):
    """What a card of asks needs to be drawn. `card` is its key and `nonce` proves that a click comes from it.
    `session_title` is set where the chat is not the session's own. `is_owners` offers what only the linked owner of
    the host may decide."""

    card: str
    nonce: str
    session: SessionId
    session_title: str = ""
    is_owners: bool = False
    url: str = ""

    def button(self, words: Localized | str, ask: Ask, action: str, kind: ButtonKind = "default") -> Button:
        label = words if isinstance(words, str) else localize(words)
        return Button(label, self.value(ask.id, action), kind)

    def value(self, ask: AskId, action: str) -> dict[str, str]:
        return {"action": action, "rid": ask, "sid": self.session, "card": self.card, "nonce": self.nonce}


def ask_layout(card: AskCard, asks: Sequence[tuple[Ask, Closed | None]]) -> Layout:
    """One ask, or the permissions of one batch."""
    if len(asks) > 1:
        return _batch(card, asks)
    ask, closed = asks[0]
    if closed is not None:
        title, colour = _closed_title(closed)
        parts: tuple[Part, ...] = (*_of_session(card), Paragraph(ask_text(ask)), *_chosen(closed))
        return Layout(title, colour, parts, summary=title)
    match ask:
        case QuestionAsk():
            return _questions(card, ask)
        case PlanAsk():
            return _plan(card, ask)
        case _:
            return _confirm(card, ask)


def ask_text(ask: Ask, most_bytes: int = MOST_BYTES // 2) -> str:
    """Everything a person needs to decide."""
    match ask:
        case PermissionAsk():
            files = deleted_files(ask.need)
            question = localize(_DELETE, files=cut(files, most_bytes // 2)) if files else ""
            words = permission_in_words(ask, question)
            return cut(words + (f"\n{ask.need.diff}" if ask.need.diff else ""), most_bytes)
        case QuestionAsk() if is_free_text(ask):
            return cut(with_prefix(ask.questions[0].question), most_bytes)
        case PlanAsk():
            return cut(ask.plan.strip(), most_bytes)
        case _:
            return cut(full_text(ask), most_bytes)


def is_free_text(ask: QuestionAsk) -> bool:
    """Whether the agent wants one text, and offers nothing to choose from."""
    return len(ask.questions) == 1 and not ask.questions[0].options


def with_prefix(prompt: str) -> str:
    """`请回复: ` and the prompt, unless the prompt says itself that something is to be typed."""
    said = prompt.strip()
    has_its_own = said.startswith("请") or said.endswith((":", "：")) or said.lower().startswith("please ")
    return said if has_its_own else localize(PLEASE_REPLY) + said


def deleted_files(need: Need) -> str:
    """The files that a plain `rm` would delete; empty if the command may do anything else."""
    if need.command is None or set(need.command) & set("\n;&|<>$`*?[]{}()~!#\\"):
        return ""
    try:
        program, *words = shlex.split(need.command)
    except ValueError:  # a quote without its end, or no word at all
        return ""
    files = [each for each in words if not each.startswith("-")]
    return ", ".join(files) if program == "rm" and files else ""


def chosen_in_words(closed: Closed) -> str:
    """What was chosen, by whom and when, in one line."""
    what = _closed_title(closed)[0]
    if closed.by is None:
        return what
    detail = _detail(closed.decision)
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(closed.at / 1000)) if closed.at else ""
    who = "" if closed.is_timed_out else closed.by.who
    return t(", ").join(each for each in (what, detail, who, when) if each)


def _confirm(card: AskCard, ask: Ask) -> Layout:
    first = (card.button(CONFIRM, ask, "confirm", "primary"), card.button(CANCEL, ask, "cancel", "danger"))
    more: list[Button] = []
    if isinstance(ask, PermissionAsk):
        more.append(card.button(_SESSION, ask, "session"))
        if ask.mode is not None and card.is_owners:
            more.append(card.button(_EDITS, ask, "edits"))
        if card.is_owners:
            more.append(card.button(_ALWAYS, ask, "always"))
    more.append(card.button(_STOP, ask, "stop"))
    text = ask_text(ask)
    parts = (*_of_session(card), Paragraph(text), Buttons(first), Buttons(tuple(more)), *web_link(card.url))
    return Layout(localize(PLEASE_CONFIRM), "orange", parts, summary=text)


def _batch(card: AskCard, asks: Sequence[tuple[Ask, Closed | None]]) -> Layout:
    still_open = [ask for ask, closed in asks if closed is None]
    most = MOST_BYTES // 2 // len(asks)
    parts: list[Part] = [*_of_session(card)]
    for number, (ask, closed) in enumerate(asks, 1):
        parts.append(Paragraph(f"{number}. {ask_text(ask, most)}"))
        if closed is None:
            row = (card.button(CONFIRM, ask, "confirm"), card.button(CANCEL, ask, "cancel", "danger"))
            parts += [Buttons(row), Divider()]
        else:
            parts += [*_chosen(closed), Divider()]
    if not still_open:
        is_allowed = all(isinstance(closed.decision, Allow) for _, closed in asks if closed is not None)
        title = localize(_CONFIRMED if is_allowed else _ANSWERED)
        return Layout(title, "green" if is_allowed else "grey", tuple(parts[:-1]), summary=title)
    first = still_open[0]
    row = (
        card.button(_ALL, first, "confirm_all", "primary"),
        card.button(_NONE, first, "cancel_all", "danger"),
        card.button(_STOP, first, "stop"),
    )
    title = localize(PLEASE_CONFIRM) + f" ({len(asks) - len(still_open)}/{len(asks)})"
    return Layout(title, "orange", (*parts, Buttons(row), *web_link(card.url)), summary=title)


def _questions(card: AskCard, ask: QuestionAsk) -> Layout:
    if is_free_text(ask):
        text = ask_text(ask)
        field = TextField("q0_other", localize(_INPUT))
        form = Form("answer", (field,), card.button(_SUBMIT, ask, "submit", "primary"))
        form_elsewhere = (form,) if card.session_title else ()  # here, what is typed answers it
        parts_of_input = (*_of_session(card), Paragraph(text), *form_elsewhere, *web_link(card.url))
        return Layout(localize(_INPUT), "blue", parts_of_input, summary=text)
    one = ask.questions[0] if len(ask.questions) == 1 else None
    parts: list[Part] = [*_of_session(card)]
    if one is not None and not one.multi_select and len(one.options) <= _MOST_BUTTONS:
        labels = [f"{number}. {each.label}" for number, each in enumerate(one.options, 1)]
        buttons = tuple(card.button(label, ask, f"option:{number}") for number, label in enumerate(labels, 1))
        field = TextField("q0_other", localize(_OWN_WORDS))
        form = Form("answer", (field,), card.button(_SUBMIT, ask, "submit", "primary"))
        parts += [Paragraph(ask_text(ask)), Buttons(buttons), Paragraph(localize(_REPLY_BELOW), is_small=True), form]
    else:
        count = sum(len(each.options) for each in ask.questions)
        make = _fields if count <= _MOST_SELECTED_FROM else _numbered
        fields = [part for index, each in enumerate(ask.questions) for part in make(index, each)]
        hint = _REPLY_BELOW if one is not None else _REPLY_LINES
        form = Form("answer", tuple(fields), card.button(_SUBMIT, ask, "submit", "primary"))
        parts += [form, Paragraph(localize(hint), is_small=True)]
    header = one.header if one is not None and one.header else localize(_QUESTION)
    return Layout(header, "blue", (*parts, *web_link(card.url)), summary=ask_text(ask))


def _fields(index: int, question: Question) -> list[Paragraph | Choice | TextField]:
    said = Paragraph(f"{index + 1}. {question.question}")
    other = TextField(f"q{index}_other", localize(_OWN_WORDS) if question.options else "")
    if not question.options:
        return [said, other]
    described = "\n".join(f"{each.label}: {each.description}" for each in question.options if each.description)
    choice = Choice(f"q{index}", tuple(each.label for each in question.options), several=question.multi_select)
    return [said, *([Paragraph(described)] if described else []), choice, other]


def _numbered(index: int, question: Question) -> list[Paragraph | Choice | TextField]:
    options = "\n".join(f"  {number}. {each.label}" for number, each in enumerate(question.options, 1))
    said = Paragraph(f"{index + 1}. {question.question}" + (f"\n{options}" if options else ""))
    return [said, TextField(f"q{index}_other", localize(_OWN_WORDS) if question.options else "")]


def _plan(card: AskCard, ask: PlanAsk) -> Layout:
    smart = (card.button(_PLAN_SMART, ask, "plan:smart"),) if card.is_owners else ()
    row = (
        card.button(_PLAN_DEFAULT, ask, "plan:default", "primary"),
        *smart,
        card.button(_PLAN_KEEP, ask, "plan:keep", "danger"),
        card.button(_STOP, ask, "stop"),
    )
    change = card.button(_SUBMIT, ask, "plan:feedback")
    form = Form("change", (TextField("feedback", localize(_PLAN_CHANGE)),), change)
    title = localize(_PLAN)
    return Layout(
        title,
        "orange",
        (*_of_session(card), Paragraph(ask_text(ask)), Buttons(row), form, *web_link(card.url)),
        summary=title,
    )


def _of_session(card: AskCard) -> tuple[Part, ...]:
    if not card.session_title:
        return ()
    return (Paragraph(localize(_SESSION_LINE, title=cut(card.session_title, 120)), is_small=True),)


def _chosen(closed: Closed) -> tuple[Part, ...]:
    return () if closed.by is None else (Paragraph(chosen_in_words(closed), is_small=True),)


def _closed_title(closed: Closed) -> tuple[str, Colour]:
    words, colour = _closed_words(closed)
    return localize(words), colour


def _closed_words(closed: Closed) -> tuple[Localized, Colour]:
    if closed.is_timed_out:
        return TIMED_OUT, "orange"
    match closed.decision:
        case None:
            return _OVER, "grey"
        case Allow(scope="once"):
            return _CONFIRMED, "green"
        case Allow(scope="session"):
            return _CONFIRMED_SESSION, "green"
        case Allow():
            return _CONFIRMED_ALWAYS, "green"
        case Deny():
            return _CANCELLED, "grey"
        case DenyAndStop():
            return _STOPPED, "grey"
        case Answers():
            return _ANSWERED, "green"
        case PlanDecision():
            return (_KEPT, "grey") if closed.decision.mode is None else (_APPROVED, "green")


def _detail(decision: Decision | None) -> str:
    match decision:
        case Answers():
            return cut(" / ".join(decision.answers.values()), 600)
        case Deny(message=str() as message) if message:
            return cut(message, 600)
        case PlanDecision(feedback=str() as feedback) if feedback:
            return cut(feedback, 600)
        case _:
            return ""
