"""The commands that every session has, for `/help` and for completion. What they do is in `session_commands`."""

from itertools import groupby

from msgspec import Struct


class BuiltIn(Struct, frozen=True):
    group: str
    name: str
    hint: str
    description: str

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.hint}".rstrip()


_MODEL, _TURN, _FILES, _LOOK, _WORK = (
    "The model, and what needs no asking",
    "The conversation",
    "Files",
    "What there is",
    "Work that is often asked for",
)

BUILT_IN = (
    BuiltIn(_MODEL, "model", "[provider:name]", "show or change the model; kept for later sessions in this folder"),
    BuiltIn(_MODEL, "mode", "[plan|default|auto-edit|yolo]", "show or change what needs no asking"),
    BuiltIn(
        _MODEL,
        "permissions",
        "[strict|balanced|auto-edit|yolo]",
        "show what needs no asking, or change what mode default means",
    ),
    BuiltIn(_MODEL, "think", "[auto|off|low|medium|high]", "how hard the model thinks before it answers"),
    BuiltIn(_TURN, "steer", "TEXT", "tell the running turn something; it hears it at its next step"),
    BuiltIn(_TURN, "queue", "", "what waits for its turn; /queue edit N TEXT, /queue drop N"),
    BuiltIn(_TURN, "compact", "", "sum up the conversation so far, to make room"),
    BuiltIn(_TURN, "title", "[TEXT]", "name the session; without a text, a small model finds one"),
    BuiltIn(_FILES, "add-dir", "[PATH]", "let the tools use another folder too"),
    BuiltIn(_FILES, "diff", "[full]", "what has changed since the last commit"),
    BuiltIn(_FILES, "undo", "", "the files and the conversation as they were before the last turn; again: one more"),
    BuiltIn(_LOOK, "tools", "", "what the agent can do, of which kind, and what is disabled"),
    BuiltIn(_LOOK, "skills", "", "instructions that the agent can load, and those that do not count"),
    BuiltIn(_LOOK, "mcp", "[SERVER:PROMPT ARGUMENTS]", "MCP servers and what they have; or send a prompt of one"),
    BuiltIn(_LOOK, "context", "", "what fills the model's window"),
    BuiltIn(_LOOK, "todos", "", "the todo list of the session"),
    BuiltIn(_LOOK, "tasks", "", "what other agents do for this session; /tasks stop N ends one"),
    BuiltIn(_LOOK, "ps", "", "commands in the background; /ps stop N ends one"),
    BuiltIn(_LOOK, "cost", "", "tokens and money of this session"),
    BuiltIn(_LOOK, "help", "", "this"),
    BuiltIn(_WORK, "init", "[TEXT]", "look at the project and write AGENTS.md, or improve the one there is"),
    BuiltIn(
        _WORK, "review", "[RANGE]", "review what has changed since the last commit, or in a range like main..HEAD"
    ),
)
NAMES = frozenset(each.name for each in BUILT_IN)

_WIDTH = 28


def built_in_help() -> str:
    groups = groupby(BUILT_IN, lambda each: each.group)
    return "\n\n".join("\n".join([group, *(_line(each) for each in members)]) for group, members in groups)


def _line(command: BuiltIn) -> str:
    return help_line(command.usage, command.description)


def help_line(usage: str, description: str) -> str:
    return f"  {usage.ljust(_WIDTH)}  {description}".rstrip()
