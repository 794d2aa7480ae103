"""The `/` commands about a session, typed at a real terminal."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.protocol.modes import MODE_NAMES
from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, hangs, http_error, proposes, read, says, script
from tests.plain_terminal import terminal

CoderOn = Callable[[ModelServerThread], Coder]


def asked(server: ModelServerThread) -> list[str]:
    return [without_notes(each["messages"][-1]["content"]) for each in server.requests]


@pytest.mark.quick
def test_the_first_line_says_which_model_was_found_and_how_to_change_it(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script()))) as screen:
        line = screen.wait_for("\n")
        assert line == "model: openai:scripted (OPENAI_API_KEY); change with --model or /model\n"


def test_c21_c47_a_model_is_changed_at_once_and_kept_for_later_sessions(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    server = serve(script(says("one"), says("two"), says("three")))
    coder = coder_on(server)
    with terminal(coder) as screen:
        screen.wait_for("> ")
        screen.type("first\n")
        screen.wait_for("one\n> ")
        screen.type("/model other\n")
        assert screen.wait_for("> ").endswith("model: openai:other\n> ")
        screen.type("second\n")
        screen.wait_for("two\n")
    assert json.loads((folder / ".coder" / "config.json").read_text()) == {"model": "openai:other"}
    coder.run("-p", "third")
    assert [each["model"] for each in server.requests] == ["scripted", "other", "other"]


def test_c47_a_model_that_cannot_be_kept_is_in_use(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("one")))
    (folder / ".coder").write_text("in the way")
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("/model other\n")
        assert "model: openai:other\nthe model was not saved for later sessions: " in screen.wait_for("\n> ")
        screen.type("go\n")
        screen.wait_for("one\n")
    assert [each["model"] for each in server.requests] == ["other"]


@pytest.mark.quick
def test_c21_a_model_that_cannot_be_used_changes_nothing(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    with terminal(coder_on(serve(script()))) as screen:
        screen.wait_for("> ")
        screen.type("/model anthropic:claude-sonnet-4-5\n")
        assert "no API key for anthropic:claude-sonnet-4-5; set ANTHROPIC_A" in screen.wait_for("\n> ")
        screen.type("/model\n")
        assert "openai:scripted\n" in screen.wait_for("\n> ")
    assert not (folder / ".coder" / "config.json").exists()


def test_the_guide_can_be_left_for_a_model_and_taken_again(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("a model speaks")))
    with terminal(coder_on(server), "--model", "guide") as screen:
        screen.wait_for("> ")
        screen.type("help\n")
        screen.wait_for("No model is connected.")
        screen.wait_for("\n> ")
        screen.type("/model openai:scripted\n")
        screen.wait_for("model: openai:scripted\n> ")
        screen.type("hi\n")
        screen.wait_for("a model speaks\n> ")
        screen.type("/model guide\n")
        screen.wait_for("model: guide\n> ")
        screen.type("help\n")
        screen.wait_for("No model is connected.")
    assert asked(server) == ["hi"]


def test_mode_and_think_are_shown_and_changed(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script()))) as screen:
        screen.wait_for("> ")
        for line, told in [
            ("/mode", "mode: default\n> "),
            ("/mode smart", "mode: auto-edit\n> "),
            ("/mode fast", f"unknown mode 'fast'; choose one of {', '.join(MODE_NAMES)}\n> "),
            ("/mode", "mode: auto-edit\n> "),
            ("/think high", "think: high\n> "),
            ("/think much", "unknown level 'much'; choose one of auto, off, low, medium, high\n> "),
            ("/think", "think: high\n> "),
        ]:
            screen.type(line + "\n")
            screen.wait_for(told)


def test_x08_what_waits_is_listed_changed_and_dropped(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(hangs(says("one two"), 1), says("a"), says("b")))
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("first\n")
        screen.wait_for("first\n")
        for line in ("second", "third", "fourth"):
            screen.type(line + "\n")
            screen.wait_for("(queued)\n")
        screen.type("/queue\n")
        shown = screen.wait_for("3. fourth")
        assert "1. second" in shown
        assert "2. third" in shown
        screen.type("/queue edit 1 zweitens\n")
        screen.wait_for("(changed)\n")
        screen.type("/queue drop 2\n")
        screen.wait_for("(removed from the queue)\n")
        screen.type("/queue drop 7\n")
        screen.wait_for("no queued prompt '7'; /queue lists them\n")
        screen.type("/queue edit 1\n")
        screen.wait_for("the prompt is empty\n")
        screen.type("\x03")
        screen.wait_for("2 queued; your next line starts the queue)\n")
        screen.type("/queue drop 2\n")
        screen.wait_for("(removed from the queue)\n")
        screen.type("last\n")
        screen.wait_for("a\n")
        screen.wait_for("b\n")
    assert [text.split("\n")[-1] for text in asked(server)] == ["first", "zweitens", "last"]


def test_x08_steered_line_is_sent_with_the_next_step(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    wait = "while [ ! -e go ]; do sleep 0.01; done"
    server = serve(script(proposes(bash(wait)), says("as you like")))
    with terminal(coder_on(server), "--mode", "yolo") as screen:
        screen.wait_for("> ")
        screen.type("start\n")
        screen.wait_for("• bash")
        screen.type("/steer rather the blue one\n")
        screen.wait_for("(sent; the model reads it at its next step)\n")
        (folder / "go").touch()
        screen.wait_for("as you like\n> ")
    assert asked(server) == ["start", "rather the blue one"]


def test_x08_input_while_running_follows_the_setting(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    wait = "while [ ! -e go ]; do sleep 0.01; done"
    server = serve(script(proposes(bash(wait)), says("as you like")))
    coder = coder_on(server)
    coder.home.mkdir()
    (coder.home / "config.json").write_text('{"input_while_running": "steer"}')
    with terminal(coder, "--mode", "yolo") as screen:
        screen.wait_for("> ")
        screen.type("start\n")
        screen.wait_for("• bash")
        screen.type("rather the blue one\n")
        screen.wait_for("(sent; the model reads it at its next step)\n")
        (folder / "go").touch()
        screen.wait_for("as you like\n> ")
    assert asked(server) == ["start", "rather the blue one"]


def test_c28_compact_shows_the_summary_and_the_next_request_begins_with_it(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("Goal: to count."), says("two")))
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("count\n")
        screen.wait_for("one\n> ")
        screen.type("/compact\n")
        assert "Goal: to count.\n" in screen.wait_for("\n> ")
        screen.type("go on\n")
        screen.wait_for("two\n")
    first = server.requests[-1]["messages"][1]["content"]
    assert "<summary>\nWhat happened so far, summed up because it became too long:\n\nGoal: to count." in first


def test_cost_tells_tokens_and_that_a_price_is_unknown(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script(says("one"))))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for("one\n> ")
        screen.type("/cost\n")
        shown = screen.wait_for("\n> ")
        assert " out: price unknown\n" in shown
        assert "tokens of the context window used\n" in shown


@pytest.mark.quick
def test_an_unknown_command_is_said_and_changes_nothing(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script()))) as screen:
        screen.wait_for("> ")
        screen.type("/frobnicate\n")
        screen.wait_for("unknown command /frobnicate; /help lists all commands\n> ")


def test_a64_tools_reach_another_folder_once_it_was_added(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (other / "f").write_text("hello\n")
    server = serve(
        script(proposes(read(str(other / "f"))), says("no"), proposes(read(str(other / "f"))), says("yes"))
    )
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("look\n")
        screen.wait_for("no\n> ")
        screen.type("/add-dir ../nowhere\n")
        screen.wait_for(f"no such folder: {folder.parent / 'nowhere'}\n> ")
        screen.type("/add-dir ../other\n")
        screen.wait_for(f"added {other}; /undo restores files in {folder} only\n> ")
        screen.type("look again\n")
        screen.wait_for("yes\n")
    first, second = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert first.startswith("Error: ")
    assert second == "1\thello"
    assert f"Also at hand: {other}\n" in server.requests[-1]["messages"][-3]["content"]


def test_b20_a_title_is_given_or_found_by_a_small_model(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says('"Counting to one"\n'), http_error(400, "no titles today")))
    coder = coder_on(server)
    with terminal(coder) as screen:
        screen.wait_for("> ")
        screen.type("/title\n")
        screen.wait_for("a session without a prompt has no title yet\n> ")
        screen.type("count, please\n")
        screen.wait_for("one\n> ")
        screen.type("/title\n")
        screen.wait_for("title: Counting to one\n> ")
        screen.type("/title\n")
        screen.wait_for("no titles today\n> ")
        screen.type("/title My counting\n")
        screen.wait_for("title: My counting\n> ")
    assert "My counting" in coder.run("sessions").out
    assert server.requests[1]["messages"][-1] == {"role": "user", "content": "count, please"}
    assert "tools" not in server.requests[1]


@pytest.mark.quick
def test_c26_c27_new_begins_another_session_and_resume_goes_back(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("two"), says("three")))
    coder = coder_on(server)
    with terminal(coder) as screen:
        first = screen.wait_for("\n> ").partition("session ")[2].split()[0]
        screen.type("count, please\n")
        screen.wait_for("one\n> ")
        screen.type("/new\n")
        told = screen.wait_for("\n> ")
        assert told.endswith(f" · openai:scripted · default\n(go back with /resume {first})\n> ")
        screen.type("hello\n")
        screen.wait_for("two\n> ")
        screen.type(f"/resume {first}\n")
        assert screen.wait_for("\n> ").endswith("count, please\nlast prompt: count, please\n> ")
        screen.type("go on\n")
        screen.wait_for("three\n> ")
        screen.type("/exit\n")
        assert screen.wait() == 0
    said = [
        [each["content"] for each in request["messages"] if each["role"] == "assistant"]
        for request in server.requests
    ]
    assert said == [[], [], ["one"]]
    assert len(coder.run("sessions").out.splitlines()) == 2


def test_c27_a_session_that_waits_for_an_answer_asks_again_where_it_is_resumed(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    server = serve(script(proposes(bash("touch made")), says("done")))
    coder = coder_on(server)
    parked = coder.run("-p", "make it", "--unattended", "park")
    assert parked.code == 5
    with terminal(coder) as screen:
        screen.wait_for("\n> ")
        screen.type("/resume make it\n")
        assert "Run this command?\n  $ touch made\n" in screen.wait_for("Allow? y / n / a(lways) / s(top) > ")
        screen.type("/new\n")
        screen.wait_for("new session ")
        screen.wait_for("\n> ")
        screen.type("/resume make it\n")
        screen.wait_for("Allow? y / n / a(lways) / s(top) > ")
        screen.type("y\n")
        screen.wait_for("done\n> ")
    assert (folder / "made").exists()


def test_c20_ctrl_d_sends_what_is_typed_and_leaves_when_nothing_is(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one")))
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("/help\n")
        told = screen.wait_for("\n> ")
        assert "Enter or Ctrl+D sends the line; Ctrl+D on an empty line exits, and the session is kept.\n" in told
        assert "Ctrl+C stops the turn, even in the middle of an answer.\n" in told
        screen.type("hi\x04")
        screen.wait_for("one\n> ")
        screen.type("\x04")
        assert screen.wait() == 0
    assert asked(server) == ["hi"]


@pytest.mark.quick
def test_c15_x16_a_bang_is_the_persons_own_command_at_a_terminal_and_text_in_a_pipe(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    server = serve(script(says("as text")))
    coder = coder_on(server)
    with terminal(coder) as screen:
        screen.wait_for("> ")
        screen.type("!echo $((40+2)) > made; cat made; false\n")
        assert screen.wait_for("\n> ").endswith("42\n(exit code 1)\n> ")
    assert server.requests == []
    ran = coder.run(text="!rm made\n")
    assert ran.out.endswith("> !rm made\nas text\n")
    assert (asked(server), (folder / "made").read_text()) == (["!rm made"], "42\n")


def test_x16_piped_lines_go_through_new_one_after_the_other(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("two")))
    ran = coder_on(server).run(text="first\n/new\nsecond\n/exit\nthird\n")
    assert ran.code == 0
    shown = [line for line in ran.out.splitlines() if line[:1] in (">", "o", "t")]
    assert shown == ["> first", "one", "> second", "two"]
    assert asked(server) == ["first", "second"]


def test_sessions_search_finds_by_words(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("a"), says("b"))))
    coder.run("-p", "mend the cart")
    coder.run("-p", "write the docs")
    found = coder.run("sessions", "search", "CART", "mend").out
    assert [line.partition(" done ")[2].strip().split("  ")[0] for line in found.splitlines()] == ["mend the cart"]
    assert coder.run("sessions", "search", "cart docs").out == ""
