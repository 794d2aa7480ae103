"""The events that clients send. Their names and fields are those of the Cowork contract; `session.follow` and what
comes after it are our own."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from coderelay.protocol.asks import EditMode, PlanOption, Scope
from coderelay.protocol.errors import BadInput
from coderelay.protocol.session_setting_values import Mode, Think
from coderelay.protocol.translatable import say
from coderelay.surfaces.web.strict_json import read_json

Id = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=4_000_000)]
Short = Annotated[str, Meta(max_length=4096)]
_MOST_TOLD = 500


class _Payload(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    pass


class Attachment(_Payload, frozen=True):
    """A picture (PNG, JPEG, GIF or WebP) that is sent with a prompt; `data` is base64."""

    mime_type: Short
    data: str


class ActiveFile(_Payload, frozen=True):
    path: Short
    name: Short = ""


class Selection(_Payload, frozen=True):
    """Lines of a file, counted from 1."""

    file_path: Short
    text: Text
    line_start: Annotated[int, Meta(ge=0)]
    line_end: Annotated[int, Meta(ge=0)]
    file_name: Short = ""


class IdeContext(_Payload, frozen=True):
    """What a person looks at in an editor, or has selected in the page."""

    active_file: ActiveFile | None = None
    selection: Selection | None = None


class StartPayload(_Payload, frozen=True):
    """`requestId` comes back in `session.accepted`, so that a client knows which session is the one it started."""

    prompt: Text
    title: Short = ""
    cwd: Short | None = None
    allowed_tools: Short | None = None
    mode: Mode | None = None
    model: Short | None = None
    agent: Short | None = None
    think: Think | None = None
    folders: tuple[Short, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    ide_context: IdeContext | None = None
    request_id: Short | None = None


class ContinuePayload(_Payload, frozen=True):
    """With `steer`, the prompt joins the open turn at its next step instead of waiting for its end."""

    session_id: Id
    prompt: Text
    steer: bool = False
    attachments: tuple[Attachment, ...] = ()
    ide_context: IdeContext | None = None
    request_id: Short | None = None


class SessionPayload(_Payload, frozen=True):
    session_id: Id


class ListPayload(_Payload, frozen=True):
    """Without any of these, the newest sessions are listed."""

    cwd: Short | None = None
    text: Short = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1000


class AllowResult(_Payload, frozen=True, tag_field="behavior", tag="allow"):
    updated_input: dict[str, Any] | None = None
    scope: Scope = "once"
    mode: EditMode | None = None


class DenyResult(_Payload, frozen=True, tag_field="behavior", tag="deny"):
    message: Text = ""


class StopResult(_Payload, frozen=True, tag_field="behavior", tag="deny_and_stop"):
    pass


class PlanResult(_Payload, frozen=True, tag_field="behavior", tag="plan"):
    option: PlanOption | None = None
    approved: bool | None = None
    feedback: Text = ""


class PermissionPayload(_Payload, frozen=True):
    session_id: Id
    result: AllowResult | DenyResult | StopResult | PlanResult
    tool_use_id: Id | None = None
    ask_id: Id | None = None


class FollowPayload(_Payload, frozen=True):
    """`afterPart` counts the parts of the first event after `afterSeq` that the client has already."""

    session_id: Id
    after_seq: Annotated[int, Meta(ge=0)]
    after_part: Annotated[int, Meta(ge=0)] = 0


class ConfigurePayload(_Payload, frozen=True):
    session_id: Id
    mode: Mode | None = None
    think: Think | None = None
    model: Short | None = None
    agent: Short | None = None
    cwd: Short | None = None
    folders: tuple[Short, ...] | None = None
    title: Short | None = None


class PromptPayload(_Payload, frozen=True):
    """A queued prompt; `prompt` is its new text."""

    session_id: Id
    prompt_id: Id
    prompt: Text = ""


class FilePayload(_Payload, frozen=True):
    session_id: Id
    path: Short


class TaskPayload(_Payload, frozen=True):
    session_id: Id
    tool_use_id: Id


class TurnsPayload(_Payload, frozen=True):
    session_id: Id
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class TurnPayload(_Payload, frozen=True):
    session_id: Id
    turn_id: Id


class FolderPayload(_Payload, frozen=True):
    cwd: Short | None = None


class SwitchPayload(_Payload, frozen=True):
    on: bool


class _Event(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


class SessionList(_Event, frozen=True, tag="session.list"):
    payload: ListPayload = ListPayload()


class SessionStart(_Event, frozen=True, tag="session.start"):
    payload: StartPayload


class SessionContinue(_Event, frozen=True, tag="session.continue"):
    payload: ContinuePayload


class SessionStop(_Event, frozen=True, tag="session.stop"):
    payload: SessionPayload


class SessionDelete(_Event, frozen=True, tag="session.delete"):
    payload: SessionPayload


class SessionHistory(_Event, frozen=True, tag="session.history"):
    payload: SessionPayload


class PermissionResponse(_Event, frozen=True, tag="permission.response"):
    payload: PermissionPayload


class SessionFollow(_Event, frozen=True, tag="session.follow"):
    payload: FollowPayload


class SessionConfigure(_Event, frozen=True, tag="session.configure"):
    payload: ConfigurePayload


class SessionClear(_Event, frozen=True, tag="session.clear"):
    payload: SessionPayload


class PromptRecall(_Event, frozen=True, tag="prompt.recall"):
    payload: PromptPayload


class PromptEdit(_Event, frozen=True, tag="prompt.edit"):
    payload: PromptPayload


class FilesList(_Event, frozen=True, tag="files.list"):
    payload: SessionPayload


class FilesRead(_Event, frozen=True, tag="files.read"):
    payload: FilePayload


class TaskHistory(_Event, frozen=True, tag="task.history"):
    payload: TaskPayload


class TurnsList(_Event, frozen=True, tag="turns.list"):
    payload: TurnsPayload


class TurnDiff(_Event, frozen=True, tag="turn.diff"):
    payload: TurnPayload


class TurnUndo(_Event, frozen=True, tag="turn.undo"):
    """Undo the last turn. `turnId` says which one that is; another one is refused."""

    payload: TurnPayload


class IdeContextChanged(_Event, frozen=True, tag="ide.context"):
    payload: IdeContext


class CommandsList(_Event, frozen=True, tag="commands.list"):
    payload: SessionPayload


class AgentsRecheck(_Event, frozen=True, tag="agents.recheck"):
    payload: FolderPayload = FolderPayload()


class StatisticsSubscribe(_Event, frozen=True, tag="statistics.subscribe"):
    payload: SwitchPayload


ClientEvent = (
    SessionList
    | SessionStart
    | SessionContinue
    | SessionStop
    | SessionDelete
    | SessionHistory
    | PermissionResponse
    | SessionFollow
    | SessionConfigure
    | SessionClear
    | PromptRecall
    | PromptEdit
    | FilesList
    | FilesRead
    | TaskHistory
    | TurnsList
    | TurnDiff
    | TurnUndo
    | IdeContextChanged
    | CommandsList
    | AgentsRecheck
    | StatisticsSubscribe
)


def read_event(text: str) -> ClientEvent:
    """Raises BadInput, which says what is wrong."""
    value = read_json(text)
    if not isinstance(value, dict) or "type" not in value:
        raise BadInput('an event is a JSON object with a "type" and a "payload"')
    try:
        return msgspec.convert(value, ClientEvent)
    except msgspec.ValidationError as error:
        raise BadInput(say("wrong event: {why}", why=str(error)[:_MOST_TOLD])) from error
