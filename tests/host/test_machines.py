"""Sessions of several machines on one log: two CODER_HOMEs share a PostgreSQL server, and a folder has the same path
on both (design §4, "each session pinned to the host that has its workspace")."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.app import App
from coderelay.app.machine_query_sources import ThisMachine
from coderelay.client.commands.session_info import status_in_words
from coderelay.config.loaded_config import Config
from coderelay.host.session_worker import Worker
from coderelay.protocol.asks import Allow
from coderelay.protocol.commands import Accepted, ConfigureSession, MoveSession, Unchanged, UndoTurn
from coderelay.protocol.errors import CannotRun
from coderelay.protocol.events import BatchOpened, CallStarted, SessionClaimed, SessionCreated
from coderelay.protocol.ids import MachineIdentity, SessionId, new_id
from coderelay.protocol.queries import (
    ExpandCommand,
    ExportSession,
    ListAgents,
    ListCommands,
    ListFiles,
    ListModels,
    ListServedModels,
    ListServers,
    ListSessions,
    ListSettings,
    ListSkills,
    ListSubagents,
    ListTools,
    ListTurns,
    ReadFile,
    ShowContext,
    ShowDiff,
    ShowPermissions,
    ShowSession,
    SuggestTitle,
    WhyNotRun,
    WhyWaiting,
)
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.hooks.hook_scripts import configure, hook
from tests.hooks.test_environment import set_up
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, proposes, says, script, write

pytest_plugins = ["tests.postgres"]

Build = Callable[[Config, Mapping[str, str]], App]
OTHER = "it belongs to another machine: laptop"


class NamedMachine(ThisMachine):
    """Its name is the last part of its home."""

    @property
    def identity(self) -> MachineIdentity:
        identity = super().identity
        assert identity is not None
        return MachineIdentity(identity.id, Path(self.config.home).name)


class NamedApp(App):
    def machine(self) -> NamedMachine:
        return NamedMachine(self.config, self.env, self.folders, self.providers, self.servers)


@pytest.fixture
def machine(tmp_path: Path, database: str) -> Callable[[str], Build]:
    def build(name: str) -> Build:
        return lambda config, env: NamedApp(replace(config, database_url=database, home=str(tmp_path / name)), env)

    return build


async def work(coder: InHouse) -> None:
    """What a process does that attends the session and finds that it needs an owner."""
    await Worker(await coder.host.load(coder.session), coder.host.context, coder.host.send).run()


async def claims(coder: InHouse) -> int:
    return sum(isinstance(each.event, SessionClaimed) for each in await coder.events())


@story
async def test_only_its_own_machine_goes_on_with_a_session(tmp_path: Path, machine: Callable[[str], Build]) -> None:
    async with house(tmp_path, script(proposes(write("a", "x"))), build=machine("laptop")) as laptop:
        await laptop.create("default")
        await laptop.prompt("go")
        (ask,) = await laptop.asks()
    async with house(tmp_path, script(), build=machine("server")) as server:
        await server.open(laptop.session)
        assert isinstance(await server.answer(ask), Accepted)
        await work(server)
        assert await claims(server) == 1
        assert (await server.host.get(WhyWaiting(server.session)) or "").startswith(OTHER)
        assert (await server.host.get(WhyNotRun(server.session)) or "").startswith(OTHER)
        async with house(tmp_path, script(says("done")), build=machine("laptop")) as laptop:
            await laptop.open(server.session)
            assert (await laptop.ended()).text == "done"
        assert await server.story() == ["user: go", "write: ok", "agent: done"]
    assert (tmp_path / "laptop" / "machine").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "laptop" / "machine").read_text() != (tmp_path / "server" / "machine").read_text()


@story
async def test_a_turn_can_be_stopped_from_another_machine(tmp_path: Path, machine: Callable[[str], Build]) -> None:
    """Its own may be switched off. The files at the same path here are others: no snapshot is taken of them, and no
    session file is written among them."""
    async with house(tmp_path, script(proposes(write("a", "x"))), build=machine("laptop")) as laptop:
        await laptop.create("default")
        await laptop.prompt("go")
        await laptop.asks()
    async with house(tmp_path, script(), build=machine("server")) as server:
        await server.open(laptop.session)
        assert isinstance(await server.stop(), Accepted)
        ended = await server.ended()
        assert (ended.ending, ended.tree) == ("stopped", "")
    assert not (tmp_path / "work" / ".coder" / "sessions" / f"{laptop.session}.json").exists()


@story
async def test_a_person_moves_a_session_to_this_machine(tmp_path: Path, machine: Callable[[str], Build]) -> None:
    answers = script(proposes(write("a", "x")), says("written"))
    async with house(tmp_path, answers, build=machine("laptop")) as laptop:
        await laptop.prompt("go")
        await laptop.ended()
        assert len(await laptop.host.get(ListTurns(laptop.session))) == 1
    async with house(tmp_path, script(says("here")), build=machine("server")) as server:
        move = MoveSession(session=laptop.session, by=ME)
        assert await server.host.get(ListSessions(here=True)) == []
        assert isinstance(await server.host.send(move), Accepted)
        assert isinstance(await server.host.send(move), Unchanged)
        assert [each.id for each in await server.host.get(ListSessions(here=True))] == [laptop.session]
        assert await server.host.get(ListTurns(laptop.session)) == []  # its snapshots stayed behind
        server.session = laptop.session
        await server.prompt("go on")
        assert (await server.ended(2)).text == "here"
    async with house(tmp_path, script(), build=machine("laptop")) as laptop:
        problem = await laptop.host.get(WhyNotRun(server.session))
        assert problem is not None
        assert problem.startswith("it belongs to another machine: server")


@story
async def test_what_was_allowed_and_set_up_on_a_machine_does_not_count_on_another(
    tmp_path: Path, machine: Callable[[str], Build]
) -> None:
    for name in ("laptop", "server"):
        (tmp_path / name).mkdir()
        configure(tmp_path, hook("SetUpEnvironment", f"""echo '{{"env": {{"VIRTUAL_ENV": "/venv-of-{name}"}}}}'"""))
        (tmp_path / "home" / "config.json").rename(tmp_path / name / "config.json")
    make = (proposes(bash("make")), says("made"))
    async with house(tmp_path, script(*make), build=machine("laptop")) as laptop:
        await laptop.create("default")
        await laptop.prompt("go")
        (ask,) = await laptop.asks()
        await laptop.answer(ask, Allow("session"))
        await laptop.ended()
    async with house(tmp_path, script(*make), build=machine("server")) as server:
        await server.host.send(MoveSession(session=laptop.session, by=ME))
        server.session = laptop.session
        head = (await server.events())[-1].seq
        await server.prompt("go on")
        opened = (await server.until(lambda event: isinstance(event, BatchOpened), head)).event
        assert isinstance(opened, BatchOpened)
        assert [each.verdict for each in opened.judged] == ["ask"]
        assert await set_up(server) == [{"VIRTUAL_ENV": "/venv-of-laptop"}, {"VIRTUAL_ENV": "/venv-of-server"}]


@story
async def test_a_session_is_not_moved_while_its_machine_runs_it(
    tmp_path: Path, machine: Callable[[str], Build]
) -> None:
    command = proposes(bash("touch began; until [ -e go ]; do sleep 0.01; done"))
    async with (
        house(tmp_path, script(command, says("done")), build=machine("laptop")) as laptop,
        house(tmp_path, script(), build=machine("server")) as server,
    ):
        await laptop.prompt("go")
        await laptop.until(lambda event: isinstance(event, CallStarted))
        with pytest.raises(CannotRun, match="it is running on another machine: laptop"):
            await server.host.send(MoveSession(session=laptop.session, by=ME))
        (tmp_path / "work" / "go").touch()
        assert (await laptop.ended()).text == "done"
        assert isinstance(await server.host.send(MoveSession(session=laptop.session, by=ME)), Accepted)


@story
async def test_files_of_another_machine_are_not_looked_for_here(
    tmp_path: Path, machine: Callable[[str], Build]
) -> None:
    answers = script(proposes(write("a", "x")), says("written"))
    async with house(tmp_path, answers, build=machine("laptop")) as laptop:
        await laptop.prompt("go")
        await laptop.ended()
    async with house(tmp_path, script(), build=machine("server")) as server:
        for query in (ListFiles(laptop.session), ShowDiff(laptop.session)):
            with pytest.raises(CannotRun, match=OTHER):
                await server.host.get(query)
        with pytest.raises(CannotRun, match=OTHER):
            await server.host.send(UndoTurn(session=laptop.session, by=ME))
    assert (tmp_path / "work" / "a").read_text() == "x"


@story
async def test_nothing_is_told_of_the_folder_that_has_its_path_on_this_machine(
    tmp_path: Path, machine: Callable[[str], Build]
) -> None:
    """The log answers what it can; configuration, skills and commands are those of the other machine."""
    async with house(tmp_path, script(proposes(write("a", "x"))), build=machine("laptop")) as laptop:
        await laptop.create("default")
        await laptop.prompt("go")
        await laptop.asks()
        session = laptop.session
    commands = tmp_path / "work" / ".coder" / "commands"
    commands.mkdir(parents=True)
    (commands / "deploy.md").write_text("of the server")
    (tmp_path / "work" / "AGENTS.md").write_text("of the server")
    async with house(tmp_path, script(), build=machine("server")) as server:
        for query in (
            *(ShowPermissions(session), ListSettings(session=session), ReadFile(session, "AGENTS.md")),
            *(ListTools(session), ListSkills(session), ListSubagents(session), ListServers(session)),
            *(ExpandCommand(session, "deploy", ""), ListModels(session), ListServedModels(session)),
            *(ListAgents(session), SuggestTitle(session)),
        ):
            with pytest.raises(CannotRun, match=OTHER):
                await server.host.get(query)
        listed = await server.host.get(ListCommands(session))
        assert (listed.found, [each.startswith(OTHER) for each in listed.notes]) == ((), [True])
        exported = await server.host.get(ExportSession(session))
        assert "go" in str(exported)
        assert "of the server" not in str(exported)
        shown = await server.host.get(ShowContext(session))
        assert ([name for name, _ in shown.parts if name in ("system prompt", "tools")], shown.window) == ([], 0)
        assert "of the server" not in await status_in_words(server.host, session)


@story
async def test_folders_of_another_machine_are_not_looked_for_here_when_settings_change(
    tmp_path: Path, machine: Callable[[str], Build]
) -> None:
    async with house(tmp_path, script(), build=machine("laptop")) as laptop:
        session = await laptop.create("default")
    async with house(tmp_path, script(), build=machine("server")) as server:
        for change in (
            ConfigureSession(session=session, cwd=str(tmp_path), by=ME),
            ConfigureSession(session=session, folders=(str(tmp_path),), when="next_turn", by=ME),
        ):
            with pytest.raises(CannotRun, match=OTHER):
                await server.host.send(change)
        await server.host.send(ConfigureSession(session=session, mode="plan", by=ME))
        row = await server.host.get(ShowSession(session))
        assert (row.cwd, row.mode) == (str(laptop.folder), "plan")


@story
async def test_any_machine_goes_on_with_a_session_of_an_old_log(
    tmp_path: Path, machine: Callable[[str], Build]
) -> None:
    """Logs that were written before sessions had machines say nothing of one."""
    async with house(tmp_path, script(says("done")), build=machine("server")) as server:
        created = SessionCreated(cwd=str(server.folder), agent="native", model="openai:scripted", mode="yolo", by=ME)
        server.session = SessionId(new_id())
        await (await server.host.load(server.session)).append(lambda _: [created])
        await server.prompt("go")
        assert (await server.ended()).text == "done"


def test_the_command_line_moves_a_session_and_continues_its_own_alone(
    tmp_path: Path, database: str, serve: Serve
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    url = serve(script(says("one"), says("two"), says("three"))).base_url
    env = {"CODER_DATABASE_URL": database}
    laptop, server = (Coder(tmp_path / name, folder, url) for name in ("laptop", "server"))
    assert laptop.run("-p", "go", env=env).code == 0
    continued = server.run("-p", "go on", "--continue", env=env)
    assert (continued.code, "no session " in continued.err) == (1, True)
    (session,) = [each.partition(" ")[0] for each in laptop.run("sessions", env=env).out.splitlines()[-1:]]
    refused = server.run("-p", "go on", "--resume", session, env=env)
    assert (refused.code, "it belongs to another machine" in refused.err) == (1, True)
    assert server.run("-p", "go on", "--resume", session, "--here", env=env).out == "two\n"
    assert server.run("-p", "go on", "--continue", env=env).out == "three\n"
