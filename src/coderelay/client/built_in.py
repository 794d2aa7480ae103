"""The commands that every session has, for `/help` and for completion. What they do is in `commands/`."""

from itertools import groupby

from msgspec import Struct

from coderelay.client.columns import padded
from coderelay.client.language import t


class BuiltIn(Struct, frozen=True):
    """Without a `hint` it takes nothing; what stands in brackets may be left out. One that is not `offered` is there
    to tell who tries it what to do instead."""

    group: str
    name: str
    hint: str
    description: str
    offered: bool = True

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.shown_hint}".rstrip()

    @property
    def shown_hint(self) -> str:
        return self.hint.replace(" or ", t(" or "))

    @property
    def needs_more(self) -> bool:
        return bool(self.hint) and not self.hint.startswith("[")


_MODEL, _TURN, _SESSIONS, _FILES, _LOOK, _WORK = (
    "The model, and what needs no asking",
    "The conversation",
    "Sessions",
    "Files",
    "What there is",
    "Work that is often asked for",
)

BUILT_IN = (
    BuiltIn(
        _MODEL,
        "model",
        "[NAME or N]",
        "show the models there are, or change it; kept for later sessions in this folder",
    ),
    BuiltIn(_MODEL, "mode", "[plan|default|auto-edit|yolo]", "show or change what needs no asking"),
    BuiltIn(_MODEL, "plan", "", "mode plan: look and propose, change nothing"),
    BuiltIn(_MODEL, "default", "", "mode default: as the preset of /permissions says"),
    BuiltIn(_MODEL, "auto-edit", "", "mode auto-edit: edit without asking, and check the work"),
    BuiltIn(_MODEL, "yolo", "", "mode yolo: as auto-edit, and any command without asking"),
    BuiltIn(
        _MODEL,
        "permissions",
        "[strict|balanced|auto-edit|yolo]",
        "show what needs no asking, or change what mode default means",
    ),
    BuiltIn(_MODEL, "think", "[auto|off|low|medium|high]", "how hard the model thinks before it answers"),
    BuiltIn(_TURN, "steer", "TEXT", "tell the running turn something; it hears it at its next step"),
    BuiltIn(_TURN, "queue", "[edit N TEXT|drop N]", "what waits for its turn; change or take one back"),
    BuiltIn(_TURN, "compact", "", "sum up the conversation so far, to make room"),
    BuiltIn(_TURN, "title", "[TEXT]", "name the session; without a text, a small model finds one"),
    BuiltIn(_TURN, "export", "[FILE] [!]", "write the conversation to a file: Markdown, or JSON if it ends in .json"),
    BuiltIn(_SESSIONS, "new", "[TITLE]", "begin a session with an empty context; this one stays"),
    BuiltIn(_SESSIONS, "clear", "[TITLE]", "the same as /new"),
    BuiltIn(_SESSIONS, "resume", "[ID or TITLE or N]", "go on with another session; without, those of this folder"),
    BuiltIn(_SESSIONS, "sessions", "[TEXT]", "all sessions, or those with these words; /resume N takes one"),
    BuiltIn(_SESSIONS, "exit", "", "leave; the session stays"),
    BuiltIn(_SESSIONS, "quit", "", "the same as /exit"),
    BuiltIn(_SESSIONS, "fork", "", "not supported: sessions are linear", offered=False),
    BuiltIn(_FILES, "add-dir", "[PATH]", "let the tools use another folder too"),
    BuiltIn(_FILES, "diff", "[full|FILE]", "what has changed since the last commit; whole, or in one file or folder"),
    BuiltIn(_FILES, "undo", "", "the files and the conversation as they were before the last turn; again: one more"),
    BuiltIn(_FILES, "rewind", "[N]", "the turns that can be undone; or undo the last N of them"),
    BuiltIn(_LOOK, "status", "", "this session, its model and folder, and where everything is"),
    BuiltIn(_LOOK, "agents", "", "which agents there are, and which other programs were found"),
    BuiltIn(_LOOK, "tools", "", "what the agent can do, of which kind, and what is disabled"),
    BuiltIn(_LOOK, "skills", "", "instructions that the agent can load, and those that do not count"),
    BuiltIn(_LOOK, "mcp", "[SERVER:PROMPT ARGUMENTS]", "MCP servers and what they have; or send a prompt of one"),
    BuiltIn(_LOOK, "context", "", "what fills the model's window"),
    BuiltIn(_LOOK, "todos", "", "the todo list of the session, which only the agent changes"),
    BuiltIn(_LOOK, "tasks", "[stop N]", "what other agents do for this session; or end one of them"),
    BuiltIn(_LOOK, "ps", "[stop N]", "commands in the background; or end one of them"),
    BuiltIn(_LOOK, "cost", "", "tokens and money of this session"),
    BuiltIn(_LOOK, "help", "[COMMAND]", "this, or more of one command"),
    BuiltIn(_WORK, "init", "[TEXT]", "look at the project and write AGENTS.md, or improve the one there is"),
    BuiltIn(
        _WORK, "review", "[RANGE]", "review what has changed since the last commit, or in a range like main..HEAD"
    ),
)
OFFERED = tuple(each for each in BUILT_IN if each.offered)
NAMES = frozenset(each.name for each in BUILT_IN)
_BY_NAME = {each.name: each for each in BUILT_IN}

_WIDTH = 28


def find_built_in(name: str) -> BuiltIn | None:
    return _BY_NAME.get(name)


def usage_of(name: str) -> str:
    return f"{_BY_NAME[name].usage}: {t(_BY_NAME[name].description)}"


def built_in_help() -> str:
    groups = groupby(OFFERED, lambda each: each.group)
    return "\n\n".join("\n".join([t(group), *(_line(each) for each in members)]) for group, members in groups)


def _line(command: BuiltIn) -> str:
    return help_line(command.usage, t(command.description))


def help_line(usage: str, description: str) -> str:
    return f"  {padded(usage, _WIDTH)}  {description}".rstrip()
