"""What people type after a `/` at a terminal: built-in first, then the agent's, then people's own, then skills."""

from collections.abc import Callable
from pathlib import Path

from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script
from tests.plain_terminal import Terminal, terminal
from tests.skills.skill_and_command_folders import put, put_command, put_skill, trust_all

CoderOn = Callable[[ModelServerThread], Coder]


def asked(server: ModelServerThread) -> list[str]:
    return [without_notes(each["messages"][-1]["content"]) for each in server.requests]


def told(screen: Terminal, line: str) -> str:
    """What a line is answered with."""
    screen.type(f"{line}\n")
    screen.wait_for(f"{line}\n")
    return screen.wait_for("\n> ").removesuffix("\n> ")


def test_x27_a_command_of_ones_own_is_a_prompt_with_its_arguments(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("fixed"), says("released")))
    coder = coder_on(server)
    put_command(coder.home, "fix", "---\ndescription: mends an issue\n---\nMend issue $1 in $ARGUMENTS.")
    put(coder.home / "commands" / "ship" / "now.md", "Release it.")
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "/fix 12 'the parser'") == "fixed"
        assert told(screen, "/ship:now with care") == "released"
    assert asked(server) == ["Mend issue 12 in 12 'the parser'.", "Release it.\n\nwith care"]


def test_x27_c34_a_skill_can_be_asked_for_by_name(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("read")))
    coder = coder_on(server)
    file = put_skill(coder.home, "pdf", text="Use pdftotext.", more={"disable-model-invocation": "true"})
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "/pdf what is in a.pdf?") == "read"
    body = f"Use pdftotext.\n\n(The files of this skill are in {file.parent}.)"
    assert asked(server) == [f'<skill name="pdf">\n{body}\n</skill>\n\nwhat is in a.pdf?']


def test_c19_an_unknown_command_is_an_error_with_the_nearest_names(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script())
    coder = coder_on(server)
    put_command(coder.home, "deploy", "Deploy it.")
    with terminal(coder) as screen:
        screen.wait_for("> ")
        for line, answer in [
            ("/modle x", "unknown command /modle; did you mean /mode or /model? /help lists all commands"),
            ("/deplyo", "unknown command /deplyo; did you mean /deploy? /help lists all commands"),
            ("/perm", "unknown command /perm; did you mean /permissions? /help lists all commands"),
            ("/xyzzy", "unknown command /xyzzy; /help lists all commands"),
            ("/", "unknown command /; /help lists all commands"),
        ]:
            assert told(screen, line) == answer
    assert server.requests == []


def test_x27_two_slashes_mean_the_agents_command_and_never_another(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script())
    coder = coder_on(server)
    put_command(coder.home, "deploy", "Deploy it.")
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "//deploy now") == "the agent has no command /deploy; its commands: none"
        assert told(screen, "//model x") == "the agent has no command /model; its commands: none"
    assert server.requests == []


def test_x27_a_command_comes_before_a_skill_and_neither_before_what_is_built_in(
    serve: Serve, coder_on: CoderOn
) -> None:
    server = serve(script(says("by the command")))
    coder = coder_on(server)
    put_command(coder.home, "mode", "Something else.")
    put_command(coder.home, "same", "From the command.")
    put_skill(coder.home, "same", text="From the skill.")
    put_skill(coder.home, "cost", text="From the skill.")
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "/mode") == "mode: default"
        assert told(screen, "/cost").startswith("0 tokens in, 0 out")
        assert told(screen, "/same") == "by the command"
        assert f"({coder.home}/commands/mode.md is not used: there is a built-in /mode)" in told(screen, "/help")
    assert asked(server) == ["From the command."]


def test_x27_a_command_that_needs_arguments_and_gets_none_is_told(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script())
    coder = coder_on(server)
    put_command(coder.home, "say", "$ARGUMENTS")
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "/say") == "/say without arguments is an empty prompt; nothing was sent"
    assert server.requests == []


def test_x16_without_a_terminal_it_is_ordinary_text(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("as you like")))
    coder = coder_on(server)
    put_command(coder.home, "fix", "Mend it.")
    assert coder.run("-p", "/fix this") == Ran(0, "as you like\n", "")
    assert asked(server) == ["/fix this"]


def test_x36_a_folders_command_counts_when_it_is_trusted(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("built")))
    coder = coder_on(server)
    put_command(folder / ".coder", "build", "Build it with make.")
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "/build") == "/build is not trusted yet\nReview it with /trust."
        trust_all(coder.home, folder)
        assert told(screen, "/build") == "built"
    assert asked(server) == ["Build it with make."]
