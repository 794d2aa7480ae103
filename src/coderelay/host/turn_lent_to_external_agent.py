"""The open turn of an agent with a loop of its own, which runs its calls itself and waits while people decide."""

import asyncio
import time
from collections.abc import Callable

from coderelay.host.file_snapshot_timing import before_prompt, changes_nothing, forget_wait
from coderelay.host.loaded_session import carried_out
from coderelay.host.turn_lent_to_agent import AgentTurn
from coderelay.protocol.asks import Allow, Answers, Decision, DenyAndStop, OfferAsk, PlanDecision
from coderelay.protocol.calls import Call, Finished, Need, Outcome
from coderelay.protocol.errors import Fenced
from coderelay.protocol.events import AnyEvent, Judged, TreeTaken
from coderelay.protocol.ids import CallId
from coderelay.session import external_agent_calls
from coderelay.session.state import State


class ExternalAgentTurn(AgentTurn):
    """This process goes on owning the session while people are asked. The snapshot of the files is taken before the
    agent begins, because nobody can know which of its calls changes files."""

    _ids: dict[CallId, CallId]
    _heard: set[CallId]
    _began: dict[CallId, float]
    _trees: asyncio.Lock
    _together = True

    @property
    def continuation(self) -> external_agent_calls.Continuation | None:
        return external_agent_calls.continuation(self.state)

    def may_be_left(self) -> bool:
        return self._is_mine(self.state) and external_agent_calls.may_be_left(self.state, together=self._together)

    async def set_up(self) -> None:
        self._ids, self._heard, self._began, self._trees = {}, set(), {}, asyncio.Lock()
        await super().set_up()
        await self._write_tree(await before_prompt(self.state, self._context.turn_files))

    async def may_continue(self) -> bool:
        """Ask for more money if it is needed, and hold the ask as any other."""
        if await super().may_continue():
            return True
        ask = self.state.turn.ask if self.state.turn is not None else None
        if ask is None:
            return False
        await self._until(lambda state: state.asks[ask].decision is not None)
        return isinstance(self.state.asks[ask].decision, Allow)

    def started_but_not_run(self) -> set[CallId]:
        """Always empty: this process cannot know whether the agent has begun a call that was allowed."""
        return set()

    def _offer(self) -> OfferAsk | None:
        """An agent with a loop of its own uses neither our files nor our servers."""
        return None

    async def ask(self, call: Call, need: Need) -> Decision:
        call = self._call_to_ask_about(call)
        if call.id not in self.state.calls:
            await self._propose(call, need)
        while not self.is_stopped and self._is_held(call.id):
            await self._release(call.id)
        if self.is_stopped or call.id not in self.state.calls:
            return DenyAndStop()
        if self.state.calls[call.id].outcome is None:
            self._began.setdefault(call.id, time.monotonic())
            async with self._trees:
                await self._keep_files([call])
        return external_agent_calls.decision_on(self.state, call.id)

    async def heard(self, call: Call, need: Need, outcome: Outcome) -> str:
        call = self._named(call, self._ids.get(call.id) or self._ids.setdefault(call.id, self._free_id(call.id)))
        is_new = call.id not in self.state.calls  # also while the agent's question about it is being judged
        need, outcome = self._context.secrets.hide_need(need), self._context.secrets.hide_outcome(outcome)
        began = self._began.pop(call.id, None)
        ms = 0 if began is None else round((time.monotonic() - began) * 1000)
        if is_new and not changes_nothing(need, self.settings.mode):
            async with self._trees:
                await self._write_tree(forget_wait(self.state))
        runs_hooks = isinstance(outcome, Finished) and self._should_run_hooks(call.id)
        if is_new:  # the log does not have this call yet, so it is recorded first
            await self._write(lambda state: external_agent_calls.record_end(state, call, need, outcome, ms))
        try:
            if runs_hooks:
                outcome = await self._run_hooks(call, need, outcome)
        finally:  # a stop of the turn ends the hooks; the outcome that the agent reported is still recorded
            await carried_out(
                self._write(lambda state: external_agent_calls.record_end(state, call, need, outcome, ms))
            )
        return outcome.feedback if isinstance(outcome, Finished) else ""

    def _should_run_hooks(self, call_id: CallId) -> bool:
        """Whether hooks are run for the call: each call once, and no answers of people."""
        known = self.state.calls.get(call_id)
        is_first = call_id not in self._heard and (known is None or known.outcome is None)
        self._heard.add(call_id)
        return is_first and not (known is not None and isinstance(known.answer, Answers | PlanDecision))

    async def _run_hooks(self, call: Call, need: Need, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Finished):
            return outcome
        known = self.state.calls.get(call.id)
        seen = await self.with_hook_feedback(call, known.judged.need if known is not None else need, outcome)
        return self._context.secrets.hide_outcome(seen)

    async def _propose(self, call: Call, need: Need) -> None:
        judged = await self._judge(call, self._context.secrets.hide_need(need))
        if call.id in self.state.calls:
            return
        if judged.ask is not None and not self._runs_something():
            async with self._trees:
                await self._leave_files()

        def decide(state: State) -> list[AnyEvent]:
            return external_agent_calls.propose(state, call, external_agent_calls.with_grant(state, judged, call))

        await self._write(decide)

    async def _release(self, call_id: CallId) -> None:
        """Wait for the decision on a call, and write what follows from it."""
        self._together = self._context.folders.of(self.settings.cwd).settings.batch.release == "together"
        await self._until(lambda state: external_agent_calls.is_released(state, call_id, together=self._together))
        rejudge = await self._context.judging.rejudge(self.state)
        await self._write(lambda state: external_agent_calls.release(state, call_id, rejudge))

    async def _judge(self, call: Call, need: Need) -> Judged:
        judged = await self._context.judging.judge(self.state, [call], [need])
        if (hooks := self._hooks) is not None:
            judged = await hooks.run_pre_tool_hooks(self, [call], judged)
        return judged[0]

    def _is_held(self, call_id: CallId) -> bool:
        """Whether people decide about the call, or have decided and nothing followed from it yet."""
        call = self.state.calls.get(call_id)
        return call is not None and call.outcome is None and call.started_epoch is None

    def _runs_something(self) -> bool:
        return any(each.started_epoch is not None for each in self.state.open_calls())

    def _call_to_ask_about(self, call: Call) -> Call:
        """The call under the id that the log knows it by. An agent that asks twice about one call gets one ask. It
        may also use an id again that it used before, in an earlier turn or before its process died."""
        known = self._ids.get(call.id)
        if known is None or (known in self.state.calls and self.state.calls[known].outcome is not None):
            known = self._ids[call.id] = self._free_id(call.id)
        return self._named(call, known)

    def _free_id(self, call_id: CallId) -> CallId:
        taken = {*self.state.calls, *self._ids.values()}
        names = (CallId(f"{call_id}_{number}" if number > 1 else call_id) for number in range(1, len(taken) + 2))
        return next(each for each in names if each not in taken)

    def _named(self, call: Call, call_id: CallId) -> Call:
        return Call(call_id, call.name, call.arguments, call.seal)

    async def _write_tree(self, taken: TreeTaken | None) -> None:
        if taken is not None:
            await self._write(lambda state: [taken])

    async def _until(self, holds: Callable[[State], bool]) -> None:
        """Wait until `holds` is true for the state, or the turn is stopped. Raises Fenced once the session has
        another owner."""

        def is_over(state: State) -> bool:
            return not self._is_mine(state) or self.is_stopped or holds(state)

        if not is_over(self.state):
            waiting = asyncio.get_running_loop().create_future()

            def watch(state: State) -> None:
                if is_over(state) and not waiting.done():
                    waiting.set_result(None)

            self._loaded.watchers.add(watch)
            try:
                await waiting
            finally:
                self._loaded.watchers.discard(watch)
        if not self._is_mine(self.state):
            raise Fenced(self.session, self.epoch, self.state.epoch)
