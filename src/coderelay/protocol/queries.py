"""What anyone may want to know. The log can answer them in any process, unless a query says otherwise."""

from typing import Any, Generic, TypeVar

from msgspec import Struct

from coderelay.protocol.asks import Approval
from coderelay.protocol.background import BackgroundRow
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import SessionId
from coderelay.protocol.session_info import (
    AgentShown,
    CommandsShown,
    ContextShown,
    FilesDiff,
    FilesShown,
    HostShown,
    Item,
    ModelShown,
    PermissionsShown,
    ServerRow,
    SkillsShown,
    ToolShown,
    TurnShown,
)
from coderelay.protocol.summary import AskRow, MessageRow, Summary

Value = TypeVar("Value", covariant=True)


class Query(Struct, Generic[Value], frozen=True):
    """Base of all that can be asked for: the answer is a `Value`."""


class ListSessions(Query[list[Summary]], frozen=True):
    """Newest first, without those that work for another; `cwd` keeps only those of one folder, `text` those that have
    all its words in their title, last prompt, folder or id."""

    cwd: str | None = None
    limit: int = 100
    text: str = ""


class ListChildren(Query[list[Summary]], frozen=True):
    """The sessions that calls of a session opened, in their order."""

    session: SessionId


class ShowSession(Query[Summary], frozen=True):
    session: SessionId


class ReadMessages(Query[list[MessageRow]], frozen=True):
    """The session's messages in wire form, oldest first."""

    session: SessionId


class ExportSession(Query[dict[str, Any]], frozen=True):
    """The session in the OpenAI form of its snapshot file."""

    session: SessionId


class ListPrompts(Query[list[PromptAdmitted]], frozen=True):
    """The prompts of a session that wait for their turn, in their order."""

    session: SessionId


class ListTodos(Query[list[Item]], frozen=True):
    """The todo list of a session, as it was given last."""

    session: SessionId


class ListBackground(Query[list[BackgroundRow]], frozen=True):
    """The background commands of a session, the oldest first, those that are over too. Only a host can answer, since
    it must look whether the processes live that have them."""

    session: SessionId


class SuggestTitle(Query[str], frozen=True):
    """A title for the session, by its last prompt. Only a host that can run it can answer; it may cost a little."""

    session: SessionId


class ShowDiff(Query[FilesDiff], frozen=True):
    """What has changed in the session's folder: since the last commit, or by its turns alone. Only a host that has
    the folder can answer."""

    session: SessionId
    by_turns: bool = False


class ListAsks(Query[list[AskRow]], frozen=True):
    """Everything that waits for a person, in all sessions or in one and its children."""

    session: SessionId | None = None


class FindAsk(Query[AskRow], frozen=True):
    """An ask by its id or the beginning of it: those that are open, else those that were."""

    text: str


class ListApprovals(Query[list[Approval]], frozen=True):
    """What need not be asked again: for this person, in these projects, and in one session if it is named."""

    session: SessionId | None = None


class ShowPermissions(Query[PermissionsShown], frozen=True):
    """What needs no asking in a session, what is asked, and what is denied. Only a host can answer: the rules are in
    its files."""

    session: SessionId


class ListServers(Query[list[ServerRow]], frozen=True):
    """The MCP servers of a session's folder, which are started for it. Only a host that has the folder can answer."""

    session: SessionId


class ReadFromServer(Query[str], frozen=True):
    """What a prompt of an MCP server says when `rest` are its arguments, or a resource of it and `rest` behind that.
    Only a host that has the folder can answer."""

    session: SessionId
    server: str
    what: str
    rest: str = ""


class ListTools(Query[list[ToolShown]], frozen=True):
    """The tools of a session's agent, those that are taken away too. Only a host can answer, as for all that lies in
    files of its machine."""

    session: SessionId


class ListSkills(Query[SkillsShown], frozen=True):
    """The skills that count in a session's folder, and notes on those that do not. Only a host can answer."""

    session: SessionId


class ListCommands(Query[CommandsShown], frozen=True):
    """What may be typed after a `/` besides what is built in: commands of the agent, then people's own, then skills.
    Only a host can answer."""

    session: SessionId


class ExpandCommand(Query[str], frozen=True):
    """The prompt that a command of people's own, or a skill, stands for with these arguments. Only a host can
    answer."""

    session: SessionId
    name: str
    arguments: str = ""


class ShowContext(Query[ContextShown], frozen=True):
    """What fills the window of a session's model. Only a host can answer: what the agent would send is its own."""

    session: SessionId


class ListModels(Query[list[ModelShown]], frozen=True):
    """The models that can be used in a session's folder, as far as that is known. Only a host can answer, for itself;
    it looks for servers on its machine."""

    session: SessionId


class ListAgents(Query[list[AgentShown]], frozen=True):
    """Who could run a session, and programs that this version cannot drive. Only a host can answer, for itself."""

    session: SessionId


class ListTurns(Query[list[TurnShown]], frozen=True):
    """The turns of a session that can be undone, the latest first. Only a host that has the folder can tell their
    files."""

    session: SessionId
    limit: int = 20


class ListFiles(Query[FilesShown], frozen=True):
    """The files and folders beneath a session's folder, without what git ignores. Only a host that has the folder can
    answer."""

    session: SessionId


class ShowHost(Query[HostShown], frozen=True):
    """Where a session is kept and run. Only a host can answer."""

    session: SessionId


class WhyNotRun(Query[str | None], frozen=True):
    """Why this process cannot run the session: no folder, no agent, no key. None if it can. With `model` and
    `agent`, as if the session had those.

    Only a host can answer, for itself.
    """

    session: SessionId
    model: str | None = None
    agent: str | None = None


class WhyWaiting(Query[str | None], frozen=True):
    """Why nobody runs a session that has something to do; None if somebody does, or if there is nothing.

    Only a host can answer, since it must look at the processes around it.
    """

    session: SessionId


AnyQuery = (
    ListSessions
    | ListChildren
    | ShowSession
    | ReadMessages
    | ExportSession
    | ListPrompts
    | ListTodos
    | ListBackground
    | SuggestTitle
    | ShowDiff
    | ListAsks
    | FindAsk
    | ListApprovals
    | ShowPermissions
    | ListServers
    | ReadFromServer
    | ListTools
    | ListSkills
    | ListCommands
    | ExpandCommand
    | ShowContext
    | ListModels
    | ListAgents
    | ListTurns
    | ListFiles
    | ShowHost
    | WhyNotRun
    | WhyWaiting
)
