"""What `/help COMMAND` adds to the line of `/help`: an example, and what the command changes."""

from msgspec import Struct


class Detail(Struct, frozen=True):
    changes: str
    example: str = ""


_SHOWS = "It only shows; nothing changes."
_MODE = "Counts for the next tool call, also in a turn that runs; in this session only."
_NEW = "This session stays, and a turn that runs in it goes on."
_LEAVES = "The session stays; `coder resume` goes on with it."

DETAILS = {
    "model": Detail(
        "Counts at once, and is kept for later sessions in `.coder/config.json`; the one in use stays as it is.",
        "/model deepseek:deepseek-flash",
    ),
    "mode": Detail(_MODE, "/mode plan"),
    "plan": Detail(_MODE),
    "default": Detail(_MODE),
    "auto-edit": Detail(_MODE),
    "yolo": Detail(_MODE),
    "permissions": Detail("A preset counts in this session; your own rules stay.", "/permissions strict"),
    "think": Detail("Counts for what is asked next, in this session only.", "/think high"),
    "steer": Detail(
        "Becomes part of the running turn; without one it is a prompt like any other.", "/steer use tabs"
    ),
    "queue": Detail("Changes only prompts whose turn has not begun.", "/queue edit 1 look at the tests first"),
    "compact": Detail("Asks the model. The log keeps everything; only what is sent from now on is shorter."),
    "title": Detail("Changes nothing but the title.", "/title Taxes in the cart"),
    "export": Detail(
        "Writes one file that only you can read; one that is there is replaced only if ! stands behind its name.",
        "/export talk.md !",
    ),
    "new": Detail(_NEW, "/new Look at the login"),
    "clear": Detail(_NEW, "/clear Look at the login"),
    "resume": Detail(_NEW, "/resume Taxes"),
    "sessions": Detail(_SHOWS, "/sessions cart tax"),
    "exit": Detail(_LEAVES),
    "quit": Detail(_LEAVES),
    "add-dir": Detail("Counts in this session; /undo covers the session's own folder only.", "/add-dir ../shared"),
    "diff": Detail(_SHOWS, "/diff src/cart.py"),
    "undo": Detail(
        "Puts back all files the turn changed, by its commands too; what you have changed since is kept and named."
    ),
    "rewind": Detail("The same as /undo so many times, the latest turn first.", "/rewind 2"),
    "status": Detail(_SHOWS),
    "agents": Detail(_SHOWS),
    "tools": Detail(_SHOWS),
    "skills": Detail(_SHOWS),
    "mcp": Detail("A prompt of a server is sent like one of your own; else it only shows.", "/mcp issues:triage 17"),
    "context": Detail(_SHOWS),
    "todos": Detail(_SHOWS),
    "tasks": Detail("`stop` ends the turn of that agent; else it only shows.", "/tasks stop 1"),
    "ps": Detail("`stop` ends that command; else it only shows.", "/ps stop 1"),
    "cost": Detail(_SHOWS),
    "help": Detail(_SHOWS, "/help undo"),
    "init": Detail("Sends a prompt; what the agent writes then needs the same asking as ever.", "/init in German"),
    "review": Detail("Sends a prompt that tells the agent to change nothing.", "/review main..HEAD"),
}
