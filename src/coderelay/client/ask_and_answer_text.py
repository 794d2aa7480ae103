"""Asks as text, and typed text parsed into decisions; shared by all surfaces where people type.

Each kind of ask has one function here that says how it is shown and which words answer it, except that all kinds that
are answered with yes or no share one: they declare their texts themselves. A text is `t("…")`, with
its translations in `languages/`, or `localize(Localized("…", "…"))`, which keeps the Chinese beside the function.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

from msgspec import Struct

from coderelay.client.i18n import localize, t
from coderelay.client.permission_text import permission_in_words
from coderelay.client.visible_text import visible
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    Decision,
    Deny,
    DenyAndStop,
    EditMode,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
    YesNo,
)
from coderelay.protocol.calls import Need, Question
from coderelay.protocol.errors import BadInput
from coderelay.protocol.language_files import LANGUAGES, read_language

_PERMISSION: dict[str, Decision] = {
    **dict.fromkeys(("y", "yes", "allow", "once"), Allow()),
    **dict.fromkeys(("a", "always", "session"), Allow("session")),
    "project": Allow("project"),
    "person": Allow("person"),
    **dict.fromkeys(("e", "edits"), Allow(mode="auto-edit")),
}
_REFUSALS: dict[str, Decision] = {
    **dict.fromkeys(("n", "no", "deny"), Deny()),
    **dict.fromkeys(("s", "stop"), DenyAndStop()),
}
_NO_ANSWER = frozenset(("deny", "stop"))  # refuse a question; `no` may be its answer
_PLAN: dict[str, Decision] = {
    **dict.fromkeys(("smart", "auto-edit"), PlanDecision("smart")),
    **dict.fromkeys(("default", "y", "yes", "allow"), PlanDecision("default")),
    **dict.fromkeys(("keep", "n", "no", "deny"), PlanDecision("keep")),
    **dict.fromkeys(("s", "stop"), DenyAndStop()),
}
ANSWER_WORDS = _PERMISSION.keys() | _REFUSALS.keys() | _PLAN.keys()
"""The English words that answer asks. The `answers` of a language file are other words for these."""
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
        parse=lambda texts: _permit(texts, ask.mode),
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
        given = [_whole(texts)] if len(ask.questions) == 1 else [text.strip() for text in texts]
        return _refusal(ask, given) or _answers(ask, given, choices)

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
    """The options of a question, numbered. Of several that may be chosen, none decides at once."""
    last = 0 if question.multi_select else 9
    return tuple(
        AskOption(str(number) if number <= last else "", each.label, str(number), each.description)
        for number, each in enumerate(question.options, 1)
    )


def _plan(ask: PlanAsk) -> AskView:
    def parse(texts: Sequence[str]) -> Decision | None:
        text = _whole(texts)
        return _PLAN.get(_word(text)) or (PlanDecision("feedback", text) if text else None)

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
    happened = localize(yes_no.happened, **yes_no.values)
    return AskView(
        headline=happened,
        text=f"{happened}\n  {localize(yes_no.question, **yes_no.values)}",
        choices=t("Allow? y / n"),
        parse=_permit,
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


def parse_answer(ask: Ask, texts: Sequence[str]) -> Decision:
    """Parse what was typed into a decision. `texts` has one text for each question; for an ask with only one thing
    to answer, several texts are joined. Raises BadInput that says what is possible."""
    kind = view_of(ask)
    decision = kind.parse(texts)
    if decision is None:
        given = _whole(texts)
        told = (
            t("{text} is not a valid answer", text=repr(given))
            if given or not kind.open_ended
            else t("that is not a valid answer")
        )
        raise BadInput(told, kind.choices)
    return decision


def _whole(texts: Sequence[str]) -> str:
    return " ".join(texts).strip()


def _permit(texts: Sequence[str], mode: EditMode | None = None) -> Decision | None:
    whole = _whole(texts)
    allowed = _PERMISSION.get(_word(whole))
    if isinstance(allowed, Allow) and allowed.mode not in (None, mode):
        return None
    return allowed or _REFUSALS.get(_word(whole)) or _denial(whole)


def _denial(text: str) -> Deny | None:
    """Parse `no` followed by what to do instead."""
    word, _, reason = re.sub("[,，:：]", " ", text, count=1).partition(" ")
    return Deny(reason.strip()) if _REFUSALS.get(_word(word)) == Deny() and reason.strip() else None


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


def agrees(text: str) -> bool:
    """Whether the text is a plain yes, for a question that is asked once and on the spot."""
    return _PERMISSION.get(_word(text)) == Allow()


def is_answer(text: str) -> bool:
    """Whether the text makes sense only as an answer, so that nobody would type it who was not asked something."""
    return _word(text) in _PERMISSION or _word(text) in _REFUSALS


def refuses(text: str) -> bool:
    """Whether the text refuses all questions of an ask, rather than answering one of them."""
    return _word(text) in _NO_ANSWER


def _word(text: str) -> str:
    """The English word for a word of any language, whichever is spoken here; case and full-width letters are
    normalised."""
    word = unicodedata.normalize("NFKC", text).strip().lower()
    return word if word in ANSWER_WORDS else _other_words().get(word, word)


@cache
def _other_words() -> dict[str, str]:
    return {word: english for name in LANGUAGES[1:] for word, english in read_language(name).answers.items()}


def _refusal(ask: QuestionAsk, given: Sequence[str]) -> Decision | None:
    """`deny` or `stop` for any question refuses all of them, unless that question offers the word as an option."""
    for question, text in zip(ask.questions, given, strict=False):
        if refuses(text) and text.casefold() not in _options(question):
            return _REFUSALS[_word(text)]
    return None


def _answers(ask: QuestionAsk, given: Sequence[str], choices: str) -> Answers:
    asked = [each.question for each in ask.questions]
    if len(given) != len(asked):
        told = t("{asked} questions need {asked} answers, not {given}", asked=len(asked), given=len(given))
        raise BadInput(told, choices)
    chosen = [_chosen(question, text) for question, text in zip(ask.questions, given, strict=True)]
    if not all(chosen):
        raise BadInput(t("no answer to {question}", question=repr(asked[chosen.index("")])), choices)
    return Answers(dict(zip(asked, chosen, strict=True)))


def _chosen(question: Question, text: str) -> str:
    """Numbers and labels become labels; anything else is the person's own words."""
    options = _options(question)
    several = question.multi_select and text.casefold() not in options
    parts = [part.strip() for part in re.split("[,，、]", text)] if several else [text]
    labels = [options.get(_number(part) or part.casefold(), part) for part in parts if part]
    return ", ".join(dict.fromkeys(labels))


def _options(question: Question) -> dict[str, str]:
    """Map what may be typed for an option to its label. Where a label is a number, the place in the list wins."""
    by_label = {each.label.strip().casefold(): each.label for each in question.options}
    return by_label | {str(number): each.label for number, each in enumerate(question.options, 1)}


def _number(text: str) -> str:
    """The number in ASCII digits, since full-width digits count too; empty if it is none, or has over 3 digits."""
    return str(int(text)) if text.isdecimal() and len(text) <= 3 else ""
