"""Settings of a session that change: its folder, and what waits for the next turn."""

from pathlib import Path

import pytest

from coderelay.protocol.asks import PermissionAsk
from coderelay.protocol.commands import ConfigureSession, UndoTurn
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import CallStarted
from coderelay.protocol.queries import ListSessions, ListTurns, ShowDiff, ShowSession
from tests.host.test_undo import files, repository
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, proposes, says, script, write

WAIT = "while [ ! -e go ]; do sleep 0.01; done"


async def configure(coder: InHouse, **wanted: object) -> None:
    await coder.host.send(ConfigureSession(session=coder.session, by=ME, **wanted))  # pyright: ignore[reportArgumentType]  # any setting


@pytest.mark.quick
@story
async def test_x20_a_session_moves_to_another_folder_and_undo_knows_both(tmp_path: Path) -> None:
    here = repository(tmp_path)
    (tmp_path / "other").mkdir()
    there = repository(tmp_path / "other")
    said = script(proposes(write("b", "two\n")), says("ok"), proposes(write("b", "three\n")), says("ok"))
    async with house(tmp_path, said) as coder:
        await coder.prompt("one")
        await coder.ended()
        await configure(coder, cwd=str(there))
        assert [each.id for each in await coder.host.get(ListSessions(cwd=str(there)))] == [coder.session]
        assert await coder.host.get(ListSessions(cwd=str(here))) == []
        await coder.prompt("two")
        await coder.ended(2)
        assert f"Working folder: {there}" in str(coder.server.requests[-1])
        assert (files(here).get("b"), files(there).get("b")) == ("two\n", "three\n")
        by_turns = await coder.host.get(ShowDiff(coder.session, by_turns=True))
        assert "three" in by_turns.diff
        assert "two" not in by_turns.diff
        assert [[each.path for each in turn.changes] for turn in await coder.host.get(ListTurns(coder.session))] == [
            ["b"],
            ["b"],
        ]
        for _ in range(2):
            await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert (files(here).get("b"), files(there).get("b")) == (None, None)


@story
async def test_x20_a_change_for_the_next_turn_leaves_the_one_that_runs(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    said = script(proposes(bash(WAIT)), proposes(write("b", "1")), says("ok"), proposes(write("c", "1")), says("ok"))
    async with house(tmp_path, said) as coder:
        await coder.create("yolo")
        await coder.prompt("one")
        await coder.until(lambda event: isinstance(event, CallStarted))
        with pytest.raises(BadInput, match="the folder can change from the next turn on"):
            await configure(coder, cwd=str(other))
        await configure(coder, cwd=str(other), when="next_turn")
        row = await coder.host.get(ShowSession(coder.session))
        assert (row.cwd, row.pending.cwd if row.pending else None) == (str(coder.folder), str(other))
        (coder.folder / "go").touch()
        await coder.ended()
        await coder.prompt("two")
        await coder.ended(2)
        assert ((coder.folder / "b").exists(), (other / "c").exists()) == (True, True)


@story
async def test_x20_a_stricter_mode_for_the_next_turn_counts_for_the_next_call(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash(WAIT)), proposes(write("b", "1")), says("ok"))) as coder:
        await coder.create("yolo")
        await coder.prompt("one")
        await coder.until(lambda event: isinstance(event, CallStarted))
        await configure(coder, mode="default", when="next_turn")
        (coder.folder / "go").touch()
        (ask,) = await coder.asks()
        assert isinstance(ask, PermissionAsk)
        await configure(coder, mode="yolo", when="next_turn")
        assert (await coder.host.get(ShowSession(coder.session))).mode == "default"
        await coder.answer(ask)
        await coder.ended()
        assert (await coder.host.get(ShowSession(coder.session))).mode == "yolo"


@story
async def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        for folder, said in ((str(tmp_path / "none"), "no such folder"), ("work", "is not an absolute path")):
            with pytest.raises(BadInput, match=said):
                await configure(coder, cwd=folder)
