"""Tool calls: the call, what it would touch (its need), the declaration of a tool (its spec), and the outcome."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from coderelay.protocol.content import Image, Seal
from coderelay.protocol.ids import BackgroundId, CallId
from coderelay.protocol.translatable import Translatable, keep_templates, say, with_template

Kind = Literal["read", "edit", "command", "network", "mcp", "ask"]
Right = Literal["network", "outside"]
"""What a command may want beyond the sandbox: network access, or to run outside the sandbox altogether."""
Effect = Literal["read", "edit", "build", "run", "destructive"]
"""The worst effect of a command. `build` runs known tests and builds; `destructive` is a command that nobody can have
meant to run, or that a rule of the person denies."""
Permission = Literal["allow", "sandboxed", "ask", "deny"]
"""What a mode or preset says of a call. `sandboxed` allows the call if it runs in a sandbox, and asks otherwise."""


class Call(Struct, frozen=True, omit_defaults=True):
    """One tool call of an assistant message. `arguments` is the JSON text exactly as the model wrote it."""

    id: CallId
    name: str
    arguments: str
    seal: Seal | None = None


class Option(Struct, frozen=True, omit_defaults=True):
    label: str
    description: str = ""


class Question(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A question of an agent to the person. Without options, the answer is free text."""

    question: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multi_select: bool = False


class Need(Struct, frozen=True, omit_defaults=True):
    """What a call would touch, determined without running it. People see it and the policy judges it.

    `diff` is the change it would make, as a unified diff. `scripts` are those of its paths where it would change
    programs that a package manager runs by itself. `problem` says why the call cannot run at all (unknown tool,
    invalid arguments); such a call is never asked about and ends as Failed with that text.

    Of a command: `words` is the shortest rule that is safe to remember (with `prefix`, more words may follow).
    `sandbox` is what the command would run in (`none` means no sandbox, empty means not known), `rights` is what it
    wants beyond that, and `folder` is where it would run if not in the session's own folder.

    Of a tool of an MCP server: `server` is a fingerprint of the program or address, and `server_tool` is the tool's
    name on that server. `plain` is the name that the tool would have without a name clash, and is empty if it has
    that name.

    `said` is the template and values of the `problem`, or of the `title` if coderelay wrote it.
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
"""What the brackets of a permission rule contain: `edit(src/**)`, `bash(git push)`, `web_fetch(docs.python.org)`."""
ResultShown = Literal["output", "markdown", "summary", "todos"]
"""What people see of a successful call: its output, as plain text or as Markdown; only the one-line summary; or the
todo list that the call set."""


class ToolSpec(Struct, frozen=True):
    """The declaration of a tool: all that is known of it without running it. The tool's own file declares it;
    everything else reads it.

    The model gets the `name`, the `description` and the `parameters` (a JSON schema). `kind` is what a call does
    unless its need says otherwise. `plain` is the name that the tool would have if no other tool had that name.

    Front ends and hooks made for Claude know the tool as `external_name` (the same name if empty), and its arguments
    by the names in `external_arguments`. `external_extra` computes further fields that they expect from the
    arguments.

    A permission rule or a list of tools can refer to this tool by its name, by its external name and by the names in
    `covered_by`. `rule_target` is what the brackets of such a rule may contain. A list of tools never removes a tool
    that is `always_allowed`.

    A child session does not get a tool that has a `refusal_in_subagents` text, and is told that text as the reason.
    Models with a small context are offered only the tools that are `for_small_models`. They are shown a result as
    `result_for_small_models` makes it from the output.

    `headline` is the argument that people see of a call that could not be decoded (all arguments if it is empty or
    not declared). `result_shown` is what they see of a successful call. `chinese` is the first sentence of the
    description in Chinese; `chinese_results` maps the English summaries and failures that people see to Chinese, with
    the same `{placeholders}`.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    kind: Kind = "read"
    plain: str = ""
    external_name: str = ""
    external_arguments: dict[str, str] = {}
    external_extra: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    covered_by: tuple[str, ...] = ()
    rule_target: RuleTarget | None = None
    always_allowed: bool = False
    refusal_in_subagents: str = ""
    for_small_models: bool = False
    result_for_small_models: Callable[[str], str] | None = None
    headline: str | None = None
    result_shown: ResultShown = "output"
    chinese: str = ""
    chinese_results: dict[str, str] = {}


def first_sentence(description: str) -> str:
    """The short description of a tool, for people and for models with a small context."""
    sentence, dot, _ = " ".join(description.split()).partition(". ")
    return f"{sentence}." if dot else sentence


class Seen(Struct, frozen=True):
    """A file whose content the model knows. `mark` is a fingerprint that differs once the file has changed."""

    path: str
    mark: str


class CommandEnd(Struct, frozen=True, omit_defaults=True):
    """How a command ended: with an `exit_code`, or by a `signal`. `cause` is set if it did not end by itself: it
    timed out, it was about to fill a disk, it could not be started, or its end is not known because its supervisor
    died."""

    exit_code: int | None = None
    signal: int | None = None
    cause: Literal["", "timeout", "disk", "not started", "lost"] = ""


class Finished(Struct, frozen=True, tag="finished", omit_defaults=True):
    """The call succeeded. `background` is the command that it left running; `over` is a background command whose end
    the model now knows of; `skill` is the skill whose instructions the output contains. `feedback` is what the
    person's hooks say about the call.

    For a command that the person ran (`!`), `exit_code` is set (above 128: ended by a signal), and `errors` is its
    standard error, which is then not part of `output`. `end` is how a command of the model ended. `said` is the
    `summary` with its template and values.
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
    """The tool ran and reports an error, or could not run at all. If it ran a command, `end` is how that command
    ended, and `message` is one line about it followed by the command's output. `said` is the template and values of
    the `summary`, or of the `message` if there is no summary."""

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
    """The turn was stopped. `started` says whether the call may have had an effect; `output` is what its command had
    written until then."""

    started: bool
    output: str = ""


class Unknown(Struct, frozen=True, tag="unknown"):
    """The call had started when its owner process died. It may have run, and is never run again."""


Outcome = Finished | Failed | Denied | Stopped | Unknown


def one_line(outcome: Outcome) -> str:
    """How a call ended, as one line for people."""
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
    """The specs of all tools. Built once from the list of tools, for packages that may not import the tools."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs.values())

    def spec_of(self, tool: str) -> ToolSpec:
        """The spec of a tool. A tool of another program or of an older version gets a spec that has only its name."""
        return self._specs.get(tool) or ToolSpec(tool, "", {})

    def called(self, name: str) -> ToolSpec | None:
        """The tool with this name or outside name. The name must be in lower case."""
        return next((spec for spec in self if name in (spec.name, spec.external_name.lower())), None)

    def covered_by(self, name: str) -> frozenset[str]:
        """The names of the tools that a name in a rule or in a list of tools refers to. The name must be in lower
        case."""
        found = (spec.name for spec in self if name in (spec.name, spec.external_name.lower(), *spec.covered_by))
        return frozenset(found) or frozenset({name})

    def is_allowed(self, tool: str, allowed: tuple[str, ...]) -> bool:
        """Whether a list of tools allows a tool. Case and surrounding blanks are ignored. A name with a `-` before it
        is not allowed. A list without other names allows everything else."""
        if not allowed or self.spec_of(tool).always_allowed:
            return True
        listed, refused = listed_tools(allowed)
        return not self._is_among(tool, refused) and (not listed or self._is_among(tool, listed))

    def _is_among(self, tool: str, names: tuple[str, ...]) -> bool:
        return any(tool.lower() in self.covered_by(name) or _means_server(name, tool.lower()) for name in names)

    def external_name(self, tool: str) -> str:
        return self.spec_of(tool).external_name or tool

    def external_input(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments under their outside names. An argument that the tool does not know never overwrites one that
        it uses."""
        spec = self.spec_of(tool)
        renamed = spec.external_arguments
        others = {name: value for name, value in arguments.items() if name not in renamed}
        outside = others | {renamed[name]: value for name, value in arguments.items() if name in renamed}
        return outside if spec.external_extra is None else outside | spec.external_extra(arguments)


def listed_tools(allowed: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tools that a list of allowed tools names, and those that it refuses with a `-`; all in lower case."""
    names = [name.strip().lower() for name in allowed]
    refused = tuple(name[1:].strip() for name in names if name.startswith("-"))
    return tuple(name for name in names if not name.startswith("-")), refused


def _means_server(name: str, tool: str) -> bool:
    """`mcp__server__*` and `mcp__server` stand for all tools of that MCP server."""
    beginning = name[:-1] if name.endswith("__*") else f"{name}__" if name.count("__") == 1 else ""
    return beginning.startswith("mcp__") and tool.startswith(beginning)
