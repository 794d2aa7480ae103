"""What people can look at: tools, skills, commands, and what fills the window."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.agents.agent import Description
from coderelay.agents.native.native_agent import NativeAgent
from coderelay.app import App
from coderelay.client.client import AT_THE_MACHINE
from coderelay.client.commands.session_info import context_in_words
from coderelay.client.commands.tools_skills_agents_mcp import tools_in_words
from coderelay.client.slash_command_help_and_completion import completions
from coderelay.client.slash_commands import COMMANDS, SessionCommands
from coderelay.client.typed_line import PromptToSend, Slash
from coderelay.protocol.errors import BadInput
from coderelay.protocol.queries import ListSkills, ListTools, ShowContext
from coderelay.protocol.query_results import CommandShown, ContextShown, SkillShown, SkillsShown, ToolShown
from coderelay.session.state import SessionSettings
from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import ME, InHouse, house, story
from tests.model_server import ModelServerThread, bash, proposes, read, says, script
from tests.plain_terminal import terminal
from tests.skills.skill_and_command_folders import put_command, put_config, put_skill

CoderOn = Callable[[ModelServerThread], Coder]


def commands(coder: InHouse) -> SessionCommands:
    return SessionCommands(
        coder.host.connect(AT_THE_MACHINE), coder.session, ME, lambda _folder, _model: None, lambda _: None
    )


@pytest.mark.quick
@story
async def test_c24_tools_have_a_name_and_a_kind_and_say_when_they_are_off(tmp_path: Path) -> None:
    put_skill(tmp_path / "home", "pdf")
    put_config(tmp_path / "home", tools={"disabled": ["bash", "skill"]})
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        found = {each.name: each for each in await coder.host.get(ListTools(coder.session))}
        kinds = {name: found[name].kind for name in ("read", "write", "patch", "bash", "ask_user", "web_fetch")}
        assert kinds == {
            "read": "read",
            "write": "edit",
            "patch": "edit",
            "bash": "command",
            "ask_user": "ask",
            "web_fetch": "network",
        }
        off = {name: each.off for name, each in found.items() if each.off}
        assert off == dict.fromkeys(("bash", "skill"), "disabled in the configuration")


@story
async def test_c24_a_tool_that_the_session_may_not_use_says_so(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        tools = [
            ToolShown("read", "read", "Read a file. With numbers."),
            ToolShown("bash", "command", "Runs", "not allowed in this session"),
        ]
        assert tools_in_words(tools) == ("read  read     Read a file.\nbash  command  (not allowed in this session)")
        assert tools_in_words([]) == "this agent has no tools"


@pytest.mark.quick
@story
async def test_c24_skills_are_listed_with_their_files_and_why_others_are_not(tmp_path: Path) -> None:
    file = put_skill(tmp_path / "home", "pdf", "reads PDF files")
    put_skill(tmp_path / "work" / ".coder", "deploy")
    broken = put_skill(tmp_path / "home", "torn", description="")
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        untrusted = "skills not trusted yet (review them with /trust): .coder/skills/deploy/SKILL.md"
        wrong = f"{broken} is not used: it needs a description, which says what it is for and when to use it"
        assert await coder.host.get(ListSkills(coder.session)) == SkillsShown(
            (SkillShown("pdf", "reads PDF files", str(file)),), (untrusted, wrong), ("deploy",)
        )
        assert await commands(coder).run(Slash("skills")) == (
            f"/pdf  reads PDF files\n  your own: {file}\n({untrusted})\n({wrong})"
        )


@pytest.mark.quick
@story
async def test_context_shows_what_fills_the_window(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(read("a.txt")), says("it is long"))) as coder:
        (coder.folder / "a.txt").write_text("some words in a line\n" * 1000)
        await coder.create("yolo")
        before = await coder.host.get(ShowContext(coder.session))
        assert [name for name, _ in before.parts] == ["system prompt", "tools"]
        assert not before.counted
        await coder.prompt("read a.txt")
        await coder.ended()
        shown = await coder.host.get(ShowContext(coder.session))
        used = dict(shown.parts)
        assert list(used) == ["system prompt", "tools", "notes", "prompts", "answers", "tool calls", "results"]
        summary = await coder.summary()
        assert summary is not None
        assert shown.counted
        assert abs(sum(used.values()) - summary.context_tokens) <= len(used)
        assert used["results"] == max(used.values())
        text = await commands(coder).run(Slash("context"))
        assert isinstance(text, str)
        assert text.splitlines()[-1].split()[0] == "free"


def test_context_in_words_has_tokens_and_per_cent() -> None:
    shown = ContextShown("openai:x", 1000, (("system prompt", 100), ("results", 25)), counted=True)
    assert context_in_words(shown) == (
        "openai:x: 125 of 1,000 tokens, counted by the provider; the breakdown is an estimate\n"
        "  system prompt  100   10.0 %\n"
        "  results         25    2.5 %\n"
        "  free           875   87.5 %"
    )
    assert context_in_words(ContextShown("guide", 0, (("tools", 7),))) == "guide: 7 tokens, estimated\n  tools  7"


@pytest.mark.quick
@story
async def test_c20_help_is_complete_and_grouped(tmp_path: Path) -> None:
    put_command(tmp_path / "home", "fix", "---\ndescription: mends an issue\nargument-hint: NUMBER\n---\nMend $1.")
    put_skill(tmp_path / "home", "pdf", "reads PDF files")
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        told = await commands(coder).run(Slash("help"))
        assert isinstance(told, str)
        headings = [line for line in told.splitlines() if line and not line.startswith(" ")]
        assert headings == [
            "Model and permissions",
            "Conversation",
            "Sessions",
            "Files",
            "Status and information",
            "Built-in prompts",
            "Custom commands",
            "Skills",
        ]
        shown = {line.split()[0].removeprefix("/") for line in told.splitlines() if line.startswith("  /")}
        assert shown == {*(each.name for each in COMMANDS if each.offered), "fix", "pdf"}
        assert "  /fix NUMBER                   mends an issue" in told


@story
async def test_completion_knows_everything_that_can_be_typed(tmp_path: Path) -> None:
    put_command(tmp_path / "home", "same", "---\ndescription: the command\n---\nA.")
    put_skill(tmp_path / "home", "same", "the skill")
    put_skill(tmp_path / "home", "pdf", "reads PDF files")
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        offered = [each for each in COMMANDS if each.offered]
        found = await completions(coder.host, coder.session, COMMANDS)
        assert found[: len(offered)] == [
            CommandShown(each.name, "built-in", each.text.english, each.hint) for each in offered
        ]
        assert {each.name for each in COMMANDS if not each.offered} == set()
        assert found[len(offered) :] == [
            CommandShown("same", "command", "the command"),
            CommandShown("pdf", "skill", "reads PDF files"),
        ]


class Advertising(NativeAgent):
    """An agent with commands of its own."""

    def describe(self, settings: SessionSettings) -> Description:
        own = (CommandShown("bug", "agent", "reports one"), CommandShown("model", "agent"))
        return replace(super().describe(settings), commands=own)


class WithCommands(App):
    def native_agent(self) -> NativeAgent:
        return Advertising(self.models, self.toolbox(), self.workspaces.open, self.native_settings, self.extra_tools)


@pytest.mark.quick
@story
async def test_x27_the_agents_commands_come_before_peoples_own_and_two_slashes_force_them(tmp_path: Path) -> None:
    put_command(tmp_path / "home", "bug", "Find the bug.")
    async with house(tmp_path, script(), build=WithCommands) as coder:
        await coder.create("default")
        typed = commands(coder)
        assert await typed.run(Slash("bug", "in a.py")) == PromptToSend("/bug in a.py")
        assert await typed.run(Slash("/model", "x")) == PromptToSend("/model x")
        assert str(await typed.run(Slash("model"))).startswith("openai:scripted\n")
        with pytest.raises(BadInput, match="the agent has no command /tools; its commands: //bug, //model"):
            await typed.run(Slash("/tools"))


def test_init_and_review_are_prompts_and_no_lists_are_made_of_them(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("written"), says("looks good"), says("fine")))
    coder = coder_on(server)
    with terminal(coder) as screen:
        screen.wait_for("> ")
        for line, answer in (("/init", "written"), ("/review", "looks good"), ("/review main..HEAD", "fine")):
            screen.type(f"{line}\n")
            assert screen.wait_for(f"{answer}\n> ") == f"{line}\n{answer}\n> "
    said = [without_notes(each["messages"][-1]["content"]) for each in server.requests]
    assert [each.partition(":")[0].partition(",")[0].partition(".")[0] for each in said] == [
        "Write AGENTS",
        "Review what has changed in the working tree since the last commit",
        "Review these changes",
    ]
    assert "If there is an AGENTS.md already, improve it" in said[0]
    assert said[2].startswith("Review these changes: main..HEAD. Change nothing.")
    listed = coder.run("sessions")
    assert "/review main..HEAD" in listed.out or "/init" in listed.out


def test_start_up_loads_nothing_of_this_where_there_is_nothing(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(proposes(bash("true")), says("hi")))
    loaded = coder_on(server).run("-p", "hi", "--mode", "yolo", env={"PYTHONPROFILEIMPORTTIME": "1"}).err
    modules = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    ours = {
        "coderelay.client.commands",
        "coderelay.client.slash_commands",
        "coderelay.client.slash_command_help_and_completion",
        "coderelay.config.skills_and_commands.custom_commands",
        "coderelay.config.skills_and_commands.front_matter",
        "coderelay.config.skills_and_commands.skills",
        "coderelay.config.skills_and_commands.trusted_text_files",
        "coderelay.config.skills_and_commands.skill_and_command_lookup",
        "coderelay.host.session_queries",
        "coderelay.session.context_usage",
    }
    assert "coderelay.app" in modules
    assert modules & ours == set()
