"""What clients ask for: each event of a client becomes commands and queries, and the answers go to that client."""

import asyncio
import base64
import binascii
import logging
from collections.abc import Sequence
from typing import assert_never

from coderelay.client.client import Client
from coderelay.client.i18n import speaking
from coderelay.client.image_files import picture_of
from coderelay.client.slash_commands import remote_command, run_remote_command
from coderelay.client.slash_results import ChangedFiles, RewoundTurns, SlashResult, SwitchedSession
from coderelay.client.typed_line import PromptToSend
from coderelay.protocol.asks import By
from coderelay.protocol.commands import (
    Accepted,
    AnswerAsk,
    Answered,
    ClearHistory,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    EditPrompt,
    RecallPrompt,
    SendPrompt,
    StopTurn,
    Unchanged,
    UndoTurn,
)
from coderelay.protocol.errors import BadInput, CoderError, Refusal, UnknownAsk, UnknownSession
from coderelay.protocol.ids import AskId, PromptId, SessionId, new_id
from coderelay.protocol.message_content import Image
from coderelay.protocol.projected_rows import AskRow, title_from
from coderelay.protocol.queries import (
    FindAsk,
    ListAsks,
    ListSessions,
    ListTurns,
    ShowDefaults,
    ShowSession,
)
from coderelay.protocol.translatable import say
from coderelay.surfaces.web.agent_and_model_resolution import for_a_new_session, for_a_session
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions, EventBroadcast
from coderelay.surfaces.web.catch_up import ask_frame, follow, send_history
from coderelay.surfaces.web.client_connections import ClientSocket
from coderelay.surfaces.web.client_event_types import (
    AgentsRecheck,
    Attachment,
    ClientEvent,
    CommandsList,
    ContinuePayload,
    FilesList,
    FilesRead,
    IdeContext,
    IdeContextChanged,
    PermissionPayload,
    PermissionResponse,
    PromptEdit,
    PromptRecall,
    SessionClear,
    SessionConfigure,
    SessionContinue,
    SessionDelete,
    SessionFollow,
    SessionHistory,
    SessionList,
    SessionStart,
    SessionStop,
    StartPayload,
    StatisticsSubscribe,
    TaskHistory,
    TurnDiff,
    TurnsList,
    TurnUndo,
    read_event,
)
from coderelay.surfaces.web.client_query_handler import look_up
from coderelay.surfaces.web.client_send_queue import ClientSendQueue
from coderelay.surfaces.web.ide_context import with_context
from coderelay.surfaces.web.outgoing_event_json import (
    UNKNOWN_SESSION,
    Payload,
    ask_tool,
    event_text,
    resolution_for_late_answer,
    runner_error,
    session_accepted,
    session_list,
)
from coderelay.surfaces.web.permission_response import decision_of, no_such_ask

log = logging.getLogger(__name__)


class ClientRequestHandler:
    """Carries out what the clients of a broadcast ask for."""

    def __init__(self, client: Client, by: By, options: BroadcastOptions, broadcast: EventBroadcast) -> None:
        self._client = client
        self._by = by
        self._options = options
        self._broadcast = broadcast
        self._undoing = asyncio.Lock()

    async def serve_client(self, websocket: ClientSocket, *, batched: bool) -> None:
        """Serve one client until its connection ends."""
        await self._broadcast.connections.serve(websocket, self.carry_out, batched=batched)

    async def carry_out(self, connection: ClientSendQueue, text: object) -> None:
        """Carry out one message of a client. What is wrong with it is told to that client; the connection stays."""
        session: str | None = None
        request: str | None = None
        try:
            if not isinstance(text, str):
                raise BadInput("a message is a JSON text, and not binary")
            event = read_event(text)
            session = getattr(event.payload, "session_id", None)
            request = getattr(event.payload, "request_id", None)
            await self._carry_out(connection, event)
        except UnknownSession:
            connection.reply(runner_error(UNKNOWN_SESSION, request=request))
        except CoderError as error:
            connection.reply(runner_error(str(error), session, request=request))
        except Exception as error:
            log.exception("a request of a web client failed")
            connection.reply(runner_error(f"internal error: {type(error).__name__}", session, request=request))

    async def _carry_out(self, connection: ClientSendQueue, event: ClientEvent) -> None:
        match event:
            case SessionList():
                wanted = event.payload
                query = ListSessions(cwd=wanted.cwd or None, limit=wanted.limit + 1, text=wanted.text)
                found = await self._client.get(query)
                more = self._broadcast.more_of
                connection.reply(session_list(found[: wanted.limit], whole=len(found) <= wanted.limit, more=more))
                if (context := self._broadcast.connections.ide.shown_to(connection)) is not None:
                    connection.reply(context)
            case SessionStart():
                await self._start(connection, event.payload)
            case SessionContinue():
                await self._continue(connection, event.payload)
            case SessionStop():
                await self._stop(connection, SessionId(event.payload.session_id))
            case SessionDelete():
                await self._delete(connection, SessionId(event.payload.session_id))
            case SessionHistory():
                await send_history(connection, self._client, self._broadcast, SessionId(event.payload.session_id))
            case PermissionResponse():
                await self._answer(connection, event.payload)
            case SessionFollow():
                await follow(connection, self._client, self._broadcast, event.payload)
            case SessionConfigure():
                await self._configure(event)
            case SessionClear():
                await self._client.send(ClearHistory(session=SessionId(event.payload.session_id), by=self._by))
            case PromptRecall() | PromptEdit():
                await self._change_prompt(event)
            case (
                FilesList()
                | FilesRead()
                | TaskHistory()
                | TurnsList()
                | TurnDiff()
                | CommandsList()
                | AgentsRecheck()
            ):
                connection.reply(await look_up(self._client, event, self._options.cwd))
            case TurnUndo():
                await self._undo(SessionId(event.payload.session_id), event.payload.turn_id)
            case IdeContextChanged():
                self._broadcast.connections.ide.change(connection, event.payload)
            case StatisticsSubscribe():
                connection.wants_statistics = event.payload.on
                self._broadcast.connections.measure()
            case _:
                assert_never(event)

    async def _start(self, connection: ClientSendQueue, wanted: StartPayload) -> None:
        if not wanted.prompt.strip() and not wanted.attachments:
            raise BadInput("the prompt is empty")
        images = images_of(wanted.attachments)
        cwd = wanted.cwd or self._options.cwd
        agent, model = await for_a_new_session(self._client, cwd, wanted.agent, wanted.model)
        session = SessionId(new_id())
        command = CreateSession(
            session=session,
            cwd=cwd,
            agent=agent,
            model=model,
            mode=wanted.mode or (await self._client.get(ShowDefaults(cwd))).mode,
            title=wanted.title.strip() or title_from(wanted.prompt),
            allowed_tools=_tools(wanted.allowed_tools),
            think=wanted.think or "auto",
            folders=wanted.folders,
            profile=self._client.capabilities.profile,
            by=self._by,
        )
        await self._client.send(command)
        try:
            prompt_id = await self._send(session, wanted.prompt, images, context=wanted.ide_context)
        except Refusal:
            await self._client.send(DeleteSession(session=session, by=self._by))
            raise
        if wanted.request_id is not None:
            connection.reply(session_accepted(session, prompt_id, wanted.request_id))

    async def _continue(self, connection: ClientSendQueue, wanted: ContinuePayload) -> None:
        session, images = SessionId(wanted.session_id), images_of(wanted.attachments)
        prompt, typed = wanted.prompt, ""
        if (slash := await remote_command(self._client, session, wanted.prompt)) is not None:
            told = command_output(await run_remote_command(self._client, session, self._by, slash))
            if not isinstance(told, PromptToSend):
                connection.reply(
                    event_text("command.output", {"sessionId": session, "command": wanted.prompt, **told})
                )
                return
            prompt, typed = told.text, wanted.prompt
        context = wanted.ide_context
        prompt_id = await self._send(session, prompt, images, steer=wanted.steer, typed=typed, context=context)
        if wanted.request_id is not None:
            connection.reply(session_accepted(session, prompt_id, wanted.request_id))

    async def _send(
        self,
        session: SessionId,
        prompt: str,
        images: tuple[Image, ...],
        *,
        steer: bool = False,
        typed: str = "",
        context: IdeContext | None = None,
    ) -> PromptId:
        prompt_id, text = PromptId(new_id()), with_context(prompt, context)
        await self._client.send(
            SendPrompt(
                session=session,
                prompt_id=prompt_id,
                text=text,
                by=self._by,
                images=images,
                steer=steer,
                typed=typed or (prompt if text != prompt else ""),
                unanswered="park",
            )
        )
        return prompt_id

    async def _stop(self, connection: ClientSendQueue, session: SessionId) -> None:
        """All clients are told when the turn has ended. If no turn is open, only the client that sent the request is
        told, at once."""
        try:
            outcome = await self._client.send(StopTurn(session=session, by=self._by))
            summary = await self._client.get(ShowSession(session))
        except UnknownSession:
            return  # the contract wants no answer
        if isinstance(outcome, Unchanged) and not summary.turn_open:
            connection.reply(event_text("session.status", {"sessionId": session, "status": "idle"}))

    async def _delete(self, connection: ClientSendQueue, session: SessionId) -> None:
        """All clients are told, unless there was nothing to delete or it was a child session, which other clients do
        not know."""
        try:
            is_child = (await self._client.get(ShowSession(session))).parent is not None
        except UnknownSession:
            is_child = False
        outcome = await self._client.send(DeleteSession(session=session, by=self._by))
        if is_child or not isinstance(outcome, Accepted):
            connection.reply(event_text("session.deleted", {"sessionId": session}))

    async def _answer(self, connection: ClientSendQueue, wanted: PermissionPayload) -> None:
        session = SessionId(wanted.session_id)
        row = await self._ask_meant(session, wanted)
        if not row.open:
            connection.reply(resolution_for_late_answer(session, row))
            return
        request = await ask_frame(self._broadcast, row)
        decision = decision_of(row.ask, wanted.result, None if request is None else request.text)
        outcome = await self._client.send(
            AnswerAsk(session=row.session, ask=row.ask.id, decision=decision, by=self._by)
        )
        if isinstance(outcome, Answered):
            connection.reply(resolution_for_late_answer(session, await self._client.get(FindAsk(row.ask.id))))

    async def _ask_meant(self, session: SessionId, wanted: PermissionPayload) -> AskRow:
        """The ask about that tool use, with that id: an answer that names both must mean one ask. Call ids are unique
        within a session, but children have call ids of their own, so that only the id of an ask tells them apart."""
        await self._client.get(ShowSession(session))
        if wanted.ask_id is None and wanted.tool_use_id is None:
            raise BadInput("an answer needs a toolUseId or an askId")
        found = [row for row in await self._client.get(ListAsks(session)) if _is_meant(row, wanted)]
        if len(found) > 1:
            raise BadInput(
                say(
                    "several requests are about {name}; name the one that you mean with askId",
                    name=repr(wanted.tool_use_id),
                )
            )
        return found[0] if found else await self._ask_closed(session, wanted)

    async def _ask_closed(self, session: SessionId, wanted: PermissionPayload) -> AskRow:
        named = wanted.ask_id or wanted.tool_use_id or ""
        ask_id = wanted.ask_id or self._broadcast.ask_about(session, named)
        if ask_id is None:
            raise no_such_ask(named)
        try:
            row = await self._client.get(FindAsk(ask_id))
        except UnknownAsk as error:
            raise no_such_ask(named) from error
        if session not in (row.session, row.parent) or row.ask.id != AskId(ask_id) or not _is_meant(row, wanted):
            raise no_such_ask(named)
        return row

    async def _configure(self, event: SessionConfigure) -> None:
        wanted, session = event.payload, SessionId(event.payload.session_id)
        agent, model = wanted.agent, wanted.model
        if agent is not None or model is not None:
            agent, model = await for_a_session(self._client, session, agent, model)
        await self._client.send(
            ConfigureSession(
                session=session,
                by=self._by,
                mode=wanted.mode,
                think=wanted.think,
                agent=agent,
                model=model,
                cwd=wanted.cwd,
                folders=wanted.folders,
                title=wanted.title,
                when="next_turn",
            )
        )

    async def _undo(self, session: SessionId, turn_id: str) -> None:
        """All clients are told which files were restored. If two people undo the same turn, the second request
        changes nothing."""
        async with self._undoing:
            turns = await self._client.get(ListTurns(session, limit=1))
            if not turns or turns[0].turn_id != turn_id:
                raise BadInput("this is not the last turn any more; nothing was undone")
            await self._client.send(UndoTurn(session=session, by=self._by))

    async def _change_prompt(self, event: PromptRecall | PromptEdit) -> None:
        session, prompt_id = SessionId(event.payload.session_id), PromptId(event.payload.prompt_id)
        if isinstance(event, PromptRecall):
            outcome = await self._client.send(RecallPrompt(session=session, prompt_id=prompt_id, by=self._by))
        else:
            outcome = await self._client.send(
                EditPrompt(session=session, prompt_id=prompt_id, text=event.payload.prompt, by=self._by)
            )
        if isinstance(outcome, Unchanged):
            raise BadInput("this prompt does not wait in the queue any more")


def _is_meant(row: AskRow, wanted: PermissionPayload) -> bool:
    return wanted.ask_id in (None, row.ask.id) and wanted.tool_use_id in (None, ask_tool(row.ask))


def _tools(allowed: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in (allowed or "").split(","))))


def command_output(result: SlashResult) -> PromptToSend | Payload:
    """A prompt to send, or what the person is told."""
    match result:
        case PromptToSend():
            return result
        case ChangedFiles():
            return {"text": result.text, "diff": result.diff}
        case SwitchedSession():
            return {"text": result.told, "switchedTo": result.session}
        case RewoundTurns():
            return {"text": result.told}
        case str():
            return {"text": result}
        case _:
            return {"text": ""}


def images_of(attachments: Sequence[Attachment]) -> tuple[Image, ...]:
    """Raises BadInput for what no model would take. The data says what kind of picture it is; programs are often
    wrong about that."""
    return tuple(_image(each, f"attachment {number}") for number, each in enumerate(attachments, 1))


def _image(attachment: Attachment, name: str) -> Image:
    try:
        data = base64.b64decode(attachment.data, validate=True)
    except binascii.Error as error:
        raise BadInput(say("the data of {name} is not valid base64", name=name)) from error
    with speaking("en"):
        return picture_of(data, name).image
