"""Our client and a server that others made: the reference implementation, on both kinds of line."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from coderelay.config.settings import McpServerConfig
from coderelay.protocol.calls import Finished
from coderelay.protocol.message_content import Image
from tests.free_port import free_port
from tests.mcp.mcp_scene import McpScene, in_loop, mcp_scene

# Found, not loaded: collecting the tests would take two seconds longer in every worker.
pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the reference servers are not installed")

REFERENCE = str(Path(__file__).with_name("reference_server.py"))


@in_loop
async def test_the_reference_server_as_a_child_process(tmp_path: Path) -> None:
    child = {"ref": McpServerConfig(command=sys.executable, args=(REFERENCE, "stdio"))}
    async with mcp_scene(tmp_path, settings=child) as scene:
        await everything(scene)


@in_loop
async def test_the_reference_server_at_an_address(tmp_path: Path) -> None:
    async with (
        reference_at_address() as url,
        mcp_scene(tmp_path, settings={"ref": McpServerConfig(url=url)}) as scene,
    ):
        await everything(scene)


async def everything(scene: McpScene) -> None:
    assert scene.servers.notes == []
    assert scene.names == [f"mcp__ref__{name}" for name in ("add", "fail", "forever", "picture", "slowly")]
    assert await scene.tools.run("mcp__ref__add", a=2, b=3) == "5"
    assert (await scene.tools.refused("mcp__ref__add", a=2)).startswith("Error executing tool add")
    assert await scene.tools.run("mcp__ref__slowly") == "worked"
    assert await scene.tools.refused("mcp__ref__fail") == "Error executing tool fail"
    pixels = Finished(output="1 image", summary="1 image", images=(Image("image/png", "iVBORw0KGgo="),))
    assert await scene.tools.outcome("mcp__ref__picture") == pixels
    await one_that_is_stopped(scene)
    server = scene.servers.servers["ref"]
    assert [each.uri for each in await server.resources()] == ["note://today"]
    assert [each.text for each in await server.read("note://today")] == ["buy bread"]
    assert [each.name for each in await server.prompts()] == ["greet"]
    assert [each.content.text for each in await server.prompt("greet", {"who": "Ann"})] == ["Greet Ann."]
    assert scene.servers.notes == []


async def one_that_is_stopped(scene: McpScene) -> None:
    call = asyncio.ensure_future(scene.tools.run("mcp__ref__forever"))
    await scene.tools.run("mcp__ref__add", a=1, b=1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert await scene.tools.run("mcp__ref__add", a=1, b=2) == "3"


@asynccontextmanager
async def reference_at_address() -> AsyncGenerator[str]:
    port = free_port()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, REFERENCE, str(port), stderr=pipe)
    assert process.stderr is not None
    try:
        async for line in process.stderr:
            if b"running on" in line:
                break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.communicate()
