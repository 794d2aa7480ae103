"""The built-in `/` commands on a real log: what they tell, and what they change."""

import json
import re
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import cast

import pytest
from msgspec.structs import replace

from coderelay.agents.agent import Agent
from coderelay.app import App
from coderelay.client.client import AT_THE_MACHINE, NO_CAPABILITIES, Capabilities
from coderelay.client.slash_commands import COMMANDS, NAMES, REMOTE_NAMES, SessionCommands
from coderelay.client.slash_results import ChangedFiles, LeftSession, RewoundTurns, SlashResult, SwitchedSession
from coderelay.client.typed_line import PromptToSend, Slash, classify
from coderelay.config.loaded_config import load
from coderelay.protocol.commands import ConfigureSession, StopTurn
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.ids import SessionId
from coderelay.protocol.modes import MODE_NAMES
from coderelay.protocol.queries import (
    ExportSession,
    ListAgents,
    ListModels,
    ListSessions,
    ListTurns,
    ShowHost,
    ShowPermissions,
    ShowSession,
)
from coderelay.protocol.query_results import AgentShown, HostShown, ModelShown
from coderelay.surfaces.terminal.slash_command_pickers import picker_for
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, hangs, proposes, says, script, write


class Typist:
    """Types at one session after the other, and knows which models were to be kept."""

    def __init__(self, coder: InHouse, capabilities: Capabilities = AT_THE_MACHINE) -> None:
        self.kept: list[tuple[str, str]] = []
        self._commands = SessionCommands(
            coder.host.connect(capabilities), coder.session, ME, self._keep, lambda _: None
        )

    def _keep(self, folder: str, model: str) -> None:
        self.kept.append((folder, model))

    async def types(self, line: str) -> SlashResult:
        slash = classify(line)
        assert isinstance(slash, Slash)
        return await self._commands.run(slash)

    async def reads(self, line: str) -> str:
        told = await self.types(line)
        assert isinstance(told, str | ChangedFiles)
        return str(told)

    async def moves(self, line: str) -> SwitchedSession:
        told = await self.types(line)
        assert isinstance(told, SwitchedSession)
        return told

    async def tries(self, line: str) -> str:
        """What the person is told, be it a refusal or not."""
        try:
            return str(await self.types(line))
        except CoderError as refused:
            return str(refused)

    async def is_refused(self, line: str) -> str:
        with pytest.raises(CoderError) as refused:
            await self.types(line)
        return str(refused.value)


def repository(folder: Path, **files: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first", "--allow-empty"]):
        subprocess.run(["git", *person, *command], cwd=folder, check=True)


@pytest.mark.quick
@story
async def test_only_remote_commands_run_for_a_client_that_is_not_at_the_machine(tmp_path: Path) -> None:
    """The capability is the connection's; that the command says it comes from a terminal does not count."""
    async with house(tmp_path, script()) as coder:
        await coder.create()
        far = Typist(coder, NO_CAPABILITIES)
        refused = {each.name for each in COMMANDS if "works only in a terminal" in await far.tries(f"/{each.name}")}
        assert refused == NAMES - REMOTE_NAMES
        assert refused
        assert "works only in a terminal" not in await Typist(coder).tries("/export")


@story
async def test_c05_c23_the_short_forms_are_the_modes(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        for name in (*MODE_NAMES, "default"):
            assert await typist.reads(f"/{name}") == f"mode: {name}"
            assert (await coder.host.get(ShowSession(coder.session))).mode == name
        assert await typist.is_refused("/plan the work") == (
            "/plan takes no arguments\n/plan: explore and propose a plan, change nothing"
        )
        assert (await coder.host.get(ShowSession(coder.session))).mode == "default"


@pytest.mark.quick
@story
async def test_c26_new_has_the_same_settings_and_an_empty_context_and_the_old_one_stays(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), says("two"))) as coder:
        other = tmp_path / "other"
        other.mkdir()
        await coder.create("auto-edit")
        old = coder.session
        await coder.host.send(
            ConfigureSession(session=old, think="high", folders=(str(other),), preset="strict", by=ME)
        )
        await coder.prompt("count")
        await coder.ended()
        moved = await Typist(coder).moves("/new Second try")
        assert moved.told == (
            f"new session {moved.session} · openai:scripted · auto-edit\n(go back with /resume {old})"
        )
        before, row = [await coder.host.get(ShowSession(each)) for each in (old, moved.session)]
        assert row == replace(
            before,
            id=moved.session,
            agent_session_id=moved.session,
            title="Second try",
            created_at=row.created_at,
            updated_at=row.updated_at,
            phase="idle",
            last_prompt="",
            sender="",
            head=moved.after,
            epoch=0,
            usage=row.usage,
            context_tokens=0,
        )
        assert (row.usage.input_tokens, row.head) == (0, moved.after)
        assert (await coder.host.get(ShowPermissions(moved.session))).preset == "strict"
        coder.session = moved.session
        await coder.prompt("again")
        await coder.ended()
        said = [each["content"] for each in coder.server.requests[-1]["messages"] if each["role"] == "assistant"]
        assert said == []


@story
async def test_x14_the_file_of_the_session_before_is_written(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        await Typist(coder).moves("/new")
        kept = json.loads((coder.folder / ".coder" / "sessions" / f"{coder.session}.json").read_text())
        assert kept == await coder.host.get(ExportSession(coder.session))


@pytest.mark.quick
@story
async def test_c26_after_new_the_commands_are_about_the_new_session(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        moved = await typist.moves("/new")
        await typist.reads("/yolo")
        modes = {each.id: each.mode for each in await coder.host.get(ListSessions())}
        assert modes == {coder.session: "default", moved.session: "yolo"}


@story
async def test_c26_a_turn_that_runs_goes_on_without_being_looked_at(tmp_path: Path) -> None:
    wait = "while [ ! -e go ]; do sleep 0.01; done"
    async with house(tmp_path, script(proposes(bash(wait)), says("done"))) as coder:
        await coder.prompt("wait")
        moved = await Typist(coder).moves("/new")
        assert f"(the previous session keeps running; go back with /resume {coder.session})" in moved.told
        (coder.folder / "go").touch()
        assert (await coder.ended()).ending == "done"


@pytest.mark.quick
@story
async def test_c27_resume_by_id_beginning_title_and_number(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        ids: dict[str, SessionId] = {}
        for title in ("Mend the cart", "Mend the login", "Write docs"):
            ids[title] = await coder.create("default")
            await coder.host.send(ConfigureSession(session=coder.session, title=title, by=ME))
        ids["Here"] = here = await coder.create("default")
        await coder.host.send(ConfigureSession(session=here, title="Here", by=ME))
        typist = Typist(coder)
        for name, title in [
            (ids["Mend the cart"], "Mend the cart"),
            (ids["Mend the login"][:13], "Mend the login"),
            ("write", "Write docs"),
            ("mend the c", "Mend the cart"),
        ]:
            moved = await typist.moves(f"/resume {name}")
            row = await coder.host.get(ShowSession(ids[title]))
            assert moved == SwitchedSession(
                row.id, row.head, f"session {row.id} · openai:scripted · default · {coder.folder}\n{title}"
            )
        listed = await typist.reads("/resume")
        lines = listed.splitlines()
        assert sorted(line[31:].split("  ")[-1] for line in lines[:4]) == sorted(ids)
        assert [line[31:].split("  ")[-1] for line in lines if line[0] == "*"] == ["Mend the cart"]
        assert lines[4:] == ["/resume N opens one"]
        numbers = {line.split()[1]: number for number, line in enumerate(lines[:4], 1) if line[0] != "*"}
        assert (await typist.moves(f"/resume {numbers[here]}")).session == here
        login = ids["Mend the login"]
        assert (await typist.moves(f"/resume {numbers[login]}")).session == login
        assert await typist.is_refused(f"/resume {numbers[login]}") == "this session is already open"
        assert await typist.is_refused("/resume 5") == "no session 5 in the list; /resume shows the list"


@pytest.mark.quick
@story
async def test_c27_a_session_that_is_missing_is_a_readable_error_with_the_nearest(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        ids: list[SessionId] = []
        for title in ("Mend the cart", "Mend the login"):
            ids.append(await coder.create("default"))
            await coder.host.send(ConfigureSession(session=coder.session, title=title, by=ME))
        typist = Typist(coder)
        told = (await typist.is_refused("/resume mend")).splitlines()
        assert (told[0], told[3:]) == ("'mend' matches 2 sessions:", ["/sessions lists all sessions."])
        assert sorted(told[1:3]) == sorted([f"  {ids[1]}  Mend the login", f"  {ids[0]}  Mend the cart"])
        assert await typist.is_refused("/resume logins") == (
            f"no session 'logins'; similar sessions:\n  {ids[1]}  Mend the login\n/sessions lists all sessions."
        )
        assert await typist.is_refused("/resume zzzzzz") == ("no session 'zzzzzz'\n/sessions lists all sessions.")


@story
async def test_c27_a_session_whose_folder_is_gone_is_shown_and_says_so(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        gone = coder.folder = tmp_path / "gone"
        gone.mkdir()
        lost = await coder.create("default")
        coder.folder = tmp_path / "work"
        await coder.create("default")
        gone.rmdir()
        moved = await Typist(coder).moves(f"/resume {lost}")
        assert (
            moved.told.splitlines()[-1]
            == f"(this process cannot continue the session: its folder {gone} does not exist)"
        )


@pytest.mark.quick
@story
async def test_sessions_are_found_by_all_words_in_title_prompt_folder_or_id(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("a"), says("b"))) as coder:
        first = await coder.create("default")
        await coder.prompt("Mend the CART, it counts twice")
        await coder.ended()
        await coder.host.send(ConfigureSession(session=first, title="Taxes", by=ME))
        second = await coder.create("default")
        await coder.prompt("write the docs")
        await coder.ended()
        typist = Typist(coder)

        async def found(text: str) -> list[str]:
            return [each.id for each in await coder.host.get(ListSessions(text=text))]

        assert await found("") == [second, first]
        assert await found("cart twice") == [first]
        assert await found("taxes cart") == [first]
        assert await found("cart docs") == []
        assert await found(str(coder.folder)) == [second, first]
        assert await found(second[:8]) == [second]
        listed = await typist.reads("/sessions taxes")
        assert listed.splitlines()[0].split("  ")[-2:] == ["Taxes", str(coder.folder)]
        assert (await typist.moves("/resume 1")).session == first
        assert await typist.reads("/sessions nothing like it") == "no sessions found"


@story
async def test_nothing_that_a_terminal_would_obey_is_told(tmp_path: Path) -> None:
    repository(tmp_path / "work")
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        await coder.host.send(ConfigureSession(session=coder.session, title="\x1b[2Jred\x07", by=ME))
        (coder.folder / "a").write_text("\x1b]0;mine\x07\r\n")
        typist = Typist(coder)
        for line in ("/sessions", "/resume", "/status"):
            assert "\\x1b[2Jred\\x07" in await typist.reads(line)
        assert (await typist.reads("/diff full")).endswith("+\\x1b]0;mine\\x07\\r")
        other = await typist.moves("/new \x1b[31m")
        told = [each for line in ("/sessions", "/diff full", "/status") for each in await typist.reads(line)]
        assert [each for each in told if not each.isprintable() and each != "\n"] == []
        assert (await coder.host.get(ShowSession(other.session))).title == "\x1b[31m"
        assert (await typist.moves(f"/resume {coder.session}")).told.endswith("\n\\x1b[2Jred\\x07")


@pytest.mark.quick
@story
async def test_exit_and_quit_leave(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        assert [await typist.types("/exit"), await typist.types("/quit")] == [LeftSession(), LeftSession()]


@story
async def test_c30_rewind_lists_turns_and_undoes_as_many_as_are_wanted(tmp_path: Path) -> None:
    repository(tmp_path / "work", a="old\n")
    turns = [proposes(write("b", "1\n"), write("c", "1\n")), says("1"), proposes(bash("echo 2 >> b")), says("2")]
    async with house(tmp_path, script(*turns, says("3"))) as coder:
        for number, prompt in enumerate(("make them", "more of\nit", "look"), 1):
            await coder.prompt(prompt)
            await coder.ended(number)
        typist = Typist(coder)
        lines = (await typist.reads("/rewind")).splitlines()
        assert [line[:4] + line[16:] if line[1] != " " else line for line in lines[:-1]] == [
            " 1.  look",
            " 2.  more of",
            "     modified     +1 -0  b",
            " 3.  make them",
            "     added        +1 -0  b",
            "     added        +1 -0  c",
        ]
        assert lines[-1] == "/rewind N undoes the last N"
        shown = await coder.host.get(ListTurns(coder.session))
        assert [each.prompt for each in shown] == ["look", "more of\nit", "make them"]
        assert [each.at for each in shown] == sorted((each.at for each in shown), reverse=True)
        assert await typist.is_refused("/rewind 4") == "turns that can be undone: 3; /rewind lists them"
        assert (coder.folder / "b").read_text() == "1\n2\n"
        assert await typist.types("/rewind 2") == RewoundTurns(
            "restored  b\n(the last 2 turns were undone; the conversation continues from before them)", "more of\nit"
        )
        assert (coder.folder / "b").read_text() == "1\n"
        assert await typist.types("/rewind 1") == RewoundTurns(
            "removed   b\nremoved   c\n(the last turn was undone; the conversation continues from before it)",
            "make them",
        )
        assert await typist.reads("/rewind") == "nothing to undo"
        for wrong in ("0", "-1", "two"):
            told = await typist.is_refused(f"/rewind {wrong}")
            assert told == "usage: /rewind [N]: list the turns that can be undone, or undo the last N"


@story
async def test_c30_rewind_stops_at_the_first_turn_that_cannot_be_undone(tmp_path: Path) -> None:
    turns = [proposes(write("b", "1\n")), says("1"), proposes(write("c", "2\n")), says("2")]
    async with house(tmp_path, script(*turns)) as coder:
        (coder.folder / ".git").mkdir()
        await coder.prompt("in a broken repository")
        await coder.ended()
        repository(coder.folder)
        await coder.prompt("inside")
        await coder.ended(2)
        told = await Typist(coder).reads("/rewind 2")
        assert told.startswith(
            "removed   c\n(1 of the last 2 turns were undone; the one before them cannot be undone:)\n"
            "the last turn cannot be undone: "
        )
        assert sorted(each.name for each in coder.folder.glob("[!.]*")) == ["b"]
        assert [each.prompt for each in await coder.host.get(ListTurns(coder.session))] == ["in a broken repository"]


@story
async def test_c29_diff_is_a_summary_whole_or_of_one_file(tmp_path: Path) -> None:
    repository(tmp_path / "work", a="old\n", b="old\n")
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        assert await typist.reads("/diff") == "no changes since the last commit"
        assert await typist.is_refused("/diff a") == "no changes since the last commit"
        (coder.folder / "a").write_text("new\n")
        (coder.folder / "sub").mkdir()
        (coder.folder / "sub" / "c").write_text("c\n")
        files = "modified     +1 -1  a\nadded        +1 -0  sub/c"
        assert await typist.reads("/diff") == f"{files}\n/diff full shows the changes"
        whole = await typist.reads("/diff full")
        one, other = await typist.reads("/diff a"), await typist.reads("/diff sub")
        assert whole == f"{files}\n{one}\n{other}"
        assert one.splitlines()[-2:] == ["-old", "+new"]
        assert await typist.reads(f"/diff {coder.folder}/sub/c") == other
        assert await typist.is_refused("/diff b") == f"no changes in b since the last commit; changed files:\n{files}"


@pytest.mark.quick
@story
async def test_export_writes_markdown_or_json_for_the_person_alone_and_replaces_nothing(tmp_path: Path) -> None:
    calls = proposes(bash("printf '```\\n'"), write("a.py", "a = 1\nb = 2\n"), text="I look.")
    async with house(tmp_path, script(calls, says("It is **done**."))) as coder:
        await coder.prompt("look at it")
        await coder.ended()
        typist = Typist(coder)
        path = coder.folder / f"session-{coder.session[:8]}.md"
        assert await typist.reads("/export") == f"wrote {path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        text = path.read_text()
        assert text.startswith(f"# look at it\n\nsession `{coder.session}` · openai:scripted · `{coder.folder}` · ")
        assert text.partition("\n\n## ")[2] == (
            "Prompt\n\nlook at it\n\nI look.\n\n**Bash**\n\n````\nprintf '```\\n'\n````\n\n"
            "**Write**\n\n```\ncontent:\na = 1\nb = 2\nfile_path: a.py\n```\n\n"
            "````\n```\n````\n\n```\ncreated a.py (2 lines)\n```\n\n"
            "It is **done**.\n"
        )
        path.write_text("mine")
        assert await typist.is_refused("/export") == f"{path} already exists; replace it with /export !"
        assert await typist.is_refused(f"/export {path.name}") == (
            f"{path} already exists; replace it with /export {path.name} !"
        )
        assert path.read_text() == "mine"
        assert await typist.reads(f"/export {path.name} !") == f"wrote {path}"
        assert path.read_text() == text
        assert await typist.reads("/export sub!.json") == f"wrote {coder.folder / 'sub!.json'}"
        exported = json.loads((coder.folder / "sub!.json").read_text())
        assert exported == await coder.host.get(ExportSession(coder.session))
        assert await typist.is_refused("/export no/such/folder.md") == (
            f"cannot write {coder.folder / 'no/such/folder.md'}: No such file or directory"
        )


@story
async def test_export_replaces_a_link_and_leaves_what_it_leads_to(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        other = tmp_path / "precious"
        other.write_text("mine")
        (coder.folder / "link.md").symlink_to(other)
        typist = Typist(coder)
        assert "already exists" in await typist.is_refused("/export link.md")
        await typist.reads("/export link.md !")
        assert (other.read_text(), (coder.folder / "link.md").is_symlink()) == ("mine", False)


@pytest.mark.quick
@story
async def test_status_tells_everything_about_a_session(tmp_path: Path) -> None:
    async with house(tmp_path, script(hangs(says("one two"), 1), says("b"))) as coder:
        await coder.prompt("first")
        await coder.prompt("second")
        typist = Typist(coder)
        await coder.until(lambda event: type(event).__name__ == "TurnStarted")
        told = dict(line.split(maxsplit=1) for line in (await typist.reads("/status")).splitlines())
        assert {
            name: told[name] for name in ("session", "state", "agent", "model", "mode", "queue", "run", "log")
        } == {
            "session": f"{coder.session}  first",
            "state": "running",
            "agent": "native",
            "model": "openai:scripted",
            "mode": "yolo",
            "queue": "1",
            "run": "by      here",
            "log": str(tmp_path / "home" / "sessions.db"),
        }
        assert list(told) == [
            *("session", "state", "agent", "model", "mode", "sandbox", "folder", "context", "used", "queue", "open"),
            *("background", "tasks", "run", "log", "version", "language"),
        ]
        await coder.host.send(StopTurn(session=coder.session, by=ME))
        await coder.ended()
        assert await coder.host.get(ShowHost(coder.session)) == HostShown(
            str(tmp_path / "home" / "sessions.db"), "nobody", process=await coder.host.context.takeover.me()
        )


@story
async def test_status_says_when_another_process_runs_it(tmp_path: Path) -> None:
    async with house(tmp_path, script(hangs(says("one two"), 1))) as coder:
        await coder.prompt("first")
        await coder.until(lambda event: type(event).__name__ == "TurnStarted")
        async with house(tmp_path, script()) as elsewhere:
            elsewhere.session = coder.session
            told = (await Typist(elsewhere).reads("/status")).splitlines()
        assert "run by      another process" in told
        await coder.stop()
        await coder.ended()


@pytest.mark.quick
@story
async def test_agents_are_ours_and_the_programs_that_were_found(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "codex").write_text("#!/bin/sh\n")
    (programs / "codex").chmod(0o755)

    def build(config: object, env: dict[str, str]) -> App:
        wider = {**env, "PATH": f"{programs}:{env['PATH']}"}
        return App(load(wider), wider)

    async with house(tmp_path, script(), build=build) as coder:
        await coder.create("default")
        assert await coder.host.get(ListAgents(coder.session)) == [
            AgentShown("native", "coder's built-in agent, for any model"),
            AgentShown("guide", "built-in guide; needs no model"),
            AgentShown("codex", "installed on this machine", "not supported by this version yet"),
        ]
        assert await Typist(coder).reads("/agents") == (
            "* native  coder's built-in agent, for any model\n"
            "  guide   built-in guide; needs no model\n"
            "  codex   installed on this machine (not supported by this version yet)"
        )


class _Tags(BaseHTTPRequestHandler):
    """A server that lists two models as Ollama does."""

    def do_GET(self) -> None:
        body = b'{"models": [{"name": "qwen3:4b"}, {"name": "nomic-embed-text"}]}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name that it has there
        pass


@contextmanager
def ollama() -> Generator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Tags)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.quick
@story
async def test_c21_models_are_listed_with_window_and_price_and_taken_by_number(tmp_path: Path) -> None:
    config = {"providers": {"mine": {"base_url": "http://127.0.0.1:9/v1", "models": ["big"]}}}
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps(config))
    with ollama() as host:

        def build(config: object, env: dict[str, str]) -> App:
            wider = {**env, "OLLAMA_HOST": host, "DEEPSEEK_API_KEY": "k"}
            return App(load(wider), wider)

        async with house(tmp_path, script(), build=build) as coder:
            await coder.create("default")
            found = await coder.host.get(ListModels(coder.session))
            assert ModelShown("mine:big", "", 128_000) in found
            assert ModelShown("ollama:qwen3:4b", host, found[-1].window, 0, 0) == found[-1]
            deepseek = [each for each in found if each.name.startswith("deepseek:")]
            assert {each.source for each in deepseek} == {"DEEPSEEK_API_KEY"}
            assert all(each.window and each.input_price is not None for each in deepseek)
            assert not [each for each in found if each.name.startswith(("openai:", "anthropic:"))]
            typist = Typist(coder)
            lines = (await typist.reads("/model")).splitlines()
            assert (lines[0], lines[-1]) == (
                "openai:scripted",
                "choose one with /model N, or any other with /model provider:name",
            )
            numbered = {name: number for number, name in (line[1:].split()[:2] for line in lines[1:-1])}
            assert list(numbered) == ["openai:scripted", *(each.name for each in found), "guide"]
            numbered = {name: number.rstrip(".") for name, number in numbered.items()}
            row = next(line for line in lines if " ollama:qwen3:4b " in line)
            assert " $0 in, $0 out " in row
            assert row.endswith(f"  {host}")
            assert await typist.reads(f"/model {numbered['mine:big']}") == "model: mine:big"
            assert typist.kept == [(str(coder.folder), "mine:big")]
            assert await typist.is_refused("/model 99") == "no model 99 in the list; /model lists the models"
            marked = [line for line in (await typist.reads("/model")).splitlines() if line.startswith("*")]
            assert [line.split()[1:3] for line in marked] == [["1.", "mine:big"]]


@story
async def test_c21_the_model_in_use_is_listed_first_and_taking_it_again_writes_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        assert (await typist.reads("/model")).splitlines()[1].split()[:3] == ["*", "1.", "openai:scripted"]
        assert not [
            each for each in await coder.host.get(ListModels(coder.session)) if each.name == "openai:scripted"
        ]
        head = (await coder.host.get(ShowSession(coder.session))).head
        for line in ("/model 1", "/model scripted", "/model openai:scripted"):
            assert await typist.reads(line) == "model: openai:scripted"
        assert (typist.kept, (await coder.host.get(ShowSession(coder.session))).head) == ([], head)
        await typist.reads("/model guide")
        assert (await typist.reads("/model")).splitlines()[1].split()[:3] == ["*", "1.", "guide"]


@story
async def test_c21_a_mistyped_model_is_taken_but_said_to_be_unknown_with_the_nearest(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        assert await typist.reads("/model scriptd") == (
            "openai:scriptd is not a known model (similar: openai:scripted); using it anyway\nmodel: openai:scriptd"
        )
        assert await typist.reads("/model nope") == (
            "openai:nope is not a known model; using it anyway\nmodel: openai:nope"
        )
        assert typist.kept == [(str(coder.folder), "openai:scriptd"), (str(coder.folder), "openai:nope")]


@story
async def test_a_model_changed_the_agent_of_a_session(tmp_path: Path) -> None:
    """Another agent has models without a provider; their names are its own and are not kept for other sessions."""
    async with house(tmp_path, script()) as coder:
        agents = cast("dict[str, Agent]", coder.host.context.agents)
        agents["other"] = agents["guide"]
        await coder.create("default")
        other = ConfigureSession(session=coder.session, agent="other", model="sonnet", by=ME)
        await coder.host.send(other)
        typist = Typist(coder)
        assert await typist.reads("/model opus") == "model: opus"
        row = await coder.host.get(ShowSession(coder.session))
        assert (row.agent, row.model, typist.kept) == ("other", "opus", [])
        assert await typist.reads("/model guide") == "model: guide"
        assert (await coder.host.get(ShowSession(coder.session))).agent == "guide"


@story
async def test_sessions_without_a_prompt_are_not_listed(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("count")
        await coder.ended()
        used = coder.session
        for _ in range(25):
            await coder.create("default")
        typist = Typist(coder)
        for line in ("/sessions", "/resume"):
            lines = (await typist.reads(line)).splitlines()
            assert [each.split()[1] for each in lines[:-1]] == [used]
        picker = await picker_for(coder.host, coder.session, Slash("sessions"))
        assert picker is not None
        assert picker.chosen is not None
        assert (picker.chosen.line, len(picker.lines(80).splitlines())) == (f"/resume {used}", 2)
        assert (str(coder.folder) in picker.chosen.meaning, used in picker.chosen.meaning) == (True, True)
        here = await picker_for(coder.host, coder.session, Slash("resume"))
        assert here is not None
        assert here.chosen is not None
        assert (str(coder.folder) in here.chosen.meaning, used in here.chosen.meaning) == (False, True)


@story
async def test_cost_context_and_status_say_the_same_number_after_undo(tmp_path: Path) -> None:
    repository(tmp_path / "work")
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("count")
        await coder.ended()
        typist = Typist(coder)
        for before in ((), ("/undo",)):
            for line in before:
                await typist.reads(line)
            cost, context, status = [await typist.reads(line) for line in ("/cost", "/context", "/status")]
            filled = cost.splitlines()[1].split()[0]
            assert filled != "0"
            assert context.startswith(f"openai:scripted: {filled} of ")
            assert next(line for line in status.splitlines() if line.startswith("context")).split()[1] == filled


@story
async def test_x08_steer_is_a_prompt_when_nothing_runs(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        assert await Typist(coder).types("/steer hi there") == PromptToSend("hi there")


@story
async def test_a_line_that_begins_with_a_path_is_a_prompt(tmp_path: Path) -> None:
    dragged = tmp_path / "my file.py"
    dragged.touch()
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        escaped = str(dragged).replace(" ", "\\ ")
        for line in (f"{tmp_path} what is this", f"{escaped} what is this", str(tmp_path)):
            assert await typist.types(line) == PromptToSend(line)
        assert (await typist.is_refused(f"{tmp_path}/nothing what")).startswith("unknown command ")


@story
async def test_c21_a_model_is_kept_in_the_folder_of_the_session_that_was_moved_to(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        other = tmp_path / "other"
        other.mkdir()
        await coder.create("default")
        here, coder.folder = coder.session, other
        there = await coder.create("default")
        coder.session = here
        typist = Typist(coder)
        await typist.moves(f"/resume {there}")
        await typist.reads("/model other")
        assert typist.kept == [(str(other), "openai:other")]


@pytest.mark.quick
@story
async def test_c20_help_of_one_command(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        for each in COMMANDS:
            first, *more = (await typist.reads(f"/help {each.name}")).splitlines()
            assert first == f"{each.usage}: {each.text.english}"
            assert len(more) == (1 + bool(each.hint) if each.offered else 0), "what it changes, and an example"
        assert await typist.reads("/help think") == (
            "/think [auto|off|low|medium|high]: show or set how much the model thinks before it answers\n"
            "Takes effect at the next request to the model; applies to this session only.\n"
            "for example: /think high"
        )
        assert await typist.reads("/help /undo") == await typist.reads("/help undo")
        assert await typist.is_refused("/help und") == (
            "unknown command /und; did you mean /undo? /help lists all commands"
        )


def test_the_choices_of_a_command_stand_in_its_hint() -> None:
    for each in COMMANDS:
        words = set(re.findall(r"[\w-]+", each.hint))
        assert set(each.choices) <= words, each.name


@story
async def test_every_command_says_how_it_is_used(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        for each in COMMANDS:
            if each.offered and not each.hint:
                told = await typist.is_refused(f"/{each.name} what else")
                assert told == f"/{each.name} takes no arguments\n{each.usage}: {each.text.english}"
        wrong = {
            "/steer": "usage: /steer TEXT: send a message to the running turn; the model reads it at the next step",
            "/queue jump": "usage: /queue [edit N TEXT|drop N]: list the queued prompts, or edit or remove one",
            "/ps go": "usage: /ps [stop N]: list the background commands, or stop one",
            "/tasks go": (
                "usage: /tasks [stop N]: list the tasks that subagents work on for this session, or stop one"
            ),
            "/think much": "unknown level 'much'; choose one of auto, off, low, medium, high",
            "/permissions lax": "unknown preset 'lax'; choose one of strict, balanced, auto-edit, yolo, no-profile",
            "/mode fast": f"unknown mode 'fast'; choose one of {', '.join(MODE_NAMES)}",
        }
        assert {line: await typist.is_refused(line) for line in wrong} == wrong


@story
async def test_c19_an_unknown_command_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        typist = Typist(coder)
        with pytest.raises(BadInput, match="unknown command /resme; did you mean /resume"):
            await typist.types("/resme 1")
        with pytest.raises(BadInput, match="unknown command /xyzzy; /help lists all commands"):
            await typist.types("/xyzzy")


def test_x16_what_a_browser_or_a_chat_may_offer_neither_loosens_nor_touches_other_files() -> None:
    loosens = {"mode", *MODE_NAMES, "permissions", "model", "mcp"}
    leaves_the_session = {"new", "resume", "sessions", "fork", "exit", "quit"}
    touches_files = {"add-dir", "export", "init"}
    assert loosens | leaves_the_session | touches_files <= {each.name for each in COMMANDS} - REMOTE_NAMES
    reached = {each.completes for each in COMMANDS if each.remote}
    assert reached.isdisjoint({"model", "session", "export file", "folder"})
    assert {"steer", "undo", "status", "help"} <= REMOTE_NAMES
