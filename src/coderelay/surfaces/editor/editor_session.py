"""One session that an editor has open: its log goes out as updates, and prompts come in."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any

from coderelay.acp.client_requests import NOT_FOUND, ContentBlock
from coderelay.acp.updates import Fields, chunk, text_block
from coderelay.client.client import Client
from coderelay.client.errors import error_in_words
from coderelay.client.family import join_family
from coderelay.client.language import localize, retell, t
from coderelay.client.remote_commands import remote_command
from coderelay.client.slash_line import PromptToSend
from coderelay.protocol.asks import By
from coderelay.protocol.commands import ConfigureSession, OpenSession, RecallPrompt, SendPrompt, StopTurn
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.events import (
    AskAnswered,
    PromptRecalled,
    Recorded,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
    asks_in,
)
from coderelay.protocol.ids import PromptId, TurnId, new_id
from coderelay.protocol.live import Live
from coderelay.protocol.modes import MODE_NAMES, MODES
from coderelay.protocol.session_events import Mode
from coderelay.protocol.summary import Summary
from coderelay.surfaces.editor.editor_commands import available_commands, run_command
from coderelay.surfaces.editor.permission_requests import PermissionRequests
from coderelay.surfaces.editor.prompt_content import prompt_content
from coderelay.surfaces.editor.session_updates import SessionUpdates
from coderelay.wire.errors import INTERNAL_ERROR, RpcError
from coderelay.wire.peer import Peer, Request

log = logging.getLogger(__name__)


class EditorSession:
    """`summary` is the session when the editor opened it. `max_mode` is the freest mode that it may choose. What the
    editor does to a session happens in the order in which it wants it: `_order` is taken in the order of arrival."""

    def __init__(
        self, client: Client, by: By, peer: Peer, summary: Summary, max_mode: Mode, *, shows_notices: bool
    ) -> None:
        self.id = summary.id
        self._client = client
        self._by = by
        self._peer = peer
        pending = None if summary.pending is None else summary.pending.mode
        self._updates = SessionUpdates(summary.cwd, pending or summary.mode, shows_notices=shows_notices)
        self._max_mode: Mode = max_mode
        self._asks = PermissionRequests(client, by, peer, self.id, self._updates, max_mode)
        self._seq = summary.head
        self._updates.is_midway = summary.turn_open
        self._order = asyncio.Lock()
        self._prompts: dict[PromptId, asyncio.Future[str]] = {}  # sent by this editor, and not over yet
        self._turns: dict[TurnId, PromptId] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        return bool(self._prompts)

    @property
    def modes(self) -> Fields:
        """The modes up to the freest that the editor may choose, and the one that the session has already."""
        offered = [each for each in MODES if each.name in self._choices]
        listed = [{"id": each.name, "name": each.name, "description": localize(each.text)} for each in offered]
        return {"currentModeId": self._updates.mode, "availableModes": listed}

    @property
    def _choices(self) -> list[Mode]:
        names = list(MODE_NAMES[: MODE_NAMES.index(self._max_mode) + 1])
        return names if self._updates.mode in names else [*names, self._updates.mode]

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
        self._spawn(self._tell_commands())
        self._spawn(self._follow())

    def send(self, update: Fields) -> None:
        self._peer.tell("session/update", {"sessionId": self.id, "update": update})

    async def prompt(self, blocks: tuple[ContentBlock, ...], request: Request) -> Fields:
        """Send a prompt and wait until its turn has ended. Prompts that come meanwhile wait in the queue."""
        request.on_cancel = self.cancel_soon
        async with self._order:
            over = await self._begin(blocks)
        return {"stopReason": "end_turn" if over is None else await over}

    def cancel_soon(self) -> None:
        self._spawn(self.cancel())

    async def cancel(self) -> None:
        """Stop the open turn, and take back what waits behind it."""
        async with self._order:
            await self._recall_queued()
            await self._client.send(StopTurn(session=self.id, by=self._by))

    async def set_mode(self, mode: str) -> None:
        names = self._choices
        if mode not in names:
            hint = t("`acp.max_mode` in your configuration allows more.") if mode in MODE_NAMES else ""
            raise BadInput(t("the mode must be one of: {names}", names=", ".join(names)), hint)
        chosen: Mode = names[names.index(mode)]
        async with self._order:
            command = ConfigureSession(session=self.id, by=self._by, mode=chosen, when="next_turn")
            await self._client.send(command)

    async def close(self) -> None:
        """End what the editor has begun, and wait until it is answered. The log keeps the session."""
        if waiting := list(self._prompts.values()):
            await self.cancel()
            await asyncio.wait(waiting)
        await self.stop()

    async def stop(self) -> None:
        """Stop sending. The session goes on without this editor, and its asks stay open."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._asks.stop()

    async def _begin(self, blocks: tuple[ContentBlock, ...]) -> asyncio.Future[str] | None:
        """Returns what becomes the reason for the end of the turn; None if a command was carried out at once."""
        content = prompt_content(blocks, self._updates.cwd)
        text, typed = content.text, content.typed
        if (slash := await remote_command(self._client, self.id, typed)) is not None:
            begun: list[asyncio.Future[str]] = []
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
        command = SendPrompt(
            session=self.id,
            prompt_id=prompt,
            text=text,
            by=self._by,
            images=content.images,
            typed=typed if typed != text else "",
            unanswered="park",
        )
        try:
            await self._client.send(command)
        except BaseException:
            del self._prompts[prompt]
            raise
        return over

    def _expect(self, prompt: PromptId) -> asyncio.Future[str]:
        self._updates.own.add(prompt)
        over = self._prompts[prompt] = asyncio.get_running_loop().create_future()
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
            case StopRequested():
                await self._recall_queued()  # after a stop they would wait, perhaps for ever
            case PromptRecalled() as event:
                self._end(event.prompt_id, "cancelled")
            case TurnEnded() as event:
                if (prompt := self._turns.pop(event.turn_id, None)) is not None:
                    self._end(prompt, _stop_reason(event))
            case _:
                pass

    def _end(self, prompt: PromptId, how: str | RpcError) -> None:
        over = self._prompts.pop(prompt, None)
        if over is None or over.done():
            return
        if isinstance(how, RpcError):
            over.set_exception(how)
        else:
            over.set_result(how)

    async def _tell_commands(self) -> None:
        listed = await available_commands(self._client, self.id)
        self.send({"sessionUpdate": "available_commands_update", "availableCommands": listed})

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except CoderError as error:
            log.warning("%s", error_in_words(error))


def _stop_reason(event: TurnEnded) -> str | RpcError:
    match event.ending:
        case "failed":
            return RpcError(INTERNAL_ERROR, retell(event.error or t("the turn failed"), event.said))
        case "stopped":
            return "cancelled"
        case "step_limit":
            return "max_turn_requests"
        case "done":
            return event.stop_reason
