"""What anyone may want to know. The log can answer them in any process, unless a query says otherwise."""

from msgspec import Struct

from coderelay.protocol.ids import SessionId


class ListSessions(Struct, frozen=True):
    """Newest first; `cwd` keeps only those of one folder."""

    cwd: str | None = None
    limit: int = 100


class ShowSession(Struct, frozen=True):
    session: SessionId


class ReadMessages(Struct, frozen=True):
    """The session's messages in wire form, oldest first."""

    session: SessionId


class ExportSession(Struct, frozen=True):
    """The session in the OpenAI form of its snapshot file."""

    session: SessionId


class ListPrompts(Struct, frozen=True):
    """The prompts of a session that wait for their turn, in their order."""

    session: SessionId


class ListBackground(Struct, frozen=True):
    """The background commands of a session, the oldest first, those that are over too. Only a host can answer, since
    it must look whether the processes live that have them."""

    session: SessionId


class SuggestTitle(Struct, frozen=True):
    """A title for the session, by its last prompt. Only a host that can run it can answer; it may cost a little."""

    session: SessionId


class ShowDiff(Struct, frozen=True):
    """What has changed in the session's folder: since the last commit, or by its turns alone. Only a host that has
    the folder can answer."""

    session: SessionId
    by_turns: bool = False


class ListAsks(Struct, frozen=True):
    """Everything that waits for a person, in all sessions or in one."""

    session: SessionId | None = None


class FindAsk(Struct, frozen=True):
    """An ask by its id or the beginning of it: those that are open, else those that were."""

    text: str


class ListApprovals(Struct, frozen=True):
    """What need not be asked again: for this person, in these projects, and in one session if it is named."""

    session: SessionId | None = None


class ShowPermissions(Struct, frozen=True):
    """What needs no asking in a session, what is asked, and what is denied. Only a host can answer: the rules are in
    its files."""

    session: SessionId


class WhyNotRun(Struct, frozen=True):
    """Why this process cannot run the session: no folder, no agent, no key. None if it can. With `model` and
    `agent`, as if the session had those.

    Only a host can answer, for itself.
    """

    session: SessionId
    model: str | None = None
    agent: str | None = None


class WhyWaiting(Struct, frozen=True):
    """Why nobody runs a session that has something to do; None if somebody does, or if there is nothing.

    Only a host can answer, since it must look at the processes around it.
    """

    session: SessionId


Query = (
    ListSessions
    | ShowSession
    | ReadMessages
    | ExportSession
    | ListPrompts
    | ListBackground
    | SuggestTitle
    | ShowDiff
    | ListAsks
    | FindAsk
    | ListApprovals
    | ShowPermissions
    | WhyNotRun
    | WhyWaiting
)
