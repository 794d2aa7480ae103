"""Asks as text, and typed text parsed into decisions; shared by all surfaces where people type.

Each kind of ask has one function here that says how it is shown and which words answer it, except that all kinds that
are answered with yes or no share one: they declare their texts themselves. A text is `t("…")`, with
its translations in `languages/`, or `localize(Localized("…", "…"))`, which keeps the Chinese beside the function.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from coderelay.client.i18n import localize, t
from coderelay.client.permission_ask_text import permission_in_words
from coderelay.client.typed_answer_parser import (
    PLAN_WORDS,
    answers_typed,
    joined,
    permit_typed,
    refusal_typed,
    word_typed,
)
from coderelay.protocol.asks import (
    Ask,
    Decision,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
    YesNo,
)
from coderelay.protocol.calls import Need, Question
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import visible

_DIFF_LINES = 200


class AskOption(Struct, frozen=True):
    """One answer to choose from. `key` decides without Enter; it is empty if there is none. `answer` is what a person
    would type instead."""

    key: str
    label: str
    answer: str
    meaning: str = ""


class AskView(Struct, frozen=True):
    """How one ask is put to a person, and which words answer it.

    `headline` becomes one line, `text` is everything a person needs to decide. `options` are the answers to choose
    from, the usual one first; with `multi_select`, more than one may be chosen. `choices` says what can be typed.
    `parse` turns what was typed into a decision, or None if it is no answer. Any text answers an `open_ended`
    ask; for the other asks, a text that is no answer may be a new prompt.
    """

    headline: str
    text: str
    choices: str
    parse: Callable[[Sequence[str]], Decision | None]
    options: tuple[AskOption, ...] = ()
    multi_select: bool = False
    open_ended: bool = False

    @property
    def keys(self) -> dict[str, str]:
        """The keys that decide without Enter, and the words they stand for."""
        return {each.key: each.answer for each in self.options if each.key}


def view_of(ask: Ask) -> AskView:
    match ask:
        case PermissionAsk():
            return _permission(ask)
        case QuestionAsk():
            return _questions(ask)
        case PlanAsk():
            return _plan(ask)
        case _:
            return _yes_no(ask.yes_no)


def _permission(ask: PermissionAsk) -> AskView:
    edits = AskOption("e", t("Yes, and allow all edits this session (auto-edit mode)"), "e")
    return AskView(
        headline=f"{ask.need.tool}: {ask.need.title}",
        text=f"{permission_in_words(ask)}{_preview(ask.need.diff)}",
        choices=t("Allow? y / n / e (all edits this session) / a(lways) / s(top)")
        if ask.mode is not None
        else t("Allow? y / n / a(lways) / s(top)"),
        parse=lambda texts: permit_typed(texts, ask.mode),
        options=(
            AskOption("y", t("Yes"), "y"),
            *((edits,) if ask.mode is not None else ()),
            _always(ask.need),
            AskOption("n", t("No"), "n", t("or Tab, and type what to do instead")),
            AskOption("s", t("No, and stop"), "s"),
        ),
    )


def _always(need: Need) -> AskOption:
    if need.kind == "edit" and len(need.paths) == 1:
        return AskOption("a", t("Yes, always for this file"), "a")
    return AskOption("a", t("Yes, always"), "a", t("see above"))


def _questions(ask: QuestionAsk) -> AskView:
    number = t("a number, ") if any(each.options for each in ask.questions) else ""
    several = t("several with commas, ") if any(each.multi_select for each in ask.questions) else ""
    choices = number + several + t("your own words, deny or stop")

    def parse(texts: Sequence[str]) -> Decision:
        given = [joined(texts)] if len(ask.questions) == 1 else [text.strip() for text in texts]
        return refusal_typed(ask, given) or answers_typed(ask, given, choices)

    one = ask.questions[0] if len(ask.questions) == 1 else None
    return AskView(
        headline=" / ".join(each.question for each in ask.questions),
        text="\n".join(_question_in_words(each) for each in ask.questions),
        choices=choices,
        parse=parse,
        options=_options_of(one) if one is not None else (),
        multi_select=one is not None and one.multi_select,
        open_ended=True,
    )


def _options_of(question: Question) -> tuple[AskOption, ...]:
    """The options of a question, numbered. If several options may be chosen, no single key answers the question."""
    last = 0 if question.multi_select else 9
    return tuple(
        AskOption(str(number) if number <= last else "", each.label, str(number), each.description)
        for number, each in enumerate(question.options, 1)
    )


def _plan(ask: PlanAsk) -> AskView:
    def parse(texts: Sequence[str]) -> Decision | None:
        text = joined(texts)
        return PLAN_WORDS.get(word_typed(text)) or (PlanDecision("feedback", text) if text else None)

    return AskView(
        headline=t("plan: {plan}", plan=ask.plan.strip().partition(chr(10))[0]),
        text=f"{ask.plan.rstrip()}\n{t('Approve this plan?')}",
        choices=t("smart / default / keep / s(top), or what to change"),
        parse=parse,
        options=(
            AskOption("1", t("Yes, and accept all edits (auto-edit mode)"), "smart"),
            AskOption("2", t("Yes, and ask before each edit"), "default"),
            AskOption("3", t("No, keep planning"), "keep", t("or type what to change")),
            AskOption("", t("No, and stop"), "stop"),
        ),
        open_ended=True,
    )


def _yes_no(yes_no: YesNo) -> AskView:
    happened = localize(yes_no.situation, **yes_no.values)
    return AskView(
        headline=happened,
        text=f"{happened}\n  {localize(yes_no.question, **yes_no.values)}",
        choices=t("Allow? y / n"),
        parse=permit_typed,
        options=(AskOption("y", t("Yes"), "y"), AskOption("n", localize(yes_no.no), "n")),
    )


def headline(ask: Ask) -> str:
    """The ask on one line."""
    lines = [line.strip() for line in view_of(ask).headline.splitlines()]
    return visible(" ⏎ ".join(line for line in lines if line))


def full_text(ask: Ask) -> str:
    """The whole text of the ask: everything a person needs to decide."""
    return visible(view_of(ask).text)


def choices(ask: Ask) -> str:
    """What a person can type to answer."""
    return view_of(ask).choices


def _preview(diff: str) -> str:
    lines = diff.splitlines()
    left = len(lines) - _DIFF_LINES
    more = t("and 1 more line") if left == 1 else t("and {count} more lines", count=left)
    return "".join(f"\n{line}" for line in lines[:_DIFF_LINES]) + (f"\n({more})" if left > 0 else "")


def _question_in_words(question: Question) -> str:
    options = [
        f"  {number}. {each.label}" + (f"  {each.description}" if each.description else "")
        for number, each in enumerate(question.options, 1)
    ]
    return "\n".join([question.question, *options])


def parse_answer(ask: Ask, texts: Sequence[str]) -> Decision:
    """Parse what was typed into a decision. `texts` has one text for each question; for an ask with only one thing
    to answer, several texts are joined. Raises BadInput that says what is possible."""
    kind = view_of(ask)
    decision = kind.parse(texts)
    if decision is None:
        given = joined(texts)
        told = (
            t("{text} is not a valid answer", text=repr(given))
            if given or not kind.open_ended
            else t("that is not a valid answer")
        )
        raise BadInput(told, kind.choices)
    return decision
