"""The REPL before a person: when it is ready, what it looks like, and the log behind it."""

import json
import os
import re
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder
from tests.log_checker import Event, read_logs
from tests.model_server import ModelServerThread
from tests.terminal.pty import Seen, Terminal, at_terminal

MARK = "❯"
BUSY = "Esc stops"
ASKING = "waiting for you"
SNAPSHOTS = Path(__file__).parent / "snapshots"


@contextmanager
def repl(
    coder: Coder, *arguments: str, columns: int = 100, rows: int = 30, env: Mapping[str, str] | None = None
) -> Generator[Terminal]:
    with at_terminal(coder, *arguments, columns=columns, rows=rows, env=env, forked=True) as terminal:
        terminal.wait_until(
            lambda seen: has_session(status_of(seen)),
            "the first prompt and the session behind it",
        )
        yield terminal


def prompt_row(seen: Seen) -> int:
    """Where the input begins: the last mark at or above the cursor; -1 if there is none."""
    at_or_above = enumerate(seen.rows[: seen.cursor[1] + 1])
    return max((number for number, row in at_or_above if MARK in row), default=-1)


def status_of(seen: Seen) -> str:
    """The line above the input."""
    at = prompt_row(seen)
    return seen.rows[at - 1] if at > 0 else ""


def has_session(status: str) -> bool:
    """Whether the status line is that of an open session."""
    return "tokens" in status or status.startswith("guide")


def typed_in(seen: Seen) -> str:
    """What stands in the input line, down to the cursor's row."""
    at = prompt_row(seen)
    rows = seen.rows[at : seen.cursor[1] + 1] if at >= 0 else [""]
    return "\n".join([rows[0].partition(MARK)[2].strip(), *rows[1:]])


def is_idle(seen: Seen) -> bool:
    """The prompt is there and nothing runs, waits or is asked."""
    status = status_of(seen)
    waiting = any(row.startswith("⧖") for row in seen.rows[max(0, prompt_row(seen) - 6) :])
    return has_session(status) and BUSY not in status and ASKING not in status and not waiting


def is_asking(seen: Seen) -> bool:
    return ASKING in status_of(seen)


def settle(terminal: Terminal, text: str) -> Seen:
    """Until it stands there and nothing runs."""
    return terminal.wait_until(lambda seen: text in seen.all_text and is_idle(seen), f"{text!r}, and then the prompt")


def ends_in(seen: Seen) -> int:
    """How many turns are told to have ended."""
    return len([line for line in seen.everything if re.match(r"[✓■] (.* · )?[\d.]+(ms|s|m)\b", line)])


def asks(terminal: Terminal, text: str) -> Seen:
    return terminal.wait_until(lambda seen: text in seen.all_text and is_asking(seen), f"a question about {text!r}")


def works(terminal: Terminal, text: str) -> Seen:
    return terminal.wait_until(lambda seen: text in seen.text and BUSY in seen.text, f"{text!r} while it works")


def asked(server: ModelServerThread) -> list[str]:
    """What each request was about."""
    return [without_notes(each["messages"][-1]["content"]) for each in server.requests]


def results(server: ModelServerThread) -> list[str]:
    """What the tools brought, as the last request tells it."""
    return [each["content"] for each in server.requests[-1]["messages"] if each["role"] == "tool"]


def log_of(coder: Coder) -> list[Event]:
    (log,) = read_logs(coder.home / "sessions.db").values()
    return log


def answers_in(coder: Coder) -> list[str]:
    """What was decided, in order."""
    return [each["decision"]["type"] for each in log_of(coder) if each["kind"] == "ask.answered"]


def sessions_of(coder: Coder) -> list[str]:
    return list(read_logs(coder.home / "sessions.db"))


def open_asks(coder: Coder) -> list[str]:
    """Their ids, as another process is told."""
    told = coder.run("asks", "--json", env={"CODER_LANG": "en"}).out
    return [json.loads(line)["ask"]["id"] for line in told.splitlines()]


def make_repository(folder: Path, files: Mapping[str, str]) -> None:
    """A folder under git, with one commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        subprocess.run(["git", *who, *arguments], cwd=folder, check=True, env={"PATH": os.environ["PATH"]})


def check_looks(name: str, terminal: Terminal, coder: Coder, turns: int = 1) -> None:
    """Compares what a person sees after so many turns with the file; CODER_UPDATE_SNAPSHOTS=1 writes it anew."""
    seen = terminal.wait_until(lambda seen: is_idle(seen) and ends_in(seen) == turns, f"the end of {turns} turns")
    path, text = SNAPSHOTS / f"{name}.txt", steady(seen.all_text, coder) + "\n"
    if os.environ.get("CODER_UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text, f"{path.name} differs; CODER_UPDATE_SNAPSHOTS=1 writes it anew"


def steady(text: str, coder: Coder) -> str:
    """Without what differs from run to run and from machine to machine."""
    text = re.sub(r"\S*" + re.escape(coder.cwd.name) + r"(?= (plan|default|auto-edit|yolo) ❯)", "FOLDER", text)
    for place, name in ((coder.cwd, "FOLDER"), (coder.home, "HOME")):
        text = text.replace(str(place), name)
    for pattern, name in (
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        (r"[0-9a-f]{8}-[0-9a-f]{8}", "ASK"),
        (r"(?m)(?<=[✓✗■] )[\d.]+ ?(ms|s|m)\b( · |$)", ""),  # what took no time says none
        (r"(?m)[ \t]+$", ""),
        (r"[\d,.]+k? tokens", "N tokens"),
        (r"[\d,]+ in, ", "N in, "),
        (r"sandbox: \S+", "sandbox: BOX"),
        (r"┃ runs .*", "┃ runs WHERE"),
        (r"coder \d+\.\d+\.\d+\S*", "coder VERSION"),
    ):
        text = re.sub(pattern, name, text)
    return text
