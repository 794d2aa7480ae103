"""One session as the cards of its chat: which cards there are, and what each looks like now.

The cards are computed from the messages about the session; the same messages always give the same cards with the same
keys. So a bot that starts again finds its cards and repeats none.
"""

from collections.abc import Iterable
from typing import assert_never

from msgspec import Struct

from coderelay.client.i18n import localize, retell
from coderelay.protocol.asks import Ask, PermissionAsk
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.calls import Failed
from coderelay.protocol.ids import AskId, PromptId, SessionId, TurnId
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.feishu.access_rules import VIA
from coderelay.surfaces.feishu.ask_cards import MOST_IN_A_BATCH, Closed
from coderelay.surfaces.feishu.card_layout import Layout, split
from coderelay.surfaces.feishu.session_updates_from_log import (
    AskClosed,
    CallBegan,
    CallOver,
    ConfirmationRequired,
    Continued,
    Message,
    PromptGone,
    PromptQueued,
    TextGrew,
    TextSaid,
    TurnBegan,
    TurnOver,
    UserInputRequired,
)
from coderelay.surfaces.feishu.turn_and_notice_cards import (
    CONTINUING,
    RUNNING,
    notice_card,
    prompt_from,
    result_card,
    running_card,
)

PAGE_BYTES = 12_000
MOST_PAGES = 4
QUEUED = "queued/"
"""How the keys of acknowledgements begin; the prompt follows."""
_QUEUED = Localized("Queued", "已加入队列")
_QUEUED_TEXT = Localized("It begins when the current task is done.", "当前任务完成后开始执行。")
_BEGUN = Localized("Started", "已开始执行")
_TAKEN = Localized("Passed on to the running task", "已转给正在执行的任务")
_RECALLED = Localized("Removed from the queue", "已撤回")


class AskGroup(Struct):
    """The asks of one card, and how each was closed. `session` may be that of a subagent."""

    session: SessionId
    asks: list[tuple[Ask, Closed | None]]

    @property
    def is_open(self) -> bool:
        return any(closed is None for _, closed in self.asks)


class _Segment(Struct):
    """A part of a turn without a pause: one card, or several if it says much."""

    key: str
    notice: Localized
    prompt: str = ""
    calls: dict[str, str] = {}
    said: list[str] = []
    growing: str = ""
    is_over: bool = False
    full: list[str] = []
    """The pages before the last one, which more text does not change."""

    def pages(self) -> list[str]:
        """What its pages hold."""
        text = "\n\n".join([*self.said, *([self.growing] if self.growing else [])])
        if not text.startswith(begun := "".join(self.full)):
            self.full, begun = [], ""
        *full, last = split(text[len(begun) :], PAGE_BYTES)
        self.full += full
        return [*self.full, last]


class SessionCards:
    """`name` stands for a turn whose beginning is not shown. `url` is the address of the session on the web; empty if
    there is none. The prompts that wait already are `acknowledged`."""

    def __init__(self, name: str, url: str, acknowledged: Iterable[PromptId]) -> None:
        self._name = name
        self._url = url
        self._turn: TurnId | None = None
        self._segment: _Segment | None = None
        self._segments = 0
        self._is_timed_out = False
        self._is_cut = False
        self._waiting = set(acknowledged)  # prompts that were told to be queued
        self._groups: dict[str, AskGroup] = {}
        self._group_of: dict[AskId, str] = {}
        self._shown: dict[str, Layout] = {}
        self._changed: dict[str, Layout | AskGroup] = {}
        self._streamed: tuple[str, str] | None = None

    @property
    def is_turn_open(self) -> bool:
        return self._turn is not None

    def take(self, message: Message) -> None:
        match message:
            case TurnBegan():
                self._turn_began(message)
            case PromptQueued():
                self._prompt_queued(message)
            case PromptGone():
                self._prompt_gone(message)
            case TextGrew():
                self._text_grew(message)
            case TextSaid():
                self._text_said(message)
            case CallBegan() | CallOver():
                self._call(message)
            case UserInputRequired():
                self._input_required(message)
            case ConfirmationRequired():
                self._confirmation_required(message)
            case AskClosed():
                self._ask_closed(message)
            case Continued():
                self._begin(CONTINUING)
            case TurnOver():
                self._turn_over(message)
            case _:
                assert_never(message)

    def changed(self) -> dict[str, Layout | AskGroup]:
        """The cards that look different than before, in the order in which they came; and forget that they do."""
        changed, self._changed = self._changed, {}
        return changed

    def streamed(self) -> tuple[str, str] | None:
        """The card that grows and its whole text, if it has grown."""
        streamed, self._streamed = self._streamed, None
        return streamed

    def _turn_began(self, message: TurnBegan) -> None:
        if message.prompt_id in self._waiting:
            self._waiting.discard(message.prompt_id)
            self._show(f"{QUEUED}{message.prompt_id}", notice_card(localize(_BEGUN)))
        self._turn, self._segments = message.turn_id, 0
        self._is_timed_out = self._is_cut = False
        by = message.by
        is_elsewhere = by is not None and by.via != VIA
        self._begin(RUNNING, prompt_from(str(by), message.text) if is_elsewhere else "")

    def _prompt_queued(self, message: PromptQueued) -> None:
        if not message.is_alone and message.by.via == VIA:
            self._waiting.add(message.prompt_id)
            self._show(f"{QUEUED}{message.prompt_id}", notice_card(localize(_QUEUED), localize(_QUEUED_TEXT)))

    def _prompt_gone(self, message: PromptGone) -> None:
        if message.prompt_id in self._waiting:
            self._waiting.discard(message.prompt_id)
            words = _TAKEN if message.is_taken else _RECALLED
            self._show(f"{QUEUED}{message.prompt_id}", notice_card(localize(words)))

    def _text_grew(self, message: TextGrew) -> None:
        segment = self._current()
        before = len(segment.full)
        segment.growing = message.text
        pieces = segment.pages()
        if len(segment.full) != before:
            self._draw()
        if len(pieces) <= MOST_PAGES:
            self._streamed = (_page_key(segment.key, len(pieces)), visible(pieces[-1]))

    def _text_said(self, message: TextSaid) -> None:
        segment = self._current()
        segment.growing = ""
        segment.said.append(message.text)
        self._draw()

    def _call(self, message: CallBegan | CallOver) -> None:
        if self._segment is None and isinstance(message, CallOver):
            return  # a call that never began, because the turn was stopped
        line = f"{message.tool}: {message.title}"
        self._current().calls[message.call_id] = (
            f"⏳ {line}" if isinstance(message, CallBegan) else f"{_mark(message)} {line} · {retell(message.line)}"
        )
        self._draw()

    def _input_required(self, message: UserInputRequired) -> None:
        self._pause()
        self._ask(message.session, [message.ask])

    def _confirmation_required(self, message: ConfirmationRequired) -> None:
        self._pause()
        permissions = [each for each in message.asks if isinstance(each, PermissionAsk)]
        for start in range(0, len(permissions), MOST_IN_A_BATCH):
            self._ask(message.session, permissions[start : start + MOST_IN_A_BATCH])
        for each in message.asks:
            if not isinstance(each, PermissionAsk):
                self._ask(message.session, [each])

    def _ask_closed(self, message: AskClosed) -> None:
        self._is_timed_out |= message.closed.is_timed_out
        key = self._group_of.pop(message.ask_id, None)
        if key is None:
            return
        group = self._groups[key]
        group.asks = [(ask, message.closed if ask.id == message.ask_id else closed) for ask, closed in group.asks]
        self._changed[key] = group
        if not group.is_open:
            del self._groups[key]

    def _turn_over(self, message: TurnOver) -> None:
        self._pause()
        result = result_card(message.ended, is_timed_out=self._is_timed_out, url=self._url, is_cut=self._is_cut)
        self._shown.clear()  # whatever is drawn from here on has another key
        self._show(f"result/{message.ended.turn_id}", result)
        self._turn = None

    def _current(self) -> _Segment:
        return self._segment or self._begin(CONTINUING)

    def _begin(self, notice: Localized, prompt: str = "") -> _Segment:
        self._pause()
        self._segments += 1
        self._segment = _Segment(f"turn/{self._turn or self._name}/{self._segments}", notice, prompt)
        self._draw()
        return self._segment

    def _pause(self) -> None:
        """The card of the segment is finished; what follows is a new one."""
        if self._segment is not None:
            self._segment.is_over = True
            self._draw()
            self._segment = None

    def _draw(self) -> None:
        segment = self._segment
        if segment is None:
            return
        pieces = segment.pages()
        self._is_cut |= len(pieces) > MOST_PAGES
        for page, piece in enumerate(pieces[:MOST_PAGES], 1):
            is_first, is_last = page == 1, page == min(len(pieces), MOST_PAGES)
            layout = running_card(
                segment.notice,
                text=piece,
                tools=list(segment.calls.values()) if is_first else (),
                prompt=segment.prompt if is_first else "",
                page=page,
                is_over=segment.is_over or not is_last,
            )
            self._show(_page_key(segment.key, page), layout)

    def _ask(self, session: SessionId, asks: list[Ask] | list[PermissionAsk]) -> None:
        key = f"ask/{asks[0].id}"
        self._groups[key] = AskGroup(session, [(each, None) for each in asks])
        self._group_of |= {each.id: key for each in asks}
        self._changed[key] = self._groups[key]

    def _show(self, key: str, layout: Layout) -> None:
        if self._shown.get(key) != layout:
            self._shown[key] = self._changed[key] = layout


def _page_key(key: str, page: int) -> str:
    return key if page == 1 else f"{key}/{page}"


def _mark(over: CallOver) -> str:
    if over.is_good:
        return "✅"
    return "❌" if isinstance(over.outcome, Failed) else "⛔"
