"""What a person sees and does in the chats of the fake platform."""

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from coderelay.testing.feishu_server.card_rules import check_card, elements_of
from coderelay.testing.feishu_server.platform_api import ShownMessage

if TYPE_CHECKING:
    from coderelay.testing.feishu_server.fake_feishu import FakeFeishu

T = TypeVar("T")


class ClickResult(Struct, frozen=True):
    """What a person sees after a click, and how long it took."""

    toast_kind: str
    toast: str
    card: dict[str, Any] | None
    seconds: float
    code: int


class FakePerson:
    def __init__(self, feishu: "FakeFeishu", open_id: str, tenant: str = "") -> None:
        self._feishu = feishu
        self.open_id = open_id
        self.tenant = tenant or feishu.tenant

    @property
    def chat(self) -> "FakeChat":
        """The chat between this person and the bot."""
        return self._feishu.chat(f"oc_p2p_{self.open_id}", "p2p")


class FakeChat:
    """One chat. In a chat of two, `say` and `click` are the person's; in a group, `by` says whose they are."""

    def __init__(self, feishu: "FakeFeishu", chat_id: str, kind: str) -> None:
        self._feishu = feishu
        self._api = feishu.api
        self.chat_id = chat_id
        self.kind = kind

    @property
    def messages(self) -> list[ShownMessage]:
        with self._api.changed:
            return [each for each in self._api.messages.values() if each.chat_id == self.chat_id]

    @property
    def text(self) -> str:
        """All that the bot shows here now."""
        return "\n---\n".join(each.text for each in self.messages)

    def find(self, text: str) -> ShownMessage | None:
        """The last message that shows this text, or has a button with it."""
        found = [each for each in self.messages if text in each.text or text in each.buttons]
        return found[-1] if found else None

    def wait(self, found: Callable[[], T | None], seconds: float | None = None) -> T:
        """Wait until `found` returns something true."""
        value = self._api.wait(found, self._feishu.seconds if seconds is None else seconds)
        assert value, f"it did not happen; the chat shows:\n{self.text}"
        return value

    def wait_for(self, text: str, seconds: float | None = None) -> ShownMessage:
        return self.wait(lambda: self.find(text), seconds)

    def say(self, text: str, *, by: FakePerson | None = None, mentions: bool = False, **more: Any) -> dict[str, Any]:
        """Write a text, and wait until a bot has acknowledged it. Returns the event."""
        event = self.said(text, by=by, mentions=mentions, **more)
        answer = self._feishu.deliver(event)
        assert answer.code == 200, f"the bot answered {answer.code}"
        return event

    def said(
        self,
        text: str,
        *,
        by: FakePerson | None = None,
        mentions: bool = False,
        thread_id: str = "",
        kind: str = "text",
        content: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The event of a text, which is not delivered yet."""
        person = by or self._person()
        message_id = self._api.new_id("om_said")
        with self._api.changed:
            self._api.said[message_id] = self.chat_id
        mention = {"key": "@_user_1", "id": {"open_id": self._feishu.bot}, "name": "coder"}
        message: dict[str, Any] = {
            "message_id": message_id,
            "chat_id": self.chat_id,
            "chat_type": self.kind,
            "message_type": kind,
            "content": json.dumps(content or {"text": f"@_user_1 {text}" if mentions else text}),
            "create_time": str(int(time.time() * 1000)),
        }
        if mentions:
            message["mentions"] = [mention]
        if thread_id:
            message["thread_id"] = thread_id
        sender = {"sender_id": {"open_id": person.open_id}, "sender_type": "user", "tenant_key": person.tenant}
        return self._feishu.event("im.message.receive_v1", {"sender": sender, "message": message})

    def click(
        self, message: ShownMessage, button: str, *, by: FakePerson | None = None, form: dict[str, Any] | None = None
    ) -> ClickResult:
        """Press the button with this text."""
        elements = [each for each in elements_of(message.card) if each["tag"] == "button"]
        found = [each for each in elements if each["text"]["content"] == button]
        assert found, f"no button {button!r} among {[each['text']['content'] for each in elements]}"
        return self.click_with(message, _value_of(found[0]), name=found[0].get("name"), by=by, form=form)

    def click_with(
        self,
        message: ShownMessage,
        value: Any,
        *,
        name: str | None = None,
        by: FakePerson | None = None,
        form: dict[str, Any] | None = None,
    ) -> ClickResult:
        """Press a button that carries this value, whether or not the card has one."""
        return self.deliver_click(self.clicked(message, value, name=name, by=by, form=form))

    def clicked(
        self,
        message: ShownMessage,
        value: Any,
        *,
        name: str | None = None,
        by: FakePerson | None = None,
        form: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The event of a click, which is not delivered yet."""
        person = by or self._person()
        action: dict[str, Any] = {"value": value, "tag": "button"}
        if name:
            action["name"] = name
        if form is not None:
            action["form_value"] = form
        event = {
            "operator": {"open_id": person.open_id, "tenant_key": person.tenant},
            "token": "c-token",
            "action": action,
            "host": "im_message",
            "context": {"open_message_id": message.message_id, "open_chat_id": message.chat_id},
        }
        return self._feishu.event("card.action.trigger", event)

    def deliver_click(self, event: dict[str, Any]) -> ClickResult:
        began = time.monotonic()
        answer = self._feishu.deliver(event)
        seconds = time.monotonic() - began
        data: Any = answer.data or {}
        toast, card = data.get("toast", {}), data.get("card", {}).get("data")
        if card is not None:
            check_card(card, len(json.dumps(card, ensure_ascii=False).encode()))
            with self._api.changed:
                self._api.messages[event["event"]["context"]["open_message_id"]].history.append(card)
                self._api.changed.notify_all()
        return ClickResult(toast.get("type", ""), toast.get("content", ""), card, seconds, answer.code)

    def _person(self) -> FakePerson:
        assert self.kind == "p2p", "say who does it, with by="
        return FakePerson(self._feishu, self.chat_id.removeprefix("oc_p2p_"))


def _value_of(button: dict[str, Any]) -> Any:
    for behavior in button.get("behaviors", ()):
        if behavior["type"] == "callback":
            return behavior["value"]
    return button.get("value")
