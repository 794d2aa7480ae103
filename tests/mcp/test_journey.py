"""Whole turns with tools of servers: judged, asked about and recorded like all others."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from coderelay.app import App
from coderelay.config.settings import McpServerConfig
from coderelay.protocol.asks import Allow, Deny, PermissionAsk
from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.events import AnyEvent, BatchOpened, CallEnded, TurnEnded
from coderelay.protocol.queries import ListApprovals
from coderelay.tools.mcp.restarting_server import ServerLimits
from coderelay.tools.mcp.server_settings import mark_of
from tests.house import ME, InHouse, house
from tests.mcp.mcp_scene import double, in_loop, is_running, until
from tests.model_server import call, proposes, says, script
from tests.native.model_requests import results

SECRET = "of-good-news-0123456789"


class PatientHouse(App):
    """However slow the machine is, servers are waited for; those that hang hang for as long as the test is there."""

    def mcp_limits(self) -> ServerLimits:
        return ServerLimits(step_wait_seconds=60.0, start=60.0, ping=60.0)


def configure(root: Path, servers: Mapping[str, McpServerConfig], **more: Any) -> None:
    home = root / "home"
    home.mkdir(exist_ok=True)
    entries = {name: _written(each) for name, each in servers.items()}
    (home / "config.json").write_text(json.dumps({"mcp_servers": entries, **more}))


def _written(server: McpServerConfig) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(server).items() if value}


def good(root: Path) -> McpServerConfig:
    return double("good", root / "notes.txt")


def pids(root: Path) -> list[int]:
    notes = root / "notes.txt"
    lines = notes.read_text().splitlines() if notes.exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith("started")]


def offered(body: Mapping[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in body["tools"] if each["function"]["name"].startswith("mcp__")]


async def outputs(coder: InHouse) -> list[str]:
    ends = [each.event for each in await coder.events() if isinstance(each.event, CallEnded)]
    return [each.outcome.output for each in ends if isinstance(each.outcome, Finished)]


def asks_about(event: AnyEvent) -> list[str]:
    return [each.need.tool for each in event.judged if each.ask] if isinstance(event, BatchOpened) else []


@in_loop
async def test_c32_a_server_that_dies_does_not_end_the_turn(tmp_path: Path) -> None:
    configure(tmp_path, {"good": good(tmp_path)})
    asked = script(
        proposes(call("mcp__good__echo", x="1"), call("mcp__good__fail")),
        proposes(call("mcp__good__die")),
        proposes(call("mcp__good__echo", x="2")),
        says("done"),
    )
    async with house(tmp_path, asked, build=PatientHouse) as coder:
        await coder.prompt("use them")
        await coder.ended()
        lines = await coder.story()
        tools = [json.dumps(each["tools"]) for each in coder.server.requests]

    assert [line.partition("\n")[0] for line in lines] == [
        "user: use them",
        "mcp__good__echo: ok",
        "mcp__good__fail: failed: the oven is cold",
        "mcp__good__die: failed: the MCP server good ended with exit code 4; it said:",
        "mcp__good__echo: ok",
        "agent: done",
    ]
    assert len(set(tools)) == 1, "what was listed stays listed, so that the bytes of requests do not change"
    assert [pid for pid in pids(tmp_path) if is_running(pid)] == []


@in_loop
async def test_c32_a_call_that_says_it_only_reads_is_asked_about(tmp_path: Path) -> None:
    configure(tmp_path, {"good": good(tmp_path)})
    asked = script(proposes(call("mcp__good__echo", x="1"), call("mcp__good__echo", x="2")), says("done"))
    async with house(tmp_path, asked, build=PatientHouse) as coder:
        await coder.create("default")
        await coder.prompt("use them")
        first, second = await coder.asks()
        await coder.answer(first)
        await coder.answer(second, Deny())
        await coder.ended()
        lines = await coder.story()

    assert isinstance(first, PermissionAsk)
    mark = mark_of(good(tmp_path), "")
    assert first.need == Need(
        tool="mcp__good__echo", kind="mcp", title='good: echo {"x":"1"}', server=mark, server_tool="echo"
    )
    assert lines == ["user: use them", "mcp__good__echo: ok", "mcp__good__echo: denied", "agent: done"]


@in_loop
async def test_always_means_this_tool_of_this_server_whatever_it_is_told(tmp_path: Path) -> None:
    configure(tmp_path, {"good": good(tmp_path)})
    asked = script(
        proposes(call("mcp__good__echo", x="1")),
        proposes(call("mcp__good__echo", x="2")),
        proposes(call("mcp__good__structured")),
        says("done"),
    )
    async with house(tmp_path, asked, build=PatientHouse) as coder:
        await coder.create("default")
        await coder.prompt("use them")
        [first] = await coder.asks()
        await coder.answer(first, Allow("person"))
        await coder.until(lambda event: asks_about(event) == ["mcp__good__structured"])
        [approval] = await coder.host.get(ListApprovals())
        await coder.stop()
        told = await outputs(coder)

    assert (approval.tool, approval.server) == ("mcp__good__echo", mark_of(good(tmp_path), ""))
    assert told == ['{"x": "1"}', '{"x": "2"}']


@in_loop
async def test_an_approval_is_not_for_another_program_of_the_same_name(tmp_path: Path) -> None:
    """A folder that is trusted may bring a server that is called like the person's own."""
    configure(tmp_path, {"good": good(tmp_path)})
    asked = script(
        proposes(call("mcp__good__echo", x="1")),
        says("done"),
        proposes(call("mcp__good__echo", x="1")),
        says("done"),
    )
    async with house(tmp_path, asked, build=PatientHouse) as coder:
        await coder.create("default")
        await coder.prompt("use it")
        [first] = await coder.asks()
        await coder.answer(first, Allow("person"))
        ended = await coder.until(lambda event: isinstance(event, TurnEnded))
        configure(tmp_path, {"good": double("other", tmp_path / "notes.txt")})
        await coder.prompt("use the other")
        await coder.until(lambda event: asks_about(event) == ["mcp__good__echo"], after=ended.seq)
        await coder.stop()

    assert len(pids(tmp_path)) == 2


@in_loop
async def test_a_server_whose_settings_change_is_another_one_with_the_next_step_and_the_rest_stays(
    tmp_path: Path,
) -> None:
    keep = {"keep": double("keep", tmp_path / "notes.txt")}
    configure(tmp_path, keep | {"good": good(tmp_path)})
    asked = script(says("one"), proposes(call("mcp__new__environment"), call("mcp__keep__echo", x="1")), says("two"))
    async with house(tmp_path, asked, build=PatientHouse) as coder:
        await coder.prompt("first")
        await coder.ended()
        before = pids(tmp_path)
        new = McpServerConfig(command=good(tmp_path).command, args=good(tmp_path).args, env={"COLOUR": "red"})
        configure(tmp_path, keep | {"new": new})
        await coder.prompt("second")
        await coder.ended(2)
        first, second, _ = [offered(each) for each in coder.server.requests]
        [environment, echo] = await outputs(coder)
        await until(lambda: sum(map(is_running, before)) == 1)

    assert {name.split("__")[1] for name in first} == {"good", "keep"}
    assert {name.split("__")[1] for name in second} == {"keep", "new"}
    assert "COLOUR=red" in environment.splitlines()
    assert echo == '{"x": "1"}'


@in_loop
async def test_two_sessions_in_one_folder_share_their_servers(tmp_path: Path) -> None:
    configure(tmp_path, {"good": good(tmp_path)})
    call_it = proposes(call("mcp__good__echo", x="1"))
    async with house(tmp_path, script(call_it, says("one"), call_it, says("two")), build=PatientHouse) as coder:
        for _ in range(2):
            await coder.create()
            await coder.prompt("go")
            await coder.ended()
            assert await outputs(coder) == ['{"x": "1"}']

    assert len(pids(tmp_path)) == 1


@in_loop
async def test_a_call_that_was_asked_about_runs_in_the_process_that_goes_on(tmp_path: Path) -> None:
    """That process has started no server yet when the answer comes."""
    configure(tmp_path, {"good": good(tmp_path)})
    async with house(tmp_path, script(proposes(call("mcp__good__echo", x="1"))), build=PatientHouse) as coder:
        session = await coder.create("default")
        await coder.prompt("use it")
        [ask] = await coder.asks()
    async with house(tmp_path, script(says("done")), build=PatientHouse) as coder:
        await coder.open(session)
        await coder.answer(ask)
        await coder.ended()
        lines = await coder.story()
        [request] = coder.server.requests

    assert lines == ["user: use it", "mcp__good__echo: ok", "agent: done"]
    assert results(request) == ['{"x": "1"}']
    assert len(pids(tmp_path)) == 2


@in_loop
async def test_a_session_that_may_use_none_of_them_starts_no_server(tmp_path: Path) -> None:
    configure(tmp_path, {"good": good(tmp_path)})
    async with house(tmp_path, script(says("one"), says("two")), build=PatientHouse) as coder:
        session = await coder.create()
        await coder.host.send(ConfigureSession(session=session, allowed_tools=("read",), by=ME))
        await coder.prompt("go")
        await coder.ended()
        assert pids(tmp_path) == []

        await coder.host.send(ConfigureSession(session=session, allowed_tools=("read", "mcp__good__*"), by=ME))
        await coder.prompt("go")
        await coder.ended(2)

    assert len(pids(tmp_path)) == 1


@in_loop
async def test_what_a_server_is_given_is_hidden_in_what_it_says(tmp_path: Path) -> None:
    given = good(tmp_path)
    secret = McpServerConfig(command=given.command, args=given.args, env={**given.env, "SERVICE_TOKEN": SECRET})
    configure(tmp_path, {"good": secret})
    async with house(
        tmp_path, script(proposes(call("mcp__good__environment")), says("ok")), build=PatientHouse
    ) as coder:
        await coder.prompt("look")
        await coder.ended()
        [said] = await outputs(coder)

    assert "SERVICE_TOKEN=[hidden secret: configured]" in said.splitlines()
    assert SECRET not in said
