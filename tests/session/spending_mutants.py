"""Rules that are wrong in one point each about summaries, costs and budgets."""

from msgspec.structs import replace

from coderelay.protocol.asks import Allow, BudgetAsk, OfferAsk
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    AskOpened,
    HistoryCompacted,
    Judged,
    MessageAdded,
    Recorded,
    StopRequested,
    TurnEnded,
)
from coderelay.protocol.ids import AskId
from coderelay.session import turn_event_builder
from coderelay.session.next_action import Action, AskModel, Compact
from coderelay.session.state import State
from tests.session.mutants import Mutant


class SummaryDropsOneTooMany(Mutant):
    breaks = "missing or strange"

    def apply(self, state: State, recorded: Recorded) -> None:
        event = recorded.event
        if isinstance(event, HistoryCompacted):
            event = replace(event, dropped=event.dropped + 1)
        super().apply(state, replace(recorded, event=event))


class SummaryDropsOneTooFew(Mutant):
    breaks = "missing or strange"

    def apply(self, state: State, recorded: Recorded) -> None:
        event = recorded.event
        if isinstance(event, HistoryCompacted):
            event = replace(event, dropped=max(0, event.dropped - 1))
        super().apply(state, replace(recorded, event=event))


class SummaryIsNotTold(Mutant):
    breaks = "missing or strange|speaks first"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCompacted) and len(state.history) > 1:
            del state.history[0]


class SummaryLeavesTheModelKnowing(Mutant):
    breaks = "is thought to know"

    def apply(self, state: State, recorded: Recorded) -> None:
        told, seen = dict(state.told), dict(state.seen)
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCompacted):
            state.told, state.seen = told, seen


class SummaryTurnGoesOn(Mutant):
    breaks = "after the summary it was there for"

    def after_compaction(self, state: State, compacted: HistoryCompacted, *, now: int) -> list[AnyEvent]:
        return [compacted]


class SummaryEndsAnyTurn(Mutant):
    breaks = "nobody was asked about|the last that was said"

    def after_compaction(self, state: State, compacted: HistoryCompacted, *, now: int) -> list[AnyEvent]:
        turn = state.turn
        assert turn is not None
        for_a_summary = replace(state, turn=replace(turn, started=replace(turn.started, task="compact")))
        return super().after_compaction(for_a_summary, compacted, now=now)


class SummaryIsFree(Mutant):
    breaks = "miscounted"

    def after_compaction(self, state: State, compacted: HistoryCompacted, *, now: int) -> list[AnyEvent]:
        events = super().after_compaction(state, compacted, now=now)
        turn = state.turn
        assert turn is not None
        free = {"usage": turn.usage, "cost": turn.cost}
        return [replace(each, **free) if isinstance(each, TurnEnded) else each for each in events]


class SummaryTaskAsksTheModel(Mutant):
    breaks = "due is Compact"

    def next_action(self, state: State) -> Action:
        action = super().next_action(state)
        return AskModel() if isinstance(action, Compact) else action


class LastMessageIsFree(Mutant):
    breaks = "miscounted"

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
        free = replace(message, cost=None)
        events = super().after_message(state, free, judged, final=final, now=now, plan_ask=plan_ask)
        return [message, *events[1:]]


class CostsAreCountedTwiceAfterAClaim(Mutant):
    breaks = "the row says|counted are"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        event = recorded.event
        if isinstance(event, MessageAdded) and event.cost is not None and state.epoch > 1:
            state.cost = (state.cost or 0.0) + event.cost


class BudgetForgetsWhatWasAllowed(Mutant):
    breaks = "they had allowed|counted are"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        state.allowances.clear()


class BudgetIsAllowedForEver(Mutant):
    breaks = "counted are"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        event = recorded.event
        if isinstance(event, AskAnswered) and isinstance(event.decision, Allow):
            ask = state.asks[event.ask_id].ask
            if isinstance(ask, BudgetAsk):
                state.allowances[ask.span] = float("inf")


class BudgetIsAskedAboutTooEarly(Mutant):
    breaks = "before the budget was used up"

    def budget_ask(self, state: State, span: str, spent: float, limit: float) -> BudgetAsk | None:
        ask = super().budget_ask(state, span, spent, limit / 2)
        return None if ask is None else replace(ask, limit=limit)


class BudgetDeniedGoesOn(Mutant):
    breaks = "stop.requested.* was due"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        asked = state.asks.get(command.ask)
        about_money = asked is not None and isinstance(asked.ask, BudgetAsk)
        return [each for each in events if not (about_money and isinstance(each, StopRequested))]


class BudgetAllowedEndsTheTurn(Mutant):
    breaks = "nobody's owner|nobody was asked about"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        asked = state.asks.get(command.ask)
        if not events or asked is None or not isinstance(asked.ask, BudgetAsk) or len(events) > 1:
            return events
        return [*events, *turn_event_builder.close_turn(state, "done", now=0)]


class BudgetPausesTwice(Mutant):
    breaks = "nobody's owner|opened twice|between two steps"

    def pause_for_ask(self, state: State, ask: BudgetAsk | OfferAsk) -> list[AnyEvent]:
        return [again for each in super().pause_for_ask(state, ask) for again in (each, each)]


class BudgetAskIsNotWaitedFor(Mutant):
    breaks = "the row says|due is Wait"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, AskOpened) and isinstance(recorded.event.ask, BudgetAsk) and state.turn:
            state.turn.ask = None


SPENDING_MUTANTS: list[type[Mutant]] = [
    SummaryDropsOneTooMany,
    SummaryDropsOneTooFew,
    SummaryIsNotTold,
    SummaryLeavesTheModelKnowing,
    SummaryTurnGoesOn,
    SummaryEndsAnyTurn,
    SummaryIsFree,
    SummaryTaskAsksTheModel,
    LastMessageIsFree,
    CostsAreCountedTwiceAfterAClaim,
    BudgetForgetsWhatWasAllowed,
    BudgetIsAllowedForEver,
    BudgetIsAskedAboutTooEarly,
    BudgetDeniedGoesOn,
    BudgetAllowedEndsTheTurn,
    BudgetPausesTwice,
    BudgetAskIsNotWaitedFor,
]
