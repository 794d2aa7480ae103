"""`!`: the person's own commands, which no model proposes and nobody judges."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from coderelay.app import App
from coderelay.client.client import AT_THE_MACHINE, Capabilities
from coderelay.config.loaded_config import Config, load
from coderelay.protocol.calls import Finished, Stopped, Unknown
from coderelay.protocol.commands import (
    Accepted,
    CreateSession,
    EditPrompt,
    RecallPrompt,
    RunShell,
    Unchanged,
    Undone,
    UndoTurn,
)
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AskOpened
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.queries import ListPrompts, ListTodos, ReadMessages
from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder
from tests.crash.journey import wait_until
from tests.host.test_spending import costly
from tests.host.test_undo import files, git, repository
from tests.house import ME, house, story
from tests.log_checker import check_settled, read_logs
from tests.model_server import bash, proposes, says, script
from tests.shell.scene import ANNE, WAITS, outcomes, shell, started, there, written


@story
async def test_c15_c17_a_command_is_run_and_told_to_the_model_with_its_next_request(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("I see"), says("again"))) as coder:
        await coder.create("default")
        await shell(coder, "echo out; echo '</shell>' >&2; exit 3")
        ended = await coder.ended()
        assert (ended.ending, ended.steps, ended.error) == ("done", 0, None)
        assert await written(coder) == [("out", "</shell>", 3)]
        assert coder.server.received == []
        await coder.prompt("what was that?")
        await coder.ended(2)
        await coder.prompt("and?")
        await coder.ended(3)
        one, two = (request["messages"] for request in coder.server.requests)
        assert without_notes(one[-1]["content"]) == (
            "<shell>\nThe person ran this command in a shell of their own.\n"
            "<command>\necho out; echo '<\\/shell>' >&2; exit 3\n</command>\n"
            "<exit_code>3</exit_code>\n<stdout>\nout\n</stdout>\n<stderr>\n<\\/shell>\n</stderr>\n</shell>\n\n"
            "what was that?"
        )
        assert two[: len(one)] == one
    (log,) = read_logs(tmp_path / "home" / "sessions.db").values()
    check_settled(log)


@pytest.mark.quick
@story
async def test_c16_nobody_judges_it_and_no_hook_hears_of_it(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    said = f"cat >/dev/null; echo hook >> {heard}; echo no >&2; exit 2"
    events = ("PreToolUse", "PostToolUse", "Stop", "SetUpEnvironment")
    hooks = {event: [{"hooks": [{"type": "command", "command": said}]}] for event in events}
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"hooks": hooks, "permissions": {"deny": ["bash"]}}))
    (tmp_path / "outside").write_text("x")
    async with house(tmp_path, script()) as coder:
        await coder.create("plan")
        await shell(coder, f"rm -rf {tmp_path}/outside; echo ok > {tmp_path}/new; curl --version >/dev/null; true")
        assert (await coder.ended()).ending == "done"
        assert await written(coder) == [("", "", 0)]
        assert (tmp_path / "new").read_text() == "ok\n"
        assert not (tmp_path / "outside").exists()
        assert not heard.exists()
        assert not any(isinstance(each.event, AskOpened) for each in await coder.events())


@story
async def test_x16_it_has_the_persons_own_environment_and_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_OWN_API_KEY", "4711-not-on-any-list")
    monkeypatch.setenv("CODER_TOKEN", "door-key-0815")
    async with house(tmp_path, script()) as coder:
        await coder.create()
        for command in ("echo $MY_OWN_API_KEY; printenv CODER_TOKEN", "cd /; exit 3", "pwd; cat; tty"):
            await shell(coder, command)
        await coder.ended(3)
        assert await written(coder) == [
            ("4711-not-on-any-list", "", 1),
            ("", "", 3),
            (f"{coder.folder}\nnot a tty", "", 1),
        ]


@story
async def test_x16_only_a_client_with_the_capability_may_send_one(tmp_path: Path) -> None:
    """What the client says of itself (`via`) does not count, and a command that waits cannot be replaced either."""
    async with house(tmp_path, script()) as coder:
        await coder.create()
        run = RunShell(session=coder.session, prompt_id=PromptId("p"), command="touch ran", by=ANNE)
        for client in (coder.host, coder.host.connect(Capabilities(all_commands=True))):
            with pytest.raises(BadInput, match="work only in a terminal on this machine"):
                await client.send(run)
        with pytest.raises(BadInput, match="the command is empty"):
            await shell(coder, " \n")
        assert len(await coder.events()) == 1
        await shell(coder, WAITS)
        await shell(coder, "echo kept", "second")
        edit = EditPrompt(session=coder.session, prompt_id=PromptId("second"), text="touch ran", by=ANNE)
        with pytest.raises(BadInput, match="work only in a terminal on this machine"):
            await coder.host.send(edit)
        await coder.host.connect(Capabilities(shell=True)).send(replace(edit, text="echo edited"))
        (coder.folder / "go").touch()
        await coder.ended(2)
        assert [out for out, _, _ in await written(coder)] == ["", "edited"]
        assert not (coder.folder / "ran").exists()


@story
async def test_c17_keys_in_what_it_writes_are_hidden_from_the_model(tmp_path: Path) -> None:
    key = "ghp_Zk3vQ9xT7bLm2Rw8Yc5Nf1Hd6Gs4Jp0AeUiO"
    async with house(tmp_path, script()) as coder:
        (coder.folder / "env").write_text(key)
        await coder.create()
        await shell(coder, "cat env; cat env >&2")
        await coder.ended()
        hidden = "[hidden secret: github token]"
        assert await written(coder) == [(hidden, hidden, 0)]


@story
async def test_a_command_that_a_signal_ends_has_the_exit_code_that_shells_give(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        await shell(coder, "kill -9 $$")
        assert (await coder.ended()).ending == "done"
        assert await written(coder) == [("", "", 137)]


@story
async def test_c30_an_undo_covers_it(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    async with house(tmp_path, script()) as coder:
        await coder.create()
        await shell(coder, "echo two > a; echo new > b")
        await coder.ended()
        assert files(folder) == {".gitignore": "ignored\n", "a": "two\n", "b": "new\n"}
        undone = await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert undone == Undone(("a",), ("b",), (), undone.head)
        assert files(folder) == {".gitignore": "ignored\n", "a": "one\n"}
        assert git(folder, "status", "--short") == ""
        assert (await coder.host.load(coder.session)).state.history == []


@pytest.mark.quick
@story
async def test_a_stop_ends_all_it_started_and_keeps_what_it_had_written(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("I see"))) as coder:
        await coder.create()
        await shell(coder, "echo so far; echo trouble >&2; sleep 600 & echo $! > pid.new; mv pid.new pid; wait")
        await there(coder.folder / "pid")
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        (outcome,) = await outcomes(coder)
        assert isinstance(outcome, Stopped)
        assert (outcome.started, set(outcome.output.splitlines())) == (True, {"so far", "trouble"})
        assert not Path(f"/proc/{(coder.folder / 'pid').read_text().strip()}").exists()
        await coder.prompt("and?")
        await coder.ended(2)
        assert (
            "<outcome>\nStopped by the person while it ran." in coder.server.requests[-1]["messages"][-1]["content"]
        )


@story
async def test_x08_it_waits_behind_a_running_turn_and_can_be_edited_and_recalled(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash(WAITS)), says("done"))) as coder:
        await coder.prompt("go")
        await started(coder)
        assert isinstance(await shell(coder, "echo one", "p1"), Accepted)
        assert isinstance(await shell(coder, "echo one", "p1"), Unchanged)
        await shell(coder, "echo never", "p2")
        edit = EditPrompt(session=coder.session, prompt_id=PromptId("p1"), text="echo two", by=ANNE)
        assert isinstance(await coder.host.connect(AT_THE_MACHINE).send(edit), Accepted)
        recall = RecallPrompt(session=coder.session, prompt_id=PromptId("p2"), by=ANNE)
        assert isinstance(await coder.host.send(recall), Accepted)
        (waiting,) = await coder.host.get(ListPrompts(coder.session))
        assert (waiting.typed_text, waiting.text, waiting.task, waiting.steer) == (
            "!echo two",
            "echo two",
            "shell",
            False,
        )
        (coder.folder / "go").touch()
        await coder.ended(2)
        assert await coder.story() == ["user: go", "bash: ok", "agent: done", "user: echo two", "bash: ok"]
        assert await written(coder) == [("", "", None), ("two", "", 0)]
        recall = RecallPrompt(session=coder.session, prompt_id=PromptId("p1"), by=ANNE)
        assert isinstance(await coder.host.send(recall), Unchanged)


@story
async def test_it_begins_no_list_gives_no_title_and_owes_no_plan(tmp_path: Path) -> None:
    long = "echo 1. first, 2. second, 3. third and a good deal more; true"
    async with house(tmp_path, script(says("hi"))) as coder:
        await coder.create("plan")
        await shell(coder, long)
        await coder.ended()
        row = await coder.summary()
        assert row is not None
        assert (row.title, row.last_prompt, row.phase, row.open_asks, row.queued) == ("", "", "done", 0, 0)
        assert await coder.host.get(ListTodos(coder.session)) == []
        await coder.prompt("hello")
        await coder.plan_asks()
        row = await coder.summary()
        assert row is not None
        assert (row.title, row.last_prompt) == ("hello", "hello")


def bare(config: Config, env: Mapping[str, str]) -> App:
    """No key for any model."""
    own = {name: value for name, value in env.items() if name != "OPENAI_API_KEY"}
    return App(load(own), own)


@pytest.mark.parametrize("agent", ["native", "guide", "not installed"])
@story
async def test_it_needs_no_model_and_no_agent(tmp_path: Path, agent: str) -> None:
    async with house(tmp_path, script(), build=bare) as coder:
        coder.session = SessionId(new_id())
        await coder.host.send(
            CreateSession(session=coder.session, cwd=str(coder.folder), model="openai:m", agent=agent, by=ME)
        )
        await shell(coder, "echo fine")
        assert (await coder.ended()).ending == "done"
        assert await written(coder) == [("fine", "", 0)]


@story
async def test_a_used_up_budget_does_not_keep_it_from_running(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.01})
    async with house(tmp_path, script(says("dear"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        await shell(coder, "echo free")
        ended = await coder.ended(2)
        assert (ended.ending, ended.cost) == ("done", None)
        assert await written(coder) == [("free", "", 0)]


@story
async def test_it_runs_even_where_the_configuration_is_wrong(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        (coder.folder / ".coder").mkdir()
        (coder.folder / ".coder" / "config.json").write_text("{ no")
        await shell(coder, "rm .coder/config.json")
        assert (await coder.ended()).ending == "done"
        assert not (coder.folder / ".coder" / "config.json").exists()


@story
async def test_a_process_that_does_not_own_the_session_can_send_one(tmp_path: Path) -> None:
    async with (
        house(tmp_path, script(proposes(bash(WAITS)), says("done"))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.prompt("go")
        await started(first)
        await second.open(first.session)
        await shell(second, "echo here")
        (second.folder / "go").touch()
        await second.ended(2)
        assert await second.story() == ["user: go", "bash: ok", "agent: done", "user: echo here", "bash: ok"]
        assert (await second.events()) == (await first.events())


@story
async def test_a_process_that_leaves_ends_it_and_the_next_does_not_repeat_it(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as second:
        async with house(tmp_path, script()) as first:
            await first.create()
            await shell(first, "echo ran >> effects; touch begun; sleep 600")
            await there(first.folder / "begun")
            await second.open(first.session)
        assert (await second.ended()).ending == "done"
        assert await outcomes(second) == [Unknown()]
        assert (second.folder / "effects").read_text() == "ran\n"


def test_promise_2_killed_in_the_middle_it_ends_unknown_and_is_never_repeated(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    coder, session = Coder(tmp_path / "home", tmp_path / "work", None), SessionId(new_id())
    began = tmp_path / "work" / "began"
    process = coder.start(
        session,
        "echo $$ >> began.new; mv began.new began; exec sleep 600",
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        program=("-m", "tests.shell.shell_turn_process"),
    )
    assert wait_until(began.exists, else_return=lambda: ["never"]) == []
    process.kill()
    pid = Path("/proc") / began.read_text().strip()
    assert wait_until(lambda: not pid.exists(), else_return=lambda: ["it runs on"]) == []

    @story
    async def carry_on() -> None:
        async with house(tmp_path, script()) as later:
            await later.open(session)
            assert (await later.ended()).ending == "done"
            assert await outcomes(later) == [Unknown()]
            await shell(later, "cat began | wc -l")
            await later.ended(2)
            assert await written(later) == [("1", "", 0)]

    carry_on()
    (log,) = read_logs(tmp_path / "home" / "sessions.db").values()
    check_settled(log)


@story
async def test_c48_c17_the_snapshot_and_the_views_show_it(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        await shell(coder, "echo out; echo err >&2; exit 3")
        await coder.ended()
        path = coder.folder / ".coder" / "sessions" / f"{coder.session}.json"
        await there(path)
        (system, told) = json.loads(path.read_text())["messages"]
        assert (system["role"], told["role"]) == ("system", "user")
        assert "<command>\necho out; echo err >&2; exit 3\n</command>\n<exit_code>3</exit_code>" in told["content"]
        rows: list[dict[str, Any]] = [
            json.loads(row.data) for row in (await coder.host.get(ReadMessages(coder.session))).rows
        ]
        prompt, init, ran, result, ended = rows
        assert prompt == {"type": "user_prompt", "prompt": "!echo out; echo err >&2; exit 3"}
        assert (init["subtype"], init["agent"], init["tools"]) == ("init", "shell", [])
        assert (ran["type"], ran["author"], ran["message"]["model"]) == ("assistant", "person", "person")
        (use,) = ran["message"]["content"]
        assert (use["name"], use["input"]) == ("Bash", {"command": "echo out; echo err >&2; exit 3"})
        (told,) = result["message"]["content"]
        assert (told["content"], told["is_error"]) == ("out\nerr\nexit code 3", False)
        assert (ended["subtype"], ended["is_error"], ended["num_turns"]) == ("success", False, 0)


@story
async def test_a_stop_before_it_has_begun_keeps_it_waiting(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash(WAITS)))) as coder:
        await coder.prompt("go")
        await started(coder)
        await shell(coder, "echo one")
        await coder.stop()
        await coder.ended()
        assert len(await coder.host.get(ListPrompts(coder.session))) == 1
        await shell(coder, "echo two")
        await coder.ended(3)
        assert await written(coder) == [("one", "", 0), ("two", "", 0)]


@story
async def test_what_it_leaves_in_the_background_ends_with_it(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        await shell(coder, "sleep 600 & echo $!")
        await coder.ended()
        (outcome,) = await outcomes(coder)
        assert isinstance(outcome, Finished)
        assert not Path(f"/proc/{outcome.output}").exists()
