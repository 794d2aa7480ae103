"""An ask in words, and words as an answer: shared by all surfaces where people type."""

import re
import unicodedata
from collections.abc import Sequence

from coderelay.client.language import t
from coderelay.client.permission_asks import permission_in_words
from coderelay.client.visible import visible
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    BudgetAsk,
    Decision,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Question
from coderelay.protocol.errors import BadInput

_PERMISSION: dict[str, Decision] = {
    **dict.fromkeys(("y", "yes", "allow", "once", "是", "好", "允许", "同意", "确认", "允许一次"), Allow()),
    **dict.fromkeys(("a", "always", "session", "总是", "始终", "总是允许", "始终允许"), Allow("session")),
    "project": Allow("project"),
    "person": Allow("person"),
}
_REFUSALS: dict[str, Decision] = {
    **dict.fromkeys(("n", "no", "deny", "否", "不", "拒绝", "取消"), Deny()),
    **dict.fromkeys(("s", "stop", "停止"), DenyAndStop()),
}
_NO_ANSWER = frozenset(("deny", "stop", "拒绝", "停止"))  # of a question: `no` may well be what is answered


_DIFF_LINES = 200


def headline(ask: Ask) -> str:
    """One line."""
    match ask:
        case PermissionAsk():
            text = f"{ask.need.tool}: {ask.need.title}"
        case QuestionAsk():
            text = " / ".join(each.question for each in ask.questions)
        case PlanAsk():
            text = t("plan: {plan}", plan=ask.plan.strip().partition(chr(10))[0])
        case BudgetAsk():
            text = _budget(ask)
    lines = [line.strip() for line in text.splitlines()]
    return visible(" ⏎ ".join(line for line in lines if line))


def in_words(ask: Ask) -> str:
    """Everything a person needs to decide."""
    match ask:
        case PermissionAsk():
            text = f"{permission_in_words(ask)}{_preview(ask.need.diff)}"
        case QuestionAsk():
            text = "\n".join(_question_in_words(each) for each in ask.questions)
        case PlanAsk():
            text = f"{ask.plan.rstrip()}\n{t('Is this plan approved?')}"
        case BudgetAsk():
            then = t("allowed, the turn goes on up to {until}; denied, it stops here", until=_dollars(ask.until))
            text = f"{_budget(ask)}\n  {then}"
    return visible(text)


def choices(ask: Ask) -> str:
    """What can be typed."""
    match ask:
        case PermissionAsk():
            return t("allow? y / n / a(lways) / s(top)")
        case QuestionAsk():
            number = t("a number, ") if any(each.options for each in ask.questions) else ""
            several = t("several with commas, ") if any(each.multi_select for each in ask.questions) else ""
            return number + several + t("your own words, deny or stop")
        case PlanAsk():
            return t("smart / default / keep / s(top), or what to change")
        case BudgetAsk():
            return t("allow? y / n")


def understand(ask: Ask, texts: Sequence[str]) -> Decision:
    """What was typed, as a decision. One text for each question; if there is only one thing to say, it may come
    in several. Raises BadInput and says what is possible."""
    whole = " ".join(texts).strip()
    match ask:
        case PermissionAsk() | BudgetAsk():
            decision = _PERMISSION.get(_word(whole)) or _REFUSALS.get(_word(whole)) or _denial(whole)
            if decision is None:
                raise BadInput(t("{text} is no answer", text=repr(whole)), choices(ask))
            return decision
        case QuestionAsk():
            given = [whole] if len(ask.questions) == 1 else [text.strip() for text in texts]
            return _refusal(ask, given) or _answers(ask, given)
        case PlanAsk():
            return _plan(ask, whole)


def _denial(text: str) -> Deny | None:
    """`no` and what to do instead."""
    word, _, reason = re.sub("[,，:：]", " ", text, count=1).partition(" ")
    return Deny(reason.strip()) if _REFUSALS.get(_word(word)) == Deny() and reason.strip() else None


def _preview(diff: str) -> str:
    lines = diff.splitlines()
    left = len(lines) - _DIFF_LINES
    more = f"\n({t('and {count} lines more', count=left)})" if left > 0 else ""
    return "".join(f"\n{line}" for line in lines[:_DIFF_LINES]) + more


def _budget(ask: BudgetAsk) -> str:
    whose = t("this session") if ask.span == "session" else t("today")
    limit, spent = _dollars(ask.limit), _dollars(ask.spent)
    return t("the budget of {limit} for {whose} is used up ({spent} spent)", limit=limit, whose=whose, spent=spent)


def _dollars(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"


def _question_in_words(question: Question) -> str:
    options = [
        f"  {number}. {each.label}" + (f"  {each.description}" if each.description else "")
        for number, each in enumerate(question.options, 1)
    ]
    return "\n".join([question.question, *options])


def agrees(text: str) -> bool:
    """To something that is asked once and on the spot."""
    return _PERMISSION.get(_word(text)) == Allow()


def is_answer(text: str) -> bool:
    """Whether nobody would say it who is not asked something."""
    return _word(text) in _PERMISSION or _word(text) in _REFUSALS


def refuses(text: str) -> bool:
    """Whether it is meant for all questions, and not an answer to one."""
    return _word(text) in _NO_ANSWER


def _word(text: str) -> str:
    """Full-width letters are letters too."""
    return unicodedata.normalize("NFKC", text).strip().lower()


def _refusal(ask: QuestionAsk, given: Sequence[str]) -> Decision | None:
    """`deny` and `stop` refuse all questions, unless that is what one of them offers."""
    for question, text in zip(ask.questions, given, strict=False):
        if refuses(text) and text.casefold() not in _options(question):
            return _REFUSALS[_word(text)]
    return None


def _answers(ask: QuestionAsk, given: Sequence[str]) -> Answers:
    asked = [each.question for each in ask.questions]
    if len(given) != len(asked):
        told = t("there are {asked} questions, and {given} answers were given", asked=len(asked), given=len(given))
        raise BadInput(told, choices(ask))
    chosen = [_chosen(question, text) for question, text in zip(ask.questions, given, strict=True)]
    if not all(chosen):
        raise BadInput(t("{question} has no answer", question=repr(asked[chosen.index("")])), choices(ask))
    return Answers(dict(zip(asked, chosen, strict=True)))


def _chosen(question: Question, text: str) -> str:
    """Numbers and labels become labels; anything else is the person's own words."""
    options = _options(question)
    several = question.multi_select and text.casefold() not in options
    parts = [part.strip() for part in re.split("[,，、]", text)] if several else [text]
    labels = [options.get(_number(part) or part.casefold(), part) for part in parts if part]
    return ", ".join(dict.fromkeys(labels))


def _options(question: Question) -> dict[str, str]:
    """Labels, by what may be typed for them. Where a label is a number, the place in the list counts."""
    by_label = {each.label.strip().casefold(): each.label for each in question.options}
    return by_label | {str(number): each.label for number, each in enumerate(question.options, 1)}


def _number(text: str) -> str:
    """Full-width digits are digits too."""
    return str(int(text)) if text.isdecimal() and len(text) <= 3 else ""


def _plan(ask: PlanAsk, text: str) -> Decision:
    match _word(text):
        case "smart" | "auto-edit" | "智能":
            return PlanDecision("smart")
        case "default" | "y" | "yes" | "allow" | "默认" | "是" | "好" | "允许" | "同意" | "确认" | "批准":
            return PlanDecision("default")
        case "keep" | "n" | "no" | "deny" | "保持" | "否" | "不" | "拒绝" | "取消":
            return PlanDecision("keep")
        case "s" | "stop" | "停止":
            return DenyAndStop()
        case "":
            raise BadInput(t("that is no answer"), choices(ask))
        case _:
            return PlanDecision("feedback", text)
