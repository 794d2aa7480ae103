"""What the web server answers: the page, a small HTTP API, and the WebSocket with the events. Guarded by `Guard`."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from coderelay.client.client import Client
from coderelay.client.i18n import retell, speaking
from coderelay.protocol.errors import BadInput, CannotRun, CoderError, StoreFailed, UnknownSession
from coderelay.protocol.translation_files import LANGUAGES
from coderelay.surfaces.web.guard import BATCHED, chosen_subprotocol
from coderelay.surfaces.web.http_api import HttpApi, json_answer
from coderelay.surfaces.web.page_files import page_files
from coderelay.surfaces.web.token_and_login_links import Token

_FILES = page_files()
OPEN_PATHS = (*_FILES, "/healthz", "/api/login")
"""What is answered without a token: the page without any content, whether the server runs, and the exchange of a
one-time link."""
_LANGUAGE = "lang."  # a subprotocol; a page cannot set headers of a WebSocket
_STATUS: tuple[tuple[type[CoderError], int], ...] = (
    (UnknownSession, 404),
    (BadInput, 400),
    (CannotRun, 409),
    (StoreFailed, 503),
)


class Events(Protocol):
    """The side of the server that speaks the event contract."""

    async def serve_client(self, websocket: WebSocket, *, batched: bool) -> None:
        """Serve an accepted WebSocket until it ends. `batched` clients take arrays of events."""
        ...


def routes(client: Client, events: Events, token: Token, roots: tuple[str, ...], url: str, cwd: str) -> Starlette:
    """The app. `roots` are the folders that may be browsed; `url` is where this server is, for links; `cwd` is the
    folder that is offered for a new session."""
    api = HttpApi(client, token, roots, url, cwd)

    async def serve_client(websocket: WebSocket) -> None:
        offered: list[str] = websocket.scope["subprotocols"]
        chosen = chosen_subprotocol(offered)
        await websocket.accept(subprotocol=chosen)
        named = next((each.removeprefix(_LANGUAGE) for each in offered if each.startswith(_LANGUAGE)), "")
        with speaking(named or _language(websocket.headers) or client.language):
            await events.serve_client(websocket, batched=chosen == BATCHED)

    table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
        *((path, "GET", _file) for path in _FILES),
        ("/healthz", "GET", _healthz),
        ("/api/login", "POST", api.login),
        ("/api/link", "POST", api.link),
        ("/api/recent-cwds", "GET", api.recent_folders),
        ("/api/title", "POST", api.title),
        ("/api/dirs", "GET", api.folders),
        ("/api/machine", "GET", api.machine),
        ("/api/defaults", "GET", api.defaults),
        ("/api/sessions/{session}/export", "GET", api.export),
        ("/api/sessions/{session}/images/{prompt}/{number}", "GET", api.image),
    ]

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, CoderError)
        status = next((each for kind, each in _STATUS if isinstance(error, kind)), 502)
        with speaking(_language(request.headers) or client.language):
            told = [retell(each) for each in (error.message, error.hint) if each]
        return json_answer({"error": "\n".join(told)}, status)

    app = Starlette(
        routes=[
            *(Route(path, answer, methods=[method]) for path, method, answer in table),
            WebSocketRoute("/events", serve_client),
        ],
        exception_handlers={CoderError: refused, HTTPException: _http_error, Exception: _internal_error},
    )
    app.router.redirect_slashes = False
    return app


async def _file(request: Request) -> Response:
    """Only these files, found by their whole path: nothing that a client sends becomes part of a file name."""
    file = _FILES[request.url.path]
    kept = "public, max-age=31536000, immutable" if file.is_fixed else "no-cache"
    return Response(file.path.read_bytes(), media_type=file.media_type, headers={"cache-control": kept})


async def _healthz(_: Request) -> Response:
    return json_answer({"status": "ok"})


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    with speaking(_language(request.headers)):
        return json_answer({"error": retell(error.detail)}, error.status_code, error.headers)


def _language(headers: Headers) -> str:
    """The language that a browser prefers; empty for other programs."""
    preferred = headers.get("accept-language", "")[:2].lower()
    return preferred if preferred in LANGUAGES else "en" if preferred.isalpha() else ""


async def _internal_error(_: Request, _error: Exception) -> Response:
    """What nobody expected. The log of the server has the details."""
    return json_answer({"error": "internal error"}, 500)
