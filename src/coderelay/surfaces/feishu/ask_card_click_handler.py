"""Handles clicks on the cards of asks. The reply names the decision that is in force, perhaps an earlier one."""

import logging
import secrets
from collections.abc import Mapping, Sequence

from coderelay.client.client import Client
from coderelay.client.i18n import error_in_words, localize, speaking
from coderelay.protocol.asks import Ask, Decision
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import Answered
from coderelay.protocol.errors import CoderError, UnknownAsk, UnknownSession
from coderelay.protocol.ids import AskId
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import FindAsk, ShowSession
from coderelay.surfaces.feishu.access_rules import needs_owner, person
from coderelay.surfaces.feishu.ask_card_publisher import AskCardPublisher
from coderelay.surfaces.feishu.ask_cards import Closed, chosen_in_words
from coderelay.surfaces.feishu.card_layout import cut
from coderelay.surfaces.feishu.card_outbox_interface import Card, CardOutbox
from coderelay.surfaces.feishu.chat_records import AskCardRecord, ChatRecords
from coderelay.surfaces.feishu.click_decisions import decision_of
from coderelay.surfaces.feishu.incoming_event_types import CardClick, ClickAnswer
from coderelay.surfaces.feishu.message_handler import MessageHandler

log = logging.getLogger(__name__)

_UNKNOWN = Localized("This card is not valid any more.", "此卡片已失效。")
_FORGED = Localized("This click does not belong to this card.", "无效的操作。")
_NOT_YOURS = Localized("You may not answer this.", "你没有权限处理此请求。")
_OWNER_ONLY = Localized("Only the owner of the machine may allow that from here.", "只有主机所有者可以这样授权。")
_INTERNAL = Localized("An internal error occurred.", "发生内部错误，请稍后重试。")
_ALL = ("confirm_all", "cancel_all")
_TOAST_BYTES = 600


class ClickHandler:
    def __init__(
        self, client: Client, records: ChatRecords, outbox: CardOutbox, cards: AskCardPublisher, chat: MessageHandler
    ) -> None:
        self._client = client
        self._records = records
        self._outbox = outbox
        self._cards = cards
        self._chat = chat

    async def click(self, click: CardClick) -> ClickAnswer:
        with speaking(self._client.language):
            try:
                return await self._take(click)
            except CoderError as error:
                return ClickAnswer("error", error_in_words(error))
            except Exception:
                log.exception("a click could not be handled")
                return ClickAnswer("error", localize(_INTERNAL))

    async def _take(self, click: CardClick) -> ClickAnswer:
        action = _text(click, "action")
        key = _text(click, "card") or await self._outbox.key_of(click.message_id) or ""
        record = await self._records.card(key) if key else None
        if record is None:
            return ClickAnswer("warning", localize(_UNKNOWN))
        if not await self._is_of_card(click, record):
            log.warning("a click by %s does not belong to the card %s", click.operator, key)
            return ClickAnswer("error", localize(_FORGED))
        named = AskId(_text(click, "rid")) or record.asks[0]
        try:
            rows = {each: await self._client.get(FindAsk(each)) for each in record.asks}
        except (UnknownAsk, UnknownSession):
            return ClickAnswer("warning", localize(_UNKNOWN))
        wanted = [row for ask, row in rows.items() if (ask == named if action not in _ALL else row.open)]
        answer = await self._decide(click, action, wanted or [rows[named]])
        if answer.toast_kind == "info":
            return ClickAnswer("info", answer.toast, await self._outbox.card_of(record.key))
        if answer.toast_kind == "success":
            self._chat.wake_presenter(record.session)
            now = {row.ask.id: click.at for row in wanted if row.open}
            return ClickAnswer("success", answer.toast, await self._drawn(record, now))
        return answer

    async def _is_of_card(self, click: CardClick, record: AskCardRecord) -> bool:
        """A click counts with the nonce of its card, in its chat, in its message and for one of its asks. A click
        whose value is only an action has no nonce; its card was found by the message, and must have one ask."""
        if click.chat_id != record.chat_id or await self._outbox.message_of(record.key) not in (
            None,
            click.message_id,
        ):
            return False
        if set(click.value) == {"action"}:
            return len(record.asks) == 1
        is_named = _text(click, "rid") in record.asks and _text(click, "sid") == record.session
        return is_named and secrets.compare_digest(_text(click, "nonce").encode(), record.nonce.encode())

    async def _decide(self, click: CardClick, action: str, rows: Sequence[AskRow]) -> ClickAnswer:
        """Answer the asks, or say why not: `success` if one is answered, `info` if all were answered before."""
        told: list[str] = []
        is_new = False
        for row in rows:
            if not row.open:
                told.append(chosen_in_words(Closed(row.decision, row.by)))
                continue
            decision = decision_of(row.ask, action, click.form)
            if refusal := await self._refusal(click.operator, row, decision):
                return ClickAnswer("error", localize(refusal))
            sent = await self._chat.execution(row.session, click.operator).decide(row.session, row.ask.id, decision)
            if isinstance(sent, Answered):
                told.append(chosen_in_words(Closed(sent.decision, sent.by)))
            else:
                is_new = True
                told.append(chosen_in_words(Closed(decision, person(click.operator), click.at)))
        return ClickAnswer("success" if is_new else "info", cut("\n".join(dict.fromkeys(told)), _TOAST_BYTES))

    async def _refusal(self, open_id: str, row: AskRow, decision: Decision) -> Localized | None:
        access, linked = self._chat.options.access, await self._chat.links.people(open_id)
        summary = await self._client.get(ShowSession(row.session))
        root = await self._root(summary)
        is_host_owner = self._chat.options.host_person in linked
        is_owner = is_host_owner or root.person in linked
        is_admitted = access.is_admitted(open_id, is_linked=bool(linked))
        if not is_admitted or not access.may_answer(open_id, row.ask, summary.sender, is_owner=is_owner):
            return _NOT_YOURS
        return _OWNER_ONLY if needs_owner(decision) and not is_host_owner else None

    async def _root(self, summary: Summary) -> Summary:
        while summary.parent is not None:
            summary = await self._client.get(ShowSession(summary.parent))
        return summary

    async def _drawn(self, record: AskCardRecord, now: Mapping[AskId, int]) -> Card:
        """The card after the click. `now` says when the asks were answered that it has answered; the bot that shows
        the session knows it of all, and draws the card soon after."""
        asks: list[tuple[Ask, Closed | None]] = []
        for each in record.asks:
            row = await self._client.get(FindAsk(each))
            asks.append((row.ask, None if row.open else Closed(row.decision, row.by, now.get(each, 0))))
        return self._cards.card(record, asks)


def _text(click: CardClick, name: str) -> str:
    value = click.value.get(name)
    return value if isinstance(value, str) else ""
