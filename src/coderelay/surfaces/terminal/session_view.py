"""Follows one session on the screen: prints its events, shows its asks, and keeps the live region up to date."""

import asyncio
import time
from collections.abc import Generator
from contextlib import aclosing, contextmanager, suppress

from msgspec.structs import replace

from coderelay.client.ask_view import headline
from coderelay.client.client import Client
from coderelay.client.follow_with_subagents import join_family
from coderelay.client.i18n import t
from coderelay.protocol.asks import Answers, By, Decision
from coderelay.protocol.commands import AnswerAsk, Answered
from coderelay.protocol.errors import BadInput, CannotRun, CoderError
from coderelay.protocol.events import (
    BackgroundEnded,
    HistoryCleared,
    HistoryCompacted,
    MessageAdded,
    Recorded,
    SessionConfigured,
    TurnEnded,
    TurnStarted,
    TurnUndone,
)
from coderelay.protocol.ids import AskId, SessionId
from coderelay.protocol.live_updates import Live
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListChildren, ListPrompts, ShowContext, ShowPermissions, ShowSession
from coderelay.protocol.query_results import PermissionsShown
from coderelay.surfaces.terminal.ask_and_prompt_queues import (
    AskQueue,
    Change,
    ClosedAsk,
    DroppedAsks,
    OpenAsk,
    OpenedAsk,
    WaitingPrompts,
)
from coderelay.surfaces.terminal.drawing import asks as drawn
from coderelay.surfaces.terminal.drawing.prompt_and_note_lines import note
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut
from coderelay.surfaces.terminal.live_region_view import LiveRegionView
from coderelay.surfaces.terminal.notifications_and_title import Notifier
from coderelay.surfaces.terminal.screen import Screen
from coderelay.surfaces.terminal.session_renderer import SessionRenderer

_EARLIER_EVENTS = 300
_SEEN_SECONDS = 0.7
_AFTER_SECONDS = 0.05
_AFTER_WIDE_SECONDS = 0.3
_SHARE_BELOW_ASK = 3  # an ask is drawn again if more than a third of the screen was printed below it
_CHANGES_SUMMARY = (
    TurnStarted,
    TurnEnded,
    MessageAdded,
    SessionConfigured,
    TurnUndone,
    HistoryCleared,
    HistoryCompacted,
    BackgroundEnded,
)


class SessionView:
    """One session as it is shown on the screen, from `begin` to `end`."""

    def __init__(
        self, client: Client, session: SessionId, by: By, screen: Screen, region: LiveRegionView, notifier: Notifier
    ) -> None:
        self.session = session
        self.asks = AskQueue(session)
        self._client = client
        self._by = by
        self._screen = screen
        self._region = region
        self._notifier = notifier
        self._renderer = SessionRenderer(session, by)
        self.head = 0
        self._facts: asyncio.Task[None] | None = None
        self._facts_are_old = False
        self._answered: set[AskId] = set()
        self._answered_at = 0.0
        self._card: asyncio.TimerHandle | None = None
        self._shown: set[AskId] = set()
        self._card_end = 0
        self._shown_at = 0.0
        self._replaced: AskId | None = None

    @contextmanager
    def undoing(self) -> Generator[None]:
        """While a turn is undone from here, suppress the notice that it was undone: the command prints the result."""
        self._renderer.is_undoing = True
        try:
            yield
        finally:
            self._renderer.is_undoing = False

    @property
    def is_busy(self) -> bool:
        return self._region.busy_since is not None or len(self._region.waiting) > 0

    def ask_in_view(self) -> AskId | None:
        """The ask that the person means if they press a key now. An ask that has just replaced another one without
        the person's doing counts as not seen yet, so the replaced ask is returned."""
        first = self.asks.first.ask.id if self.asks.first is not None else None
        if self._replaced is not None and (
            self.seconds_until_ask_counts_as_seen() or (first is not None and first not in self._shown)
        ):
            return self._replaced
        return first

    def seconds_until_ask_counts_as_seen(self) -> float:
        """How many seconds remain until the shown ask counts as seen."""
        return max(0.0, self._shown_at + _SEEN_SECONDS - time.monotonic())

    async def begin(self) -> None:
        """Read and show the current state of the session. Raises a CoderError; then nothing of the session is
        shown."""
        row = await self._client.get(ShowSession(self.session))
        waiting = WaitingPrompts(await self._client.get(ListPrompts(self.session)))
        children = await self._client.get(ListChildren(self.session))
        permissions = await self._permissions()
        self.head = row.head
        for child in children:
            self.asks.name(child.id, child.title)
        region = self._region
        region.renderer, region.asks, region.summary, region.folder = self._renderer, self.asks, row, row.cwd
        region.waiting, region.permissions = waiting, permissions
        region.busy_since = time.monotonic() if row.turn_open else None
        self._notifier.show_session(row)
        self._screen.refresh()
        if row.last_prompt and not row.context_tokens:
            self._renew_facts()

    def end(self) -> None:
        """Cancel the pending updates of the screen."""
        if self._card is not None:
            self._card.cancel()
        if self._facts is not None:
            self._facts.cancel()

    async def print_history(self) -> None:
        """Print the last 300 events of the session, beginning with the start of a turn if there is one among them."""
        if self.head == 0:
            return
        events: list[Recorded] = []
        async with aclosing(self._client.follow(self.session, max(0, self.head - _EARLIER_EVENTS))) as feed:
            async for each in feed:
                if isinstance(each, Recorded):
                    events.append(each)
                    if each.seq >= self.head:
                        break
        whole = events[0].seq == 1
        begin = next((at for at, each in enumerate(events) if isinstance(each.event, TurnStarted)), 0)
        width = self._screen.width
        if not whole:
            self._screen.print(note(t("earlier turns are not shown; /export writes the whole session"), width))
        self._renderer.is_history = True
        for each in events if whole else events[begin:]:
            self._screen.print(self._renderer.take(each, width))
        self._renderer.is_history = False
        if self._renderer.has_shortened:
            self._screen.print(note(t("earlier output is shortened; Ctrl+T expands it, latest first"), width))

    def show_rest(self) -> bool:
        """Print in full what was shortened last. Returns False if there is nothing."""
        rest = self._renderer.show_rest(self._screen.width)
        self._screen.print(rest)
        return bool(rest)

    @property
    def output_lines(self) -> int:
        """How many lines of a tool's output are shown; 0 for all."""
        return self._renderer.output_lines

    @output_lines.setter
    def output_lines(self, lines: int) -> None:
        self._renderer.output_lines = lines

    async def answer(self, asked: OpenAsk, decision: Decision) -> None:
        self._answered.add(asked.ask.id)
        self._answered_at = time.monotonic()
        answer = AnswerAsk(session=asked.session, ask=asked.ask.id, decision=decision, by=self._by)
        outcome = await self._client.send(answer)
        if isinstance(outcome, Answered) and outcome.by is not None and outcome.by != self._by:
            told = t("already answered by {who} in {via}", who=outcome.by.who, via=outcome.by.via)
            self._screen.print(note(told, self._screen.width))

    async def follow(self) -> None:
        """Follow the session until it is deleted. If called again after a failure, it continues after the last
        event."""
        already, events = await join_family(self._client, self.session, self.head)
        for row in already:
            self.asks.put(row)
        if len(self.asks):
            self._notifier.asked()
            self._show_first(len(self.asks.batch))
            self._screen.refresh()
        async with aclosing(events) as feed:
            async for each in feed:
                self._take(each)

    def show_ask_again(self) -> None:
        """Draw the open ask again below what was printed since, so that no key answers what is not on the screen."""
        asked = self.asks.first
        if asked is not None and asked.ask.id in self._shown:
            self._shown.discard(asked.ask.id)
            self._show_card(0)

    def _take(self, each: Recorded | Live) -> None:
        if not isinstance(each, Recorded):
            self._screen.print(self._renderer.add_live(each, self._screen.width))
            self._keep_ask_in_sight()
            return  # the screen refreshes by itself while a turn runs
        self._screen.print(self._renderer.take(each, self._screen.width))
        self._show_change(self.asks.take(each))
        self._keep_ask_in_sight()
        if each.session == self.session:
            self.head = each.seq
            self._keep_up(each)
        self._screen.refresh()

    def _keep_ask_in_sight(self) -> None:
        """Subagents and background commands may print while an ask is open."""
        if self._screen.rows_printed - self._card_end > self._screen.rows // _SHARE_BELOW_ASK:
            self.show_ask_again()

    def _keep_up(self, recorded: Recorded) -> None:
        event, region = recorded.event, self._region
        region.waiting.take(event)
        match event:
            case TurnStarted():
                region.busy_since = time.monotonic()
                self._notifier.turn_began()
            case TurnEnded():
                region.busy_since = None
                self._notifier.ended()
            case _:
                pass
        if isinstance(event, _CHANGES_SUMMARY):
            self._renew_facts()

    def _renew_facts(self) -> None:
        self._facts_are_old = True
        if self._facts is None or self._facts.done():
            self._facts = asyncio.create_task(self._read_facts())

    async def _read_facts(self) -> None:
        with suppress(CoderError):  # `follow` reports the error
            while self._facts_are_old:
                self._facts_are_old = False
                row = await self._client.get(ShowSession(self.session))
                self._region.summary = replace(row, context_tokens=await self._tokens(row))
                self._region.permissions = await self._permissions()
                self._notifier.name(row)
                self._screen.refresh()

    async def _permissions(self) -> PermissionsShown | None:
        """The permissions, or None if the configuration is invalid or on another machine: the error is reported when
        something runs."""
        try:
            return await self._client.get(ShowPermissions(self.session))
        except (BadInput, CannotRun):
            return None

    async def _tokens(self, row: Summary) -> int:
        """The number of context tokens, estimated where it is not counted: at the beginning, after compaction or
        undo."""
        if row.context_tokens or not row.last_prompt:
            return row.context_tokens
        return sum(tokens for _, tokens in (await self._client.get(ShowContext(self.session))).parts)

    def _show_change(self, change: Change | None) -> None:
        match change:
            case OpenedAsk(asked):
                self._notifier.asked()
                if asked[0] is self.asks.first:
                    self._show_first(len(asked))
            case ClosedAsk():
                here = self._by if self._is_own(change) else None
                self._show_answer(change, here)
                if change.was_first:
                    replaced = change.asked.ask.id if change.by != here else None
                    self._show_first(0, replaced, is_wide=change.is_wide)
            case DroppedAsks():
                if change.asked[0].session != self.session:  # for our own session, the end of the turn is printed
                    self._screen.print(note(t("this request is no longer open"), self._screen.width))
                if change.was_first:
                    self._show_first(0, replaced=change.asked[0].ask.id)
            case None:
                pass
        if not len(self.asks):
            self._notifier.nothing_asked()

    def _is_own(self, closed: ClosedAsk) -> bool:
        """Whether the answer was given here, or follows from an approval given here that covers more than one
        call."""
        just_now = time.monotonic() - self._answered_at < _SEEN_SECONDS
        return closed.asked.ask.id in self._answered or (just_now and closed.by == self._by)

    def _show_answer(self, closed: ClosedAsk, here: By | None) -> None:
        if isinstance(closed.decision, Answers) and closed.by == here:
            self._screen.print(drawn.given_answer(closed.decision, self._screen.width))
            return
        told = drawn.answered(closed.asked.ask, closed.decision, closed.by, here)
        if closed.asked.ask.id not in self._shown:  # it was decided together with another ask
            told = f"{told.rstrip()}  {cut(headline(closed.asked.ask), self._screen.width // 2)}\n"
        self._screen.print(told)

    def _show_first(self, together: int, replaced: AskId | None = None, *, is_wide: bool = False) -> None:
        """Schedule the card of the first open ask. `replaced` is the ask shown before, if this person did not
        decide it. The card is delayed by a moment, because the answer to the earlier ask may decide this one, too;
        it probably does if it `is_wide`."""
        own = together == 0 and replaced is None
        self._shown_at, self._replaced = 0.0 if own else time.monotonic(), replaced
        loop = asyncio.get_running_loop()
        delay = _AFTER_WIDE_SECONDS if is_wide else _AFTER_SECONDS
        self._card = loop.call_later(0 if together else delay, self._show_card, together)

    def _show_card(self, together: int) -> None:
        asked = self.asks.first
        if asked is None or asked.ask.id in self._shown:
            return
        self._shown.add(asked.ask.id)
        if together > 1:
            self._screen.print(drawn.batch_list([each.ask for each in self.asks.batch], self._screen.width))
        current = self._region.answer_parser.current(asked.ask)
        self._region.ask_on_screen = asked.ask.id
        self._screen.print_at_once(drawn.ask_card(current, self._screen.width, task=asked.task))
        self._card_end = self._screen.rows_printed
        if asked.session == self.session and (call := asked.ask.call_id) is not None:
            self._renderer.was_asked(call)
        if self._shown_at:
            self._shown_at = time.monotonic()  # on a busy machine this callback may be late
