"""The Hypothesis state machine of persons and owners at one session, in any order that the host allows.

Every step is one move of somebody: a person who sends, edits, stops or answers; an owner that claims, takes
what was sent to steer, asks for money, hears its model, runs calls, sums up, fails, leaves, or is gone without
a word; a process that has a command in the background. After every move the log must be one that the checker
accepts, and everything that is computed from the log must agree.
"""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from coderelay.protocol.event_codec import decode, encode, kind_of
from coderelay.protocol.events import Recorded
from coderelay.protocol.session_setting_values import Mode
from coderelay.session.model_messages import Transcript
from coderelay.session.next_action import AskModel, RunCall
from coderelay.session.openai_chat_format import snapshot
from tests.session.ask_checks import BrokenPromise
from tests.session.background_moves import Processes
from tests.session.comparable_summary import of_row, of_state
from tests.session.generated_values import BUDGETS, MODES
from tests.session.observed_turn import KnownBackground, KnownPast
from tests.session.owner_moves import Owners
from tests.session.person_moves import Persons
from tests.session.shared_session import Draw


class SessionMachine(Persons, Owners, Processes):
    @initialize(mode=st.sampled_from(MODES), budget=st.sampled_from(BUDGETS))
    def somebody_chooses_a_mode_and_a_budget(self, mode: Mode, budget: float | None) -> None:
        self.budget = budget
        self.see(self.play.configure(mode=mode))

    # One rule for all moves: Hypothesis leaves rules out at random, and a turn needs most of them.
    @rule(data=st.data())
    def somebody_moves(self, data: Draw) -> None:
        # What moves the session on stands at both ends: Hypothesis likes the ends best.
        moves = self.owners() + self.processes() + self.persons()
        data.draw(st.sampled_from(moves), label="who")(data)

    @invariant()
    def the_log_is_the_state(self) -> None:
        kept = self.play.stored()
        again = [
            Recorded(each.session, each.seq, each.epoch, each.at, decode(kind_of(each.event), encode(each.event)))
            for each in kept
        ]
        assert again == kept
        assert self.play.read_again(again) == self.state
        assert self.play.read_again(self.play.log) == self.state

    @invariant()
    def the_row_agrees(self) -> None:
        row = self.play.row
        assert (row is None) == self.state.deleted
        if row is not None and (told := of_row(row, self.play.log)) != of_state(self.state):
            raise BrokenPromise(f"the row says {told}, the state {of_state(self.state)}")

    @invariant()
    def it_can_be_exported_at_any_time(self) -> None:
        if not self.state.deleted:
            assert snapshot(self.state, (), "")["state"] == self.state.phase

    @invariant()
    def what_is_due_comes_next(self) -> None:
        action, due = self.play.rules.next_action(self.state), self.checker.due()
        if action != due:
            raise BrokenPromise(f"next is {action}, due is {due}")
        assert self.state.phase == self.checker.phase()
        assert (self.state.owner, self.state.last_owner) == (self.checker.owner, self.checker.rested)
        if isinstance(action, AskModel):
            self.check_transcript(Transcript())

    @invariant()
    def an_owner_runs_what_may_run_at_the_same_time(self) -> None:
        if self.state.owner is not None and isinstance(self.checker.due(), RunCall):
            calls, due = [each.call.id for each in self.play.rules.together(self.state)], self.checker.to_run()
            if calls != due:
                raise BrokenPromise(f"{calls} would run now, not {due}")

    @invariant()
    def every_prompt_waits_until_it_is_started_taken_or_recalled(self) -> None:
        waiting = self.checker.prompts.queue
        if self.state.queue != waiting:
            raise BrokenPromise(f"{self.state.queue} wait instead of {waiting}")

    @invariant()
    def a_turn_works_for_everybody_who_wrote_its_prompts(self) -> None:
        turn = self.checker.turn
        if turn is not None and set(self.state.people) != turn.people:
            raise BrokenPromise(f"the turn works for {self.state.people} instead of {turn.people}")

    @invariant()
    def what_was_spent_adds_up(self) -> None:
        spent, state, row = self.checker.spent, self.state, self.play.row
        if row is None:
            return
        counted = (state.cost, state.context_tokens, state.allowances, row.usage)
        if counted != (spent.cost, spent.context, spent.allowed, spent.usage):
            raise BrokenPromise(f"counted are {counted}, spent was {spent}")

    @invariant()
    def what_the_model_knows_was_told_since_the_last_summary(self) -> None:
        told = self.checker.told
        if not self.state.deleted and (self.state.told, self.state.seen) != (told.notes, told.seen):
            raise BrokenPromise(f"the model is thought to know {self.state.told}, {self.state.seen}, not {told}")

    @invariant()
    def the_commands_in_the_background_are_those_that_were_left_running(self) -> None:
        known = {
            each.id: KnownBackground(each.owner, each.stop_by, each.end, each.old)
            for each in self.state.background.values()
        }
        if known != self.checker.background:
            raise BrokenPromise(f"{known} are in the background instead of {self.checker.background}")

    @invariant()
    def turns_can_be_undone_in_the_order_in_which_they_ended(self) -> None:
        known = [KnownPast(each.turn_id, each.before, each.after, each.problem, each.cwd) for each in self.state.past]
        if known != self.checker.past:
            raise BrokenPromise(f"{known} can be undone instead of {self.checker.past}")

    @invariant()
    def what_is_asked_is_pending_and_nothing_else(self) -> None:
        assert [ask.id for ask in self.state.open_asks()] == self.checker.open_asks()
