"""Reads what a person types as the answer to an ask."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from coderelay.client.i18n import t
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Decision,
    Deny,
    DenyAndStop,
    EditMode,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Question
from coderelay.protocol.errors import BadInput
from coderelay.protocol.translation_files import LANGUAGES, read_language

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
PLAN_WORDS: dict[str, Decision] = {
    **dict.fromkeys(("smart", "auto-edit"), PlanDecision("smart")),
    **dict.fromkeys(("default", "y", "yes", "allow"), PlanDecision("default")),
    **dict.fromkeys(("keep", "n", "no", "deny"), PlanDecision("keep")),
    **dict.fromkeys(("s", "stop"), DenyAndStop()),
}
ANSWER_WORDS = _PERMISSION.keys() | _REFUSALS.keys() | PLAN_WORDS.keys()
"""The English words that answer asks. The `answers` of a language file are other words for these."""


def joined(texts: Sequence[str]) -> str:
    return " ".join(texts).strip()


def permit_typed(texts: Sequence[str], mode: EditMode | None = None) -> Decision | None:
    whole = joined(texts)
    allowed = _PERMISSION.get(word_typed(whole))
    if isinstance(allowed, Allow) and allowed.mode not in (None, mode):
        return None
    return allowed or _REFUSALS.get(word_typed(whole)) or _denial(whole)


def _denial(text: str) -> Deny | None:
    """Parse `no` followed by what to do instead."""
    word, _, reason = re.sub("[,，:：]", " ", text, count=1).partition(" ")
    return Deny(reason.strip()) if _REFUSALS.get(word_typed(word)) == Deny() and reason.strip() else None


def agrees(text: str) -> bool:
    """Whether the text is a plain yes, for a question that is asked once and on the spot."""
    return _PERMISSION.get(word_typed(text)) == Allow()


def is_answer(text: str) -> bool:
    """Whether the text makes sense only as an answer, so that nobody would type it who was not asked something."""
    return word_typed(text) in _PERMISSION or word_typed(text) in _REFUSALS


def refuses(text: str) -> bool:
    """Whether the text refuses all questions of an ask, rather than answering one of them."""
    return word_typed(text) in _NO_ANSWER


def word_typed(text: str) -> str:
    """The English word for a word of any language, whichever is spoken here; case and full-width letters are
    normalised."""
    word = unicodedata.normalize("NFKC", text).strip().lower()
    return word if word in ANSWER_WORDS else _other_words().get(word, word)


@cache
def _other_words() -> dict[str, str]:
    return {word: english for name in LANGUAGES[1:] for word, english in read_language(name).answers.items()}


def refusal_typed(ask: QuestionAsk, given: Sequence[str]) -> Decision | None:
    """`deny` or `stop` for any question refuses all of them, unless that question offers the word as an option."""
    for question, text in zip(ask.questions, given, strict=False):
        if refuses(text) and text.casefold() not in _options(question):
            return _REFUSALS[word_typed(text)]
    return None


def answers_typed(ask: QuestionAsk, given: Sequence[str], choices: str) -> Answers:
    asked = [each.question for each in ask.questions]
    if len(given) != len(asked):
        told = t("there are {asked} questions; give {asked} answers, not {given}", asked=len(asked), given=len(given))
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
