"""The calls of the platform's API that a bot makes. Tokens come from lark-oapi; the calls go over kept connections.

lark-oapi's own asynchronous calls make a new HTTP client for each, with TLS and all: 60 ms of CPU time where a kept
connection costs 3.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any, Literal, cast

import httpx
import requests
from msgspec import Struct

from coderelay.protocol.errors import CannotRun
from coderelay.protocol.translatable import say
from coderelay.surfaces.feishu.lark_sdk_partial_import import Config, ObtainAccessTokenException, TokenManager

_SECONDS = 10.0
_MOST_CONNECTIONS = 20
_BAD_TOKEN = {99991661, 99991663, 99991664, 99991668, 99991671}
_LIMITED = {230020, 99991400, 11232, 1000004, 1000005}
_BUSY = {230049, 200810, 300120}  # it is sending the message, a person is at the card, or it says to try again

FailureKind = Literal["network", "limited", "token", "permission", "gone", "not streaming", "sequence", "refused"]
_CODES: dict[FailureKind, set[int]] = {
    "permission": {99991672, 99991679},
    "gone": {230011, 230019, 230031, 230050},
    "not streaming": {300309, 200850},
    "sequence": {300317},
}


class AppCredentials(Struct, frozen=True):
    """`domain` is the address of the platform's API."""

    app_id: str
    app_secret: str
    domain: str

    def __repr__(self) -> str:
        return f"AppCredentials({self.app_id}, {self.domain})"


class PlatformError(Exception):
    """The platform did not do what was asked. `kind` classifies the failure: `network`, `limited` and `token` may
    be retried later, the others not. `code` is the platform's, 0 if there was no answer."""

    def __init__(self, kind: FailureKind, code: int, text: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{code}: {text}" if code else text)
        self.kind: FailureKind = kind
        self.code = code
        self.text = text
        self.retry_after = retry_after

    @property
    def is_retryable(self) -> bool:
        return self.kind in ("network", "limited", "token")


class LarkApi:
    """Every method raises PlatformError."""

    def __init__(self, app: AppCredentials) -> None:
        logging.getLogger("Lark").handlers.clear()  # it would write to standard output
        self._config = Config()
        self._config.app_id, self._config.app_secret = app.app_id, app.app_secret
        self._config.domain, self._config.timeout = app.domain, _SECONDS
        self._app = app
        self._token_name = f"self_tenant_token:{app.app_id}"  # in the library's cache
        self._fetching = asyncio.Lock()
        limits = httpx.Limits(max_connections=_MOST_CONNECTIONS, keepalive_expiry=30.0)
        self._http = httpx.AsyncClient(base_url=app.domain, timeout=_SECONDS, limits=limits)

    async def bot(self) -> str:
        """The open_id of the bot itself."""
        found = await self._call("GET", "/open-apis/bot/v3/info")
        return str(found["bot"]["open_id"])

    async def check(self) -> str:
        """The open_id of the bot. Raises CannotRun if the app's credentials do not work."""
        try:
            return await self.bot()
        except PlatformError as error:
            if error.kind in ("network", "limited"):
                raise CannotRun(
                    say("{domain} cannot be reached: {why}", domain=self._app.domain, why=error.text)
                ) from error
            raise CannotRun(
                say("{domain} refuses this app: {why}", domain=self._app.domain, why=error.text),
                "Check feishu.app_id, feishu.domain, and the secret in the variable of feishu.app_secret_env.",
            ) from error

    async def create(self, receiver: str, content: Mapping[str, Any], uuid: str) -> str:
        """Send a card to a chat, or to a person by their open_id, and return the id of the message. The same `uuid`
        within an hour sends nothing and returns the same id."""
        kind = "open_id" if receiver.startswith("ou_") else "chat_id"
        body = {"receive_id": receiver, "msg_type": "interactive", "content": _text(content), "uuid": uuid}
        made = await self._call("POST", "/open-apis/im/v1/messages", body, {"receive_id_type": kind})
        return str(made["data"]["message_id"])

    async def reply(self, message_id: str, content: Mapping[str, Any], uuid: str) -> str:
        body = {"msg_type": "interactive", "content": _text(content), "uuid": uuid}
        made = await self._call("POST", f"/open-apis/im/v1/messages/{message_id}/reply", body)
        return str(made["data"]["message_id"])

    async def patch(self, message_id: str, card: Mapping[str, Any]) -> None:
        await self._call("PATCH", f"/open-apis/im/v1/messages/{message_id}", {"content": _text(card)})

    async def create_card(self, card: Mapping[str, Any]) -> str:
        """Make a card that can be streamed to, and return its id."""
        made = await self._call("POST", "/open-apis/cardkit/v1/cards", {"type": "card_json", "data": _text(card)})
        return str(made["data"]["card_id"])

    async def update_card(self, card_id: str, card: Mapping[str, Any], sequence: int) -> None:
        body = {"card": {"type": "card_json", "data": _text(card)}, "sequence": sequence}
        await self._call("PUT", f"/open-apis/cardkit/v1/cards/{card_id}", body)

    async def set_streaming(self, card_id: str, *, on: bool, sequence: int) -> None:
        body = {"settings": _text({"config": {"streaming_mode": on}}), "sequence": sequence}
        await self._call("PATCH", f"/open-apis/cardkit/v1/cards/{card_id}/settings", body)

    async def stream_text(self, card_id: str, element: str, text: str, sequence: int) -> None:
        body = {"content": text, "sequence": sequence}
        await self._call("PUT", f"/open-apis/cardkit/v1/cards/{card_id}/elements/{element}/content", body)

    async def close(self) -> None:
        await self._http.aclose()

    async def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, query: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        token = await self._token()
        headers = {"Authorization": f"Bearer {token}"}
        try:
            answer = await self._http.request(method, path, params=query, json=body, headers=headers)
        except (httpx.HTTPError, OSError) as error:
            raise PlatformError("network", 0, f"no answer: {error or type(error).__name__}") from error
        found = _read(answer)
        code = found.get("code")
        if answer.status_code == 200 and code == 0:
            return found
        error = _platform_error(answer, code if isinstance(code, int) else 0, str(found.get("msg", ""))[:500])
        if error.kind == "token":
            self._forget_token()
        raise error

    async def _token(self) -> str:
        """The token of the app. Fetching a new one blocks, so it is done in a thread."""
        if kept := TokenManager.cache.get(self._token_name):
            return str(kept)
        async with self._fetching:
            try:
                return str(await asyncio.to_thread(TokenManager.get_self_tenant_token, self._config))
            except ObtainAccessTokenException as error:
                # The secret may have been changed on the platform and in the environment.
                raise PlatformError("token", int(error.code or 0), str(error)) from error
            except (requests.RequestException, ValueError, TypeError) as error:
                raise PlatformError("network", 0, f"no token: {error}") from error

    def _forget_token(self) -> None:
        TokenManager.cache.set(self._token_name, "", 0)


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _read(answer: httpx.Response) -> dict[str, Any]:
    try:
        found: Any = answer.json()
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _platform_error(answer: httpx.Response, code: int, text: str) -> PlatformError:
    status = answer.status_code
    wait = answer.headers.get("retry-after", "") or answer.headers.get("x-ogw-ratelimit-reset", "")
    seconds = min(float(wait), 60.0) if wait.isdecimal() else 0.0
    return PlatformError(_kind(status, code), code, text or f"HTTP {status}", seconds)


def _kind(status: int, code: int) -> FailureKind:
    if code in _BAD_TOKEN:
        return "token"
    if code in _LIMITED or status == 429:
        return "limited"
    if code in _BUSY or status >= 500 or status == 408 or (status == 200 and not code):
        return "network"
    for kind, codes in _CODES.items():
        if code in codes:
            return kind
    return "refused"
