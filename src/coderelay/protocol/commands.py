"""Commands: everything a client can ask a session to do, and the outcomes.

Every command says who sent it and from which surface.
"""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.asks import By, Decision, Unanswered
from coderelay.protocol.ids import AskId, BackgroundId, CallId, PromptId, SessionId
from coderelay.protocol.message_content import Image
from coderelay.protocol.session_setting_values import Mode, Preset, Profile, Think, When


class CreateSession(Struct, frozen=True, kw_only=True):
    """Create a session. With a `parent`, it is a child session that works for the call `parent_call` of that
    session. `instructions` are told to the model besides its own. Only a client with the capability for a `profile`
    can give it."""

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
    instructions: str = ""
    profile: Profile = ""


class ConfigureSession(Struct, frozen=True, kw_only=True):
    """Change settings of a session; those that are None stay. With `when="next_turn"`, an open turn keeps the
    settings it has, except that what tightens them counts at once. The folder (`cwd`) never changes under an open
    turn: `now` is refused then. A profile can be left, never entered."""

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
    cwd: str | None = None
    instructions: str | None = None
    profile: Literal[""] | None = None
    when: When = "now"


class SendPrompt(Struct, frozen=True, kw_only=True):
    """Queue a prompt. Sending the same `prompt_id` again changes nothing. With `steer`, the prompt joins the open
    turn at its next step; if no turn is open any more, it gets a turn of its own. `typed` is what the person typed,
    if `text` has more: the expansion of a slash command, or input that was piped in. Questions of the turn wait
    `answer_within` seconds for an answer; `unanswered` says what happens then."""

    session: SessionId
    prompt_id: PromptId
    text: str
    by: By
    max_steps: int | None = None
    answer_within: int | None = None
    unanswered: Unanswered = "deny"
    images: tuple[Image, ...] = ()
    steer: bool = False
    typed: str = ""


class EditPrompt(Struct, frozen=True, kw_only=True):
    """Change the text of a queued prompt, or the command of a queued RunShell, which takes the same capability as
    RunShell itself. Changes nothing if its turn has begun."""

    session: SessionId
    prompt_id: PromptId
    text: str
    by: By


class RunShell(Struct, frozen=True, kw_only=True):
    """Queue a command that the person runs with their own rights: no policy check, no sandbox and no model. It is
    meant for the person at the machine, so a client needs the capability for it."""

    session: SessionId
    prompt_id: PromptId
    command: str
    by: By


class CompactHistory(Struct, frozen=True, kw_only=True):
    """Queue a compaction: a summary is made, and the model gets it from then on in place of the earlier history."""

    session: SessionId
    prompt_id: PromptId
    by: By


class ClearHistory(Struct, frozen=True, kw_only=True):
    """Let the model begin anew: it gets nothing of what was said until now. The log, the messages and the turns that
    can be undone stay. Refused while a turn is open; queued prompts stay queued."""

    session: SessionId
    by: By


class RecallPrompt(Struct, frozen=True, kw_only=True):
    """Remove a prompt from the queue. Changes nothing if its turn has begun."""

    session: SessionId
    prompt_id: PromptId
    by: By


class AnswerAsk(Struct, frozen=True, kw_only=True):
    session: SessionId
    ask: AskId
    decision: Decision
    by: By


class RevokeApproval(Struct, frozen=True, kw_only=True):
    """Revoke an approval. `session` is the session it was given in, or APPROVALS if it counts for more than one
    session."""

    session: SessionId
    approval: AskId
    by: By


class StopTurn(Struct, frozen=True, kw_only=True):
    session: SessionId
    by: By


class StopBackground(Struct, frozen=True, kw_only=True):
    """End a background command and everything it started. The process that holds the command does so shortly
    afterwards. If that process has ended, the command has ended too, and this records it in the log."""

    session: SessionId
    background: BackgroundId
    by: By


class UndoTurn(Struct, frozen=True, kw_only=True):
    """Restore the files, and the conversation, to their state before the last turn that is not undone yet. Only the
    host that has the folder can do this, and only while no turn is open."""

    session: SessionId
    by: By


class OpenSession(Struct, frozen=True, kw_only=True):
    """Attend a session: resume what a crash interrupted, and take over if its owner dies."""

    session: SessionId
    by: By


class MoveSession(Struct, frozen=True, kw_only=True):
    """Move a session, with its children, from another machine to the machine of the host that carries this out. It is
    refused while a living process of the other machine runs the session."""

    session: SessionId
    by: By


class SetSetting(Struct, frozen=True, kw_only=True):
    """Set a key in the configuration file of the person at the host's machine, to a value as JSON, or take it out if
    that is None. It is refused for a client that may not use all commands. The log does not change."""

    session: SessionId
    key: str
    value: str | None
    by: By


class TrustFolder(Struct, frozen=True, kw_only=True):
    """Trust what a ShowTrust with this digest has shown of the session's folder. It is refused if anything of that
    has changed, and for a client that may not use all commands. The log does not change."""

    session: SessionId
    digest: str
    by: By


class ForkSession(Struct, frozen=True, kw_only=True):
    """Create the session `to` with the settings and the conversation of this one, up to the last turn that has ended.
    Its log is its own. The outcome's head is that of the new session."""

    session: SessionId
    to: SessionId
    by: By
    title: str = ""


class WriteSnapshot(Struct, frozen=True, kw_only=True):
    """Write the session file now, as happens at the end of every turn. Nothing is written on another
    machine than the session's. The log does not change."""

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
    | ClearHistory
    | RecallPrompt
    | AnswerAsk
    | RevokeApproval
    | StopTurn
    | StopBackground
    | UndoTurn
    | OpenSession
    | MoveSession
    | SetSetting
    | TrustFolder
    | ForkSession
    | WriteSnapshot
    | DeleteSession
)


class Accepted(Struct, frozen=True, tag="accepted"):
    """The command is on disk; `head` is the number of the last event in the log."""

    head: int


class Unchanged(Struct, frozen=True, tag="unchanged"):
    """There was nothing to do; `head` is the number of the last event in the log."""

    head: int


class Answered(Struct, frozen=True, tag="answered"):
    """The ask had been answered already: `decision` is the earlier answer, and `by` says who gave it."""

    decision: Decision | None
    by: By | None
    head: int


class Undone(Struct, frozen=True, tag="undone"):
    """A turn was undone. `restored` files have their earlier content again, `removed` files were deleted, and
    `conflicts` were left as they are, each with the reason."""

    restored: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[str, ...]
    head: int


Outcome = Accepted | Unchanged | Answered | Undone
