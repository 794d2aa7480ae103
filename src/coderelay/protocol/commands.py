"""What anyone may ask a session to do. Every command says who, and through which surface."""

from msgspec import Struct

from coderelay.protocol.asks import By, Decision
from coderelay.protocol.content import Image
from coderelay.protocol.events import Mode, Preset, Think
from coderelay.protocol.ids import AskId, BackgroundId, CallId, PromptId, SessionId


class CreateSession(Struct, frozen=True, kw_only=True):
    """With a `parent`, it works for that call of another session."""

    session: SessionId
    cwd: str
    model: str
    by: By
    mode: Mode = "default"
    agent: str = "native"
    title: str = ""
    allowed_tools: tuple[str, ...] = ()
    think: Think = "auto"
    folders: tuple[str, ...] = ()
    parent: SessionId | None = None
    parent_call: CallId | None = None


class ConfigureSession(Struct, frozen=True, kw_only=True):
    session: SessionId
    by: By
    title: str | None = None
    model: str | None = None
    mode: Mode | None = None
    allowed_tools: tuple[str, ...] | None = None
    think: Think | None = None
    folders: tuple[str, ...] | None = None
    agent: str | None = None
    preset: Preset | None = None


class SendPrompt(Struct, frozen=True, kw_only=True):
    """Queue a prompt. The same `prompt_id` again changes nothing. One that is to `steer` joins the open turn at its
    next step; if none is open any more, it gets a turn as any other. `typed` is the command that a person wrote, if
    `text` is what that stands for."""

    session: SessionId
    prompt_id: PromptId
    text: str
    by: By
    max_steps: int | None = None
    answer_within: int | None = None
    images: tuple[Image, ...] = ()
    steer: bool = False
    typed: str = ""


class EditPrompt(Struct, frozen=True, kw_only=True):
    """Change the words of a prompt that waits, or the command of one that is there to run it. Changes nothing if its
    turn has begun."""

    session: SessionId
    prompt_id: PromptId
    text: str
    by: By


class RunShell(Struct, frozen=True, kw_only=True):
    """Queue a command that a person runs as their own: nobody judges it, nothing confines it, no model is asked. Only
    for who sits at the machine, so only from the terminal; anything else is refused."""

    session: SessionId
    prompt_id: PromptId
    command: str
    by: By


class CompactHistory(Struct, frozen=True, kw_only=True):
    """Queue the making of a summary, which the model is told from then on instead of what came before."""

    session: SessionId
    prompt_id: PromptId
    by: By


class RecallPrompt(Struct, frozen=True, kw_only=True):
    """Take a prompt back. Changes nothing if its turn has begun."""

    session: SessionId
    prompt_id: PromptId
    by: By


class AnswerAsk(Struct, frozen=True, kw_only=True):
    session: SessionId
    ask: AskId
    decision: Decision
    by: By


class RevokeApproval(Struct, frozen=True, kw_only=True):
    """Ask again about what was approved. `session` is where the approval was given, APPROVALS if for more."""

    session: SessionId
    approval: AskId
    by: By


class StopTurn(Struct, frozen=True, kw_only=True):
    session: SessionId
    by: By


class StopBackground(Struct, frozen=True, kw_only=True):
    """End a background command and all it started. The process that has it does so a moment later; if that one is
    gone, the command is too, and this says so in the log."""

    session: SessionId
    background: BackgroundId
    by: By


class UndoTurn(Struct, frozen=True, kw_only=True):
    """Bring the files back to where they were before the last turn that was not undone, and the conversation with
    them. Only the host that has the folder can do it, and only while no turn is open."""

    session: SessionId
    by: By


class OpenSession(Struct, frozen=True, kw_only=True):
    """Attend a session: carry on what a crash cut off, and take over if its owner dies."""

    session: SessionId
    by: By


class WriteSnapshot(Struct, frozen=True, kw_only=True):
    """Write the session's file beside the work now, as the end of every turn does. The log stays as it is."""

    session: SessionId
    by: By


class DeleteSession(Struct, frozen=True, kw_only=True):
    session: SessionId
    by: By


Command = (
    CreateSession
    | ConfigureSession
    | SendPrompt
    | EditPrompt
    | RunShell
    | CompactHistory
    | RecallPrompt
    | AnswerAsk
    | RevokeApproval
    | StopTurn
    | StopBackground
    | UndoTurn
    | OpenSession
    | WriteSnapshot
    | DeleteSession
)


class Accepted(Struct, frozen=True, tag="accepted"):
    """It is on disk; `head` is where the log stands now."""

    head: int


class Unchanged(Struct, frozen=True, tag="unchanged"):
    """There was nothing to do; the log stands at `head`."""

    head: int


class Answered(Struct, frozen=True, tag="answered"):
    """The ask was decided before: by whom, and how."""

    decision: Decision | None
    by: By | None
    head: int


class Undone(Struct, frozen=True, tag="undone"):
    """A turn was undone: these files are as before it, those are gone, these stay as they are, with the reason."""

    restored: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[str, ...]
    head: int


Outcome = Accepted | Unchanged | Answered | Undone
