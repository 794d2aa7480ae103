"""A job that outgrows its model's window and its budget, with people who steer it meanwhile."""

import json
import re
from collections.abc import Sequence
from typing import Any

from coderelay.agents.native.compaction import SUMMARISER
from tests.coder_process import Coder, Started
from tests.crash.journey import CRASHING, Journey, wait_until
from tests.log_checker import BrokenPromise, Event
from tests.model_server import Answer, Body, History, ModelServerThread, bash, proposes, says

INSTRUCTIONS = "use tabs"
STEPS = 3
LONG = "seq 8800"  # a quarter of the window: two of them are too much, however many tools there are
UNTIL_GO = "touch began; while [ ! -e go ]; do sleep 0.01; done; "
_ASKED = re.compile(r"^(?:Person: )?do ([a-z]+)$", re.MULTILINE)
_DONE = re.compile(r"# ([a-z]+\d)")


def long_job(history: History) -> Answer:
    """So many long steps for every `do NAME` it was ever asked; a first step called `held` waits. What was done is
    known from the calls or from the summary, which lists it."""
    told = "\n".join(said.text for said in history if said.role == "user")
    calls = "\n".join(str(call.arguments) for said in history for call in said.calls)
    names, done = dict.fromkeys(_ASKED.findall(told)), dict.fromkeys(_DONE.findall(f"{told}\n{calls}"))
    if history[0].text == SUMMARISER:
        lines = [*(f"do {name}" for name in names), *(f"# {word}" for word in done)]
        return says("\n".join(lines), token_delay=0.005)  # in pieces, so that one can die between them
    words = [f"{name}{step}" for name in names for step in range(STEPS)]
    left = [word for word in words if word not in done]
    if not left:
        return says(f"done {', '.join(names)}")
    wait = UNTIL_GO if left[0] == "held0" else ""
    return proposes(bash(f"{wait}echo {left[0]} >> effects; {LONG} # {left[0]}"))


class LongJourney(Journey):
    """`budget` is in dollars; a request costs about a cent."""

    def __init__(self, coder: Coder, server: ModelServerThread, budget: float | None = None) -> None:
        super().__init__(coder, server)
        self._budget = budget
        card = {"context": 40_000, "price": {"input": 1, "output": 0}}
        models = {"scripted": card, "other": card}
        settings: Body = {
            "compaction": {"threshold": 0.5, "keep": 2},
            "providers": {"openai": {"models": models}},
        }
        coder.home.mkdir()
        if budget is not None:
            settings["budget"] = {"session": budget}
        (coder.home / "config.json").write_text(json.dumps(settings))
        (coder.cwd / "AGENTS.md").write_text(INSTRUCTIONS)

    def begin(self, verb: str, text: str = "", **env: str) -> Started:
        known = {"HOME": str(self.coder.home)}
        return self.coder.fork("commanding", verb, text, env=known | env)

    def command(self, verb: str, text: str = "", **env: str) -> int:
        return self.begin(verb, text, **env).wait().code

    def asks(self) -> list[str]:
        """Those that are open."""
        over = {event["turn_id"] for event in self.of("turn.ended")}
        answered = {event["ask_id"] for event in self.of("ask.answered")}
        opened = [event["ask"]["id"] for event in self.of("ask.opened") if event["turn_id"] not in over]
        return [ask for ask in opened if ask not in answered]

    def answer(self, ask: str, **env: str) -> int:
        return self.coder.fork(CRASHING, "answer", ask, "allow", "--no-wait", env=env).wait().code

    def settle(self) -> None:
        """Whoever comes next allows what is asked and carries on, until nothing is left to do."""
        for _ in range(40):
            for ask in self.asks():
                assert self.answer(ask) == 0
            if self.command("rest") == 0:
                return
        raise AssertionError("it never comes to rest")

    def wait_for_the_held_step(self) -> None:
        began = self.coder.cwd / "began"
        assert wait_until(began.exists, else_return=lambda: ["the step did not begin"]) == []

    def let_go(self) -> None:
        (self.coder.cwd / "go").touch()

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.log() if event["kind"] == kind]

    def texts(self, *kinds: str) -> list[str]:
        return [event["text"] for event in self.log() if event["kind"] in kinds]

    def check(self) -> None:
        super().check()
        asked = [name for text in self.texts("turn.started", "prompt.taken") for name in _ASKED.findall(text)]
        done = [word for word in self.effects() if word.rstrip("0123456789") in asked]
        assert done == self.effects()
        assert len(self.proposed()) == STEPS * len(asked)
        assert len(self.made_summaries()) <= len(self.summaries())
        for request in self.requests():
            text = json.dumps(request["messages"][1:])
            for words in ("<environment>", "<mode>", INSTRUCTIONS):
                if words not in text:
                    raise BrokenPromise(f"was not told again: {words}")
        if self._budget is not None:
            _check_budget(self.log(), self._budget)

    def proposed(self) -> list[Any]:
        return [call for message in self.of("message.added") for call in message.get("calls", [])]

    def made_summaries(self) -> list[Event]:
        """Those in the log. A compaction of an empty history asks no model, and drops nothing."""
        return [event for event in self.of("history.compacted") if event["dropped"] or event["summary"]]

    def summaries(self) -> list[Body]:
        return [each for each in self.server.requests if _is_for_a_summary(each)]

    def requests(self) -> list[Body]:
        return [each for each in self.server.requests if not _is_for_a_summary(each)]


def _is_for_a_summary(request: Body) -> bool:
    return request["messages"][0]["content"] == SUMMARISER


def _check_budget(log: Sequence[Event], allowed: float) -> None:
    """Nothing was paid for that came after the money had gone."""
    spent, until = 0.0, dict[str, float]()
    for event in log:
        if event["kind"] in ("message.added", "history.compacted"):
            if spent >= allowed:
                raise BrokenPromise(f"{spent} is more than was allowed, {allowed}")
            spent += event.get("cost", 0.0)
        elif event["kind"] == "ask.opened":
            until[event["ask"]["id"]] = event["ask"]["until"]
        elif event["kind"] == "ask.answered":
            allowed = until[event["ask_id"]]
