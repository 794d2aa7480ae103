"""C-35: an open ask has a menu. Arrow keys and Enter choose, one key answers, and the ask stays in sight."""

from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, call, proposes, says, script, write
from tests.terminal.pty import Terminal
from tests.terminal.repl import answers_in, asks, log_of, repl, results, settle

CoderOn = Callable[[ModelServerThread], Coder]
ALL_EDITS = "Yes, and allow all edits this session (auto-edit mode)"


def marks(terminal: Terminal, option: str) -> None:
    """Until this option of the menu is marked."""
    terminal.wait_until(lambda seen: any(row.startswith("❯") and option in row for row in seen.rows), option)


def test_c35_arrow_keys_and_enter_choose(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("touch one")), proposes(bash("touch two")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "$ touch one")
        marks(terminal, "y  Yes")
        terminal.press("enter")
        asks(terminal, "$ touch two")
        terminal.press("down", "down")
        marks(terminal, "n  No")
        terminal.press("enter")
        settle(terminal, "done")
    assert [(folder / name).exists() for name in ("one", "two")] == [True, False]
    assert answers_in(coder) == ["allow", "deny"]


def test_c35_a_number_marks_an_answer_and_enter_confirms_it(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    """In other tools 3 means No; here it must not mean "always" without a look at the menu."""
    server = serve(script(proposes(write("one", "1")), proposes(write("two", "2")), says("done")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "Create one?")
        terminal.type("3")
        marks(terminal, "a  Yes, always for this file")
        terminal.type("1")
        marks(terminal, "y  Yes")
        terminal.press("enter")
        asks(terminal, "Create two?")
        terminal.enter("4")  # Enter at once, before the number alone marks anything
        marks(terminal, "n  No")
        terminal.press("enter")
        settle(terminal, "done")
    assert [(folder / name).exists() for name in ("one", "two")] == [True, False]
    assert (answers_in(coder), len(server.requests)) == (["allow", "deny"], 3), "no number was sent as a prompt"


def test_c35_tab_begins_a_refusal_with_a_reason(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(proposes(bash("npm install")), says("pnpm it is")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "$ npm install")
        terminal.press("tab")
        terminal.wait_until(lambda seen: "Enter denies the call" in seen.text, "what Tab does")
        terminal.enter("use pnpm instead")
        settle(terminal, "pnpm it is")
    assert "use pnpm instead" in server.requests[-1]["messages"][-1]["content"]
    assert answers_in(coder) == ["deny"]


def test_c35_all_edits_of_the_session_are_a_recorded_change_of_mode(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    first = proposes(write("a", "1"), write("b", "2"), bash("touch c"))
    coder = coder_on(serve(script(first, proposes(write("d", "4")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go, no tests")
        seen = asks(terminal, "Create a?")
        assert ALL_EDITS in seen.text
        terminal.type("e")
        seen = settle(terminal, "done")
        assert "auto-edit ❯" in seen.cursor_row
        assert "allowed, with all edits this session (auto-edit mode)" in seen.all_text
    assert [(folder / name).exists() for name in "abcd"] == [True] * 4
    assert answers_in(coder) == ["allow"] * 3, "the mode decided what waited, and what came later was not asked about"
    events = log_of(coder)
    at = next(number for number, each in enumerate(events) if each["kind"] == "ask.answered")
    assert events[at]["decision"] == {"type": "allow", "mode": "auto-edit"}
    assert (events[at + 1]["kind"], events[at + 1]["mode"]) == ("session.configured", "auto-edit")


def test_c35_what_auto_edit_would_ask_about_does_not_offer_it(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    calls = proposes(write(".vscode/tasks.json", "{}"))
    coder = coder_on(serve(script(calls, says("as you wish"), proposes(bash("touch x")), says("fine"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        seen = asks(terminal, "tasks.json")
        assert ALL_EDITS not in seen.text
        terminal.enter("n")
        settle(terminal, "as you wish")
        terminal.enter("again")
        seen = asks(terminal, "$ touch x")
        assert ALL_EDITS not in seen.text, "a command is no edit of a file"
        terminal.enter("n")
        settle(terminal, "fine")


def test_an_open_ask_is_drawn_again_after_the_output_of_a_command(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash("touch one")), says("done"))))
    with repl(coder, rows=24) as terminal:
        terminal.enter("go")
        asks(terminal, "$ touch one")
        terminal.enter("/help")
        asked = "┃ $ touch one"
        seen = terminal.wait_until(lambda seen: seen.all_text.count(asked) == 2, "the card once more")
        assert asked in seen.text
        assert "❯ y  Yes" in seen.text
        terminal.press("c-l")
        terminal.wait_until(
            lambda seen: asked in seen.text and "/help" not in seen.text, "the card on a clear screen"
        )
        terminal.type("y")
        settle(terminal, "done")
    assert (folder / "one").exists()


def test_b58_questions_are_chosen_and_not_repeated(serve: Serve, coder_on: CoderOn) -> None:
    questions = [
        {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue", "description": "calm"}]},
        {
            "question": "Which sizes?",
            "options": [{"label": "S"}, {"label": "M"}, {"label": "L"}],
            "multiSelect": True,
        },
        {"question": "Which shape?", "options": [{"label": "Round"}, {"label": "Square"}]},
    ]
    server = serve(script(proposes(call("ask_user", questions=questions)), says("thanks")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        asks(terminal, "Which colour?")
        terminal.press("down")
        marks(terminal, "2  Blue")
        terminal.press("enter")
        asks(terminal, "Which sizes?")
        terminal.type(" ")
        terminal.press("up")
        terminal.type(" ")
        terminal.wait_until(lambda seen: seen.text.count("☑") == 2, "two sizes are checked")
        terminal.press("enter")
        asks(terminal, "Which shape?")
        terminal.type("2")
        seen = settle(terminal, "thanks")
    assert results(server) == ["Which colour?\n→ Blue\nWhich sizes?\n→ S, L\nWhich shape?\n→ Square"]
    assert seen.all_text.count("Which colour?") == 1
    assert [line for line in seen.everything if line.startswith("→")] == ["→ Blue", "→ S, L", "→ Square"]


def test_a62_a_plan_is_approved_with_the_arrow_keys(serve: Serve, coder_on: CoderOn) -> None:
    plan = proposes(call("plan_exit", plan="# Plan\n\n1. write a"))
    with repl(coder_on(serve(script(plan, says("done")))), "--mode", "plan") as terminal:
        terminal.enter("plan it")
        asks(terminal, "write a")
        terminal.press("down")
        marks(terminal, "2  Yes, and ask before each edit")
        terminal.press("enter")
        seen = settle(terminal, "done")
        assert "default ❯" in seen.cursor_row


def test_enter_that_sent_a_prompt_does_not_answer_the_ask_that_follows(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("touch one")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        terminal.press("enter", "enter")
        asks(terminal, "$ touch one")
        terminal.press("c-d")
        terminal.wait()
    assert answers_in(coder) == []


def test_c35_no_answer_is_offered_before_its_ask_is_on_the_screen(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(*(proposes(write(name, "text")) for name in "abc"), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        for name in "abc":
            seen = terminal.wait_until(lambda seen, name=name: f"write: {name}" in seen.text, f"the menu of {name}")
            assert f"Create {name}?" in seen.all_text
            terminal.type("y")
        settle(terminal, "done")
