"""What an agent is lent: the open turn of a session this process owns."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from coderelay.host.record import Record
from coderelay.policy.judge import Rules, judge
from coderelay.protocol.asks import Ask
from coderelay.protocol.calls import Call, Need, Outcome, Stopped, Unknown
from coderelay.protocol.errors import Fenced
from coderelay.protocol.events import AnyEvent, CallStarted, Judged, MessageAdded
from coderelay.protocol.ids import AskId, OwnerId, SessionId, TurnId, new_id
from coderelay.protocol.live import Live
from coderelay.session import progress
from coderelay.session.next_action import Action, Wait, next_action
from coderelay.session.state import Settings, State


def now() -> int:
    return time.time_ns() // 1_000_000


class HostTurn:
    """Belongs to one claim: when the session has another owner, or none while it waits for people, nothing
    more can be written through it."""

    def __init__(self, record: Record, epoch: int, me: OwnerId) -> None:
        assert record.state.turn is not None
        self._record = record
        self._me = me
        self.epoch = epoch
        self.id: TurnId = record.state.turn.started.turn_id

    @property
    def session(self) -> SessionId:
        return self._record.session

    @property
    def state(self) -> State:
        return self._record.state

    @property
    def settings(self) -> Settings:
        assert self.state.settings is not None
        return self.state.settings

    def next_action(self) -> Action:
        return next_action(self.state) if self._is_mine(self.state) else Wait()

    def show(self, live: Live) -> None:
        self._record.show(live)

    async def add(self, message: MessageAdded, needs: Sequence[Need], *, final: bool) -> None:
        judged = self._judge(message.calls, needs)

        def decide(state: State) -> list[AnyEvent]:
            return progress.after_message(state, message, judged, final=final, now=now())

        await self._write(decide)

    async def perform(self, call: Call, effect: Callable[[], Awaitable[Outcome]]) -> None:
        await self._start(call)
        outcome: Outcome = Unknown()
        began = time.monotonic()
        try:
            outcome = await effect()
        except asyncio.CancelledError:
            turn = self.state.turn
            if turn is not None and turn.stop_requested:
                outcome = Stopped(started=True)
            raise
        finally:
            took = round((time.monotonic() - began) * 1000)
            await asyncio.shield(self._end(call, outcome, took))

    async def _start(self, call: Call) -> None:
        """Most calls were started in the append before; then this writes nothing."""

        def decide(state: State) -> list[AnyEvent]:
            known = state.calls[call.id]
            if known.started_epoch is not None:
                assert known.started_epoch == self.epoch, "started by another owner: never to be run again"
                return []
            assert progress.refusal(known) is None, "not allowed to run"
            return [CallStarted(batch_id=known.batch_id, call_id=call.id)]

        await self._write(decide)

    async def _end(self, call: Call, outcome: Outcome, ms: int) -> None:
        cut = isinstance(outcome, Stopped | Unknown)
        await self._write(lambda state: progress.after_call(state, call.id, outcome, ms=ms, go_on=not cut))

    async def _write(self, decide: Callable[[State], list[AnyEvent]]) -> None:
        def decide_if_mine(state: State) -> list[AnyEvent]:
            if not self._is_mine(state):
                raise Fenced(self.session, self.epoch, state.epoch)
            return decide(state)

        await self._record.append(decide_if_mine, epoch=self.epoch)

    def _is_mine(self, state: State) -> bool:
        turn = state.turn
        return turn is not None and turn.started.turn_id == self.id and state.owner == self._me

    def _judge(self, calls: Sequence[Call], needs: Sequence[Need]) -> tuple[Judged, ...]:
        settings = self.settings
        verdicts = judge(needs, Rules(settings.mode, settings.allowed_tools))
        return tuple(
            Judged(
                call_id=call.id,
                verdict=verdict.verdict,
                need=need,
                reason=verdict.reason,
                ask=Ask(AskId(new_id()), call.id, need, verdict.reason) if verdict.verdict == "ask" else None,
            )
            for call, need, verdict in zip(calls, needs, verdicts, strict=True)
        )
