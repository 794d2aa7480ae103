"""The history of a session cleared: what the next request holds, and what people still have."""

import json
from pathlib import Path

import pytest

from coderelay.protocol.commands import Accepted, ClearHistory, Unchanged, UndoTurn
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import CallStarted
from coderelay.protocol.queries import ListTodos, ReadMessages, ShowContext, ShowSession
from tests.host.test_undo import repository
from tests.house import ME, house, story
from tests.model_server import bash, call, proposes, says, script, write


@pytest.mark.quick
@story
async def test_a59_a_cleared_session_goes_on_with_an_empty_history(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    items = [{"content": "look", "status": "pending"}]
    said = script(proposes(write("b", "two\n"), call("todo", items=items)), says("done"), says("hello"))
    async with house(tmp_path, said) as coder:
        await coder.prompt("paint the shed")
        await coder.ended()
        assert (folder / "b").exists()
        assert await coder.host.get(ListTodos(coder.session)) != []
        before = (await coder.host.get(ReadMessages(coder.session))).rows
        clear = ClearHistory(session=coder.session, by=ME)
        assert isinstance(await coder.host.send(clear), Accepted)
        assert isinstance(await coder.host.send(clear), Unchanged)
        assert await coder.host.get(ListTodos(coder.session)) == []
        assert (await coder.host.get(ShowSession(coder.session))).context_tokens == 0
        parts = dict((await coder.host.get(ShowContext(coder.session))).parts)
        assert "paint the shed" not in json.dumps(parts)
        kept = json.loads((folder / ".coder" / "sessions" / f"{coder.session}.json").read_text())
        assert [each["role"] for each in kept["messages"]] == ["system"]
        messages = (await coder.host.get(ReadMessages(coder.session))).rows
        assert messages[: len(before)] == before
        await coder.prompt("who are you?")
        await coder.ended(2)
        (asked,) = [each for each in coder.server.requests[-1]["messages"] if each["role"] != "system"]
        assert "who are you?" in str(asked["content"])
        assert "paint the shed" not in str(coder.server.requests[-1])
        for _ in range(2):
            await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert not (folder / "b").exists()


@story
async def test_a59_a_history_is_not_cleared_under_a_turn(tmp_path: Path) -> None:
    wait = "while [ ! -e go ]; do sleep 0.01; done"
    async with house(tmp_path, script(proposes(bash(wait)), says("done"))) as coder:
        await coder.prompt("wait")
        await coder.until(lambda event: isinstance(event, CallStarted))
        with pytest.raises(BadInput, match="a turn is running"):
            await coder.host.send(ClearHistory(session=coder.session, by=ME))
        (coder.folder / "go").touch()
        await coder.ended()
