"""Runs one prompt until its turn ends, answering asks by policy because no person is present (`coder -p`)."""

import sys
from collections.abc import Sequence
from contextlib import aclosing
from typing import Literal

from coderelay.client.client import Client
from coderelay.client.follow_with_subagents import follow_family
from coderelay.client.unattended_answers_and_exit import AutoAnswer, ExitDecision, Unattended, unanswered_line
from coderelay.protocol.asks import Ask, BudgetAsk, By, Deny
from coderelay.protocol.commands import Accepted, RecallPrompt, SendPrompt, StopTurn
from coderelay.protocol.errors import CoderError
from coderelay.protocol.events import (
    AskOpened,
    BatchOpened,
    CallAsked,
    CallProposed,
    PromptAdmitted,
    PromptRecalled,
    Recorded,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
    asks_in,
)
from coderelay.protocol.ids import PromptId, SessionId, TurnId, new_id
from coderelay.protocol.projected_rows import AskRow
from coderelay.protocol.queries import ListAsks
from coderelay.surfaces.headless.exit_codes import FAILED, INTERRUPTED, PARKED, RunState
from coderelay.surfaces.headless.output_interface import CutShort, Form, InitFields, PromptOutput
from coderelay.surfaces.headless.slow_reader_output import PacedOutput
from coderelay.surfaces.headless.text_output_and_progress import ProgressLines, TextOutput

PromptStatus = Literal["not admitted", "taken back", "waiting", "begun", "unknown"]
"""The state of a prompt when the process that sent it cannot go on."""


def open_output(form: Form, session: SessionId, run: RunState, init: InitFields, *, verbose: bool) -> PromptOutput:
    progress = ProgressLines(sys.stderr, everything=form == "text" or verbose)
    if form == "text":
        return TextOutput(sys.stdout, sys.stderr, progress)
    from coderelay.surfaces.headless.json_output import JsonOutput, StreamJsonOutput  # text has no messages
    from coderelay.surfaces.headless.json_result_message import RunResult

    result = RunResult(session, run)
    if form == "json":
        return JsonOutput(sys.stdout, progress, result)
    return StreamJsonOutput(sys.stdout, progress, result, init)


class PromptRun:
    """One prompt of `coder -p`, with the state that its exit code and its final messages are made from.

    `behind_others`: another turn or its asks come first. `output_closed`: the reader has closed the pipe.
    """

    def __init__(
        self,
        client: Client,
        session: SessionId,
        state: RunState,
        output: PromptOutput,
        unattended: Unattended,
        by: By,
    ) -> None:
        self._client = client
        self._session = session
        self._state = state
        self._by = by
        self._nobody = AutoAnswer(unattended, by)
        self._prompt_id = PromptId(new_id())
        self._output = PacedOutput(client, session, self._prompt_id, output)
        self._sent = False
        self._turn: TurnId | None = None
        self._admitted = False
        self.unanswered: list[str] = []
        self.behind_others = False
        self.output_closed = False
        self.is_over = False

    async def prompt(self, text: str, after: int, max_steps: int | None, typed: str = "") -> int:
        """Send the prompt and follow the session until its turn has ended. Returns the exit code. `typed` is what the
        person typed, if the text has more."""
        waiting = bool(await self._client.get(ListAsks(self._session)))
        await self._client.send(
            SendPrompt(
                session=self._session,
                prompt_id=self._prompt_id,
                text=text,
                by=self._by,
                max_steps=max_steps,
                typed=typed,
            )
        )
        self._sent = True
        if waiting:
            self.behind_others = True
            return PARKED
        self._output.begin(after)
        code = await self._follow(after)
        self.is_over = True
        try:
            await self._output.finish()
        except BrokenPipeError:
            self.output_closed = True
        return code

    async def _follow(self, after: int) -> int:
        """Follow until the turn has ended, or asks are left open and no call runs here beside them."""
        leaving = ExitDecision(self._client, self._session)
        async with aclosing(follow_family(self._client, self._session, after)) as feed:
            async for each in feed:
                try:
                    self._output.take(each)
                except BrokenPipeError:
                    await self._close_output()
                if not isinstance(each, Recorded):
                    continue
                code = await self._exit_code(each)
                if code == PARKED:
                    leaving.want()
                elif code is not None:
                    return code
                if await leaving.is_time():
                    return PARKED
        return FAILED

    async def stop(self) -> bool:
        """Stop the turn of this prompt, or recall the prompt if its turn has not begun.

        Returns True if the prompt was recalled: then there is nothing more to wait for.
        """
        self._state.stopped = True
        if await self._recall():
            return True
        await self._client.send(StopTurn(session=self._session, by=self._by))
        return False

    async def give_up(self) -> PromptStatus:
        """After a failure, recall the prompt unless its turn has begun. Returns what has become of it."""
        try:
            if await self._recall():
                return "taken back"
        except CoderError:
            if not self._sent:
                return "unknown"
            return "waiting" if self._turn is None else "begun"
        return "begun" if self._sent else "not admitted"

    async def open_asks(self) -> list[AskRow]:
        """The asks that the run leaves open, for which it writes its result."""
        rows = await self._client.get(ListAsks(self._session))
        self._output.cut_short(CutShort(asks=tuple(rows)))
        return rows

    def end_early(self, problem: str | None = None) -> None:
        """Write the result of a run that ends before its turn has ended: because of a problem, or interrupted."""
        self._output.cut_short(CutShort(problem=problem))

    async def _recall(self) -> bool:
        recall = RecallPrompt(session=self._session, prompt_id=self._prompt_id, by=self._by)
        return isinstance(await self._client.send(recall), Accepted)

    async def _close_output(self) -> None:
        """The reader has closed the pipe: discard further output and stop the turn, as Ctrl-C would."""
        self.output_closed = True
        self._output.discard_further_output()
        await self.stop()

    async def _exit_code(self, recorded: Recorded) -> int | None:
        """Handle one event. Returns the exit code if the run is over, PARKED if it leaves asks open, else None."""
        self._nobody.take(recorded.event)
        if recorded.session != self._session:
            return await self._look_after(recorded)
        match recorded.event:
            case TurnStarted(prompt_id=prompt_id, turn_id=turn_id) if prompt_id == self._prompt_id:
                self._turn = turn_id
            case BatchOpened() | CallProposed() | AskOpened() as event:
                return await self._decide(asks_in(event), event.turn_id)
            case CallAsked() as event:
                return await self._decide([event.ask], self._turn)
            case TurnEnded() as event if event.turn_id == self._turn:
                return self._state.exit_code(event.ending)
            case PromptAdmitted(prompt_id=prompt_id) if prompt_id == self._prompt_id:
                self._admitted = True
            case PromptRecalled(prompt_id=prompt_id) if prompt_id == self._prompt_id:
                return INTERRUPTED
            case StopRequested() if self._admitted and self._turn is None and await self._recall():
                return INTERRUPTED  # after a stop, no turn starts until another prompt is sent, perhaps never
            case SessionDeleted():
                return FAILED
            case _:
                pass
        return None

    async def _look_after(self, recorded: Recorded) -> int | None:
        """Handle the asks of a child session, which works for this prompt's turn, unless that has not begun."""
        return await self._decide(asks_in(recorded.event), self._turn, recorded.session)

    async def _decide(self, asks: Sequence[Ask], turn: TurnId | None, session: SessionId | None = None) -> int | None:
        """Answer the asks of this prompt's turn by policy. Returns PARKED for those that are left open."""
        if not asks:
            return None
        self.behind_others = turn is None or turn != self._turn
        if self.behind_others:
            return PARKED
        if self._nobody.leaves_open(asks):
            return PARKED
        for ask in asks:
            answer = self._nobody.answer(ask, session or self._session)
            refused = isinstance(answer.decision, Deny) and not self._nobody.is_optional(ask)
            self._state.refused = self._state.refused or refused
            if isinstance(ask, BudgetAsk):
                self._state.over_budget = self._state.over_budget or refused
                self.unanswered.append(unanswered_line(ask))
            await self._client.send(answer)
        return None
