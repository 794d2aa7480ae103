"""An ask in words, and words as an answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.client.ask_view import choices, full_text, headline, parse_answer
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    Decision,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Need, Option, Question
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import AskId, CallId
from coderelay.session.decide import check_fit

A, C = AskId("a"), CallId("c")
PERMISSION = PermissionAsk(
    A, C, Need(tool="bash", kind="command", title="make", command="make"), "bash runs a command (default mode)"
)
PLAN = PlanAsk(A, "\n# The plan\n\n1. think\n2. build\n", C)
COLOUR = Question("Which colour?", options=(Option("Red", "like blood"), Option("Light Blue"), Option("Green")))
SEVERAL = Question("Which colours?", options=COLOUR.options, multi_select=True)
NAME = Question("Which name?")


def question(*asked: Question) -> QuestionAsk:
    return QuestionAsk(A, C, asked)


def answered(ask: QuestionAsk, *texts: str) -> list[str]:
    decision = parse_answer(ask, texts)
    assert isinstance(decision, Answers)
    assert list(decision.answers) == [each.question for each in ask.questions]
    return list(decision.answers.values())


WORDS: list[tuple[str, Decision]] = [
    *((word, Allow()) for word in ("y", "yes", "allow", "once", "Y", " Yes ", "ALLOW\n")),
    *((word, Allow("session")) for word in ("a", "always", "session", "A")),
    ("project", Allow("project")),
    ("person", Allow("person")),
    *((word, Deny()) for word in ("n", "no", "deny", "No")),
    *((word, DenyAndStop()) for word in ("s", "stop", " STOP ")),
]


@pytest.mark.quick
@pytest.mark.parametrize(("word", "decision"), WORDS)
def test_x03_a_permission_in_a_word(word: str, decision: Decision) -> None:
    assert parse_answer(PERMISSION, [word]) == decision


@pytest.mark.quick
@pytest.mark.parametrize("texts", [[], [""], [" "], ["maybe"], ["1"], ["yes please"], ["allow", "nothing"], ["keep"]])
def test_promise_5_anything_else_allows_nothing(texts: list[str]) -> None:
    """Symptom: `coder answer ID allow nothing` allowed it."""
    with pytest.raises(BadInput) as refused:
        parse_answer(PERMISSION, texts)
    assert refused.value.hint == "Allow? y / n / a(lways) / s(top)"


ONE: list[tuple[str, str]] = [
    ("1", "Red"),
    (" 2 ", "Light Blue"),
    ("３", "Green"),  # full-width, as an input method for Chinese writes it
    ("red", "Red"),
    ("LIGHT BLUE", "Light Blue"),
    ("purple", "purple"),
    ("0", "0"),
    ("4", "4"),
    ("-1", "-1"),
    ("²", "²"),
    ("9" * 5000, "9" * 5000),
    ("1, 2", "1, 2"),  # one was asked for
    ("no", "no"),
    ("y", "y"),
    ("light", "light"),
    ("Red, but darker", "Red, but darker"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("text", "answer"), ONE, ids=lambda text: str(text)[:9])
def test_b60_one_of_the_options_or_own_words(text: str, answer: str) -> None:
    assert answered(question(COLOUR), text) == [answer]


MANY: list[tuple[str, str]] = [
    ("1", "Red"),
    ("1,3", "Red, Green"),
    ("3, red", "Green, Red"),
    ("1，2、green", "Red, Light Blue, Green"),
    ("1, purple ,2", "Red, purple, Light Blue"),
    ("1,,2,", "Red, Light Blue"),
    ("1, red, 1", "Red"),
    ("all of them", "all of them"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("text", "answer"), MANY)
def test_b60_several_of_the_options_joined_by_a_comma(text: str, answer: str) -> None:
    assert answered(question(SEVERAL), text) == [answer]


@pytest.mark.quick
def test_b60_a_label_with_a_comma_in_it_can_be_chosen_whole() -> None:
    ask = question(Question("Which?", options=(Option("Red, not blue"), Option("Blue")), multi_select=True))
    assert answered(ask, "red, NOT blue") == ["Red, not blue"]
    assert answered(ask, "2,1") == ["Blue, Red, not blue"]


@pytest.mark.quick
def test_b60_where_labels_are_numbers_the_place_in_the_list_counts() -> None:
    ask = question(Question("How many?", options=(Option("2"), Option("4"), Option("8"))))
    assert [answered(ask, text) for text in ("1", "2", "3", "4", "8")] == [["2"], ["4"], ["8"], ["4"], ["8"]]


@pytest.mark.quick
def test_own_words_are_kept_as_they_are() -> None:
    assert answered(question(NAME), "  the Relay, v2  ") == ["the Relay, v2"]
    assert answered(question(NAME), "2") == ["2"]


@pytest.mark.quick
def test_one_question_may_be_answered_in_several_texts() -> None:
    """Symptom: `coder answer ID call it relay` was refused, because that is three answers."""
    assert answered(question(NAME), "call", "it", "relay") == ["call it relay"]


@pytest.mark.quick
def test_several_questions_take_one_text_each() -> None:
    ask = question(NAME, COLOUR, SEVERAL)
    assert answered(ask, "relay", "2", "1,3") == ["relay", "Light Blue", "Red, Green"]
    for texts in ([], ["relay"], ["relay", "2"], ["relay", "2", "1", "3"]):
        with pytest.raises(BadInput, match=f"there are 3 questions; give 3 answers, not {len(texts)}"):
            parse_answer(ask, texts)


@pytest.mark.quick
@pytest.mark.parametrize("texts", [[""], [" \t"], [","], [" ，, "], []])
def test_nothing_is_no_answer(texts: list[str]) -> None:
    with pytest.raises(BadInput, match="no answer to"):
        parse_answer(question(SEVERAL), texts)
    with pytest.raises(BadInput, match="no answer to 'Which colour\\?'"):
        parse_answer(question(NAME, COLOUR), ["relay", ""])


@pytest.mark.quick
@pytest.mark.parametrize(("word", "decision"), [("deny", Deny()), ("stop", DenyAndStop()), (" Stop ", DenyAndStop())])
def test_x03_questions_can_be_refused_at_any_of_them(word: str, decision: Decision) -> None:
    assert parse_answer(question(NAME), [word]) == decision
    assert parse_answer(question(NAME, COLOUR), [word]) == decision
    assert parse_answer(question(NAME, COLOUR), ["relay", word]) == decision


@pytest.mark.quick
def test_b60_an_option_called_stop_can_be_chosen() -> None:
    """Symptom: whoever chose the option by its label stopped the turn."""
    ask = question(Question("Then what?", options=(Option("Go on"), Option("Stop"), Option("Deny"))), NAME)
    assert answered(ask, "stop", "x") == ["Stop", "x"]
    assert answered(ask, "DENY", "x") == ["Deny", "x"]
    assert parse_answer(ask, ["1", "stop"]) == DenyAndStop()


PLANS: list[tuple[str, Decision]] = [
    *((word, PlanDecision("smart")) for word in ("smart", "Smart", "auto-edit")),
    *((word, PlanDecision("default")) for word in ("default", "y", "yes", "allow", " DEFAULT ")),
    *((word, PlanDecision("keep")) for word in ("keep", "n", "no", "deny")),
    *((word, DenyAndStop()) for word in ("s", "stop")),
    ("use tabs", PlanDecision("feedback", "use tabs")),
    ("  Yes, but use tabs ", PlanDecision("feedback", "Yes, but use tabs")),
]


@pytest.mark.quick
@pytest.mark.parametrize(("text", "decision"), PLANS)
def test_a62_x22_a_plan_in_words(text: str, decision: Decision) -> None:
    assert parse_answer(PLAN, [text]) == decision


@pytest.mark.quick
def test_a62_feedback_in_several_texts_is_kept_whole() -> None:
    """Symptom: `coder answer ID use tabs` told the agent "use"."""
    assert parse_answer(PLAN, ["use", "tabs", "everywhere"]) == PlanDecision("feedback", "use tabs everywhere")


@pytest.mark.quick
@pytest.mark.parametrize("texts", [[], [""], [" \n"]])
def test_a62_silence_decides_no_plan(texts: list[str]) -> None:
    with pytest.raises(BadInput):
        parse_answer(PLAN, texts)


ASKS: list[Ask] = [PERMISSION, PLAN, question(NAME), question(COLOUR), question(SEVERAL), question(NAME, SEVERAL)]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(ASKS), st.lists(st.text(max_size=6) | st.sampled_from(["1", "2,3", "stop", "y"]), max_size=3))
def test_x37_whatever_is_typed_is_a_fitting_answer_or_refused(ask: Ask, texts: list[str]) -> None:
    decision = _understood(ask, texts)
    if isinstance(decision, BadInput):
        assert decision.hint == choices(ask)
    else:
        check_fit(ask, decision)


def _understood(ask: Ask, texts: list[str]) -> Decision | BadInput:
    try:
        return parse_answer(ask, texts)
    except BadInput as refused:
        return refused


CHOICES: list[tuple[Ask, str]] = [
    (PERMISSION, "Allow? y / n / a(lways) / s(top)"),
    (question(NAME), "your own words, deny or stop"),
    (question(COLOUR), "a number, your own words, deny or stop"),
    (question(NAME, SEVERAL), "a number, several with commas, your own words, deny or stop"),
    (PLAN, "smart / default / keep / s(top), or what to change"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("ask", "text"), CHOICES)
def test_x03_what_can_be_typed(ask: Ask, text: str) -> None:
    assert choices(ask) == text


IN_WORDS: list[tuple[Ask, str]] = [
    (
        PERMISSION,
        "Run this command?\n  $ make\n  bash runs a command (default mode)\n  always: exactly this command",
    ),
    (question(COLOUR), "Which colour?\n  1. Red  like blood\n  2. Light Blue\n  3. Green"),
    (question(NAME, COLOUR), "Which name?\nWhich colour?\n  1. Red  like blood\n  2. Light Blue\n  3. Green"),
    (PLAN, "\n# The plan\n\n1. think\n2. build\nApprove this plan?"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("ask", "text"), IN_WORDS)
def test_everything_a_person_needs_to_decide(ask: Ask, text: str) -> None:
    assert full_text(ask) == text


def permission(title: str) -> PermissionAsk:
    return PermissionAsk(A, C, Need(tool="bash", kind="command", title=title, command=title), "why")


HEADLINES: list[tuple[Ask, str]] = [
    (PERMISSION, "bash: make"),
    (permission("cd a\n  make\r\n\nrm b\n"), "bash: cd a ⏎ make ⏎ rm b"),
    (question(NAME, Question("Which\ncolour?")), "Which name? / Which ⏎ colour?"),
    (PLAN, "plan: # The plan"),
    (PlanAsk(A, "think"), "plan: think"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("ask", "line"), HEADLINES)
def test_a_headline_is_one_line_that_leaves_no_command_out(ask: Ask, line: str) -> None:
    """Symptom: a command of two lines broke the list of asks."""
    assert headline(ask) == line


@pytest.mark.quick
@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("rm -rf ~ \x1b[2K\rls", "rm -rf ~ \\x1b[2K\\rls"),
        ("rm a\b\b\b\bls", "rm a\\x08\\x08\\x08\\x08ls"),
        ("echo \u202etxt.sl\u202c", "echo \\u202etxt.sl\\u202c"),
        ("echo \udc80", "echo \\udc80"),
        ("echo a\tb 👩‍💻 你好\u3000ok", "echo a\tb 👩‍💻 你好\u3000ok"),
    ],
)
def test_promise_7_what_is_asked_cannot_repaint_the_screen(title: str, shown: str) -> None:
    """Symptom: a command with an escape sequence in it showed another command to whoever was to allow it."""
    assert full_text(permission(title)).startswith(f"Run this command?\n  $ {shown}\n")
    for ask in (permission(title), question(Question(title)), PlanAsk(A, title)):
        for text in (headline(ask), full_text(ask)):
            assert not {"\x1b", "\r", "\b", "\u202e", "\udc80"} & set(text)


@pytest.mark.quick
@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_can_be_shown_in_one_line(text: str) -> None:
    for ask in (permission(text), question(Question(text)), PlanAsk(A, text)):
        assert len(headline(ask).splitlines()) <= 1
        full_text(ask).encode()
