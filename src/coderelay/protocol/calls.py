"""A tool call: what the model wants, what it would touch, how it ended."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from coderelay.protocol.content import Image, Seal
from coderelay.protocol.ids import BackgroundId, CallId
from coderelay.protocol.translatable import Translatable, keep_templates, say, with_template

Kind = Literal["read", "edit", "command", "network", "mcp", "ask"]
Right = Literal["network", "outside"]
"""What a command may want beyond the sandbox: to reach other machines, or to run outside of it altogether."""
Effect = Literal["read", "edit", "build", "run", "stop"]
"""What a command does at worst. `build` runs known tests and builds; `stop` is what nobody means."""
Cell = Literal["allow", "sandboxed", "ask", "deny"]
"""What a mode or a preset says of a call. `sandboxed` allows what runs in a sandbox, because it does; without one it
asks."""


class Call(Struct, frozen=True, omit_defaults=True):
    """One tool call of an assistant message. `arguments` is the JSON text as the model wrote it."""

    id: CallId
    name: str
    arguments: str
    seal: Seal | None = None


class Option(Struct, frozen=True, omit_defaults=True):
    label: str
    description: str = ""


class Question(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Something an agent wants to know. Without options, the answer is free text."""

    question: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multi_select: bool = False


class Need(Struct, frozen=True, omit_defaults=True):
    """What a call would touch, found out without running it. Shown to people and judged.

    `diff` is what it would change, as a unified diff; `scripts` are those of its paths where it would change programs
    that a package manager starts by itself. `problem` says why the call cannot run at all (unknown
    tool, bad arguments); such a call is never asked about and ends as Failed with that text.
    Of a command: `words` is the shortest rule that is safe to remember (with `prefix`, more words may follow),
    `sandbox` what it would run in (`none` is said, nothing is not known), `rights` what it wants beyond that,
    `folder` where it would run if that is not the session's own.
    Of a tool of an MCP server: `server` is a mark of which program or address that is, `server_tool` what the tool is
    called there. `plain` is the name that it would have if nothing else were called so, empty if it has that one.
    `said` is the `problem` with its template and values, or the `title` if that is a text of ours.
    """

    tool: str
    kind: Kind
    title: str
    paths: tuple[str, ...] = ()
    command: str | None = None
    questions: tuple[Question, ...] = ()
    plan: str | None = None
    problem: str | None = None
    diff: str = ""
    words: tuple[str, ...] = ()
    prefix: bool = False
    rights: tuple[Right, ...] = ()
    sandbox: str = ""
    background: bool = False
    server: str = ""
    server_tool: str = ""
    plain: str = ""
    folder: str = ""
    scripts: tuple[str, ...] = ()
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "title", "problem")


RuleTarget = Literal["path", "command", "host"]
"""What the brackets of a permission rule hold: `edit(src/**)`, `bash(git push)`, `web_fetch(docs.python.org)`."""
ResultShown = Literal["output", "markdown", "summary", "todos"]
"""What people see of a call that ended well: its output, as plain text or as Markdown; the one-line summary only;
or the list of todos that the call gave."""


class ToolSpec(Struct, frozen=True):
    """All that is known of a tool without running it. The file of the tool declares it, everybody else reads it.

    A model is told the `name`, the `description` and the `parameters` (a JSON schema). `kind` is what a call does
    unless its need says otherwise. `plain` is the name that the tool would have if no other tool had that name.

    Front ends and hooks made for Claude know the tool as `outside_name` (the same name if empty), and its arguments
    by the names that `outside_arguments` gives them. `outside_extra` makes fields that they expect besides, out of
    the arguments.

    A permission rule or a list of tools means this tool by its name, by its outside name and by those in
    `covered_by`. `rule_target` is what such a rule may have in brackets. A list of tools never takes away a tool that
    is `always_allowed`.

    A session that works for another one does without a tool that is `not_for_children`, and is told this reason.
    Models with a small context are offered the tools `for_small_models` only.

    `headline` is the argument that people are shown of a call that could not be understood (all of them if it is
    empty or not declared), `result_shown` what they are shown of a call that ended well. `chinese` is the first
    sentence of the description in Chinese; `chinese_results` has the summaries and failures that people see of a
    call, from English to Chinese, with the same `{places}`.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    kind: Kind = "read"
    plain: str = ""
    outside_name: str = ""
    outside_arguments: dict[str, str] = {}
    outside_extra: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    covered_by: tuple[str, ...] = ()
    rule_target: RuleTarget | None = None
    always_allowed: bool = False
    not_for_children: str = ""
    for_small_models: bool = False
    headline: str | None = None
    result_shown: ResultShown = "output"
    chinese: str = ""
    chinese_results: dict[str, str] = {}


def first_sentence(description: str) -> str:
    """What people, and models with a small context, are told of a tool."""
    sentence, dot, _ = " ".join(description.split()).partition(". ")
    return f"{sentence}." if dot else sentence


class Seen(Struct, frozen=True):
    """A file the model knows the content of. `mark` is another one as soon as the file has changed."""

    path: str
    mark: str


class CommandEnd(Struct, frozen=True, omit_defaults=True):
    """How a command ended: by itself with an `exit_code`, or by a `signal`. The `cause` is set if it did not end by
    itself: it took too long, it was about to fill a disk, it could not be started, or how it ended is not known
    because its supervisor is gone."""

    exit_code: int | None = None
    signal: int | None = None
    cause: Literal["", "timeout", "disk", "not started", "lost"] = ""


class Finished(Struct, frozen=True, tag="finished", omit_defaults=True):
    """`background` is the command that it left running, `over` one of those that the model now knows has ended,
    `skill` the one whose instructions this is. `feedback` is what the person's hooks have to say of it.

    Of a command of the person's own there is an `exit_code` (more than 128: ended by a signal), and `errors` is what
    it wrote to standard error, which is not in the `output` then. `end` is how a command of the model's ended.
    `said` is the `summary` with its template and values.
    """

    output: str
    summary: str = ""
    images: tuple[Image, ...] = ()
    seen: tuple[Seen, ...] = ()
    background: BackgroundId | None = None
    over: BackgroundId | None = None
    skill: str = ""
    feedback: str = ""
    exit_code: int | None = None
    errors: str = ""
    end: CommandEnd | None = None
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "output", "summary")


class Failed(Struct, frozen=True, tag="failed", omit_defaults=True):
    """The tool ran and reports an error, or could not be run at all. If it ran a command, `end` is how that one
    ended, and the `message` is one line about it, followed by what the command wrote. `said` is the `summary`, or the
    `message` if there is no summary, with its template and values."""

    message: str
    summary: str = ""
    end: CommandEnd | None = None
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "message", "summary")


class Denied(Struct, frozen=True, tag="denied", omit_defaults=True):
    message: str
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "message")


class Stopped(Struct, frozen=True, tag="stopped", omit_defaults=True):
    """The turn was stopped. `started` tells whether the call may have had an effect, `output` is what its command had
    written by then."""

    started: bool
    output: str = ""


class Unknown(Struct, frozen=True, tag="unknown"):
    """It had started when its owner went away. It may have run, and is never run again."""


Outcome = Finished | Failed | Denied | Stopped | Unknown


def one_line(outcome: Outcome) -> str:
    """How a call ended, for people."""
    match outcome:
        case Finished():
            return with_template(outcome.summary or "done", outcome.said)
        case Failed():
            return with_template(outcome.summary or outcome.message.partition("\n")[0], outcome.said)
        case Denied():
            return say("not allowed: {reason}", reason=with_template(outcome.message, outcome.said))
        case Stopped():
            return "stopped"
        case Unknown():
            return "interrupted; it may have run"


class ToolSpecs:
    """Built once, from the list of tools, and handed to the rooms that may not import the tools."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs.values())

    def spec_of(self, tool: str) -> ToolSpec:
        """A tool of another program, or one of an older version, has a spec that says nothing but its name."""
        return self._specs.get(tool) or ToolSpec(tool, "", {})

    def called(self, name: str) -> ToolSpec | None:
        """The tool that has this name here or outside. The name is in small letters."""
        return next((spec for spec in self if name in (spec.name, spec.outside_name.lower())), None)

    def covered_by(self, name: str) -> frozenset[str]:
        """The tools that a name in a rule or in a list of tools stands for. The name is in small letters."""
        found = (spec.name for spec in self if name in (spec.name, spec.outside_name.lower(), *spec.covered_by))
        return frozenset(found) or frozenset({name})

    def is_allowed(self, tool: str, allowed: tuple[str, ...]) -> bool:
        """Names compare without case or blanks around them. An empty list allows everything."""
        if not allowed or self.spec_of(tool).always_allowed:
            return True
        names = [name.strip().lower() for name in allowed]
        return any(tool.lower() in self.covered_by(name) or _means_server(name, tool.lower()) for name in names)

    def outside_name(self, tool: str) -> str:
        return self.spec_of(tool).outside_name or tool

    def outside_input(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A field that the tool does not know never takes the place of one that it uses."""
        spec = self.spec_of(tool)
        renamed = spec.outside_arguments
        others = {name: value for name, value in arguments.items() if name not in renamed}
        outside = others | {renamed[name]: value for name, value in arguments.items() if name in renamed}
        return outside if spec.outside_extra is None else outside | spec.outside_extra(arguments)


NO_SPECS = ToolSpecs(())


def _means_server(name: str, tool: str) -> bool:
    """`mcp__server__*` and `mcp__server` stand for all tools of that server."""
    beginning = name[:-1] if name.endswith("__*") else f"{name}__" if name.count("__") == 1 else ""
    return beginning.startswith("mcp__") and tool.startswith(beginning)
