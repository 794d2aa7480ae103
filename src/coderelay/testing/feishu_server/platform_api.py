"""What the fake platform holds: tokens, messages and cards, and the calls that change them."""

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct, field

from coderelay.testing.feishu_server.card_rules import BadCard, check_card, elements_of, streamed_texts, texts_of

STREAMING_SECONDS = 600.0
_UUID_SECONDS = 3600.0


class ApiRefused(Exception):
    """The platform's answer with a code, over HTTP 400 (429 for rate limits)."""

    def __init__(self, code: int, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.code, self.text, self.status = code, text, status


class CardEntity(Struct):
    """A card of CardKit. `streaming_until` is 0 when its streaming mode is off."""

    card: dict[str, Any]
    sequence: int = 0
    streaming_until: float = 0.0


class ShownMessage(Struct):
    """A message with a card as people see it. `history` has all its cards, the present one last."""

    message_id: str
    chat_id: str
    reply_to: str
    history: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    card_id: str = ""
    is_recalled: bool = False

    @property
    def card(self) -> dict[str, Any]:
        return self.history[-1]

    @property
    def texts(self) -> list[str]:
        return texts_of(self.card)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def buttons(self) -> list[str]:
        return [each["text"]["content"] for each in elements_of(self.card) if each["tag"] == "button"]


class PlatformApi:
    """Thread-safe. `changed` is notified whenever something has changed."""

    def __init__(self, app_id: str, app_secret: str, bot: str) -> None:
        self.app_id, self.app_secret, self.bot = app_id, app_secret, bot
        self.changed = threading.Condition()
        self.messages: dict[str, ShownMessage] = {}
        self.cards: dict[str, CardEntity] = {}
        self.said: dict[str, str] = {}
        """The chats of the messages that people have written."""
        self.has_cardkit = True
        self.enforces_rates = False
        self.fastest: dict[str, int] = defaultdict(int)
        """The most calls within one second for each chat, message and card."""
        self._recent: dict[str, deque[float]] = defaultdict(deque)
        self._uuids: dict[str, tuple[str, float]] = {}
        self._tokens: set[str] = set()
        self._numbers: dict[str, int] = defaultdict(int)

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any, authorization: str) -> dict[str, Any]:
        """Carry out a call of the API. Raises Refused."""
        parts = path.removeprefix("/open-apis/").split("/")
        with self.changed:
            try:
                data = self._carry_out(method, parts, query, body, authorization)
            finally:
                self.changed.notify_all()
        return {"code": 0, "msg": "success", **data}

    def new_id(self, prefix: str) -> str:
        self._numbers[prefix] += 1
        return f"{prefix}_{self.app_id.removeprefix('cli_')}_{self._numbers[prefix]}"

    def expire_tokens(self) -> None:
        with self.changed:
            self._tokens.clear()

    def _carry_out(
        self, method: str, parts: list[str], query: Mapping[str, str], body: Any, authorization: str
    ) -> dict[str, Any]:
        if (method, parts) == ("POST", ["auth", "v3", "tenant_access_token", "internal"]):
            return self._token(body)
        if authorization.removeprefix("Bearer ") not in self._tokens:
            raise ApiRefused(99991663, "Invalid access token for authorization.")
        match method, parts:
            case "GET", ["bot", "v3", "info"]:
                return {"bot": {"app_name": "coder", "open_id": self.bot, "activate_status": 2}}
            case "POST", ["im", "v1", "messages"]:
                if query.get("receive_id_type") not in ("chat_id", "open_id"):
                    raise ApiRefused(230001, "invalid receive_id_type")
                return self._create(self.chat_of(body["receive_id"]), "", body)
            case "POST", ["im", "v1", "messages", replied, "reply"]:
                return self._reply(replied, body)
            case "PATCH", ["im", "v1", "messages", changed]:
                return self._patch(changed, body)
            case "POST", ["cardkit", "v1", "cards"]:
                return self._create_entity(body)
            case "PUT", ["cardkit", "v1", "cards", card_id]:
                return self._update_entity(card_id, body)
            case "PATCH", ["cardkit", "v1", "cards", card_id, "settings"]:
                return self._configure_entity(card_id, body)
            case "PUT", ["cardkit", "v1", "cards", card_id, "elements", element, "content"]:
                return self._write_element(card_id, element, body)
            case _:
                raise ApiRefused(99991400 + 4, f"no such path: {method} {'/'.join(parts)}", 404)

    def chat_of(self, receiver: str) -> str:
        """The chat with this id, or the one between the bot and the person with this open_id."""
        return f"oc_p2p_{receiver}" if receiver.startswith("ou_") else receiver

    def _token(self, body: Any) -> dict[str, Any]:
        if (body.get("app_id"), body.get("app_secret")) != (self.app_id, self.app_secret):
            raise ApiRefused(10003, "invalid param")
        token = self.new_id("t-token")
        self._tokens.add(token)
        return {"tenant_access_token": token, "expire": 7200}

    def _create(self, chat_id: str, reply_to: str, body: Any) -> dict[str, Any]:
        uuid = body.get("uuid", "")
        if len(uuid) > 50:
            raise ApiRefused(230001, "uuid is too long")
        known = self._uuids.get(f"{chat_id} {uuid}") if uuid else None
        if known is not None and time.time() - known[1] < _UUID_SECONDS:
            return {"data": {"message_id": known[0], "chat_id": chat_id}}
        self._pace(f"chat {chat_id}", 5, 230020)
        if body.get("msg_type") != "interactive":
            raise ApiRefused(230001, "only cards are expected here")
        message = ShownMessage(self.new_id("om"), chat_id, reply_to)
        content = _parse(body["content"])
        if content.get("type") == "card":
            message.card_id = content["data"]["card_id"]
            message.history.append(self._entity(message.card_id).card)
        else:
            self._check(content, len(body["content"].encode()), 230099)
            message.history.append(content)
        self.messages[message.message_id] = message
        if uuid:
            self._uuids[f"{chat_id} {uuid}"] = (message.message_id, time.time())
        return {"data": {"message_id": message.message_id, "chat_id": chat_id}}

    def _reply(self, replied: str, body: Any) -> dict[str, Any]:
        known = self.messages.get(replied)
        if known is not None and known.is_recalled:
            raise ApiRefused(230011, "The message was recalled.")
        chat_id = known.chat_id if known is not None else self.said.get(replied)
        if chat_id is None:
            raise ApiRefused(230001, "invalid message_id")
        return self._create(chat_id, replied, body)

    def _patch(self, changed: str, body: Any) -> dict[str, Any]:
        message = self.messages.get(changed)
        if message is None:
            raise ApiRefused(230001, "invalid message_id")
        if message.is_recalled:
            raise ApiRefused(230011, "The message was recalled.")
        if message.card_id:
            raise ApiRefused(230099, "a message with a card of CardKit is changed through CardKit")
        self._pace(f"message {changed}", 5, 230020)
        card = _parse(body["content"])
        self._check(card, len(body["content"].encode()), 230099)
        message.history.append(card)
        return {"data": {}}

    def _create_entity(self, body: Any) -> dict[str, Any]:
        if not self.has_cardkit:
            raise ApiRefused(99991672, "Access denied. One of the following scopes is required: [cardkit:card:write]")
        if body.get("type") != "card_json":
            raise ApiRefused(300001, "type must be card_json")
        card = _parse(body["data"])
        if card.get("schema") != "2.0":
            raise ApiRefused(300001, "CardKit takes schema 2.0 only")
        self._check(card, len(body["data"].encode()), 300001)
        entity = CardEntity(card)
        self._keep_streaming(entity)
        card_id = self.new_id("card")
        self.cards[card_id] = entity
        return {"data": {"card_id": card_id}}

    def _update_entity(self, card_id: str, body: Any) -> dict[str, Any]:
        entity = self._in_order(card_id, body)
        card = _parse(body["card"]["data"])
        self._check(card, len(body["card"]["data"].encode()), 300001)
        entity.card = card
        self._keep_streaming(entity)
        self._show_entity(card_id)
        return {"data": {}}

    def _configure_entity(self, card_id: str, body: Any) -> dict[str, Any]:
        entity = self._in_order(card_id, body)
        settings = _parse(body["settings"])
        entity.card = {**entity.card, "config": {**entity.card.get("config", {}), **settings.get("config", {})}}
        self._keep_streaming(entity)
        return {"data": {}}

    def _write_element(self, card_id: str, element: str, body: Any) -> dict[str, Any]:
        entity = self._in_order(card_id, body)
        if not entity.streaming_until:
            raise ApiRefused(300309, "streaming mode is closed")
        if time.time() > entity.streaming_until:
            raise ApiRefused(200850, "card streaming timeout")
        text = body["content"]
        if not 1 <= len(text) <= 100_000:
            raise ApiRefused(300001, "content has a wrong length")
        card = json.loads(json.dumps(entity.card))
        found = streamed_texts(card).get(element)
        if found is None:
            raise ApiRefused(300310, "Only update text")
        found["content"] = text
        self._check(card, len(json.dumps(card, ensure_ascii=False).encode()), 300001)
        entity.card = card
        self._show_entity(card_id)
        return {"data": {}}

    def _entity(self, card_id: str) -> CardEntity:
        if card_id not in self.cards:
            raise ApiRefused(300314, "card not found")
        return self.cards[card_id]

    def _in_order(self, card_id: str, body: Any) -> CardEntity:
        entity = self._entity(card_id)
        self._pace(f"card {card_id}", 10, 230020)
        if not entity.sequence < body.get("sequence", 0) <= 2**31 - 1:
            raise ApiRefused(300317, "sequence number compare failed")
        entity.sequence = body["sequence"]
        return entity

    def _keep_streaming(self, entity: CardEntity) -> None:
        streaming = entity.card.get("config", {}).get("streaming_mode", False)
        entity.streaming_until = time.time() + STREAMING_SECONDS if streaming else 0.0

    def _show_entity(self, card_id: str) -> None:
        for message in self.messages.values():
            if message.card_id == card_id:
                message.history.append(self.cards[card_id].card)

    def _check(self, card: object, size: int, code: int) -> None:
        try:
            check_card(card, size)
        except BadCard as error:
            raise ApiRefused(230025 if size > 30 * 1024 and code == 230099 else code, str(error)) from error

    def _pace(self, what: str, most: int, code: int) -> None:
        """The platform counts calls for each chat, message and card within a second."""
        now, recent = time.monotonic(), self._recent[what]
        while recent and recent[0] < now - 1:
            recent.popleft()
        if self.enforces_rates and len(recent) >= most:
            raise ApiRefused(code, "request is limited", 429)
        recent.append(now)
        self.fastest[what] = max(self.fastest[what], len(recent))

    def wait(self, found: Callable[[], Any], seconds: float) -> Any:
        """Wait until `found` returns something true, and return it; None after that many seconds."""
        until = time.monotonic() + seconds
        with self.changed:
            while not (value := found()):
                if not self.changed.wait(until - time.monotonic()):
                    return found() or None
            return value


def _parse(text: Any) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except (TypeError, ValueError) as error:
        raise ApiRefused(230001, "content is no JSON text") from error
    if not isinstance(value, dict):
        raise ApiRefused(230001, "content is no object")
    return cast("dict[str, Any]", value)
