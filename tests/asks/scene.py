"""A batch of three commands that must be asked about, and processes that come and go around it."""

import json
from typing import Any

from tests.coder_process import Coder, Ran, Started
from tests.crash.journey import CRASHING
from tests.log_checker import check_effects, check_settled, read_logs
from tests.model_server import Answer, History, ModelServerThread, bash, proposes, says


def three_calls(history: History) -> Answer:
    """Three commands for every prompt, then what became of them."""
    prompt = max(place for place, said in enumerate(history) if said.role == "user")
    results = [said for said in history[prompt:] if said.role == "tool"]
    name = history[prompt].text.split()[-1]
    if results:
        return says(f"done {name}: " + ", ".join(_word(said.text) for said in results))
    return proposes(*(bash(f"echo {name}{call} >> effects # {name}{call}") for call in "abc"))


def _word(result: str) -> str:
    if result == "(no output)":
        return "ran"
    return "unknown" if "may have run" in result else "denied" if "Not allowed" in result else result


class Scene:
    def __init__(self, coder: Coder, server: ModelServerThread) -> None:
        self.coder = coder
        self.server = server

    def start(self, *arguments: str, **env: str) -> Started:
        return self.coder.fork(CRASHING, *arguments, env=env)

    def run(self, *arguments: str, **env: str) -> Ran:
        return self.start(*arguments, **env).wait()

    def open(self, prompt: str = "do it", **env: str) -> list[str]:
        """A process opens a batch and is gone. The ids of the three asks."""
        ran = self.run("-p", prompt, "--unattended", "park", **env)
        assert ran.code in (5, -9), ran
        return self.asks()

    def asks(self) -> list[str]:
        return [each["ask"]["id"] for each in self.rows()]

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.coder.fork("coder", "asks", "--json").wait().out.splitlines()]

    def answer(self, ask: str, *words: str, **env: str) -> Ran:
        return self.run("answer", ask, *words, **env)

    def log(self) -> list[dict[str, Any]]:
        (log,) = [
            log for session, log in read_logs(self.coder.home / "sessions.db").items() if session != "approvals"
        ]
        return log

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.log() if event["kind"] == kind]

    def effects(self) -> list[str]:
        path = self.coder.cwd / "effects"
        return path.read_text().split() if path.exists() else []

    def results(self) -> list[str]:
        """What the model saw of the calls in the last request."""
        return [_word(m["content"]) for m in self.server.requests[-1]["messages"] if m["role"] == "tool"]

    def check(self) -> None:
        check_settled(self.log())
        check_effects(self.log(), self.effects())
        assert self.server.violations == []
        assert self.asks() == []
