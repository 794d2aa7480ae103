"""The checker of a log: its rules, written down a second time with none of the code under test.

Reads the log page by page (a page is one append) and raises BrokenPromise at the first event that a
promise forbids. What it remembers is enough to say what is due next, to compare with `next_action`.
"""

from collections.abc import Sequence
from typing import Any

from coderelay.protocol.asks import Allow, BudgetAsk, Deny, DenyAndStop, OfferAsk, PlanAsk
from coderelay.protocol.event_codec import kind_of
from coderelay.protocol.events import (
    AgentAttached,
    AnyEvent,
    ApprovalGranted,
    ApprovalRevoked,
    AskAnswered,
    AskOpened,
    AskParked,
    BackgroundEnded,
    BackgroundStopRequested,
    BatchOpened,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallProposed,
    CallStarted,
    ChildOpened,
    EnvironmentSetUp,
    HistoryCleared,
    HistoryCompacted,
    MessageAdded,
    MessageKept,
    PartialsKept,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    SessionForked,
    SessionMoved,
    StopRequested,
    TreeTaken,
    TurnEnded,
    TurnParked,
    TurnProlonged,
    TurnStarted,
    TurnUndone,
    Unrecognised,
)
from coderelay.protocol.ids import AskId, BackgroundId
from coderelay.protocol.message_content import Text
from coderelay.protocol.projected_rows import Phase
from coderelay.session.next_action import Action, AskModel, Compact, EndTurn, Rest, RunAgent, RunCall, StartTurn, Wait
from tests.session.ask_checks import (
    BrokenPromise,
    fits,
    follows_from,
    is_expected,
    promise,
)
from tests.session.held_call_checks import HeldBatches
from tests.session.observed_turn import KnownBackground, KnownPast, KnownTurn


class Checker(HeldBatches):
    def see(self, page: Sequence[Recorded]) -> None:
        """One append: it keeps every promise event by event, and leaves nothing half said."""
        self.begun.clear()
        self.claimed = any(isinstance(each.event, SessionClaimed) for each in page)
        for recorded in page:
            self._place(recorded)
            self._pay(recorded.event)
            self._read(recorded)
        promise(self.unopened is None, "a message with calls has no batch")
        promise(not self.ends_now, "a call was passed over")
        promise(not self.summed_up, "a turn goes on after the summary it was there for (C-28)")
        promise(not self.owed, f"{[*map(kind_of, self.owed)]} was due behind the answer (A-62, X-03)")
        took = any(isinstance(recorded.event, PromptTaken) for recorded in page)
        promise(not took or not self.prompts.steering(), "a prompt that steers was left behind (X-08)")
        self.check_running()
        self.check_held()
        batch = self.turn.batch if self.turn else None
        if batch is not None:
            decisions = [each.decision for each in batch.asks]
            due = bool(decisions) and not any(each is None or isinstance(each, DenyAndStop) for each in decisions)
            promise(batch.resumed == due, "resumed too early or not at all (D-03)")

    def due(self) -> Action:
        """What must happen next."""
        if self.turn is None:
            return StartTurn() if self.prompts.are_to_run() else Rest()
        if self.turn.stopped:
            return EndTurn(stopped=True)
        if self.turn.open_asks():
            return Wait()
        blocking = self.turn.started.blocking
        if calls := self.turn.open_calls():
            return RunAgent() if blocking else RunCall(calls[0].call.id)
        if self.turn.steps >= self.turn.started.max_steps:
            return EndTurn(stopped=False)
        if blocking:
            return RunAgent()
        return Compact() if self.turn.is_for_a_summary() else AskModel()

    def phase(self) -> Phase:
        if self.deleted:
            return "deleted"
        if self.turn is not None:
            return "waiting" if self.turn.open_asks() else "running"
        if self.last is None:
            return "idle"
        return "failed" if self.last.ending == "step_limit" else self.last.ending

    def open_asks(self) -> list[AskId]:
        return self.turn.open_asks() if self.turn is not None else []

    def _place(self, recorded: Recorded) -> None:
        promise(not self.deleted, "something follows session.deleted")
        promise(recorded.seq == self.head + 1, "the numbers have holes")
        first = isinstance(recorded.event, SessionCreated)
        promise(first == (recorded.seq == 1), "session.created is not the first event, or not the only one")
        raised = 1 if isinstance(recorded.event, SessionClaimed) else 0
        promise(recorded.epoch == self.epoch + raised, "the epoch rises with a claim and only then")
        promise(
            self.unopened is None or isinstance(recorded.event, BatchOpened),
            "a batch must follow its message at once",
        )
        self.head, self.epoch = recorded.seq, recorded.epoch

    def _pay(self, event: AnyEvent) -> None:
        if self.owed:
            due = self.owed.pop(0)
            promise(is_expected(due, event), f"{kind_of(due)} was due behind the answer (A-62, X-03)")

    def _read(self, recorded: Recorded) -> None:
        if self.turn is not None:
            self.turn.kept.check(recorded.event)
        match recorded.event:
            case PromptAdmitted() as event:
                self.prompts.admit(event)
            case PromptEdited() as event:
                self.prompts.edit(event)
            case PromptRecalled() as event:
                self.prompts.recall(event)
            case PromptTaken() as event:
                self._take(event)
            case SessionClaimed() as event:
                promise(not isinstance(self.due(), Rest | Wait), "claimed while nothing is to do (D-06)")
                self.owner, self.rested = event.owner, None
            case TurnStarted() as event:
                self._start_turn(event)
            case MessageAdded() as event:
                self._add(event)
            case BatchOpened() as event:
                self.open_batch(event)
            case CallProposed() as event:
                self.propose(event)
            case HistoryCompacted() as event:
                self._compact(event)
            case AskOpened() as event:
                self._open_ask(event)
            case AskAnswered() as event:
                self._answer(event, recorded.at)
            case BatchResumed() as event:
                self.resume_batch(event)
            case TreeTaken() as event:
                self.check_owned()
                promise(event.turn_id == self.open_turn().started.turn_id, "the files of another turn")
                self.open_turn().tree = event
            case TurnUndone() as event:
                self._undo(event)
            case HistoryCleared():
                self._clear()
            case EnvironmentSetUp():
                self.check_owned()
                promise(not self.is_set_up, "the environment is set up twice (A-26)")
                self.is_set_up = True
            case TurnProlonged() as event:
                self.check_between_steps(event.turn_id)
                promise(not self.open_turn().prolonged, "hooks prolong a turn once (A-26)")
                self.open_turn().prolonged = True
            case CallStarted() as event:
                start = self.start_held if self.is_held() else self.start_call
                start(event, recorded.epoch)
            case ChildOpened() as event:
                self.check_owned()
                promise(event.call_id in self.calls, "a session was opened by a call that nobody knows")
            case CallAsked() as event:
                self.ask_again(event, recorded.epoch)
            case CallEnded() as event:
                end = self.end_held if self.is_held() else self.end_call
                end(event, recorded.epoch)
            case BackgroundStopRequested() as event:
                command = self._running(event.background_id)
                promise(command.stop_by is None, "a background command is asked to stop twice (D-17)")
                command.stop_by = event.by
            case BackgroundEnded() as event:
                self._running(event.background_id).end = event.end
            case ApprovalGranted() as event:
                self.grant(event)
            case ApprovalRevoked() as event:
                promise(event.approval_id in self.approvals, "an approval was revoked that nobody gave")
                del self.approvals[event.approval_id]
            case StopRequested():
                self._stop()
            case TurnEnded() as event:
                self._end_turn(event)
            case SessionCreated() as event:
                self.cwd, self.mode, self.allowed_tools = event.cwd, event.mode, event.allowed_tools
            case SessionConfigured() as event:
                self._configure(event)
            case AskParked() as event:
                self._park(event, recorded.at)
            case TurnParked() as event:
                self.park_turn(event)
            case SessionMoved():  # a dead owner may still be on the record
                self._leave_folder()
            case SessionForked():
                pass
            case AgentAttached() as event:
                self.check_owned()
                promise(event.turn_id == self.open_turn().started.turn_id, "the agent of another turn")
            case PartialsKept() as event:
                self.check_owned()
                started = self.open_turn().started
                promise(event.turn_id == started.turn_id, "the pieces of a message of another turn")
                promise(started.partials == "always", "pieces of messages are kept although nobody wants it (X-13)")
            case MessageKept() as event:
                self.check_owned()
                promise(event.turn_id == self.open_turn().started.turn_id, "a message of another turn")
                self.open_turn().kept.keep(event)
            case SessionDeleted():
                self._delete()
            case Unrecognised():
                pass

    def _running(self, number: BackgroundId) -> KnownBackground:
        command = self.background.get(number)
        if command is None or command.end is not None:
            raise BrokenPromise(f"background command {number} does not run (D-17)")
        return command

    def _configure(self, event: SessionConfigured) -> None:
        named = {"cwd": event.cwd, "mode": event.mode, "allowed_tools": event.allowed_tools}
        changes = {name: value for name, value in named.items() if value is not None}
        if event.next_turn and self.turn is not None:
            self.later |= changes
            return
        promise(self.turn is None or event.cwd in (None, self.cwd), "the folder changed under a turn (X-20)")
        self.later = {name: value for name, value in self.later.items() if name not in changes}
        self._set(changes)

    def _set(self, changes: dict[str, Any]) -> None:
        if changes.get("cwd", self.cwd) != self.cwd:
            self._leave_folder()
        for name, value in changes.items():
            setattr(self, name, value)

    def _leave_folder(self) -> None:
        self.approvals.clear()
        self.is_set_up = False

    def _undo(self, event: TurnUndone) -> None:
        promise(self.turn is None, "a turn is undone while one is open (C-30)")
        last = self.past.pop().turn_id if self.past else None
        promise(event.turn_id == last, "another turn is undone than the last (C-30)")
        self.told.undo(event.turn_id)
        self.spent.context = 0

    def _clear(self) -> None:
        promise(self.turn is None, "the history is cleared while a turn is open (A-59)")
        promise(bool(self.told.entries), "a history is cleared that is empty (A-59)")
        for command in self.background.values():
            command.old = command.old or command.end is not None
        self.told.clear()
        self.spent.context = 0

    def _stop(self) -> None:
        if self.turn is None:
            promise(self.prompts.are_to_run(), "a stop where nothing is about to run")
        else:
            promise(not self.turn.stopped, "a turn is stopped once")
            self.turn.stopped = True
        self.prompts.held = True

    def _start_turn(self, event: TurnStarted) -> None:
        self.check_owned()
        promise(self.turn is None, "two turns at once")
        prompt = self.prompts.start(event)
        promise(event.mode == self.mode, "a turn starts in another mode")
        promise(event.cwd == self.cwd, "a turn starts in another folder")
        promise(event.answer_within == prompt.answer_within, "a turn waits as long as its prompt says (X-05)")
        promise(not event.blocking or event.task == "prompt", "a summary needs nobody who blocks")
        self.turn = KnownTurn(event, set(self.prompts.authors[event.prompt_id]))
        self.given.clear()
        self.used.clear()
        if not self.turn.is_for_a_summary():
            self.told.add(event)

    def _take(self, event: PromptTaken) -> None:
        self.check_between_steps(event.turn_id)
        promise(not self.open_turn().is_for_a_summary(), "a prompt steers what makes a summary")
        self.prompts.take(event)
        self.open_turn().people |= self.prompts.authors[event.prompt_id]
        self.told.add(event)

    def _compact(self, event: HistoryCompacted) -> None:
        turn = self.open_turn()
        self.check_owned()
        promise(event.turn_id == turn.started.turn_id, "the summary of another turn")
        promise(not turn.open_asks() and not turn.open_calls(), "a call is summed up without its result")
        for number, command in self.background.items():
            command.old = command.old or f"background:{number}:over" in self.told.notes
        self.told.compact(event)
        self.spend(turn, event.usage, event.cost)
        self.spent.context = 0
        if turn.is_for_a_summary() and not turn.stopped:
            turn.text, self.summed_up = event.summary, True

    def _add(self, event: MessageAdded) -> None:
        self.check_owned()
        turn = self.open_turn()
        promise(event.turn_id == turn.started.turn_id, "a message of another turn")
        if turn.started.blocking:
            promise(not event.calls, "an agent that blocks proposed a whole batch")
        else:
            promise(not turn.open_asks(), "the model went on while people were asked (D-06)")
            promise(not turn.open_calls(), "the model went on before every call had its end (D-08)")
        turn.last_message = event.message_id
        promise(turn.steps < turn.started.max_steps, "more steps than allowed (C-13)")
        promise(not turn.is_for_a_summary(), "the model went on instead of summing up")
        turn.steps += 1
        self.spend(turn, event.usage, event.cost)
        self.spent.context = event.usage.input_tokens + event.usage.output_tokens or self.spent.context
        self.told.add(event)
        turn.text = "".join(block.text for block in event.blocks if isinstance(block, Text))
        self.unopened = event if event.calls else None

    def _open_ask(self, event: AskOpened) -> None:
        self.check_between_steps(event.turn_id)
        turn = self.open_turn()
        if isinstance(event.ask, BudgetAsk):
            promise(event.then is None, "what is spent does not end a turn")
            self.spent.check(event.ask)
        elif isinstance(event.ask, OfferAsk):
            promise(event.then is None, "an offer does not end a turn")
            promise(event.ask.mark not in self.offers, "an offer that was decided is asked about again")
        else:
            self._check_plan(turn, event)
        turn.ask, turn.then = self.new_ask(event.ask), event.then
        if event.then is None:
            self.rest()
        else:
            self.rested, self.owner = self.owner, None

    def _check_plan(self, turn: KnownTurn, event: AskOpened) -> None:
        promise(self._owes_a_plan(turn), "a plan was asked about that nobody owes (A-62)")
        whole = isinstance(event.ask, PlanAsk) and event.ask.call_id is None and event.ask.plan == turn.text
        promise(whole, "the plan is what was said last")
        if event.then is None:
            raise BrokenPromise("a plan that does not end its turn")
        self._check_ending(turn, event.then)

    def _owes_a_plan(self, turn: KnownTurn) -> bool:
        planning = self.mode == "plan" and not turn.is_for_a_summary()
        return planning and not turn.planned and bool(turn.text.strip())

    def _answer(self, event: AskAnswered, at: int) -> None:
        turn = self.open_turn()
        asked = self.asks.get(event.ask_id)
        if asked is None:
            raise BrokenPromise("an answer to an ask that is not open")
        promise(asked.decision is None, "an ask was answered twice")
        promise(event.ask_id in turn.open_asks(), "an answer to an ask that is not open")
        promise(not turn.stopped, "an answer counted after the stop")
        promise(fits(asked.ask, event.decision), "an answer counted that does not fit (X-37)")
        if event.by.who == "nobody":
            over = asked.ask.deadline is not None and asked.ask.deadline <= at
            wanted = {"deny": Deny, "stop": DenyAndStop}.get(asked.ask.unanswered)
            promise(over and type(event.decision) is wanted, "silence is never consent (X-05)")
        if event.by.who == "the agent":
            promise(turn.started.blocking and isinstance(event.decision, Deny), "an agent answered its own ask")
        asked.decision = event.decision
        if isinstance(asked.ask, BudgetAsk) and isinstance(event.decision, Allow):
            self.spent.allow(asked.ask)
        if isinstance(asked.ask, OfferAsk):
            self.offers.add(asked.ask.mark)
        self.owed = follows_from(asked.ask, event, turn.started, turn.then if asked is turn.ask else None)

    def _park(self, event: AskParked, at: int) -> None:
        asked = self.asks.get(event.ask_id)
        if asked is None or event.ask_id not in self.open_turn().open_asks() or asked.parked:
            raise BrokenPromise("an ask was parked that is not open, or twice")
        over = asked.ask.deadline is not None and asked.ask.deadline <= at
        promise(over and asked.ask.unanswered == "park", "an ask was parked that people still wait for (X-05)")
        asked.parked = True

    def _end_turn(self, event: TurnEnded) -> None:
        turn = self.open_turn()
        decided = turn.then is not None and turn.ask is not None and turn.ask.decision is not None
        promise(self.owner is not None or decided, "written by nobody's owner")
        promise(not turn.open_calls(), "a turn ended before every call had its end")
        broke_down = turn.started.blocking and event.ending == "failed"
        promise(turn.stopped or broke_down or not turn.open_asks(), "a turn ended while people were asked (D-06)")
        unasked = event.ending == "done" and not turn.asked_about_its_plan() and self._owes_a_plan(turn)
        promise(not unasked, "a plan that nobody was asked about (A-62)")
        self._check_ending(turn, event)
        if not turn.is_for_a_summary():
            tree, problem = (turn.tree.tree, turn.tree.problem) if turn.tree else ("", "")
            self.past.append(KnownPast(event.turn_id, tree, event.tree, problem, turn.started.cwd))
        self.ends_now = self.summed_up = False
        self.turn, self.owner, self.last = None, None, event
        later, self.later = self.later, {}
        self._set(later)

    def _check_ending(self, turn: KnownTurn, event: TurnEnded) -> None:
        promise(event.turn_id == turn.started.turn_id, "the end of another turn")
        promise((event.ending == "stopped") == turn.stopped, "stopped, if and only if somebody stopped it (X-12)")
        counted = (event.steps, event.usage, event.cost) == (turn.steps, turn.usage, turn.cost)
        promise(counted, "steps, usage or cost are miscounted")
        promise(event.text == turn.text, "a turn ends with the last that was said")

    def _delete(self) -> None:
        self.deleted, self.owner, self.rested, self.turn, self.last = True, None, None, None, None
        self.prompts.queue.clear()
        self.approvals.clear()
        self.past.clear()
        self.background.clear()
