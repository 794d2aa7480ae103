"""Moves of persons: what they can do to a session, at any moment."""

from hypothesis import strategies as st

from coderelay.protocol.asks import By, Decision, Deny
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import BadInput, UnknownApproval, UnknownSession
from coderelay.protocol.events import PromptAdmitted, TurnUndone, Unrecognised
from coderelay.protocol.ids import AskId
from coderelay.session import decide
from tests.session.generated_values import MODES, TOOLS, fitting, unfitting
from tests.session.played_session import ANNE, BEN, SESSION
from tests.session.shared_session import Draw, Move, Table


class Persons(Table):
    def persons(self) -> list[Move]:
        """What persons can do now; what is listed twice happens more often."""
        if self.state.deleted:
            return [self.speak_to_a_deleted_session]
        asks = self.state.open_asks()
        moves: list[Move] = [self.answer if asks else self.send_prompt]
        moves += [self.delete, self.configure, self.a_newer_version_writes_something, self.stop]
        if any(each.thinking or each.performing for each in self.living.values()):
            moves += [self.stop] * 6
        if self.checker.prompts.admitted:
            moves += [self.send_a_prompt_again, self.recall, self.edit]
        if self._decided():
            moves.append(self.answer_what_was_decided)
        if self.state.approvals:
            moves.append(self.revoke)
        if asks:
            moves += [self.expire] * 10 if any(ask.deadline is not None for ask in asks) else []
            moves += [self.answer_something_else] * 3 + [self.answer] * 20
        if self.undoing is not None:
            moves += [self.finish_an_undo] * 8
        elif self.state.past:
            moves += [self.begin_an_undo] * (5 if self.state.turn is None else 1)
        if self.state.queue:
            moves += [self.recall, self.edit, self.edit]
        if len(self.state.queue) < 3:
            moves += [self.ask_for_a_summary]
            moves += [self.steer] * (6 if self.state.turn is not None else 1)
            moves += [self.send_prompt] * (2 if self.state.queue else 8)
        return moves

    def send_prompt(self, data: Draw) -> None:
        max_steps, seconds = (
            data.draw(st.sampled_from([None, None, 1, 2])),
            data.draw(st.sampled_from([60, None, 60])),
        )
        page = self.play.prompt(self.play.new("do "), max_steps=max_steps, answer_within=seconds)
        self.see(page)
        (admitted,) = [each.event for each in page]
        assert isinstance(admitted, PromptAdmitted)
        assert (admitted.max_steps, admitted.answer_within) == (max_steps, seconds)

    def steer(self, data: Draw) -> None:
        self.see(self.play.prompt(self.play.new("rather "), steer=True))

    def ask_for_a_summary(self, data: Draw) -> None:
        self.see(self.play.compact_history())

    def edit(self, data: Draw) -> None:
        """Counts as long as the prompt waits; one that began or was taken back stays as it was."""
        known = data.draw(st.sampled_from(sorted(self.checker.prompts.admitted)))
        waits = any(each.prompt_id == known and each.task == "prompt" for each in self.checker.prompts.queue)
        page = self.play.edit(known, self.play.new("better "))
        self.see(page)
        assert bool(page) == waits

    def send_a_prompt_again(self, data: Draw) -> None:
        known = data.draw(st.sampled_from(sorted(self.checker.prompts.admitted)))
        self.see(self.play.prompt("the same again", known))

    def recall(self, data: Draw) -> None:
        self.see(self.play.recall(data.draw(st.sampled_from(sorted(self.checker.prompts.admitted)))))

    def stop(self, data: Draw) -> None:
        self.see(self.play.stop())

    def begin_an_undo(self, data: Draw) -> None:
        """The files first; while they go back, anything may happen to the session."""
        try:
            last = self.play.rules.undoable(self.state)
        except BadInput:
            assert self.state.turn is not None or self.checker.prompts.are_to_run()
        else:
            self.undoing = TurnUndone(turn_id=last.turn_id, by=ANNE)

    def finish_an_undo(self, data: Draw) -> None:
        """Or never, if its process dies before."""
        undone, self.undoing = self.undoing, None
        assert undone is not None
        if data.draw(st.integers(0, 5)) < 5:
            page = self.play.write(self.play.rules.undone(self.state, undone))
            self.sent = () if page else self.sent
            self.see(page)

    def answer(self, data: Draw) -> None:
        """For more than one call, it is kept where the next one is judged, unless the process dies in between."""
        ask = data.draw(st.sampled_from(self.state.open_asks()))
        decision, by = data.draw(st.sampled_from(fitting(ask))), data.draw(st.sampled_from([ANNE, BEN]))
        page = self.play.decide_on(ask.id, decision, by)
        self.see(page)
        if page:
            self.answered[ask.id] = (decision, by)
            if data.draw(st.integers(0, 5)) < 5:
                self.see(self.play.remember(ask.id, by))

    def answer_something_else(self, data: Draw) -> None:
        """What is no answer to the ask is refused, and the ask stays open."""
        ask = data.draw(st.sampled_from(self.state.open_asks()))
        decision = data.draw(st.sampled_from(unfitting(ask)))
        head, asks = self.state.head, self.state.open_asks()
        try:
            self.see(self.play.decide_on(ask.id, decision))
            raise AssertionError("it counted")
        except BadInput:
            assert (self.state.head, self.state.open_asks()) == (head, asks)

    def expire(self, data: Draw) -> None:
        due = [ask.id for ask in self.state.open_asks() if ask.deadline is not None]
        for page in self.play.expire():
            self.see(page)
        self.answered |= {ask: decided for ask in due if (decided := self._recorded(ask)) is not None}

    def answer_what_was_decided(self, data: Draw) -> None:
        """The loser of a race is told who won, a late click the outcome."""
        ask = data.draw(st.sampled_from(self._decided()))
        known = self.state.asks[ask].ask
        decision = data.draw(st.sampled_from([*fitting(known), *unfitting(known)]))
        self.see(self.play.decide_on(ask, decision, BEN))
        told = decide.recorded_answer(self.state, AnswerAsk(session=SESSION, ask=ask, decision=decision, by=BEN))
        assert told == self.answered.get(ask, (None, None))

    def revoke(self, data: Draw) -> None:
        approval = data.draw(st.sampled_from(sorted(self.state.approvals)))
        self.see(self.play.revoke(approval))
        try:
            self.see(self.play.revoke(approval))
            raise AssertionError("revoked twice")
        except UnknownApproval:
            pass

    def configure(self, data: Draw) -> None:
        mode, title = data.draw(st.sampled_from(MODES)), data.draw(st.sampled_from([None, "", "t"]))
        tools = data.draw(st.sampled_from(TOOLS))
        self.see(self.play.configure(mode=mode, title=title, allowed_tools=tools))

    def a_newer_version_writes_something(self, data: Draw) -> None:
        self.see(self.play.write([Unrecognised("session.painted", {"kind": "session.painted", "colour": "blue"})]))

    def delete(self, data: Draw) -> None:
        if data.draw(st.integers(0, 9)) == 7:
            self.see(self.play.delete())

    def speak_to_a_deleted_session(self, data: Draw) -> None:
        try:
            self.see(self.play.prompt("hello?"))
        except UnknownSession:
            assert self.play.delete() == []
        try:
            self.see(self.play.decide_on(AskId("ask-c1"), Deny()))
        except UnknownSession:
            assert self.state.open_asks() == []

    def _decided(self) -> list[AskId]:
        return sorted(set(self.state.asks) - {ask.id for ask in self.state.open_asks()})

    def _recorded(self, ask: AskId) -> tuple[Decision, By] | None:
        known = self.state.asks[ask]
        return None if known.decision is None or known.by is None else (known.decision, known.by)
