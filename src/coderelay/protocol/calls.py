"""Tool calls: the call, what it would touch (its need), and the outcome."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.ids import BackgroundId, CallId
from coderelay.protocol.message_content import Image, Seal
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
    this result reports to the model; `skill` is the skill whose instructions the output contains. `feedback` is what
    the person's hooks say about the call.

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
    ended, and `message` is one line about it followed by the command's output. `missing` says that the file which the
    call is about does not exist; in logs of older versions it is never set. `said` is the template and values of the
    `summary`, or of the `message` if there is no summary."""

    message: str
    summary: str = ""
    end: CommandEnd | None = None
    said: Translatable | None = None
    missing: bool = False

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
