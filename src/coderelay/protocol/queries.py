"""Queries: everything a client can read about sessions.

Any process that has the log can answer a query, unless its docstring says otherwise.
"""

from typing import Any, Generic, TypeVar

from msgspec import Struct

from coderelay.protocol.asks import Approval
from coderelay.protocol.background_commands import BackgroundRow
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import PromptId, SessionId, TurnId
from coderelay.protocol.message_content import Image
from coderelay.protocol.projected_rows import AskRow, Messages, Summary
from coderelay.protocol.query_results import (
    AgentShown,
    CommandsShown,
    ContextShown,
    DefaultsShown,
    FilesDiff,
    FileShown,
    FilesShown,
    FoldersShown,
    HostShown,
    Item,
    ModelShown,
    PermissionsShown,
    ServedModels,
    ServerRow,
    SettingShown,
    SkillsShown,
    SubagentsShown,
    ToolShown,
    TrustShown,
    TurnShown,
)

Value = TypeVar("Value", covariant=True)


class Query(Struct, Generic[Value], frozen=True):
    """Base of all queries. `Value` is the type of the answer."""


class ListSessions(Query[list[Summary]], frozen=True):
    """The sessions, newest first, without child sessions. `cwd` keeps only the sessions of one folder; `text` keeps
    those that contain all its words in their title, last prompt, folder or id; `here` keeps those that belong to this
    machine or to none."""

    cwd: str | None = None
    limit: int = 100
    text: str = ""
    here: bool = False


class ListChildren(Query[list[Summary]], frozen=True):
    """The child sessions that calls of a session opened, in the order in which they were opened."""

    session: SessionId


class ShowSession(Query[Summary], frozen=True):
    session: SessionId


class ReadMessages(Query[Messages], frozen=True):
    """The messages of a session in the JSON form that wire surfaces show, and the event at which they end."""

    session: SessionId


class ExportSession(Query[dict[str, Any]], frozen=True):
    """The session in the OpenAI format of its session file."""

    session: SessionId


class ListPrompts(Query[list[PromptAdmitted]], frozen=True):
    """The queued prompts of a session, in queue order."""

    session: SessionId


class ReadImage(Query[Image | None], frozen=True):
    """An image that was sent with a prompt, counted from 0; None if there is none any more."""

    session: SessionId
    prompt_id: PromptId
    number: int


class ListTodos(Query[list[Item]], frozen=True):
    """The latest todo list of a session."""

    session: SessionId


class ListBackground(Query[list[BackgroundRow]], frozen=True):
    """The background commands of a session, oldest first, including those that have ended. Only a host can answer,
    since it must check whether the processes that hold the commands are alive."""

    session: SessionId


class SuggestTitle(Query[str], frozen=True):
    """A title for a session that begins with `text`; without a text, one made from the session's last prompt. For a
    session that does not exist yet, name the folder `cwd` and a text. Only a host that can run the session can
    answer; it may ask a model, which costs a little."""

    session: SessionId | None = None
    cwd: str | None = None
    text: str = ""


class ShowDiff(Query[FilesDiff], frozen=True):
    """The changes in the folder of a session, or in the folder `cwd`: since the last commit; with `by_turns` only
    those that the session's turns made in it; with `turn` those of this turn, in the folder where it ran. Only a host
    that has the folder can answer."""

    session: SessionId | None = None
    by_turns: bool = False
    turn: TurnId | None = None
    cwd: str | None = None


class ListAsks(Query[list[AskRow]], frozen=True):
    """All open asks, of all sessions, or of one session and its children."""

    session: SessionId | None = None


class FindAsk(Query[AskRow], frozen=True):
    """Find an ask by its id or the beginning of its id. Open asks are searched first, then closed ones."""

    text: str


class ListDecisions(Query[list[AskRow]], frozen=True):
    """The asks of a session that are not open any more: what was decided and by whom. Those of its children are not
    among them."""

    session: SessionId


class ListApprovals(Query[list[Approval]], frozen=True):
    """The approvals in force: those of the projects, those of a session if it is given, and those of one person, or
    of all people if none is given."""

    session: SessionId | None = None
    person: str | None = None


class ShowPermissions(Query[PermissionsShown], frozen=True):
    """What is allowed, asked about and denied in a session. Only a host can answer, because the rules are in files of
    its machine."""

    session: SessionId


class ListServers(Query[list[ServerRow]], frozen=True):
    """The MCP servers of a session's folder; the query starts them. Only a host that has the folder can answer."""

    session: SessionId


class ReadFromServer(Query[str], frozen=True):
    """The text of a prompt of an MCP server, with `rest` as its arguments; or the content of a resource, followed by
    `rest`. Only a host that has the folder can answer."""

    session: SessionId
    server: str
    what: str
    rest: str = ""


class ListTools(Query[list[ToolShown]], frozen=True):
    """The tools of a session's agent, including disabled ones. Only a host can answer, as for everything that is in
    files of its machine."""

    session: SessionId


class ListSkills(Query[SkillsShown], frozen=True):
    """The skills available in a session's folder, and notes about those that are not. Only a host can answer."""

    session: SessionId


class ListSubagents(Query[SubagentsShown], frozen=True):
    """The subagents with a name in a session's folder, and notes about those that are not available. Only a host can
    answer."""

    session: SessionId


class ListCommands(Query[CommandsShown], frozen=True):
    """The slash commands besides the built-in ones: first those of the agent, then custom commands, then skills. Only
    a host can answer."""

    session: SessionId


class ExpandCommand(Query[str], frozen=True):
    """The prompt that a custom command or a skill expands to with these arguments. Only a host can answer."""

    session: SessionId
    name: str
    arguments: str = ""


class ListSettings(Query[list[SettingShown]], frozen=True):
    """The settings that hold in a session's folder, or in the folder `cwd`, and where each comes from. Only a host
    that has the folder can answer."""

    session: SessionId | None = None
    cwd: str | None = None


class ShowTrust(Query[TrustShown], frozen=True):
    """What the person would trust in a session's folder. Only a host that has the folder can answer, and only a
    client that may use all commands: the values are not masked."""

    session: SessionId


class ShowContext(Query[ContextShown], frozen=True):
    """What fills the context window of a session's model. Only a host can answer, because only it knows what its
    agent would send."""

    session: SessionId


class ListModels(Query[list[ModelShown]], frozen=True):
    """The models that can be used in the folder of a session, or in the folder `cwd`, as far as they are known. Only
    a host can answer, and only for itself: it also looks for model servers on its machine."""

    session: SessionId | None = None
    cwd: str | None = None


class ListServedModels(Query[ServedModels], frozen=True):
    """The models that the server of a session's model says it has. It is asked over the network, which may take three
    seconds. Only a host can answer."""

    session: SessionId


class ListAgents(Query[list[AgentShown]], frozen=True):
    """The agents that could run a session, or a new one in the folder `cwd`, and installed agent programs that this
    version cannot drive. Only a host can answer, and only for itself."""

    session: SessionId | None = None
    cwd: str | None = None


class ShowDefaults(Query[DefaultsShown], frozen=True):
    """The agent, model and mode that a new session in a folder gets if nobody chooses others. Only a host can answer,
    and only for itself."""

    cwd: str


class ListTurns(Query[list[TurnShown]], frozen=True):
    """The turns of a session that can be undone, latest first. Only a host that has the folder can list the files of
    each turn."""

    session: SessionId
    limit: int = 20


class ListFiles(Query[FilesShown], frozen=True):
    """The files and folders beneath the folder of a session, or beneath the folder `cwd`, except those that git
    ignores. Only a host that has the folder can answer."""

    session: SessionId | None = None
    cwd: str | None = None


class ListFolders(Query[FoldersShown], frozen=True):
    """The folders in a folder, to browse for one to work in. The folder must be one of `roots` or beneath one;
    without a `path` it is the first of them. Only a host can answer, and only for its machine."""

    roots: tuple[str, ...]
    path: str = ""
    hidden: bool = False


class ListRecentFolders(Query[list[str]], frozen=True):
    """The folders of the sessions that changed last, newest first, as far as they exist on the host's machine.
    `limit` is raised to 1 or lowered to 20."""

    limit: int = 8


class ReadFile(Query[FileShown], frozen=True):
    """The beginning of a file in one of a session's folders. A file that the agent may not read without asking is
    refused, in every mode. Only a host that has the folder can answer."""

    session: SessionId
    path: str
    most_bytes: int = 256 * 1024


class ShowHost(Query[HostShown], frozen=True):
    """Where the log of a session is stored, and which process runs the session. Only a host can answer."""

    session: SessionId


class WhyNotRun(Query[str | None], frozen=True):
    """The reason why this process cannot run the session (no folder, no agent, no key), or None if it can. `model`
    and `agent` replace those of the session for this check. For a session that does not exist yet, name the folder
    `cwd`; a model or an agent that is not named is the one that a new session there would get.

    Only a host can answer, and only for itself.
    """

    session: SessionId | None = None
    model: str | None = None
    agent: str | None = None
    cwd: str | None = None


class WhyWaiting(Query[str | None], frozen=True):
    """The reason why nobody runs a session that has work to do, or None if somebody runs it or there is no work.

    Only a host can answer, since it must look at the other processes on the machine.
    """

    session: SessionId


AnyQuery = (
    ListSessions
    | ListChildren
    | ShowSession
    | ReadMessages
    | ExportSession
    | ListPrompts
    | ReadImage
    | ListTodos
    | ListBackground
    | SuggestTitle
    | ShowDiff
    | ListAsks
    | FindAsk
    | ListDecisions
    | ListApprovals
    | ShowPermissions
    | ListServers
    | ReadFromServer
    | ListTools
    | ListSkills
    | ListSubagents
    | ListCommands
    | ExpandCommand
    | ListSettings
    | ShowTrust
    | ShowContext
    | ListModels
    | ListServedModels
    | ListAgents
    | ShowDefaults
    | ListTurns
    | ListFiles
    | ListFolders
    | ListRecentFolders
    | ReadFile
    | ShowHost
    | WhyNotRun
    | WhyWaiting
)
