"""Every `/` command once, typed at the terminal."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.client.slash_commands import NAMES
from coderelay.protocol.modes import MODE_NAMES
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, hangs, says, script
from tests.terminal.pty import Seen
from tests.terminal.repl import asked, check_looks, is_idle, make_repository, repl, sessions_of, settle, works

CoderOn = Callable[[ModelServerThread], Coder]

TOLD = {
    "help": "Ctrl+D",
    "help diff": "/diff",
    "mode": "mode: default",
    "mode auto-edit": "mode: auto-edit",
    **{name: f"mode: {name}" for name in MODE_NAMES if name != "default"},
    "default": "mode: default",
    "permissions": "preset: balanced",
    "permissions strict": "strict",
    "trust": "nothing to trust",
    "config mode": 'mode = "default"',
    "think high": "think: high",
    "steer": "/steer TEXT",
    "queue": "nothing is queued",
    "title A fine name": "title: A fine name",
    "export told.md": "told.md",
    "copy": "copied 8 characters to the clipboard",
    "vim on": "vi keys: on",
    "vim": "vi keys: off",
    "add-dir": "work",
    "diff": "changed.txt",
    "diff full": "+ two",
    "status": "openai:scripted",
    "agents": "native",
    "tools": "bash",
    "skills": "skill",
    "mcp": "server",
    "context": "tokens",
    "todos": "no todo list yet",
    "tasks": "task",
    "ps": "no background commands",
    "cost": "price unknown",
    "output": "output is shown in full",
    "output 12": "output is shortened to 12 lines",
    "output some": "usage: /output",
    "output full": "output is shown in full",
}
OF_OTHER_TOOLS = {
    "approvals": "Use /permissions or /mode.",
    "usage": "Use /cost or /context.",
    "memory": "Write what the agent should know into AGENTS.md",
    "login": "There is no login",
    "rename": "Use /title.",
    "logout": "There is no login",
    "stop": "Esc stops the turn; /ps stop N stops a background command.",
}
PICKED = {"model": "openai:scripted", "sessions": "earlier words", "resume": "earlier words", "rewind": "hello"}
"""What is typed without saying what, and something to pick then."""
IN_OTHER_TESTS = {"new", "fork", "clear", "exit", "quit", "undo", "compact", "init", "review"}


def test_c18_c19_c24_c25_c29_every_command_tells_what_it_should(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    make_repository(folder, {"changed.txt": "one\n"})
    (folder / "changed.txt").write_text("one\ntwo\n")
    server = serve(script(says("hi there")))
    with repl(coder_on(server), columns=110, rows=50) as terminal:
        terminal.enter("hello")
        settle(terminal, "hi there")
        for line, told in {**TOLD, **OF_OTHER_TOOLS}.items():
            terminal.enter(f"/{line}")
            terminal.wait_until(
                lambda seen, line=line, told=told: is_idle(seen) and told in _told_after(seen, line),
                f"{told!r} after /{line}",
            )
    assert asked(server) == ["hello"], "no model was asked"
    assert (folder / "told.md").exists()


def test_c18_every_command_has_a_journey() -> None:
    assert {each.split()[0] for each in TOLD} | PICKED.keys() | IN_OTHER_TESTS == NAMES


def test_c27_what_is_not_said_is_picked_from_a_list(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"a": ""})
    server = serve(script(says("earlier answer"), says("hi there"), says("once more")))
    coder = coder_on(server)
    coder.run("-p", "earlier words")
    with repl(coder, columns=110) as terminal:
        terminal.enter("hello")
        settle(terminal, "hi there")
        for name, choice in PICKED.items():
            terminal.enter(f"/{name}")
            terminal.wait_until(
                lambda seen, choice=choice: "Esc cancels" in seen.text and f"❯ {choice}" in seen.text,
                f"{choice} to pick",
            )
            terminal.press("escape")
            terminal.wait_until(lambda seen: is_idle(seen) and "Esc cancels" not in seen.text, "the prompt")
        terminal.enter("/resume")
        terminal.wait_until(lambda seen: "❯ earlier words" in seen.text, "the session to pick")
        terminal.press("enter")
        settle(terminal, "earlier answer")
        terminal.enter("and on")
        settle(terminal, "once more")
    said = [str(each["content"]) for each in server.requests[-1]["messages"] if each["role"] == "user"]
    assert [text.splitlines()[-1] for text in said] == ["earlier words", "and on"]


def test_c21_enter_in_the_list_of_models_keeps_the_one_in_use(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("still here")))
    with repl(coder_on(server), "--model", "openai:unlisted") as terminal:
        terminal.enter("/model")
        terminal.wait_until(lambda seen: re.search("❯ openai:unlisted +in use", seen.text), "the model in use")
        terminal.press("enter")
        settle(terminal, "model: openai:unlisted")
        terminal.enter("hello")
        settle(terminal, "still here")
    assert [each["model"] for each in server.requests] == ["unlisted"]
    assert not (folder / ".coder" / "config.json").exists()


def test_c29_a_diff_is_drawn_in_colours(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"changed.txt": "one\n"})
    (folder / "changed.txt").write_text("two\n")
    with repl(coder_on(serve(script()))) as terminal:
        for line in ("diff full", "diff changed.txt"):
            terminal.enter(f"/{line}")
            shown = terminal.wait_until(
                lambda seen, line=line: is_idle(seen) and "two" in _told_after(seen, line), f"what /{line} shows"
            )
            assert re.search(r"changed\.txt  \+1 −1\n1 - one\n1 \+ two", _told_after(shown, line))
        assert re.search(rb"\x1b\[(0;)?32m[^\n]*two", terminal.raw)


def test_x08_steering_when_nothing_runs_and_a_path_that_was_dragged_in_are_prompts(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    (folder / "x.py").touch()
    server = serve(script(says("steered"), says("an empty file")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("/steer go left")
        assert "hears it" not in settle(terminal, "steered").all_text
        terminal.enter(f"{folder}/x.py what is this")
        settle(terminal, "an empty file")
    first, second = asked(server)
    assert (first, second.splitlines()[0]) == ("go left", f"{folder}/x.py what is this")


def test_c20_help_tells_the_keys(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    with repl(coder, rows=60) as terminal:
        terminal.enter("/help")
        seen = settle(terminal, "/review")
        for each in ("Enter", "Ctrl+D", "Esc", "Ctrl+C"):
            assert each in seen.all_text
        check_looks("help", terminal, coder, turns=0)


def test_c05_c23_a_mode_is_seen_at_the_prompt_at_once(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script()))) as terminal:
        for line, mode in (("/mode plan", "plan"), ("/yolo", "yolo"), ("/default", "default")):
            terminal.enter(line)
            terminal.wait_until(
                lambda seen, mode=mode: seen.cursor_row.endswith(f" {mode} ❯"), f"{mode} in the prompt"
            )


def test_c19_x27_an_unknown_command_names_the_nearest(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script())
    with repl(coder_on(server)) as terminal:
        terminal.enter("/permisions")
        settle(terminal, "unknown command /permisions; did you mean /permissions")
        terminal.enter("/frobnicate")
        settle(terminal, "unknown command /frobnicate; /help lists all commands")
    assert server.requests == []


def test_c26_c27_c31_a_new_session_and_back(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("two"), says("three")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("first")
        settle(terminal, "one")
        (old,) = sessions_of(coder)
        terminal.enter("/new")
        terminal.wait_until(lambda seen: is_idle(seen) and len(sessions_of(coder)) == 2, "another session", poll=True)
        terminal.enter("second")
        settle(terminal, "two")
        assert len([each for each in server.requests[-1]["messages"] if each["role"] == "user"]) == 1
        terminal.enter("/resume 00000000-nowhere")
        settle(terminal, "00000000-nowhere")
        terminal.enter(f"/resume {old[:13]}")
        terminal.wait_until(lambda seen: is_idle(seen) and seen.all_text.count("one") >= 2, "what was said there")
        terminal.enter("third")
        settle(terminal, "three")
    said = [str(each["content"]) for each in server.requests[-1]["messages"] if each["role"] == "user"]
    assert [text.splitlines()[-1] for text in said] == ["first", "third"]


@pytest.mark.parametrize("line", ["/exit", "/quit"])
def test_a_command_leaves(serve: Serve, coder_on: CoderOn, line: str) -> None:
    with repl(coder_on(serve(script()))) as terminal:
        terminal.enter(line)
        assert terminal.wait() == 0


def test_clear_begins_with_an_empty_context(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("First answer."), says("Second answer.")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("first")
        settle(terminal, "First answer.")
        terminal.enter("/clear")
        terminal.enter("second")
        settle(terminal, "Second answer.")
    assert len([each for each in server.requests[-1]["messages"] if each["role"] == "user"]) == 1


@pytest.mark.parametrize(("line", "wanted"), [("/init", "AGENTS.md"), ("/review main..HEAD", "main..HEAD")])
def test_work_that_is_often_asked_for(serve: Serve, coder_on: CoderOn, line: str, wanted: str) -> None:
    server = serve(script(says("understood")))
    with repl(coder_on(server)) as terminal:
        terminal.enter(line)
        settle(terminal, "understood")
    (said,) = asked(server)
    assert wanted in said


def test_a_command_is_answered_while_the_agent_works(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script(hangs(says("one two three"), 3))))) as terminal:
        terminal.enter("go")
        works(terminal, "one two")
        terminal.enter("/cost")
        terminal.wait_until(
            lambda seen: "Esc stops" in seen.text and re.search("price unknown", seen.text), "the cost"
        )


def _told_after(seen: Seen, line: str) -> str:
    """What stands below the last time this command is shown, but for the prompt."""
    lines = seen.everything[:-2]
    places = [number for number, each in enumerate(lines) if each.startswith(f"❯ /{line}")]
    return "\n".join(lines[places[-1] :]) if places else ""
