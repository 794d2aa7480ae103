"""The contract between surfaces and sessions: commands in, values and events out."""

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol

from msgspec import Struct

from coderelay.protocol.commands import Command, Outcome
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.live_updates import Live
from coderelay.protocol.queries import Query, Value
from coderelay.protocol.session_setting_values import Profile


class Capabilities(Struct, frozen=True):
    """What a client may do beyond what every client may. The process that opens the connection decides it, never what
    comes over the connection: a name such as `terminal` in a command proves nothing.

    `shell` allows commands of the person's own (RunShell), which nothing judges or confines. `all_commands` allows
    every slash command, and not only the remote ones; `editor_commands` allows those that are for editors.
    `profile` is the profile that the person has configured for the surface, which may create sessions with it.
    """

    shell: bool = False
    all_commands: bool = False
    editor_commands: bool = False
    profile: Profile = ""


NO_CAPABILITIES = Capabilities()
AT_THE_MACHINE = Capabilities(shell=True, all_commands=True)
"""For a person who could run anything on this machine anyway."""
EDITOR = Capabilities(editor_commands=True)


if TYPE_CHECKING:
    from coderelay.workspace.files.disk_or_editor_files import Editor


class LentServer(Struct, frozen=True):
    """An MCP server of a client: a program to start, or an address. Unlike in the configuration, `${NAME}` in its
    values stands for itself. The values may be secrets, and so may arguments."""

    literal: ClassVar[bool] = True

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str | None = None
    headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"LentServer({self.command or 'an address'}, env={[*self.env]}, headers={[*self.headers]})"


class Lent(Struct, frozen=True):
    """The `editor` has unsaved text. A person is asked before one of the `servers` is started or one of the `folders`
    is used."""

    editor: "Editor | None" = None
    servers: Mapping[str, LentServer] = {}
    folders: tuple[str, ...] = ()


class Client(Protocol):
    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def language(self) -> str:
        """The language of the person at this connection; empty if it is that of the process. Answers are in English,
        with their templates; a surface translates them when it shows them, within `speaking(language)`."""
        ...

    async def send(self, command: Command) -> Outcome:
        """Carry out a command; its effect is on disk when this returns. Raises a Refusal, and then nothing has
        changed."""
        ...

    async def get(self, query: Query[Value]) -> Value:
        """Answer a query. Raises a Refusal."""
        ...

    def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        """Replay the events after the cursor `after`, then follow new ones, without gap or repeat. Live pieces in
        between are for display only. Ends when the session is deleted."""
        ...

    def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        """Follow all sessions that this client may see, also those that any process creates later, each event with
        its session. A session in `after` is replayed from its cursor there; another is followed from now on; a new
        one from its first event. "Now" is when the first event is asked for. Each session has its events in order,
        without gap or repeat; the last event of a deleted session is its deletion.

        Unlike `follow`, this does not make the process ready to run the sessions."""
        ...

    def lend(self, session: SessionId, lent: Lent) -> Callable[[], None]:
        """Lend something to a session, in the memory of this process only: turns that another process runs do without
        it. It is lent until the returned function is called."""
        ...

    def key_value_store(self, name: str) -> KeyValueStore:
        """The durable entries that a surface keeps for itself under this name, in no session's log."""
        ...


NOTHING_LENT = Lent()
