"""A small project, `coder -p` in it, and what its log says of who did what."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.coder_process import Coder, Ran
from tests.log_checker import Event, check_settled, read_logs
from tests.model_server import ModelServerThread
from tests.tools.toolbox_scene import lay_out

PYTHON = {"pyproject.toml": "", "test_a.py": "from a import one\n\n\ndef test_one():\n    assert one() == 1\n"}
WRONG = "def one():\n    return 2  # wrong\n"
STILL_WRONG = "def one():\n    return 33  # still wrong\n"
RIGHT = "def one():\n    return 1\n"
ALLOWED: dict[str, Any] = {"permissions": {"allow": ["bash(pytest -q)", "bash(npm test)", "bash(cargo test)"]}}
"""So that nothing depends on whether there is a sandbox on this machine."""


class Project:
    def __init__(self, root: Path, server: ModelServerThread, files: Mapping[str, str | bytes]) -> None:
        (root / "work").mkdir(exist_ok=True)
        lay_out(root / "work", files)
        self.folder = root / "work"
        self.server = server
        self.coder = Coder(root / "home", self.folder, server.base_url)
        self.coder.env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), self.coder.env["PATH"]])
        self.coder.env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the plugins of our own tests take long to load

    def configure(self, **settings: Any) -> None:
        self.coder.home.mkdir(exist_ok=True)
        (self.coder.home / "config.json").write_text(json.dumps(ALLOWED | settings))

    def ask(self, prompt: str, *arguments: str, mode: str = "auto-edit", **env: str) -> Ran:
        if not (self.coder.home / "config.json").exists():
            self.configure()
        return self.coder.run("-p", prompt, "--mode", mode, *arguments, env=env)

    def log(self) -> list[Event]:
        (log,) = read_logs(self.coder.home / "sessions.db").values()
        return log

    def story(self) -> list[str]:
        """Everything that was said and done, a line each; every turn is over."""
        log = self.log()
        check_settled(log)
        return story(log)

    def told(self) -> list[str]:
        """What the last request tells the model from the user's side."""
        return [str(each["content"]) for each in self.server.requests[-1]["messages"] if each["role"] == "user"]


def story(log: list[Event]) -> list[str]:
    done: dict[str, str] = {}
    lines: list[str] = []
    for event in log:
        if event["kind"] == "message.added":
            who = event.get("author", "model")
            text = "".join(block.get("text", "") for block in event.get("blocks", []))
            lines += [f"{who}: {text}"] if text else []
            done |= {call["id"]: f"{who}: {_what(call)}" for call in event.get("calls", [])}
        elif event["kind"] == "call.ended":
            lines.append(f"{done[event['call_id']]} → {event['outcome']['type']}")
        elif event["kind"] == "turn.ended" and event["ending"] != "done":
            lines.append(f"({event['ending']})")
    return lines


def _what(call: Event) -> str:
    arguments = json.loads(call["arguments"])
    return " ".join(
        [call["name"], *(str(arguments[key]) for key in ("path", "command", "folder") if key in arguments)]
    )
