"""One session that an editor has open: its log goes out as updates, and prompts come in."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing

from coderelay.acp.request_params import NOT_FOUND, ContentBlock
from coderelay.acp.update_payloads import Fields, chunk, text_block, usage
from coderelay.client.client import Client, Lent, LentServer
from coderelay.client.follow_with_subagents import join_family
from coderelay.client.i18n import error_in_words, localize, retell, t
from coderelay.client.slash_commands import COMMANDS, names_for, remote_command, run_remote_command
from coderelay.client.slash_results import ChangedFiles, RewoundTurns, SwitchedSession
from coderelay.client.typed_line import PromptToSend, Slash
from coderelay.protocol.asks import By
from coderelay.protocol.commands import OpenSession, RecallPrompt, SendPrompt, StopTurn
from coderelay.protocol.errors import CoderError
from coderelay.protocol.events import (
    AskAnswered,
    PromptRecalled,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
    asks_in,
)
from coderelay.protocol.ids import PromptId, SessionId, TurnId, new_id
from coderelay.protocol.live_updates import Live
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListCommands, ShowContext, ShowHost, ShowSession
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.editor.config_options import ConfigOptions
from coderelay.surfaces.editor.connection_context import ConnectionContext
from coderelay.surfaces.editor.editor_files import EditorFiles
from coderelay.surfaces.editor.permission_requests import PermissionRequests
from coderelay.surfaces.editor.prompt_content import prompt_content
from coderelay.surfaces.editor.session_updates import SessionUpdates
from coderelay.wire.messages_and_errors import INTERNAL_ERROR, RpcError
from coderelay.wire.peer import PeerRequest

log = logging.getLogger(__name__)


class EditorSession:
    """`summary` is the session when the editor opened it. `max_mode` is the freest mode that it may choose. A turn of
    its prompts has `max_steps`. Requests of the editor are carried out in the order in which they arrive: `_order` is
    a lock that is taken in that order."""

    def __init__(self, context: ConnectionContext, summary: Summary, max_mode: Mode, max_steps: int | None) -> None:
        self.id = summary.id
        self._client = context.client
        self._by = context.by
        self._peer = context.peer
        self._dialect = context.dialect
        self._max_steps = max_steps
        self._options = ConfigOptions(context.client, context.by, summary, max_mode)
        notices = context.dialect.initialized.shows_notices
        self._updates = SessionUpdates(summary.cwd, self._options.mode, shows_notices=notices)
        self._asks = PermissionRequests(context, self.id, self._updates, max_mode, self.send)
        self._seq = summary.head
        self._updates.is_midway = summary.turn_open
        self._order = asyncio.Lock()
        self._prompts: dict[PromptId, asyncio.Future[str | RpcError]] = {}  # sent by this editor, and not over yet
        self._turns: dict[TurnId, PromptId] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._cancelling: asyncio.Task[None] | None = None
        self._problem: RpcError | None = None  # why the session is not followed any longer
        self._lends_files = False
        self._take_back: Callable[[], None] = lambda: None

    @property
    def is_busy(self) -> bool:
        return bool(self._prompts)

    @property
    def settings(self) -> Fields:
        """What the editor may choose, as the requests that open a session answer it."""
        return {"modes": self._options.modes, "configOptions": self._options.fields}

    async def replay(self) -> None:
        """Send the whole log until now."""
        until, mode = self._seq, self._updates.mode
        async with aclosing(self._client.follow(self.id, 0)) as events:
            async for each in events:
                if not isinstance(each, Recorded):
                    continue
                for update in self._updates.of(each):
                    if update["sessionUpdate"] != "current_mode_update":
                        self.send(update)
                await self._peer.drained()
                if each.seq >= until:
                    break
        self._updates.mode = mode

    def start(self, notices: list[str]) -> None:
        """Begin to send what happens. Called when the editor has been answered, so that nothing comes before that."""
        for text in notices:
            self.send(self._updates.notice(text))
        self._spawn(self._tell_commands)
        self._spawn(self._tell_models)
        self._spawn(self._follow)

    def lend(self, servers: Mapping[str, LentServer], folders: tuple[str, ...]) -> None:
        """Lend what the client has to the turns that this process runs."""
        initialized = self._dialect.initialized
        self._lends_files = self._dialect.lends_files and (initialized.reads_files or initialized.writes_files)
        editor = EditorFiles(self._peer, self.id, initialized) if self._lends_files else None
        self._take_back = self._client.lend(self.id, Lent(editor, servers, folders))

    def send(self, update: Fields) -> None:
        self._peer.send_notification("session/update", {"sessionId": self.id, "update": self._dialect.update(update)})

    async def prompt(self, blocks: tuple[ContentBlock, ...], request: PeerRequest) -> Fields:
        """Send a prompt and wait until its turn has ended. Prompts that come meanwhile wait in the queue."""
        request.on_cancel = self.cancel_soon
        async with self._order:
            over = await self._begin(blocks)
        told, reason = self._dialect.prompt_end("end_turn" if over is None else await over)
        if told:
            self.send(self._updates.notice(told))
        return {"stopReason": reason}

    def cancel_soon(self) -> None:
        """Cancel all prompts that were requested until now. If it is called several times, only the last call
        acts."""
        if self._cancelling is not None:
            self._cancelling.cancel()
        self._cancelling = self._spawn(self.cancel)

    async def cancel(self) -> None:
        """Stop the open turn, and take back what waits behind it."""
        async with self._order:
            await self._recall_queued()
            await self._client.send(StopTurn(session=self.id, by=self._by))

    async def set_mode(self, mode: str) -> None:
        async with self._order:
            await self._options.choose("mode", mode)

    async def set_option(self, option: str, value: str) -> Fields:
        async with self._order:
            await self._options.choose(option, value)
        return {"configOptions": self._options.fields}

    async def close(self) -> None:
        """End what the editor has begun, and wait until it is answered. The log keeps the session."""
        if waiting := list(self._prompts.values()):
            await self.cancel()
            await asyncio.wait(waiting)
        await self.stop()

    async def stop(self) -> None:
        """Stop sending. The session goes on without this editor, and its asks stay open."""
        self._take_back()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._asks.stop()
        for prompt in list(self._prompts):
            self._end(prompt, "cancelled")

    async def _begin(self, blocks: tuple[ContentBlock, ...]) -> asyncio.Future[str | RpcError] | None:
        """Returns what becomes the reason for the end of the turn; None if a command was carried out at once."""
        content = prompt_content(blocks, self._updates.cwd)
        text, typed = content.text, content.typed
        if (slash := await remote_command(self._client, self.id, typed)) is not None:
            begun: list[asyncio.Future[str | RpcError]] = []
            told = await run_command(
                self._client, self.id, self._by, slash, lambda prompt: begun.append(self._expect(prompt))
            )
            if not isinstance(told, PromptToSend):
                if told:
                    self.send(chunk("agent_message_chunk", text_block(told)))
                return begun[0] if begun else None
            text = told.text + content.text.removeprefix(typed)
        prompt = PromptId(new_id())
        over = self._expect(prompt)
        if over.done():  # otherwise nothing would report the end of its turn
            return over
        command = SendPrompt(
            session=self.id,
            prompt_id=prompt,
            text=text,
            by=self._by,
            images=content.images,
            max_steps=self._max_steps,
            typed=typed if typed != text else "",
            unanswered="park",
        )
        try:
            await self._client.send(command)
        except BaseException:
            self._prompts.pop(prompt, None)
            raise
        return over

    def _expect(self, prompt: PromptId) -> asyncio.Future[str | RpcError]:
        self._updates.own.add(prompt)
        over = self._prompts[prompt] = asyncio.get_running_loop().create_future()
        if self._problem is not None:
            self._end(prompt, self._problem)
        return over

    async def _recall_queued(self) -> None:
        begun = set(self._turns.values())
        for prompt in [each for each in self._prompts if each not in begun]:
            await self._client.send(RecallPrompt(session=self.id, prompt_id=prompt, by=self._by))

    async def _follow(self) -> None:
        try:
            await self._client.send(OpenSession(session=self.id, by=self._by))
            asks, events = await join_family(self._client, self.id, self._seq)
            async with aclosing(events) as feed:
                if self._lends_files and (await self._client.get(ShowHost(self.id))).owner == "another process":
                    self._warn_unsaved_text_not_visible()
                for row in asks:
                    self._asks.open(row.session, row.ask)
                async for each in feed:
                    await self._take(each)
                    await self._peer.drained()
            problem = RpcError(NOT_FOUND, t("the session was deleted"))
        except CoderError as error:
            log.exception("a session cannot be followed any longer")
            problem = RpcError(INTERNAL_ERROR, error_in_words(error))
        except Exception as error:
            log.exception("an event could not be shown")
            problem = RpcError(INTERNAL_ERROR, f"internal error: {type(error).__name__}")
        self._problem = problem
        for prompt in list(self._prompts):
            self._end(prompt, problem)

    async def _take(self, each: Recorded | Live) -> None:
        is_own = not isinstance(each, Recorded) or each.session == self.id
        for update in self._updates.of(each) if is_own else ():
            self.send(update)
        if not isinstance(each, Recorded):
            return
        for ask in asks_in(each.event):
            self._asks.open(each.session, ask)
        match each.event:
            case AskAnswered() as event:
                await self._asks.close(event.ask_id)
            case StopRequested() | TurnEnded() | SessionDeleted():
                await self._asks.close_all(each.session)
            case _:
                pass
        if is_own:
            await self._note(each)

    async def _note(self, recorded: Recorded) -> None:
        """Answer the prompts of this editor that are over."""
        self._seq = recorded.seq
        match recorded.event:
            case TurnStarted() as event:
                self._turns[event.turn_id] = event.prompt_id
            case SessionClaimed() as event:
                await self._look_at_owner(event)
            case StopRequested():
                await self._recall_queued()  # after a stop they would wait, perhaps for ever
            case PromptRecalled() as event:
                self._end(event.prompt_id, "cancelled")
            case SessionConfigured() as event:
                if self._options.take(event):
                    self.send(self._options.update)
            case TurnEnded() as event:
                await self._tell_usage()
                if (prompt := self._turns.pop(event.turn_id, None)) is not None:
                    self._end(prompt, _stop_reason(event))
            case _:
                pass

    def _end(self, prompt: PromptId, how: str | RpcError) -> None:
        over = self._prompts.pop(prompt, None)
        if over is not None and not over.done():
            over.set_result(how)

    async def _tell_commands(self) -> None:
        listed = await available_commands(self._client, self.id)
        self.send({"sessionUpdate": "available_commands_update", "availableCommands": listed})

    async def _tell_models(self) -> None:
        await self._options.find_models()
        self.send(self._options.update)

    async def _look_at_owner(self, claim: SessionClaimed) -> None:
        if self._lends_files and (await self._client.get(ShowHost(self.id))).process != claim.owner:
            self._warn_unsaved_text_not_visible()

    def _warn_unsaved_text_not_visible(self) -> None:
        """Say, once, that the editor's files are not seen because another process runs the turn."""
        self._lends_files = False
        told = t("Another coder process runs this prompt. It does not see unsaved changes in your editor.")
        self.send(self._updates.notice(told))

    async def _tell_usage(self) -> None:
        """How full the model's window is, and what the session has cost."""
        try:
            summary = await self._client.get(ShowSession(self.id))
            window = (await self._client.get(ShowContext(self.id))).window
        except CoderError:
            return  # deleted, or of another machine
        if window:
            self.send(usage(summary.context_tokens, window, summary.cost))

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except CoderError as error:
            log.warning("%s", error_in_words(error))


def _stop_reason(event: TurnEnded) -> str | RpcError:
    match event.ending:
        case "failed":
            return RpcError(
                INTERNAL_ERROR, retell(event.error or t("the turn failed for an unknown reason"), event.said)
            )
        case "stopped":
            return "cancelled"
        case "step_limit":
            return "max_turn_requests"
        case "done":
            return event.stop_reason


async def available_commands(client: Client, session: SessionId) -> list[Fields]:
    usable = [each for each in COMMANDS if each.offered and each.name in names_for(client.capabilities)]
    built_in = [_fields(each.name, localize(each.text), each.hint) for each in usable]
    names = {each["name"] for each in built_in}
    found = (await client.get(ListCommands(session))).found
    return built_in + [_fields(each.name, each.description, each.hint) for each in found if each.name not in names]


async def run_command(
    client: Client, session: SessionId, by: By, slash: Slash, on_prompt: Callable[[PromptId], None]
) -> PromptToSend | str:
    """Run a command. The result is a prompt to send, or what the person is told."""
    result = await run_remote_command(client, session, by, slash, on_prompt)
    match result:
        case PromptToSend() | str():
            return result
        case ChangedFiles():
            return str(result)
        case SwitchedSession() | RewoundTurns():
            return result.told
        case _:
            return ""


def _fields(name: str, text: str, hint: str) -> Fields:
    given = {"input": {"hint": visible(hint)}} if hint else {}
    return {"name": name, "description": visible(text), **given}
