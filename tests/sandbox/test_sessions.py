"""The commands of a session run in its sandbox, as its mode and the person's configuration say."""

import json
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.asks import PermissionAsk
from coderelay.protocol.calls import Failed, Finished
from coderelay.protocol.events import CallEnded
from coderelay.protocol.session_events import Mode
from coderelay.workspace.sandbox.confinement import SandboxBackend
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script

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
