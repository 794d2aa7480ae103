"""The methods of the Agent Client Protocol for one editor."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from coderelay import __version__
from coderelay.acp.request_params import (
    NOT_FOUND,
    PROTOCOL_VERSION,
    Authenticate,
    Initialize,
    InSession,
    ListedSessions,
    LoadSession,
    NewSession,
    Prompt,
    SetConfigOption,
    SetMode,
    SetModel,
    SetThink,
    read_params,
)
from coderelay.acp.update_payloads import Fields
from coderelay.client.client import Client
from coderelay.client.i18n import error_in_words, t
from coderelay.protocol.asks import By
from coderelay.protocol.commands import ConfigureSession, CreateSession, DeleteSession
from coderelay.protocol.errors import BadInput, CannotRun, CoderError, UnknownSession
from coderelay.protocol.ids import SessionId, new_id
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListSessions, ListSettings, ShowDefaults, ShowSession, WhyNotRun
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.translatable import say
from coderelay.surfaces.editor.acp_dialect_base import Dialect
from coderelay.surfaces.editor.connection_context import ConnectionContext
from coderelay.surfaces.editor.editor_session import EditorSession
from coderelay.surfaces.editor.iflow_dialect import IflowDialect
from coderelay.surfaces.editor.new_session_settings import (
    absolute_folder,
    accepted_settings,
    additional_folders,
    folders_to_confirm,
    lent_servers,
)
from coderelay.wire.messages_and_errors import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Params, RpcError
from coderelay.wire.peer import Method, Peer, PeerRequest, Reply
from coderelay.wire.transport import Transport

_PAGE = 100
_TITLE = 60
_CAPABILITIES: Fields = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": False},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
}


class AcpMethods:
    """Answers an editor until it leaves. `dialect` chooses how it is spoken to, when it has said who it is."""

    def __init__(
        self, client: Client, by: By, transport: Transport, dialect: Callable[[Initialize], Dialect] = Dialect
    ) -> None:
        self._client = client
        self._by = by
        self._choose_dialect = dialect
        self._peer = Peer(transport, self)
        self._context: ConnectionContext | None = None
        self._sessions: dict[SessionId, EditorSession] = {}
        self._opening = asyncio.Lock()  # one session is opened or closed at a time
        self._methods: dict[str, Method] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/list": self._list,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
        }

    async def serve(self) -> None:
        try:
            await self._peer.serve()
        finally:
            await asyncio.gather(*(each.stop() for each in self._sessions.values()))

    def find(self, method: str) -> Method | None:
        answer = self._methods.get(method)
        if answer is None:
            return None
        if self._context is None and method != "initialize":
            raise RpcError(INVALID_REQUEST, "the first request is initialize")

        async def answered(request: PeerRequest) -> Any:
            try:
                return await answer(request)
            except CoderError as error:
                raise _rpc_error(error) from error

        return answered

    def notice(self, method: str, params: Params) -> None:
        """Notifications of other methods are ignored, as the protocol wants it."""
        if method == "session/cancel":
            self._opened(read_params(params, InSession).session_id).cancel_soon()

    async def _initialize(self, request: PeerRequest) -> Fields:
        dialect = self._choose_dialect(read_params(request.params, Initialize))
        if isinstance(dialect, IflowDialect):
            self._methods |= {
                "authenticate": self._accept_authentication,
                "session/cancel": self._cancel,
                "session/set_think": self._set_think,
                "session/set_model": self._set_model,
            }
        self._context = ConnectionContext(self._client, self._by, self._peer, dialect)
        return dialect.initialize_result(
            {
                "protocolVersion": PROTOCOL_VERSION,
                "agentCapabilities": _CAPABILITIES,
                "authMethods": [],
                "agentInfo": {"name": "coderelay", "title": "coderelay", "version": __version__},
            }
        )

    async def _authenticate(self, request: PeerRequest) -> Fields:
        wanted = read_params(request.params, Authenticate)
        raise BadInput(
            say("unknown authentication method {name}; coder needs no authentication", name=repr(wanted.method_id))
        )

    async def _new(self, request: PeerRequest) -> Reply:
        wanted = read_params(request.params, NewSession)
        cwd, folders = absolute_folder(wanted.cwd), additional_folders(wanted)
        defaults = await self._client.get(ShowDefaults(cwd))
        query = WhyNotRun(cwd=cwd, model=defaults.model, agent=defaults.agent)
        if (problem := await self._client.get(query)) is not None:
            raise CannotRun(problem)
        terms = accepted_settings(
            wanted, defaults.mode, await self._max_mode(cwd), self._connected.dialect.tells_mode
        )
        session = SessionId(new_id())
        await self._client.send(
            CreateSession(
                session=session,
                cwd=cwd,
                agent=defaults.agent,
                model=defaults.model,
                mode=terms.mode,
                allowed_tools=terms.allowed_tools,
                instructions=terms.instructions,
                folders=folders,
                by=self._by,
            )
        )
        async with self._opening:
            opened = await self._open(session, terms.max_steps)
        result = {"sessionId": session, **opened.settings}
        return Reply(result, lambda: self._start(opened, wanted, terms.notices))

    async def _load(self, request: PeerRequest) -> Reply:
        return await self._opened_again(request, replays=True)

    async def _resume(self, request: PeerRequest) -> Reply:
        """Like load, without the history."""
        return await self._opened_again(request, replays=False)

    async def _opened_again(self, request: PeerRequest, *, replays: bool) -> Reply:
        """Of the settings in the request, only those for the prompts of this client count: the session has its own
        already. The folders are those of the editor, if it names any."""
        wanted = read_params(request.params, LoadSession)
        session = SessionId(wanted.session_id)
        folders = additional_folders(wanted)
        async with self._opening:
            opened = await self._open(session, None if wanted.settings is None else wanted.settings.max_turns)
            if folders:
                await self._client.send(
                    ConfigureSession(session=opened.id, by=self._by, folders=folders, when="next_turn")
                )
            if replays:
                await opened.replay()
        result = self._connected.dialect.opened(opened.id, opened.settings)
        return Reply(result, lambda: self._start(opened, wanted))

    async def _close(self, request: PeerRequest) -> Fields:
        opened = self._opened(read_params(request.params, InSession).session_id)
        async with self._opening:
            self._sessions.pop(opened.id, None)
            await opened.close()
        return {}

    async def _delete(self, request: PeerRequest) -> Fields:
        session = SessionId(read_params(request.params, InSession).session_id)
        await self._client.send(DeleteSession(session=session, by=self._by))
        async with self._opening:
            if (opened := self._sessions.pop(session, None)) is not None:
                await opened.stop()
        return {}

    async def _list(self, request: PeerRequest) -> Fields:
        wanted = read_params(request.params, ListedSessions)
        cursor = wanted.cursor or "0"
        if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
            raise BadInput("the cursor is not one of session/list")
        first, last = int(cursor), int(cursor) + _PAGE
        found = await self._client.get(ListSessions(cwd=wanted.cwd, limit=last + 1, here=True))
        more = {"nextCursor": str(last)} if len(found) > last else {}
        return {"sessions": [_listed(each) for each in found[first:last]], **more}

    async def _prompt(self, request: PeerRequest) -> Fields:
        wanted = read_params(request.params, Prompt)
        return await self._opened(wanted.session_id).prompt(wanted.prompt, request)

    async def _set_mode(self, request: PeerRequest) -> Fields:
        wanted = read_params(request.params, SetMode)
        await self._opened(wanted.session_id).set_mode(wanted.mode_id)
        return {}

    async def _set_config_option(self, request: PeerRequest) -> Fields:
        wanted = read_params(request.params, SetConfigOption)
        return await self._opened(wanted.session_id).set_option(wanted.config_id, wanted.value)

    async def _accept_authentication(self, request: PeerRequest) -> Fields:
        return {"methodId": read_params(request.params, Authenticate).method_id}

    async def _cancel(self, request: PeerRequest) -> None:
        await self._opened(read_params(request.params, InSession).session_id).cancel()

    async def _set_think(self, request: PeerRequest) -> None:
        wanted = read_params(request.params, SetThink)
        await self._opened(wanted.session_id).set_option("think", "medium" if wanted.think_enabled else "off")

    async def _set_model(self, request: PeerRequest) -> None:
        wanted = read_params(request.params, SetModel)
        await self._opened(wanted.session_id).set_option("model", wanted.model_id)

    @property
    def _connected(self) -> ConnectionContext:
        assert self._context is not None, "initialize comes first"
        return self._context

    async def _open(self, session: SessionId, max_steps: int | None) -> EditorSession:
        """Open a session anew, from its log. `_start` makes it one of the open sessions."""
        summary = await self._client.get(ShowSession(session))
        if (before := self._sessions.get(summary.id)) is not None:
            if before.is_busy:
                raise BadInput("a prompt of this session is not answered yet")
            del self._sessions[summary.id]
            await before.stop()
        return EditorSession(self._connected, summary, await self._max_mode(summary.cwd), max_steps)

    def _start(self, opened: EditorSession, wanted: NewSession, notices: tuple[str, ...] = ()) -> None:
        servers, unusable = lent_servers(wanted.mcp_servers)
        told = t("These MCP servers of the client cannot be used: {names}.", names=", ".join(unusable))
        self._sessions[opened.id] = opened
        opened.lend(servers, folders_to_confirm(wanted))
        opened.start([*notices, *([told] if unusable else [])])

    async def _max_mode(self, cwd: str) -> Mode:
        """The freest mode that a client may choose in this folder."""
        settings = await self._client.get(ListSettings(cwd=cwd))
        found = next((each.value for each in settings if each.key == "acp.max_mode"), '"default"')
        return msgspec.json.decode(found, type=Mode)

    def _opened(self, session: str) -> EditorSession:
        found = self._sessions.get(SessionId(session))
        if found is None:
            raise RpcError(NOT_FOUND, f"no session {session[:_TITLE]!r} is open here; session/load opens one")
        return found


def _rpc_error(error: CoderError) -> RpcError:
    match error:
        case UnknownSession():
            code = NOT_FOUND
        case BadInput():
            code = INVALID_PARAMS
        case _:
            code = INTERNAL_ERROR
    return RpcError(code, error_in_words(error))


def _listed(summary: Summary) -> Fields:
    title = summary.title or " ".join(summary.last_prompt.split())[:_TITLE]
    updated = datetime.fromtimestamp(summary.updated_at / 1000, UTC).isoformat().replace("+00:00", "Z")
    named = {"title": title} if title else {}
    folders = {"additionalDirectories": list(summary.folders)} if summary.folders else {}
    return {"sessionId": summary.id, "cwd": summary.cwd, "updatedAt": updated, **named, **folders}
