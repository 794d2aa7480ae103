"""`coder acp` on raw lines: whatever a client writes, it is answered as the standard says, and on stdout is nothing
else."""

import json
from collections.abc import Callable
from typing import Any

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.wire_process import INITIALIZE, wire
from tests.house import story
from tests.model_server import ModelServerThread, says, script

CoderOn = Callable[[ModelServerThread], Coder]


def _code(said: dict[str, Any]) -> tuple[Any, int]:
    assert None not in said["error"].values()
    return said["id"], said["error"]["code"]


@story
async def test_wrong_messages_get_their_codes_and_the_connection_stays(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    async with wire(coder) as line:
        cwd = str(coder.cwd)
        early: dict[str, Any] = {"id": 1, "method": "session/new", "params": {"cwd": cwd, "mcpServers": []}}
        line.write(early, b"{", b"[]", {"id": 2, "method": "nothing/here"}, {"id": 3, "method": "initialize"})
        wrong = [_code(await line.read()) for _ in range(5)]
        assert wrong == [(1, -32600), (None, -32700), (None, -32600), (2, -32601), (3, -32602)]
        line.write({"id": 4, "method": "initialize", "params": {"protocolVersion": 99}})
        assert (await line.read())["result"]["protocolVersion"] == 1
        refused: list[tuple[str, dict[str, Any], int]] = [
            ("session/new", {"cwd": "relative", "mcpServers": []}, -32602),
            ("session/new", {"cwd": f"{cwd}/nowhere", "mcpServers": []}, -32602),
            ("session/new", {"mcpServers": []}, -32602),
            ("session/load", {"cwd": cwd, "sessionId": "nobody", "mcpServers": []}, -32002),
            ("session/prompt", {"sessionId": "nobody", "prompt": []}, -32002),
            ("session/prompt", {"sessionId": "nobody", "prompt": [{"type": "smell"}]}, -32602),
            ("session/list", {"cursor": "somewhere"}, -32602),
            ("authenticate", {"methodId": "iflow"}, -32602),
            ("session/set_model", {}, -32601),
        ]
        for method, params, code in refused:
            assert _code(await line.ask(5, method, **params)) == (5, code), (method, params)
        line.write({"method": "session/cancel", "params": {"sessionId": "nobody"}}, {"method": "_unknown"})
        assert "result" in await line.ask(6, "session/list")


@story
async def test_an_empty_prompt_and_one_that_is_given_up(coder_on: CoderOn, serve: Serve) -> None:
    """A request that is cancelled as JSON-RPC says ends like one that is cancelled as ACP says."""
    coder = coder_on(serve(script(says("never shown", token_delay=60))))
    async with wire(coder) as line:
        line.write(INITIALIZE)
        await line.read()
        made = await line.ask(1, "session/new", cwd=str(coder.cwd), mcpServers=[], unknown={"field": 1})
        session = made["result"]["sessionId"]
        assert _code(await line.ask(2, "session/prompt", sessionId=session, prompt=[])) == (2, -32602)
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
        line.write(
            {"id": 3, "method": "session/prompt", "params": prompt},
            {"method": "$/cancel_request", "params": {"requestId": 3}},
        )
        while (said := await line.read()).get("id") != 3:
            pass
        assert said["result"] == {"stopReason": "cancelled"}


@story
async def test_fuzzed_lines_end_nothing(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    whole = json.dumps({"jsonrpc": "2.0", **INITIALIZE}).encode()
    broken = [whole[:cut] + whole[cut + 1 :] for cut in range(len(whole))] + [bytes([n]) * 9 for n in range(256)]
    async with wire(coder) as line:
        line.write(*broken)
        assert "result" in await line.ask(7, "initialize", protocolVersion=1)
        assert "result" in await line.ask(8, "session/list")
