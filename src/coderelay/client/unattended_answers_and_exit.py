"""Runs that nobody attends: asks are answered by what was decided beforehand, and the run may exit once only asks
remain."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from coderelay.client.client import Client
from coderelay.client.follow_with_subagents import is_busy
from coderelay.client.i18n import t
from coderelay.protocol.asks import Allow, Ask, By, Decision, Deny, PermissionAsk, PlanAsk, PlanDecision
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import AnyEvent, MessageAdded
from coderelay.protocol.ids import CallId, SessionId
from coderelay.protocol.queries import ListAsks, ListChildren, ShowHost

Unattended = Literal["park", "deny", "allow"]

_NOBODY = "nobody was there to answer"


class AutoAnswer:
    """Decides asks in place of a person. Silence is never consent: only what was allowed beforehand is allowed, and
    no answer is ever made up."""

    def __init__(self, unattended: Unattended, by: By) -> None:
        self._unattended = unattended
        self._optional: set[CallId] = set()
        self.by = By(who=by.who, via=f"{by.via}:unattended")

    def take(self, event: AnyEvent) -> None:
        """Must be given every recorded event, before the asks that follow from it are decided."""
        if isinstance(event, MessageAdded) and event.author == "workflow":
            self._optional.update(call.id for call in event.calls)

    def leaves_open(self, asks: Sequence[Ask]) -> bool:
        return self._unattended == "park" and not all(map(self.is_optional, asks))

    def answer(self, ask: Ask, session: SessionId) -> AnswerAsk:
        return AnswerAsk(session=session, ask=ask.id, decision=self._decision(ask), by=self.by)

    def is_optional(self, ask: Ask) -> bool:
        """Whether nothing waits for a decision on the ask: it is the plan of a turn that has ended, which is itself
        the answer, or a check of work that is done."""
        return ask.call_id in self._optional or (isinstance(ask, PlanAsk) and ask.call_id is None)

    def _decision(self, ask: Ask) -> Decision:
        if isinstance(ask, PlanAsk) and self.is_optional(ask):
            return PlanDecision("keep")
        if self._unattended == "allow" and isinstance(ask, PermissionAsk):
            return Allow()
        return Deny(_NOBODY)


def unanswered_line(ask: Ask) -> str:
    """One line that says which ask nobody answered."""
    from coderelay.client.ask_view import headline  # most turns end without an ask

    return f"{headline(ask)}; {t(_NOBODY)}"


class ExitDecision:
    """Decides when a surface exits that does not answer the asks of its session. Some tool calls go on while people
    are asked about other calls (those of subagents, and of agents with a loop of their own). If this process ended
    then, they would be cut off, and nobody would know how they ended."""

    def __init__(self, client: Client, session: SessionId) -> None:
        self._client = client
        self._session = session
        self._is_wanted = False

    def want(self) -> None:
        """An ask was opened that this surface does not answer."""
        self._is_wanted = True

    async def is_time(self) -> bool:
        """Whether the asks are still open and no call runs here. Must be called after every event."""
        with suppress(UnknownSession):  # it was deleted, which its last event tells
            if self._is_wanted and not await self._runs_calls():
                self._is_wanted = bool(await self._client.get(ListAsks(self._session)))
                return self._is_wanted
        return False

    async def _runs_calls(self) -> bool:
        busy = [each.id for each in await self._client.get(ListChildren(self._session)) if is_busy(each)]
        for each in (self._session, *busy):
            if (await self._client.get(ShowHost(each))).calls:
                return True
        return False
