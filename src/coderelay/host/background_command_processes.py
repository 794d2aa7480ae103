"""Background commands of this host's sessions: kept running, stopped on request, their ends logged."""

import asyncio
import logging
from weakref import WeakValueDictionary

from msgspec.structs import replace

from coderelay.host.loaded_session import LoadedSession
from coderelay.host.session_ownership import SessionOwnership
from coderelay.protocol.asks import By
from coderelay.protocol.background_commands import BackgroundRow, End, Exited, Gone, StoppedBy
from coderelay.protocol.commands import Accepted, Outcome, StopBackground, Unchanged
from coderelay.protocol.errors import BadInput, StoreFailed, ToolFailed
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import BackgroundId, SessionId
from coderelay.protocol.translatable import say
from coderelay.session import background_command_events, decide
from coderelay.session.state import BackgroundCommand, State
from coderelay.workspace.processes.background_commands_interface import BackgroundStatus
from coderelay.workspace.processes.command_runner import CannotStart, ProcessesLost, RunningCommand

log = logging.getLogger(__name__)

MOST_RUNNING = 16
AGENT = By(who="the agent", via="bash_stop")
_MOST_HELD = 4096
_STOP_SECONDS = 15.0  # seconds, in whichever process runs the command


class BackgroundCommands:
    """The background commands of all sessions in this process. Those of a session are forgotten with it."""

    def __init__(self, takeover: SessionOwnership) -> None:
        self._takeover = takeover
        self._sessions: WeakValueDictionary[SessionId, SessionBackground] = WeakValueDictionary()

    def of(self, loaded: LoadedSession) -> "SessionBackground":
        known = self._sessions.get(loaded.session)
        if known is None:
            known = self._sessions[loaded.session] = SessionBackground(loaded, self)
        return known

    def runs_any(self, session: SessionId) -> bool:
        known = self._sessions.get(session)
        return known is not None and known.runs_any()

    async def rows(self, state: State) -> list[BackgroundRow]:
        decide.require(state)
        return [
            BackgroundRow(each.id, each.command, each.started_at, Gone() if await self.is_gone(each) else each.end)
            for each in state.background.values()
        ]

    async def carry_out(self, loaded: LoadedSession, command: StopBackground) -> Outcome:
        decide.require(loaded.state)
        written = await self.stop(loaded, command.background, command.by)
        return Accepted(loaded.state.head) if written else Unchanged(loaded.state.head)

    async def stop(self, loaded: LoadedSession, wanted: BackgroundId, by: By) -> list[Recorded]:
        """Ask the process that runs the command to stop it. Raises BadInput if there is no such command."""
        if await self.is_gone(background_command_events.find(loaded.state, wanted)):
            return await loaded.append(lambda state: background_command_events.end(state, wanted, Gone()))
        return await loaded.append(lambda state: background_command_events.request_stop(state, wanted, by))

    async def is_gone(self, command: BackgroundCommand) -> bool:
        """Whether the log holds no end for the command and the process that would have to write it is dead. A process
        that is only stalled is not dead: its commands run on."""
        if command.end is not None or command.owner is None:
            return False
        return command.owner != await self._takeover.me() and not await self._takeover.is_owned_elsewhere(
            command.owner
        )

    async def close(self) -> None:
        """Stop all background commands. Their ends are in the log when this returns."""
        await asyncio.gather(*(each.close() for each in self._sessions.values()))


class SessionBackground:
    """The background commands of one session that run in this process, by number. What to do with them is read from
    the log."""

    def __init__(self, loaded: LoadedSession, all_of_them: BackgroundCommands) -> None:
        self._loaded = loaded
        self._all = all_of_them
        self._kept: dict[BackgroundId, _BackgroundProcess] = {}
        loaded.watchers.add(self._apply_log)

    def runs_any(self) -> bool:
        unended = {each.id for each in background_command_events.running(self._loaded.state)}
        return any(number in unended or not kept.running.is_over for number, kept in self._kept.items())

    def make_room(self) -> None:
        running = background_command_events.running(self._loaded.state)
        if len(running) >= MOST_RUNNING:
            names = ", ".join(map(background_command_events.name, running))
            raise ToolFailed(
                say(
                    "{count} commands run in the background already: {names}; stop one first",
                    count=len(running),
                    names=names,
                )
            )

    def keep(self, running: RunningCommand) -> BackgroundId:
        self._forget_the_oldest()
        number = background_command_events.next_id(self._loaded.state)
        self._kept[number] = _BackgroundProcess(running)
        return number

    def look(self, wanted: BackgroundId) -> BackgroundStatus:
        command, kept = self._find(wanted), self._kept.get(wanted)
        if kept is not None:
            return kept.look(command)
        what = background_command_events.status_text(command)
        if command.end is None:
            return BackgroundStatus(
                "", f"{what}, in another process of coder: its output cannot be read here", over=False
            )
        return BackgroundStatus("", f"{what}; what it wrote is not there any more", over=True)

    async def stop(self, wanted: BackgroundId) -> BackgroundStatus:
        if self._find(wanted).end is None:
            await self._all.stop(self._loaded, wanted, AGENT)
            await self._ends(wanted)
        return self.look(wanted)

    def drop_unrecorded(self) -> None:
        """Stop commands that the log does not list: nobody could ever stop them later."""
        for number, kept in self._kept.items():
            if number not in self._loaded.state.background:
                kept.stop(Gone())

    async def close(self) -> None:
        for kept in self._kept.values():
            kept.stop(Gone())
        await asyncio.gather(*(each.stopping for each in self._kept.values() if each.stopping is not None))
        self._apply_log(self._loaded.state)
        await asyncio.gather(*(each.telling for each in self._kept.values() if each.telling is not None))
        self._loaded.watchers.discard(self._apply_log)

    def _forget_the_oldest(self) -> None:
        known = self._loaded.state.background
        over = [number for number in self._kept if number in known and known[number].end is not None]
        for number in over[: -MOST_RUNNING + 1]:
            del self._kept[number]

    def _find(self, wanted: BackgroundId) -> BackgroundCommand:
        try:
            return background_command_events.find(self._loaded.state, wanted)
        except BadInput as refused:
            raise ToolFailed(refused.message) from refused

    async def _ends(self, wanted: BackgroundId) -> None:
        state = self._loaded.state
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                while wanted in state.background and state.background[wanted].end is None:
                    await self._loaded.moves(state.head, _STOP_SECONDS)
        except TimeoutError as error:
            raise ToolFailed(
                say("background command {number} is asked to stop, but has not done so yet", number=wanted)
            ) from error

    def _apply_log(self, state: State) -> None:
        """Called whenever the log has moved: do with each command what the log says."""
        for number, kept in self._kept.items():
            command = state.background.get(number)
            if command is None:
                if state.deleted:
                    kept.stop(Gone())
                continue
            if command.end is not None:
                kept.stop(command.end)  # another process took this one for dead
            elif command.stop_by is not None:
                kept.stop(StoppedBy(command.stop_by))
            if command.end is None and kept.telling is None:
                kept.telling = asyncio.create_task(self._tell_end(number, kept))

    async def _tell_end(self, number: BackgroundId, kept: "_BackgroundProcess") -> None:
        await kept.running.wait()
        try:
            await self._loaded.append(lambda state: background_command_events.end(state, number, kept.end()))
        except StoreFailed as error:
            log.warning("the end of background command %s could not be written: %s", number, error)
            kept.telling = None  # so it is tried again when the log moves


class _BackgroundProcess:
    """One running command. The task `telling` waits for its end and writes that to the log; the task `stopping` stops
    it."""

    def __init__(self, running: RunningCommand) -> None:
        self.running = running
        self.telling: asyncio.Task[None] | None = None
        self.stopping: asyncio.Task[None] | None = None
        self._stopped_as: End | None = None
        self._held = ""

    def stop(self, how: End) -> None:
        if self.stopping is None and not self.running.is_over:
            self._stopped_as = how
            self.stopping = asyncio.create_task(self.running.stop())

    def end(self) -> End:
        if self._stopped_as is not None:
            return self._stopped_as
        try:
            ended = self.running.finished()
        except (CannotStart, ProcessesLost):
            return Gone()
        return Exited(ended.exit_code, ended.signal)

    def look(self, command: BackgroundCommand) -> BackgroundStatus:
        end = command.end or (self.end() if self.running.is_over else None)  # the end may not be in the log yet
        what = background_command_events.status_text(replace(command, end=end))
        if end is None:
            what = f"{what}, for {self.running.seconds:.1f} s now"
        return BackgroundStatus(self._written(over=end is not None), what, over=end is not None)

    def _written(self, *, over: bool) -> str:
        """The new output, without its last line while that is unfinished. Half a line may hold half a secret, which
        masking cannot find, so it is held back until the next look."""
        new = self.running.take_output()
        text, self._held = self._held + new, ""
        if over or not new:
            return text
        whole, end, last = text.rpartition("\n")
        if len(last) > _MOST_HELD:
            return text
        self._held = last
        return whole + end
