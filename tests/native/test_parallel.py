"""Calls next to each other that only read run at the same time; everything else in its order, one by one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from coderelay.app import App
from coderelay.protocol.calls import Finished, Need, Stopped, Unknown
from coderelay.protocol.errors import MustAsk, ToolFailed
from coderelay.protocol.events import CallEnded, CallStarted
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.tools.tool import Tool
from coderelay.workspace.workspace import Workspace
from tests.house import InHouse, house, story
from tests.model_server import bash, call, proposes, says, script, write
from tests.native.model_requests import results

pytestmark = pytest.mark.quick


class Name(Struct, frozen=True, forbid_unknown_fields=True):
    name: str


class Meet:
    """Waits until as many as are expected have come: alone it would wait for ever."""

    spec = ToolSpec("meet", "Meet.", {"type": "object", "properties": {"name": {"type": "string"}}, "required": []})
    arguments = Name

    def __init__(self, expected: int) -> None:
        self.came: list[str] = []
        self._expected = expected
        self._all = asyncio.Event()
        self.two_came = asyncio.Event()

    def need(self, arguments: Name, workspace: Workspace) -> Need:
        return Need(tool="meet", kind="read", title=arguments.name)

    async def run(self, arguments: Name, workspace: Workspace) -> Finished:
        self.came.append(arguments.name)
        if len(self.came) == 2:
            self.two_came.set()
        if len(self.came) == self._expected:
            self._all.set()
        await self._all.wait()
        if arguments.name == "must ask":
            raise MustAsk("it needs more")
        if arguments.name == "fails":
            raise ToolFailed("no luck")
        return Finished(f"met {arguments.name}")


def with_tool(tool: Meet) -> type[App]:
    class Meeting(App):
        def tools(self) -> list[Tool[Any]]:
            return [*super().tools(), tool]

    return Meeting


def meet(*names: str) -> list[Any]:
    return [call("meet", name=name) for name in names]


async def _order(coder: InHouse) -> list[str]:
    """Starts and ends as they are in the log, by the number of the call."""
    events = [each.event for each in await coder.events()]
    return [
        f"{'+' if isinstance(event, CallStarted) else '-'}{event.call_id.removeprefix('call_')}"
        for event in events
        if isinstance(event, CallStarted | CallEnded)
    ]


@story
async def test_reads_run_at_the_same_time_and_their_results_keep_the_order(tmp_path: Path) -> None:
    tool = Meet(expected=3)
    steps = script(proposes(*meet("a", "fails", "c")), says("done"))
    async with house(tmp_path, steps, build=with_tool(tool)) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert results(coder.server.requests[-1]) == ["met a", "Error: no luck", "met c"]
        assert await _order(coder) == ["+1", "+2", "+3", "-1", "-2", "-3"]


@story
async def test_what_changes_something_waits_for_the_reads_before_it_and_runs_alone(tmp_path: Path) -> None:
    tool = Meet(expected=2)
    calls = [*meet("a", "b"), write("f", "x"), bash("true"), *meet("c", "d")]
    async with house(tmp_path, script(proposes(*calls), says("done")), build=with_tool(tool)) as coder:
        await coder.prompt("go")
        await coder.ended()
        order = ["+1", "+2", "-1", "-2", "+3", "-3", "+4", "-4", "+5", "+6", "-5", "-6"]
        assert await _order(coder) == order


@story
async def test_a_call_that_is_refused_parts_the_reads(tmp_path: Path) -> None:
    tool = Meet(expected=1)
    calls = [*meet("a"), call("frobnicate"), *meet("b")]
    async with house(tmp_path, script(proposes(*calls), says("done")), build=with_tool(tool)) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert await _order(coder) == ["+1", "-1", "-2", "+3", "-3"]


@story
async def test_x12_a_stop_ends_all_that_run_at_the_same_time(tmp_path: Path) -> None:
    tool = Meet(expected=9)
    async with house(tmp_path, script(proposes(*meet("a", "b"))), build=with_tool(tool)) as coder:
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, CallStarted))
        await tool.two_came.wait()
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        ends = [each.event.outcome for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert ends == [Stopped(started=True), Stopped(started=True)]


@story
async def test_x25_reads_that_ran_when_their_process_died_are_all_unknown(tmp_path: Path) -> None:
    tool = Meet(expected=9)
    async with house(tmp_path, script(proposes(*meet("a", "b"))), build=with_tool(tool)) as coder:
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, CallStarted))
        session = coder.session
    async with house(tmp_path, script(says("done")), build=with_tool(Meet(expected=1))) as later:
        await later.open(session)
        await later.ended()
        ends = [each.event.outcome for each in await later.events() if isinstance(each.event, CallEnded)]
        assert ends == [Unknown(), Unknown()]


@story
async def test_beside_others_a_call_that_must_ask_is_told_to_come_alone(tmp_path: Path) -> None:
    tool = Meet(expected=2)
    steps = script(proposes(*meet("a", "must ask")), says("done"))
    async with house(tmp_path, steps, build=with_tool(tool)) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert results(coder.server.requests[-1]) == ["met a", "Error: it needs more; call it on its own"]
