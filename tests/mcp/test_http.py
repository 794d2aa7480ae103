"""MCP servers at an address."""

import asyncio
from pathlib import Path

import pytest

from coderelay.config.settings import McpServerConfig
from tests.mcp.http_double import HttpDouble, http_double
from tests.mcp.mcp_scene import in_loop, mcp_scene, until


def remote(double: HttpDouble) -> dict[str, McpServerConfig]:
    return {"remote": McpServerConfig(url=double.url, headers={"Authorization": "Bearer of good news"})}


@pytest.mark.quick
@in_loop
async def test_a_tool_at_an_address_is_used_like_any_other(tmp_path: Path) -> None:
    async with http_double() as double, mcp_scene(tmp_path, settings=remote(double)) as scene:
        assert scene.names == ["mcp__remote__break", "mcp__remote__echo", "mcp__remote__hang"]
        assert await scene.tools.run("mcp__remote__echo", x="1") == '{"x": "1"}'

        posts = [head for head in double.heads if head[""].startswith("POST")]
        assert double.methods == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
        assert {head[""] for head in posts} == {"POST /mcp?team=a HTTP/1.1"}
        assert {head["authorization"] for head in double.heads} == {"bearer of good news"}
        assert [head.get("mcp-protocol-version") for head in posts] == [None, None, "2025-11-25", "2025-11-25"]
        assert [head.get("mcp-session-id") for head in posts] == [None, "first", "first", "first"]


@in_loop
async def test_a_change_of_tools_is_heard_where_we_listen(tmp_path: Path) -> None:
    async with http_double() as double:
        double.listens = True
        async with mcp_scene(tmp_path, settings=remote(double)) as scene:
            double.tools.append("new")
            await double.tell(method="notifications/tools/list_changed")
            await double.tell(id="s", method="ping")
            await until(lambda: any("result" in body for body in double.bodies))
            await scene.servers.ready()

            assert "mcp__remote__new" in scene.names


@in_loop
async def test_a_server_that_forgot_us_is_greeted_again(tmp_path: Path) -> None:
    async with http_double() as double, mcp_scene(tmp_path, settings=remote(double)) as scene:
        double.session = "second"
        assert await scene.tools.run("mcp__remote__echo", x="1") == '{"x": "1"}'
        assert double.methods[3:] == [
            "tools/call", "initialize", "notifications/initialized", "tools/list", "tools/call"
        ]  # fmt: skip


@in_loop
async def test_answers_that_fail(tmp_path: Path) -> None:
    unsure = "\nThe call may have run; check before repeating it."
    async with http_double() as double, mcp_scene(tmp_path, settings=remote(double)) as scene:
        broken = await scene.tools.refused("mcp__remote__break")
        double.call_headers = "HTTP/1.1 401 No\r\ncontent-length: 9\r\n\r\nwho  are\n"
        unknown = await scene.tools.refused("mcp__remote__echo")
        double.call_headers = "HTTP/1.1 307 Go\r\nlocation: http://evil.example/\r\ncontent-length: 0\r\n\r\n"
        led_away = await scene.tools.refused("mcp__remote__echo")
        said = '{"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": "not today"}}'
        double.call_headers = f"HTTP/1.1 400 No\r\ncontent-length: {len(said)}\r\n\r\n{said}"
        refused = await scene.tools.refused("mcp__remote__echo")

    assert broken == f"the MCP server remote ended its answer before the result{unsure}"
    assert unknown == "the MCP server remote answered 401: who are; check its `headers` in the configuration"
    assert led_away == "the MCP server remote answered 307: http://evil.example/"
    assert refused == "the MCP server remote answered 400: not today"


@pytest.mark.parametrize("status", ["500 Oh", "502 Gateway", "504 Timeout", "408 Slow"])
def test_c32_a_call_that_something_on_the_way_gave_up_may_have_run(tmp_path: Path, status: str) -> None:
    @in_loop
    async def check() -> None:
        async with http_double() as double, mcp_scene(tmp_path, settings=remote(double)) as scene:
            double.call_headers = f"HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"
            told = await scene.tools.refused("mcp__remote__echo")
        number = status.partition(" ")[0]
        assert told == f"the MCP server remote answered {number}\nThe call may have run; check before repeating it."

    check()


@in_loop
async def test_unreachable_mcp_server_is_reported_as_refused(tmp_path: Path) -> None:
    async with http_double() as double:
        settings = remote(double)
    async with mcp_scene(tmp_path, settings=settings) as scene:
        assert scene.servers.notes == ["MCP server remote cannot be reached: Connection refused"]


@in_loop
async def test_a_stopped_call_leaves_no_connection(tmp_path: Path) -> None:
    async with http_double() as double, mcp_scene(tmp_path, settings=remote(double)) as scene:
        call = asyncio.ensure_future(scene.tools.run("mcp__remote__hang"))
        await until(lambda: double.methods.count("tools/call") == 1)
        call.cancel()
        await until(lambda: "notifications/cancelled" in double.methods)
        assert double.bodies[-1]["params"]["reason"] == "it is not wanted any more"
        await double.server.all_left(but=1)  # the one that is kept for the next request
