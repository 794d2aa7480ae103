"""A whole turn with tools of servers: judged, asked about and recorded like all others."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coderelay.app import House
from coderelay.config.load import Config
from coderelay.protocol.asks import Deny, PermissionAsk
from coderelay.protocol.calls import Need
from coderelay.testing.house import house
from coderelay.testing.model_server import call, proposes, says, script
from coderelay.tools.mcp.servers import McpServers
from coderelay.tools.tool import Tool
from tests.mcp.scene import in_loop, mcp_scene


class HouseWithServers(House):
    def __init__(self, servers: McpServers, config: Config, env: Mapping[str, str]) -> None:
        super().__init__(config, env)
        self._servers = servers

    def tools(self) -> list[Tool[Any]]:
        return [*super().tools(), *self._servers.tools]


@pytest.mark.quick
@in_loop
async def test_c32_a_server_that_dies_does_not_end_the_turn(tmp_path: Path) -> None:
    asked = script(
        proposes(call("mcp__good__echo", x="1"), call("mcp__good__fail")),
        proposes(call("mcp__good__die")),
        proposes(call("mcp__good__echo", x="2")),
        says("done"),
    )
    async with (
        mcp_scene(tmp_path, "good") as scene,
        house(tmp_path, asked, build=partial(HouseWithServers, scene.servers)) as coder,
    ):
        await coder.prompt("use them")
        await coder.ended()
        lines = await coder.story()

    assert [line.partition("\n")[0] for line in lines] == [
        "user: use them",
        "mcp__good__echo: ok",
        "mcp__good__fail: failed: the oven is cold",
        "mcp__good__die: failed: the MCP server good ended with exit code 4; it said:",
        "mcp__good__echo: ok",
        "agent: done",
    ]


@in_loop
async def test_c32_a_call_that_says_it_only_reads_is_asked_about(tmp_path: Path) -> None:
    asked = script(proposes(call("mcp__good__echo", x="1"), call("mcp__good__echo", x="2")), says("done"))
    async with (
        mcp_scene(tmp_path, "good") as scene,
        house(tmp_path, asked, build=partial(HouseWithServers, scene.servers)) as coder,
    ):
        await coder.create("default")
        await coder.prompt("use them")
        first, second = await coder.asks()
        await coder.answer(first)
        await coder.answer(second, Deny())
        await coder.ended()
        lines = await coder.story()

    assert isinstance(first, PermissionAsk)
    assert first.need == Need(tool="mcp__good__echo", kind="mcp", title='good: echo {"x":"1"}')
    assert lines == ["user: use them", "mcp__good__echo: ok", "mcp__good__echo: denied", "agent: done"]
