"""An agent that blocks in real processes that die: `coder -p`, `coder answer` and `coder resume`."""

import sqlite3
from contextlib import closing

from tests.asks.scene import Scene
from tests.coder_process import Started
from tests.log_checker import Event, check_effects, check_settled, read_logs

PARK = ("--unattended", "park")
AGENT = ("--agent", "blocking", "--mode", "default")


class BlockingScene(Scene):
    """With `verbatim`, the agent hands in the messages of its own program."""

    verbatim = False

    def start(self, *arguments: str, **env: str) -> Started:
        return super().start(*arguments, **({"CODER_VERBATIM": "1"} if self.verbatim else {}), **env)

    def messages(self) -> dict[str, str]:
        """The rows of all messages, in order."""
        with closing(sqlite3.connect(self.coder.home / "sessions.db")) as database:
            return dict(database.execute("SELECT id, data FROM messages ORDER BY created_at, rowid").fetchall())

    def prompt(self, *arguments: str, **env: str) -> Started:
        return self.start("-p", *arguments, *AGENT, **env)

    def hold(self, prompt: str = "", *arguments: str, **env: str) -> Started:
        """A process that stays while people think. Without a prompt it goes on with what is there."""
        return self.coder.fork("holding", prompt, *arguments, env=env)

    def proposed(self) -> list[str]:
        """The commands that the agent asked about or ran in the open turn, one for each time."""
        names: list[str] = []
        for event in self.log():
            if event["kind"] == "turn.started":
                names.clear()
            if event["kind"] == "call.proposed" and event["call"]["name"] == "bash":
                names.append(event["call"]["arguments"])
        return names

    def logs(self) -> dict[str, list[Event]]:
        database = self.coder.home / "sessions.db"
        return read_logs(database) if database.exists() else {}

    def log(self) -> list[Event]:
        found = [log for session, log in self.logs().items() if session != "approvals"]
        return found[0] if found else []

    def asks(self) -> list[str]:
        """The open ones, as the log has them: the processes that would tell take long to start."""
        still_open: dict[str, None] = {}
        for event in self.log():
            match event["kind"]:
                case "call.proposed" if "ask" in event["judged"]:
                    still_open[event["judged"]["ask"]["id"]] = None
                case "ask.answered":
                    still_open.pop(event["ask_id"])
                case "turn.ended" | "stop.requested":
                    still_open.clear()
                case _:
                    pass
        return [*still_open]

    def session(self) -> str:
        return next(each for each in self.logs() if each != "approvals")

    def is_at_rest(self) -> bool:
        kinds = [event["kind"] for event in self.log()]
        return kinds.count("prompt.admitted") == kinds.count("turn.ended")

    def finish(self) -> None:
        """Whatever is left is carried on and answered until the session rests; then one more prompt runs."""
        for _ in range(20):
            for ask in self.asks():
                self.answer(ask, "allow")
            if self.is_at_rest():
                break
            self.run("resume", self.session())
        known = ["--continue"] if self.log() else []
        ran = self.prompt("do last", *known, "--unattended", "allow").wait()
        assert ran.code == 0, ran

    def check(self) -> None:
        log, effects = self.log(), self.effects()
        check_settled(log)
        check_effects(log, effects)
        assert self.asks() == []
        assert {f"last{each}" for each in "abcd"} <= set(effects)
        assert [event["ending"] for event in log if event["kind"] == "turn.ended"][-1] == "done"
