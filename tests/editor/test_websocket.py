"""`coder acp --listen`: ACP over WebSocket, and who may connect."""

import asyncio
import json
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import acp
import pytest
from acp.ws import create_websocket_stream
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.acp_editor import Screen
from tests.editor.websocket_process import frames, iflow, listening
from tests.house import story
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script
from tests.patience import PATIENCE

CoderOn = Callable[[ModelServerThread], Coder]


@story
async def test_the_official_client_works_over_a_websocket(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one >> effects")), says("done"))))
    screen = Screen()
    async with listening(coder) as url:
        agent = acp.connect_to_agent(
            screen,  # pyright: ignore[reportArgumentType]  # the methods that the agent does not use are left out
            await create_websocket_stream(url),
            observers=[screen.see],
        )
        greeting = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        assert greeting.protocol_version == 1
        made = await agent.new_session(cwd=str(folder), mcp_servers=[])
        prompt = asyncio.ensure_future(agent.prompt(session_id=made.session_id, prompt=[acp.text_block("go")]))
        (await screen.next_asked()).choose("y")
        assert (await prompt).stop_reason == "end_turn"
        assert screen.text() == "done"
        await agent.close()
    assert screen.tap.problems == []
    assert (folder / "effects").read_text() == "one\n"


@story
async def test_no_page_and_no_other_host_may_connect(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    async with listening(coder) as url:
        refused: list[tuple[str, dict[str, str], int]] = [
            (url, {"Origin": url.replace("ws:", "http:").removesuffix("/acp")}, 403),
            (url, {"Origin": "null"}, 403),
            (url, {"Host": "coder.example:8090"}, 403),
            (url.replace("/acp", "/other"), {}, 404),
        ]
        for address, headers, code in refused:
            with pytest.raises(InvalidStatus) as error:
                async with frames(address, headers):
                    pass
            assert error.value.response.status_code == code, headers
        elsewhere = url.replace("127.0.0.1", "coder.example")
        with pytest.raises(InvalidStatus) as error:
            await connect(elsewhere, host="127.0.0.1", port=int(url.removesuffix("/acp").rpartition(":")[2]))
        assert error.value.response.status_code == 403
        async with frames(f"{url}?peer=iflow") as line:
            assert "result" in await line.ask(1, "initialize", protocolVersion=1)
    for wrong in (
        "ws://0.0.0.0:8090/acp",
        "ws://example.org/acp",
        "http://127.0.0.1/acp",
        "8090",
        "ws://127.0.0.1:x/",
    ):
        ran = coder.run("acp", "--listen", wrong)
        assert (ran.code, ran.out) == (1, ""), wrong


HANDSHAKE = r"""
exec 3<>/dev/tcp/127.0.0.1/$0
printf 'GET /acp HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' >&3
printf 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n' >&3
read -r line <&3; echo "$line"
"""


@pytest.mark.skipif(os.getuid() != 0 or not Path("/proc/net/tcp").exists(), reason="needs root, on Linux")
@story
async def test_another_user_of_the_machine_may_not_connect(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    async with listening(coder) as url:
        port = url.removesuffix("/acp").rpartition(":")[2]
        for user, answer in ((0, b"HTTP/1.1 101"), (65534, b"HTTP/1.1 403")):
            shell = await asyncio.create_subprocess_exec(
                "/bin/bash", "-c", HANDSHAKE, port, stdout=asyncio.subprocess.PIPE, user=user, cwd="/"
            )
            out, _ = await shell.communicate()
            assert out.startswith(answer), (user, out)


@story
async def test_a_socket_for_ipv6_is_the_same_user(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    async with listening(coder) as url:
        port = int(url.removesuffix("/acp").rpartition(":")[2])
        mapped = socket.create_connection(("::ffff:127.0.0.1", port))
        async with connect(url, sock=mapped) as opened:
            await opened.send('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}')
            assert json.loads(await opened.recv())["id"] == 1


@pytest.mark.parametrize("host", ["localhost", "[::1]"])
@story
async def test_a_server_ends_in_order_while_a_client_waits_for_an_answer(
    coder_on: CoderOn, serve: Serve, host: str
) -> None:
    coder = coder_on(serve(script(hangs(says("I begin and never end"), 2))))
    async with AsyncExitStack() as stack:
        async with listening(coder, host) as url:
            line = await stack.enter_async_context(iflow(url))
            made = await line.ask(2, "session/new", cwd=str(coder.cwd), mcpServers=[])
            prompt = {"sessionId": made["result"]["sessionId"], "prompt": [{"type": "text", "text": "go"}]}
            await line.send(id=3, method="session/prompt", params=prompt)
            while not line.updates("agent_message_chunk"):
                line.seen.append(await line.read())
        async with asyncio.timeout(PATIENCE):
            await line.socket.wait_closed()


@story
async def test_fuzzed_frames_end_nothing(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    whole = '{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}'
    broken = [whole[:cut] + whole[cut + 1 :] for cut in range(len(whole))] + [chr(each) * 9 for each in range(300)]
    async with listening(coder) as url, frames(url) as line:
        for each in broken:
            await line.send_text(each)
        assert "result" in await line.ask(7, "initialize", protocolVersion=1)
        assert "result" in await line.ask(8, "session/list")


@story
async def test_a46_no_frame_is_lost_when_fifty_arrive_at_once(coder_on: CoderOn, serve: Serve) -> None:
    """Text frames are read one by one, binary frames and control lines are skipped, wrong ones are answered."""
    coder = coder_on(serve(script()))
    async with listening(coder) as url, frames(url) as line:
        assert "result" in await line.ask(0, "initialize", protocolVersion=1)
        wanted = [
            json.dumps({"jsonrpc": "2.0", "id": key, "method": "session/list", "params": {}}) for key in range(50)
        ]
        for each in wanted:
            line.tap.note(each)
        line.socket.transport.write(b"".join(map(_masked, ["//ping", "{", *wanted])))
        await line.socket.send(b"\x00\x01")
        assert (await line.read())["error"]["code"] == -32700
        assert sorted([(await line.read())["id"] for _ in range(50)]) == list(range(50))


def _masked(text: str) -> bytes:
    """A text frame as a client sends it, masked with zeros."""
    data = text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2)
    return b"\x81" + size + b"\0\0\0\0" + data


@story
async def test_a_frame_that_is_too_large_is_answered_and_the_connection_stays(
    coder_on: CoderOn, serve: Serve
) -> None:
    coder = coder_on(serve(script()))
    async with listening(coder) as url, frames(url) as line:
        await line.socket.send(" " * (32 * 1024 * 1024 + 1))
        assert (await line.read())["error"]["code"] == -32600
        assert "result" in await line.ask(1, "initialize", protocolVersion=1)


@story
async def test_a_client_that_vanishes_in_mid_permission_comes_back(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    """The turn waits without it, and the answer is acted on once."""
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one >> effects")), says("done"))))
    async with listening(coder) as url:
        async with iflow(url) as line:
            made = await line.ask(2, "session/new", cwd=str(folder), mcpServers=[])
            session = made["result"]["sessionId"]
            prompt = [{"type": "text", "text": "go"}]
            await line.send(id=3, method="session/prompt", params={"sessionId": session, "prompt": prompt})
            await line.until(method="session/request_permission")
            line.socket.transport.abort()
        async with iflow(url) as line:
            loaded = await line.ask(2, "session/load", sessionId=session, cwd=str(folder), mcpServers=[])
            assert loaded["result"]["sessionId"] == session
            assert line.updates("user_message_chunk")[0]["content"]["text"] == "go"
            asked = await line.until(method="session/request_permission")
            outcome = {"outcome": "selected", "optionId": "proceed_once"}
            await line.send(id=asked["id"], result={"outcome": outcome})
            while not any(each["content"]["text"] == "done" for each in line.updates("agent_message_chunk")):
                line.seen.append(await line.read())
    assert (folder / "effects").read_text() == "one\n"


@story
async def test_a_turn_goes_on_when_its_client_has_left(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    coder = coder_on(serve(script(hangs(says("I begin and never end"), 2), says("unheard"))))
    async with listening(coder) as url:
        async with iflow(url) as line:
            made = await line.ask(2, "session/new", cwd=str(folder), mcpServers=[])
            session = made["result"]["sessionId"]
            prompt = [{"type": "text", "text": "go"}]
            await line.send(id=3, method="session/prompt", params={"sessionId": session, "prompt": prompt})
            await line.until(method="session/update")
        async with iflow(url) as line:
            listed = (await line.ask(2, "session/list"))["result"]["sessions"]
            assert [each["sessionId"] for each in listed] == [session]
            await line.ask(3, "session/load", sessionId=session, cwd=str(folder), mcpServers=[])
            assert (await line.ask(4, "session/cancel", sessionId=session))["result"] is None
