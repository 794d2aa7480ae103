"""Draws asks (permission, question, plan, budget) as cards, with all that the decision needs, and their answers."""

from collections.abc import Sequence

from coderelay.client.ask_view import full_text, headline
from coderelay.client.i18n import retell, t
from coderelay.client.permission_ask_text import context_lines, permission_question, shortened
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
    Scope,
)
from coderelay.protocol.calls import Need, Question
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import BOLD, DIM, GREEN, RED, YELLOW, paint
from coderelay.surfaces.terminal.drawing.calls import behind_bar, drawn_command, within
from coderelay.surfaces.terminal.drawing.diffs import drawn_diff
from coderelay.surfaces.terminal.drawing.markdown_stream import markdown_lines
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut
from coderelay.surfaces.terminal.drawing.wrapping import wrapped

_BAR = "┃ "
_LONG = 15  # rows; below a longer diff the heading is repeated
_ALLOWED: dict[Scope, str] = {
    "once": "allowed",
    "session": "always allowed in this session",
    "project": "always allowed in this folder",
    "person": "always allowed, everywhere",
}


def ask_card(ask: Ask, width: int, task: str = "") -> str:
    """Draw an ask; of several questions, the first. What can be answered is not part of the card. `task` is the title
    of the asking session's task, if that is a child session."""
    room = within(width)
    rows = wrapped(t("[task: {task}]", task=visible(task)), room, DIM) if task else []
    match ask:
        case PermissionAsk():
            rows += _permission(ask, room)
        case QuestionAsk():
            rows += _question(ask.questions[0], room)
        case PlanAsk():
            if ask.call_id is not None:  # without a call, the plan was just printed as the answer
                rows += [*markdown_lines(ask.plan, room), ""]
            rows.append(paint(t("Approve this plan?"), f"{BOLD};{YELLOW}"))
        case _:
            first, *others = full_text(ask).split("\n")
            rows += wrapped(first, room, f"{BOLD};{YELLOW}")
            rows += [row for line in others for row in wrapped(line.strip(), room)]
    return "".join(f"{row}\n" for row in ["", *behind_bar(rows, YELLOW, _BAR)])


def batch_list(asks: Sequence[Ask], width: int) -> str:
    """A list of the asks that are open together, one per line."""
    lines = [paint(t("{number} requests need your answer:", number=len(asks)), f"{BOLD};{YELLOW}")]
    lines += [cut(f"{number}. {headline(ask)}", within(width)) for number, ask in enumerate(asks, 1)]
    return "".join(f"{row}\n" for row in ["", *behind_bar(lines, YELLOW, _BAR)])


def answered(ask: Ask, decision: Decision, by: By, me: By | None) -> str:
    """The decision on an ask, and who decided it, if that was somebody else."""
    mark, colour, told = _decided(decision)
    who = t(" (answered by {who} in {via})", via=by.via, who=visible(by.who)) if by != me else ""
    return f"{paint(f'{mark} {told}', colour)}{paint(who, DIM)}\n"


def given_answer(decision: Decision, width: int) -> str:
    """The person's own answer to the question above; of several, the last."""
    answers = list(decision.answers.values()) if isinstance(decision, Answers) else []
    return "".join(f"{paint(row, GREEN)}\n" for row in wrapped(f"→ {_line(answers[-1])}", width)) if answers else ""


def _decided(decision: Decision) -> tuple[str, str, str]:
    match decision:
        case Allow() if decision.mode is not None:
            return "✓", GREEN, t("allowed, with all edits this session (auto-edit mode)")
        case Allow():
            return "✓", GREEN, t(_ALLOWED[decision.scope])
        case Deny():
            return "⊘", YELLOW, t("denied") + (f": {_line(decision.message)}" if decision.message else "")
        case DenyAndStop():
            return "■", YELLOW, t("denied; turn stopped")
        case Answers():
            return "✓", GREEN, _line(", ".join(decision.answers.values()))
        case PlanDecision():
            said = f": {_line(decision.feedback)}" if decision.feedback else ""
            if decision.mode is None:
                return "⊘", YELLOW, t("plan not approved yet") + said
            return "✓", GREEN, t("plan approved; {mode} mode", mode=decision.mode) + said


def _permission(ask: PermissionAsk, width: int) -> list[str]:
    need = ask.need
    heading = f"{BOLD};{YELLOW}"
    rows = wrapped(visible(permission_question(need)), width, heading)
    rows += drawn_command(shortened(need.command), width) if need.command is not None else []
    reason = wrapped(visible(retell(ask.reason, ask.said)), width, YELLOW)
    diff = drawn_diff(need.diff, width) if need.diff else []
    if len(diff) > _LONG:  # the heading above has scrolled off by the time of the answer, so it is repeated
        rows += [*reason, paint(t("a diff of {count} lines:", count=f"{len(diff):,}"), DIM), *diff, *rows]
    else:
        rows += diff
    rows += reason
    style = RED if _is_unconfined(need) else ""
    for number, line in enumerate(context_lines(need)):
        rows += wrapped(visible(line), width, style if not number else DIM)
    return rows


def _is_unconfined(need: Need) -> bool:
    return need.command is not None and (need.sandbox == "none" or "outside" in need.rights)


def _question(question: Question, width: int) -> list[str]:
    asked = visible(question.question)
    asked = t("{question} (select one or more)", question=asked) if question.multi_select else asked
    rows = wrapped(visible(question.header), width, DIM) if question.header else []
    return rows + [row for line in asked.split("\n") for row in wrapped(line, width, BOLD)]


def _line(text: str) -> str:
    return " ".join(visible(text).split())
