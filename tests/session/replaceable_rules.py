"""The functions under test, as methods that a mutant can replace one by one."""

from collections.abc import Iterable, Sequence

from coderelay.host.spending_limits import budget_ask
from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.policy.remembered_approvals import in_force
from coderelay.protocol.asks import Approval, Ask, BudgetAsk, By, OfferAsk, PermissionAsk
from coderelay.protocol.background_commands import End
from coderelay.protocol.calls import Call, Need, Outcome
from coderelay.protocol.commands import AnswerAsk, ClearHistory, ConfigureSession, EditPrompt, SendPrompt, StopTurn
from coderelay.protocol.events import (
    AnyEvent,
    Ending,
    HistoryCompacted,
    Judged,
    MessageAdded,
    MessageKept,
    Recorded,
    TurnUndone,
)
from coderelay.protocol.ids import AskId, BackgroundId, CallId
from coderelay.session import (
    background_command_events,
    decide,
    external_agent_calls,
    turn_event_builder,
    verbatim_agent_messages,
)
from coderelay.session.fold import apply
from coderelay.session.next_action import Action, next_action
from coderelay.session.settings_change_timing import Facts, configure
from coderelay.session.state import CallState, PastTurn, State


class Rules:
    def send_prompt(self, state: State, command: SendPrompt) -> list[AnyEvent]:
        return decide.send_prompt(state, command)

    def edit_prompt(self, state: State, command: EditPrompt) -> list[AnyEvent]:
        return decide.edit_prompt(state, command)

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        return decide.answer(state, command)

    def park(self, state: State, ask_id: AskId, now: int) -> list[AnyEvent]:
        return decide.park(state, ask_id, now)

    def due_asks(self, state: State, now: int) -> list[Ask]:
        return state.due_asks(now)

    def clear(self, state: State, command: ClearHistory) -> list[AnyEvent]:
        return decide.clear(state, command)

    def configure(self, state: State, command: ConfigureSession, facts: Facts) -> list[AnyEvent]:
        return configure(state, command, facts)

    def keep(self, state: State, messages: Sequence[MessageKept]) -> list[AnyEvent]:
        return verbatim_agent_messages.keep(state, messages)

    def mark(self, state: State, events: list[AnyEvent]) -> list[AnyEvent]:
        return verbatim_agent_messages.mark(state, events)

    def stop(self, state: State, command: StopTurn) -> list[AnyEvent]:
        return decide.stop(state, command)

    def undoable(self, state: State) -> PastTurn:
        return decide.undoable(state)

    def undone(self, state: State, event: TurnUndone) -> list[AnyEvent]:
        return decide.undone(state, event)

    def next_background(self, state: State) -> BackgroundId:
        return background_command_events.next_id(state)

    def stop_background(self, state: State, number: BackgroundId, by: By) -> list[AnyEvent]:
        return background_command_events.request_stop(state, number, by)

    def end_background(self, state: State, number: BackgroundId, end: End) -> list[AnyEvent]:
        return background_command_events.end(state, number, end)

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        return turn_event_builder.claim(state, claim)

    def in_force(self, approvals: Iterable[Approval], cwd: str) -> tuple[Approval, ...]:
        return in_force(approvals, cwd)

    def judge(self, needs: Sequence[Need], policy: Policy) -> list[Verdict]:
        return judge(needs, policy)

    def after_message(
        self,
        state: State,
        message: MessageAdded,
        judged: tuple[Judged, ...],
        *,
        final: bool,
        now: int,
        plan_ask: AskId | None,
    ) -> list[AnyEvent]:
        return turn_event_builder.after_message(state, message, judged, final=final, now=now, plan_ask=plan_ask)

    def with_grant(self, state: State, judged: Judged, call: Call) -> Judged:
        return external_agent_calls.with_grant(state, judged, call)

    def propose(self, state: State, call: Call, judged: Judged) -> list[AnyEvent]:
        return external_agent_calls.propose(state, call, judged)

    def is_released(self, state: State, call_id: CallId, *, together: bool) -> bool:
        return external_agent_calls.is_released(state, call_id, together=together)

    def release(self, state: State, call_id: CallId) -> list[AnyEvent]:
        return external_agent_calls.release(state, call_id, lambda state, call: None)

    def hear(self, state: State, call: Call, need: Need, outcome: Outcome) -> list[AnyEvent]:
        return external_agent_calls.record_end(state, call, need, outcome)

    def may_be_left(self, state: State, *, together: bool) -> bool:
        return external_agent_calls.may_be_left(state, together=together)

    def park_turn(self, state: State) -> list[AnyEvent]:
        return external_agent_calls.park(state)

    def together(self, state: State) -> list[CallState]:
        return turn_event_builder.calls_to_run(state)

    def after_calls(self, state: State, ends: Sequence[turn_event_builder.End], *, go_on: bool) -> list[AnyEvent]:
        return turn_event_builder.after_calls(state, ends, go_on=go_on)

    def ask_again(self, state: State, call_id: CallId, ask: PermissionAsk) -> list[AnyEvent]:
        return turn_event_builder.ask_again(state, call_id, ask)

    def take_steering(self, state: State) -> list[AnyEvent]:
        return turn_event_builder.take_steering(state)

    def after_compaction(self, state: State, compacted: HistoryCompacted, *, now: int) -> list[AnyEvent]:
        return turn_event_builder.after_compaction(state, compacted, now=now)

    def budget_ask(self, state: State, span: str, spent: float, limit: float) -> BudgetAsk | None:
        return budget_ask(state, span, spent, limit)

    def pause_for_ask(self, state: State, ask: BudgetAsk | OfferAsk) -> list[AnyEvent]:
        return turn_event_builder.pause_for_ask(state, ask)

    def close_turn(self, state: State, ending: Ending, *, now: int, error: str | None) -> list[AnyEvent]:
        return turn_event_builder.close_turn(state, ending, now=now, error=error, mine=state.is_blocking)

    def next_action(self, state: State) -> Action:
        return next_action(state)

    def apply(self, state: State, recorded: Recorded) -> None:
        apply(state, recorded)
