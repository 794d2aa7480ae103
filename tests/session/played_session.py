"""A session played by hand: persons and owners make their moves as they do through the host, and every
move goes through the pure rules into a log in memory."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from coderelay.host.tool_list_intersection import tools_in_both
from coderelay.policy.judge import Policy
from coderelay.policy.remembered_approvals import approval_of
from coderelay.protocol.asks import (
    Allow,
    Approval,
    Ask,
    By,
    Decision,
    Deny,
    DenyAndStop,
    OfferAsk,
    PermissionAsk,
    Unanswered,
)
from coderelay.protocol.background_commands import End
from coderelay.protocol.calls import Outcome, Stopped, Unknown
from coderelay.protocol.commands import (
    AnswerAsk,
    CompactHistory,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    EditPrompt,
    RecallPrompt,
    RevokeApproval,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.errors import Fenced
from coderelay.protocol.events import (
    AnyEvent,
    ApprovalGranted,
    CallStarted,
    Ending,
    HistoryCompacted,
    Judged,
    MessageAdded,
    MessageKept,
    Recorded,
    SessionClaimed,
    SessionDeleted,
    StopReason,
)
from coderelay.protocol.ids import AskId, BackgroundId, CallId, MessageId, OwnerId, PromptId, SessionId, TurnId
from coderelay.protocol.message_content import Block, Image, Note, Text
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session import decide, turn_event_builder
from coderelay.session.settings_change_timing import Facts
from coderelay.session.state import State
from coderelay.session.summary_row import summarise
from coderelay.tools.builtin_tools import SPECS
from tests.session.proposed_calls import Proposed, ask_of
from tests.session.replaceable_rules import Rules

SESSION = SessionId("s")
FOLDER = "/w"
ANNE = By("anne", "terminal")
BEN = By("ben", "web")
NOBODY = By("nobody", "deadline")
TOO_LATE = Deny("nobody answered in time")
FACTS = Facts("balanced", tools_in_both)
USED = Usage(input_tokens=10, output_tokens=2)


class Play:
    """The log, the state and the row that follow from the moves made so far. `beyond` is what was approved for
    more than this session."""

    def __init__(
        self, rules: Rules | None = None, *, mode: Mode = "default", beyond: Iterable[Approval] = ()
    ) -> None:
        self.rules = rules or Rules()
        self.log: list[Recorded] = []
        self.state = State(SESSION)
        self.row: Summary | None = None
        self.beyond = list(beyond)
        self.now = 1000
        self._count = 0
        created = CreateSession(session=SESSION, cwd=FOLDER, model="m", mode=mode, by=ANNE)
        self.write(decide.create(self.state, created))

    def write(self, events: Sequence[AnyEvent], *, epoch: int | None = None) -> list[Recorded]:
        """Place events as a store does: whole, numbered without holes, refused if the epoch is old."""
        if epoch is not None and epoch != self.state.epoch:
            raise Fenced(SESSION, epoch, self.state.epoch)
        self.now += 5
        page: list[Recorded] = []
        for event in self.rules.mark(self.state, [*events]):
            current = event.epoch if isinstance(event, SessionClaimed) else self.state.epoch
            page.append(Recorded(SESSION, self.state.head + 1, current, self.now, event))
            self.rules.apply(self.state, page[-1])
            self.row = summarise(self.row, page[-1])
        self.log += page
        return page

    def events(self) -> list[AnyEvent]:
        return [each.event for each in self.log]

    def stored(self) -> list[Recorded]:
        """What a store still has: a deletion erases all that was before it."""
        erased = self.log and isinstance(self.log[-1].event, SessionDeleted)
        return self.log[-1:] if erased else self.log

    def read_again(self, log: Sequence[Recorded]) -> State:
        state = State(SESSION)
        for recorded in log:
            self.rules.apply(state, recorded)
        return state

    def new(self, what: str) -> str:
        self._count += 1
        return f"{what}{self._count}"

    # persons

    def prompt(
        self,
        text: str,
        prompt_id: str | None = None,
        *,
        max_steps: int | None = None,
        answer_within: int | None = None,
        images: tuple[Image, ...] = (),
        steer: bool = False,
        unanswered: Unanswered = "deny",
    ) -> list[Recorded]:
        command = SendPrompt(
            session=SESSION,
            prompt_id=PromptId(prompt_id or self.new("p")),
            text=text,
            by=ANNE,
            max_steps=max_steps,
            answer_within=answer_within,
            images=images,
            steer=steer,
            unanswered=unanswered,
        )
        return self.write(self.rules.send_prompt(self.state, command))

    def edit(self, prompt_id: str, text: str, by: By = BEN) -> list[Recorded]:
        command = EditPrompt(session=SESSION, prompt_id=PromptId(prompt_id), text=text, by=by)
        return self.write(self.rules.edit_prompt(self.state, command))

    def compact_history(self, prompt_id: str | None = None) -> list[Recorded]:
        """A turn that is there for nothing but a summary."""
        command = CompactHistory(session=SESSION, prompt_id=PromptId(prompt_id or self.new("p")), by=ANNE)
        return self.write(decide.compact(self.state, command))

    def recall(self, prompt_id: str) -> list[Recorded]:
        command = RecallPrompt(session=SESSION, prompt_id=PromptId(prompt_id), by=ANNE)
        return self.write(decide.recall_prompt(self.state, command))

    def stop_background(self, number: BackgroundId, by: By = ANNE) -> list[Recorded]:
        return self.write(self.rules.stop_background(self.state, number, by))

    def end_background(self, number: BackgroundId, end: End) -> list[Recorded]:
        """By the process that has it, or by anyone once that one is gone."""
        return self.write(self.rules.end_background(self.state, number, end))

    def stop(self) -> list[Recorded]:
        return self.write(self.rules.stop(self.state, StopTurn(session=SESSION, by=ANNE)))

    def answer(self, call: str, decision: Decision, by: By = ANNE) -> list[Recorded]:
        """To what the call asked last."""
        known = self.state.calls.get(CallId(call))
        ask = known.judged.ask if known is not None else None
        return self.decide_on(ask.id if ask is not None else ask_of(call), decision, by)

    def answer_turn(self, decision: Decision, by: By = ANNE) -> list[Recorded]:
        """To the ask that belongs to no call: about a plan, or about money."""
        assert self.state.turn is not None
        assert self.state.turn.ask is not None
        return self.decide_on(self.state.turn.ask, decision, by)

    def decide_on(self, ask: AskId, decision: Decision, by: By = ANNE) -> list[Recorded]:
        command = AnswerAsk(session=SESSION, ask=ask, decision=decision, by=by)
        return self.write(self.rules.answer(self.state, command))

    def remember(self, ask: AskId, by: By = ANNE) -> list[Recorded]:
        """What the host keeps of an answer that was given for more than one call."""
        known = self.state.asks[ask]
        if not isinstance(known.ask, PermissionAsk) or not isinstance(known.decision, Allow):
            return []
        approval = approval_of(known.ask, known.decision.scope, FOLDER)
        if approval.scope in ("project", "person"):
            self.beyond.append(approval)
        return self.write([ApprovalGranted(approval=approval, by=by)]) if approval.scope == "session" else []

    def revoke(self, approval: AskId) -> list[Recorded]:
        return self.write(decide.revoke(self.state, RevokeApproval(session=SESSION, approval=approval, by=BEN)))

    def expire(self) -> list[list[Recorded]]:
        """Time passes until something is due; what is due by then is denied, an append for each."""
        deadlines = [ask.deadline for ask in self.state.open_asks() if ask.deadline is not None]
        self.now = max(self.now, min(deadlines, default=self.now))
        return [self._expire(ask) for ask in self.rules.due_asks(self.state, self.now)]

    def _expire(self, ask: Ask) -> list[Recorded]:
        match ask.unanswered:
            case "deny":
                return self.decide_on(ask.id, TOO_LATE, NOBODY)
            case "stop":
                return self.decide_on(ask.id, DenyAndStop(), NOBODY)
            case "park":
                return self.write(self.rules.park(self.state, ask.id, self.now))

    def configure(
        self, *, mode: Mode | None = None, title: str | None = None, allowed_tools: tuple[str, ...] | None = None
    ) -> list[Recorded]:
        command = ConfigureSession(session=SESSION, by=ANNE, mode=mode, title=title, allowed_tools=allowed_tools)
        return self.write(self.rules.configure(self.state, command, FACTS))

    def delete(self) -> list[Recorded]:
        return self.write(decide.delete(self.state, DeleteSession(session=SESSION, by=ANNE)))

    # owners

    def claim(
        self,
        owner: str = "A",
        *,
        max_steps: int = 10,
        gone: Sequence[BackgroundId] = (),
        blocking: bool = False,
    ) -> list[Recorded]:
        brought = turn_event_builder.Claim(
            OwnerId(owner), self.now, TurnId(self.new("t")), max_steps, ("bash",), gone, blocking=blocking
        )
        return self.write(self.rules.claim(self.state, brought))

    def propose(self, proposed: Proposed, *, epoch: int | None = None) -> list[Recorded]:
        """By an agent that blocks."""
        (judged,) = self._judge([proposed])
        judged = self.rules.with_grant(self.state, judged, proposed.call())
        return self.write(self.rules.propose(self.state, proposed.call(), judged), epoch=epoch)

    def release(self, call: str, *, epoch: int | None = None) -> list[Recorded]:
        return self.write(self.rules.release(self.state, CallId(call)), epoch=epoch)

    def hear(self, proposed: Proposed, outcome: Outcome, *, epoch: int | None = None) -> list[Recorded]:
        return self.write(self.rules.hear(self.state, proposed.call(), proposed.need, outcome), epoch=epoch)

    def park_turn(self, *, epoch: int | None = None) -> list[Recorded]:
        """The agent has ended, and its owner leaves."""
        return self.write(self.rules.park_turn(self.state), epoch=epoch)

    def keep(self, *messages: MessageKept, epoch: int | None = None) -> list[Recorded]:
        """What the program of an agent emitted."""
        return self.write(self.rules.keep(self.state, messages), epoch=epoch)

    def kept(
        self,
        name: str,
        *,
        calls: Sequence[str] = (),
        results: Sequence[str] = (),
        is_last: bool = False,
    ) -> MessageKept:
        assert self.state.turn is not None
        return MessageKept(
            turn_id=self.state.turn.started.turn_id,
            message_id=MessageId(name),
            data="{}",
            calls=tuple(map(CallId, calls)),
            results=tuple(map(CallId, results)),
            is_last=is_last,
        )

    def message(
        self,
        *proposed: Proposed,
        blocks: tuple[Block, ...] = (Text("well"),),
        final: bool | None = None,
        stop_reason: StopReason = "end_turn",
        notes: tuple[Note, ...] = (),
        usage: Usage = USED,
        cost: float | None = None,
        name: str | None = None,
        epoch: int | None = None,
    ) -> list[Recorded]:
        turn = self.state.turn
        assert turn is not None
        said = MessageAdded(
            message_id=MessageId(name or self.new("m")),
            turn_id=turn.started.turn_id,
            model="m",
            blocks=blocks,
            calls=tuple(each.call() for each in proposed),
            usage=usage,
            stop_reason=stop_reason,
            notes=notes,
            cost=cost,
        )
        events = self.rules.after_message(
            self.state,
            said,
            self._judge(proposed),
            final=not proposed if final is None else final,
            now=self.now,
            plan_ask=ask_of(said.message_id),
        )
        return self.write(events, epoch=epoch)

    def start_calls(self, *calls: str, epoch: int | None = None) -> list[Recorded]:
        """Nothing to write if the append before has started them, as is usual."""
        known = [self.state.calls[CallId(call)] for call in calls]
        if all(each.started_epoch is not None for each in known):
            mine = all(each.started_epoch == self.state.epoch for each in known)
            assert mine, "started by another owner: never to be run again"
            return []
        return self.write([CallStarted(batch_id=each.batch_id, call_id=each.call.id) for each in known], epoch=epoch)

    def end_call(self, call: str, outcome: Outcome, *, epoch: int | None = None) -> list[Recorded]:
        return self.end_calls((call, outcome), epoch=epoch)

    def end_calls(self, *ended: tuple[str, Outcome], epoch: int | None = None) -> list[Recorded]:
        ends = [turn_event_builder.End(CallId(call), outcome, ms=3) for call, outcome in ended]
        cut = any(isinstance(end.outcome, Stopped | Unknown) for end in ends)
        return self.write(self.rules.after_calls(self.state, ends, go_on=not cut), epoch=epoch)

    def ask_again(self, call: str, *, epoch: int | None = None) -> list[Recorded]:
        known = self.state.calls[CallId(call)]
        ask = PermissionAsk(AskId(self.new(f"ask-{call}-")), known.call.id, known.judged.need, "needs the network")
        return self.write(self.rules.ask_again(self.state, known.call.id, ask), epoch=epoch)

    def take_steering(self, *, epoch: int | None = None) -> list[Recorded]:
        return self.write(self.rules.take_steering(self.state), epoch=epoch)

    def compact(
        self,
        summary: str = "so far",
        dropped: int | None = None,
        *,
        usage: Usage = USED,
        cost: float | None = None,
        epoch: int | None = None,
    ) -> list[Recorded]:
        """Everything becomes a summary, unless it is said how much."""
        turn = self.state.turn
        assert turn is not None
        compacted = HistoryCompacted(
            turn_id=turn.started.turn_id,
            summary=summary,
            dropped=len(self.state.history) if dropped is None else dropped,
            model="m",
            usage=usage,
            cost=cost,
        )
        return self.write(self.rules.after_compaction(self.state, compacted, now=self.now), epoch=epoch)

    def pause_for_ask(self, limit: float, *, epoch: int | None = None) -> list[Recorded]:
        """Asks, if what was spent has reached the limit."""
        ask = self.rules.budget_ask(self.state, "session", self.state.cost or 0.0, limit)
        if ask is None:
            return []
        named = replace(ask, id=AskId(self.new("ask-budget-")))
        return self.write(self.rules.pause_for_ask(self.state, named), epoch=epoch)

    def offer(self, ask: OfferAsk, *, epoch: int | None = None) -> list[Recorded]:
        return self.write(self.rules.pause_for_ask(self.state, ask), epoch=epoch)

    def close(self, ending: Ending, error: str | None = None, *, epoch: int | None = None) -> list[Recorded]:
        return self.write(self.rules.close_turn(self.state, ending, now=self.now, error=error), epoch=epoch)

    def _judge(self, proposed: Sequence[Proposed]) -> tuple[Judged, ...]:
        turn, settings = self.state.turn, self.state.settings
        assert turn is not None
        assert settings is not None
        approvals = self.rules.in_force([*self.beyond, *self.state.approvals.values()], settings.cwd)
        policy = Policy(settings.mode, SPECS, settings.allowed_tools, approvals)
        verdicts = self.rules.judge([each.need for each in proposed], policy)
        seconds = turn.started.answer_within
        deadline = None if seconds is None else self.now + seconds * 1000
        return tuple(
            each.judged() if each.verdict is not None else each.judged_as(verdict, deadline, turn.started.unanswered)
            for each, verdict in zip(proposed, verdicts, strict=True)
        )
