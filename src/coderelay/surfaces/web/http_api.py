"""The calls of the web server: small questions that need no stream of events."""

import asyncio
from collections.abc import Mapping
from typing import TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from coderelay.client.client import Client
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.projected_rows import title_from
from coderelay.protocol.queries import (
    ExportSession,
    ListAgents,
    ListFolders,
    ListModels,
    ListRecentFolders,
    ReadImage,
    ShowDefaults,
    SuggestTitle,
)
from coderelay.protocol.translatable import encode_plain
from coderelay.surfaces.web import machine_statistics
from coderelay.surfaces.web.guard import MOST_BODY_BYTES
from coderelay.surfaces.web.token_and_login_links import LINK_SECONDS, Token

_BODY_SECONDS = 10.0
_MODEL_SECONDS = 20.0
_RECENT = 8
_MOST_PATH_CHARS = 4096

Body = TypeVar("Body", bound=Struct)


class _Login(Struct, frozen=True, forbid_unknown_fields=True):
    secret: str


class _Link(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _Title(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: str
    cwd: str | None = None


class HttpApi:
    """`cwd` is the folder that a new session gets if nobody names one."""

    def __init__(self, client: Client, token: Token, roots: tuple[str, ...], url: str, cwd: str) -> None:
        self._client = client
        self._cwd = cwd
        self._token = token
        self._roots = roots
        self._url = url

    async def login(self, request: Request) -> Response:
        """Exchange the secret of a one-time link for the token."""
        body = await _body(request, _Login)
        if (token := self._token.redeem(body.secret)) is not None:
            return json_answer({"token": token})
        if self._token.is_guessed_at:
            raise HTTPException(
                429, "too many wrong login links; wait ten seconds and try again", {"retry-after": "10"}
            )
        raise HTTPException(403, "this link was used already or is too old; `coder web` prints a new one")

    async def link(self, request: Request) -> Response:
        """A new one-time link, for another browser or another window."""
        await _body(request, _Link)
        link = link_of(self._url, self._token)
        return json_answer({"link": link, "seconds": int(LINK_SECONDS)})

    async def recent_folders(self, request: Request) -> Response:
        limit = _number("limit", request.query_params.get("limit"), _RECENT)
        return json_answer({"cwds": await self._client.get(ListRecentFolders(limit))})

    async def title(self, request: Request) -> Response:
        """A title from a model, or from the prompt itself if no model gives one in time."""
        body = await _body(request, _Title)
        if not body.prompt.strip():
            raise BadInput("a session without a prompt has no title yet")
        cwd = _path(body.cwd or self._cwd)
        title = ""
        try:
            async with asyncio.timeout(_MODEL_SECONDS):
                title = await self._client.get(SuggestTitle(cwd=cwd, text=body.prompt))
        except (CoderError, TimeoutError):
            pass  # no model, a folder that is gone, a model that fails: the prompt is still there
        return json_answer({"title": title.strip() or title_from(body.prompt)})

    async def folders(self, request: Request) -> Response:
        """The folders in a folder. One that may not be shown is refused like one that cannot be read, so that nobody
        learns what is there."""
        path = _path(request.query_params.get("path", ""))
        hidden = request.query_params.get("hidden", "") in ("1", "true")
        try:
            found = await self._client.get(ListFolders(self._roots, path, hidden))
        except BadInput as refused:
            raise HTTPException(
                403, "this folder cannot be shown: it is outside of web.roots, or cannot be read"
            ) from refused
        return json_answer(
            {"path": found.path, "folders": found.folders, "parent": found.parent or None, "whole": found.whole}
        )

    async def machine(self, _: Request) -> Response:
        return json_answer(await machine_statistics.machine())

    async def defaults(self, request: Request) -> Response:
        """What a new session in a folder gets if nobody chooses otherwise, and what there is to choose from."""
        cwd = _path(request.query_params.get("cwd") or self._cwd)
        defaults = await self._client.get(ShowDefaults(cwd))
        models = await self._client.get(ListModels(cwd=cwd))
        agents = await self._client.get(ListAgents(cwd=cwd))
        return json_answer({"cwd": cwd, "defaults": defaults, "models": models, "agents": agents})

    async def image(self, request: Request) -> Response:
        """An image of a prompt, as data: whatever it is, no browser takes it for a page of ours."""
        session, prompt = _session(request.path_params["session"]), PromptId(request.path_params["prompt"])
        number = _number("number", request.path_params["number"], 0)
        image = await self._client.get(ReadImage(session, prompt, number))
        if image is None:
            raise HTTPException(404, "no such image")
        return json_answer({"mimeType": image.media_type, "data": image.data})

    async def export(self, request: Request) -> Response:
        session = _session(request.path_params["session"])
        return json_answer(await self._client.get(ExportSession(session)))


def link_of(url: str, token: Token) -> str:
    """The secret stands behind the `#`, so it is in no request, no referrer and no log."""
    return f"{url}/#link={token.new_secret()}"


def json_answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    body = msgspec.json.encode(value, enc_hook=encode_plain)
    return Response(body, status, headers, media_type="application/json")


async def _body(request: Request, kind: type[Body]) -> Body:
    """Read the body, within limits, and check it. The connection is closed after a body that was too large."""
    received = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                received += chunk
                if len(received) > MOST_BODY_BYTES:
                    raise HTTPException(413, "the body is too large", {"connection": "close"})
    except TimeoutError:
        raise HTTPException(408, "the body did not arrive in time", {"connection": "close"}) from None
    try:
        return msgspec.json.decode(received, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(400, f"the body is not what this call expects: {error}") from None


def _number(name: str, text: str | None, default: int) -> int:
    if text is None or text == "":
        return default
    if not (text.removeprefix("-").isascii() and text.removeprefix("-").isdecimal() and len(text) <= 18):
        raise HTTPException(400, f"`{name}` must be a number")
    return int(text)


def _path(text: str) -> str:
    if "\0" in text or len(text) > _MOST_PATH_CHARS:
        raise HTTPException(400, "this is no path")
    return text


def _session(text: str) -> SessionId:
    """An id is checked by its shape before it is looked up."""
    try:
        is_id = str(UUID(text)) == text
    except ValueError:
        is_id = False
    if not is_id:
        raise HTTPException(404, "Unknown session")
    return SessionId(text)
