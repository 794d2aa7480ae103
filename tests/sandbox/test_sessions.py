"""The commands of a session run in its sandbox, as its mode and the person's configuration say."""

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import pytest

from coderelay.host import loaded_session_cache
from coderelay.protocol.asks import PermissionAsk
from coderelay.protocol.calls import Failed, Finished
from coderelay.protocol.events import CallEnded
from coderelay.protocol.session_setting_values import Mode
from coderelay.workspace.sandbox import session_sandbox
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script
from tests.patience import PATIENCE

TRY = "touch ../escaped"


async def run(coder: InHouse, mode: Mode) -> Finished | Failed:
    """The one command of the session, allowed if that is asked."""
    await coder.create(mode)
    await coder.prompt("go")
    ended = await coder.until(lambda event: isinstance(event, CallEnded) or _is_asked(event))
    if not isinstance(ended.event, CallEnded):
        (ask,) = await coder.asks()
        await coder.answer(ask)
        ended = await coder.until(lambda event: isinstance(event, CallEnded))
    await coder.ended()
    assert isinstance(ended.event, CallEnded)
    outcome = ended.event.outcome
    assert isinstance(outcome, Finished | Failed)
    return outcome


def _is_asked(event: Any) -> bool:
    return any(each.ask for each in getattr(event, "judged", ()))


def configure(root: Path, settings: dict[str, object]) -> None:
    (root / "home").mkdir()
    (root / "home/config.json").write_text(json.dumps(settings))


@pytest.mark.parametrize(
    ("mode", "sandbox", "escapes"),
    [
        ("default", {}, False),
        ("auto-edit", {}, False),
        ("yolo", {}, True),
        ("yolo", {"yolo": True}, False),
        ("default", {"enabled": False}, True),
    ],
)
@story
async def test_x17_the_mode_and_the_configuration_say_whether_there_is_one(
    tmp_path: Path, bubblewrap: SandboxBackend, mode: Mode, sandbox: dict[str, object], escapes: bool
):
    configure(tmp_path, {"sandbox": sandbox})
    async with house(tmp_path, script(proposes(bash(TRY)), says("done"))) as coder:
        await run(coder, mode)
    assert (tmp_path / "escaped").exists() == escapes


@story
async def test_an_ask_shows_what_the_command_would_run_in(tmp_path: Path, bubblewrap: SandboxBackend):
    async with house(tmp_path, script(proposes(bash(f"CODER_SANDBOX=0 {TRY}")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        assert isinstance(ask, PermissionAsk)
        assert (ask.need.sandbox, ask.need.rights) == (bubblewrap, ("outside",))
        await coder.answer(ask)
        await coder.ended()
    assert (tmp_path / "escaped").exists()


@story
async def test_sandboxes_are_released_with_the_records_of_their_sessions(
    tmp_path: Path, backend: SandboxBackend, monkeypatch: pytest.MonkeyPatch
):
    """Symptom: a process that lived long kept a folder and a descriptor for every session that ever ran a command."""
    monkeypatch.setattr(loaded_session_cache, "_RECENT", 1)

    def found(_: str) -> SandboxBackend:
        return backend

    monkeypatch.setattr(session_sandbox, "sandbox_backend", found)
    said = script(*(answer for _ in range(4) for answer in (proposes(bash("echo $TMPDIR > a")), says("done"))))
    async with house(tmp_path, said) as coder:
        for _ in range(4):
            assert isinstance(await run(coder, "default"), Finished)
        async with asyncio.timeout(PATIENCE):
            while len(private_folders(tmp_path)) > 1:
                gc.collect()
                await asyncio.sleep(0.01)
        assert len(private_folders(tmp_path)) == 1  # that of the last session stays, with its temporary files
    assert private_folders(tmp_path) == []


def private_folders(root: Path) -> list[Path]:
    return [path for path in (root / "home/sandboxes").iterdir() if path.is_dir()]
