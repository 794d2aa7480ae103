"""An ask in words, and words as an answer: shared by all surfaces where people type."""

import re
import unicodedata
from collections.abc import Sequence

from coderelay.client.permission_asks import permission_in_words
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
    **dict.fromkeys(("y", "yes", "allow", "once"), Allow()),
    **dict.fromkeys(("a", "always", "session"), Allow("session")),
    "project": Allow("project"),
    "person": Allow("person"),
}
_REFUSALS: dict[str, Decision] = {
    **dict.fromkeys(("n", "no", "deny"), Deny()),
    **dict.fromkeys(("s", "stop"), DenyAndStop()),
}


_DIFF_LINES = 200


def headline(ask: Ask) -> str:
    """One line."""
    match ask:
        case PermissionAsk():
            text = f"{ask.need.tool}: {ask.need.title}"
        case QuestionAsk():
            text = " / ".join(each.question for each in ask.questions)
        case PlanAsk():
            text = f"plan: {ask.plan.strip().partition(chr(10))[0]}"
        case BudgetAsk():
            text = _budget(ask)
    lines = [line.strip() for line in text.splitlines()]
    return _visible(" ⏎ ".join(line for line in lines if line))


def in_words(ask: Ask) -> str:
    """Everything a person needs to decide."""
    match ask:
        case PermissionAsk():
            text = f"{permission_in_words(ask)}{_preview(ask.need.diff)}"
        case QuestionAsk():
            text = "\n".join(_question_in_words(each) for each in ask.questions)
        case PlanAsk():
            text = f"{ask.plan.rstrip()}\nIs this plan approved?"
        case BudgetAsk():
            text = f"{_budget(ask)}\n  allowed, the turn goes on up to {_dollars(ask.until)}; denied, it stops here"
    return _visible(text)


def choices(ask: Ask) -> str:
    """What can be typed."""
    match ask:
        case PermissionAsk():
            return "allow? y / n / a(lways) / s(top)"
        case QuestionAsk():
            number = "a number, " if any(each.options for each in ask.questions) else ""
            several = "several with commas, " if any(each.multi_select for each in ask.questions) else ""
            return f"{number}{several}your own words, deny or stop"
        case PlanAsk():
            return "smart / default / keep / s(top), or what to change"
        case BudgetAsk():
            return "allow? y / n"


def understand(ask: Ask, texts: Sequence[str]) -> Decision:
    """What was typed, as a decision. One text for each question; if there is only one thing to say, it may come
    in several. Raises BadInput and says what is possible."""
    whole = " ".join(texts).strip()
    match ask:
        case PermissionAsk() | BudgetAsk():
            decision = _PERMISSION.get(whole.lower()) or _REFUSALS.get(whole.lower())
            if decision is None:
                raise BadInput(f"{whole!r} is no answer", choices(ask))
            return decision
        case QuestionAsk():
            given = [whole] if len(ask.questions) == 1 else [text.strip() for text in texts]
            return _refusal(ask, given) or _answers(ask, given)
        case PlanAsk():
            return _plan(ask, whole)


def _preview(diff: str) -> str:
    lines = diff.splitlines()
    more = f"\n(and {len(lines) - _DIFF_LINES} lines more)" if len(lines) > _DIFF_LINES else ""
    return "".join(f"\n{line}" for line in lines[:_DIFF_LINES]) + more


def _budget(ask: BudgetAsk) -> str:
    whose = "this session" if ask.span == "session" else "today"
    return f"the budget of {_dollars(ask.limit)} for {whose} is used up ({_dollars(ask.spent)} spent)"


def _dollars(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"


def _visible(text: str) -> str:
    """Nothing a model writes may hide or repaint what a person decides on."""
    return "".join(_escaped(each) if _acts_unseen(each) else each for each in text)


def _acts_unseen(character: str) -> bool:
    """Escape sequences and marks that turn the direction of writing; not the joiners of emoji and scripts."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\n\t\u200c\u200d"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _question_in_words(question: Question) -> str:
    options = [
        f"  {number}. {each.label}" + (f"  {each.description}" if each.description else "")
        for number, each in enumerate(question.options, 1)
    ]
    return "\n".join([question.question, *options])


def _refusal(ask: QuestionAsk, given: Sequence[str]) -> Decision | None:
    """`deny` and `stop` refuse all questions, unless that is what one of them offers."""
    for question, text in zip(ask.questions, given, strict=False):
        if text.lower() in ("deny", "stop") and text.casefold() not in _options(question):
            return _REFUSALS[text.lower()]
    return None


def _answers(ask: QuestionAsk, given: Sequence[str]) -> Answers:
    asked = [each.question for each in ask.questions]
    if len(given) != len(asked):
        raise BadInput(f"there are {len(asked)} questions, and {len(given)} answers were given", choices(ask))
    chosen = [_chosen(question, text) for question, text in zip(ask.questions, given, strict=True)]
    if not all(chosen):
        raise BadInput(f"{asked[chosen.index('')]!r} has no answer", choices(ask))
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
    match text.lower():
        case "smart" | "auto-edit":
            return PlanDecision("smart")
        case "default" | "y" | "yes" | "allow":
            return PlanDecision("default")
        case "keep" | "n" | "no" | "deny":
            return PlanDecision("keep")
        case "s" | "stop":
            return DenyAndStop()
        case "":
            raise BadInput("that is no answer", choices(ask))
        case _:
            return PlanDecision("feedback", text)
