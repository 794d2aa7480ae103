"""Hooks as a person writes them: small shell scripts, named in the person's own configuration."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coderelay.protocol.calls import Finished
from coderelay.protocol.events import BatchOpened, CallEnded
from tests.house import InHouse


def hook(event: str, command: str, matcher: str = "", **more: Any) -> dict[str, Any]:
    """One hook in the form that other agents know too."""
    return {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command, **more}]}]}


def configure(root: Path, hooks: Mapping[str, Any], **keys: Any) -> None:
    """The person's own file. What the workflow adds to a turn is told elsewhere."""
    home = root / "home"
    home.mkdir(exist_ok=True)
    quiet = {"workflow.auto_verify_after_edit": False, "workflow.require_todo_for_complex": False}
    (home / "config.json").write_text(json.dumps({"hooks": hooks, **quiet, **keys}))


def script(root: Path, text: str) -> str:
    """A program in a folder where only the person puts some."""
    folder = root / "programs"
    folder.mkdir(exist_ok=True)
    path = folder / f"hook{len(list(folder.iterdir()))}"
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return str(path)


def says_json(answer: Mapping[str, Any]) -> str:
    """A hook that reads what it is told and says this."""
    return f"cat >/dev/null; echo '{json.dumps(answer)}'"


async def verdicts(coder: InHouse) -> list[tuple[str, str]]:
    events = [each.event for each in await coder.events()]
    return [(one.verdict, one.reason) for each in events if isinstance(each, BatchOpened) for one in each.judged]


async def feedback(coder: InHouse) -> list[str]:
    events = [each.event for each in await coder.events()]
    ends = [each.outcome for each in events if isinstance(each, CallEnded)]
    return [each.feedback for each in ends if isinstance(each, Finished)]


def told(coder: InHouse, request: int) -> list[str]:
    """What the model is told in a request, behind what it said itself last."""
    messages: list[dict[str, Any]] = coder.server.requests[request]["messages"]
    last = max(place for place, each in enumerate(messages) if each["role"] == "assistant")
    return [each["content"] for each in messages[last + 1 :]]
