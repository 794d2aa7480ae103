"""`coder` with failpoints: dies without a goodbye before or after a chosen arrow of a turn.

    CODER_CRASH=before:call.started:2 python tests/crash/crashing.py -p …

An arrow is an append that holds an event of that kind, or one of `model.asked`, `model.heard`,
`model.answered`, `tool.ran`, `snapshot`, and of a request for a summary `summary.asked`, `summary.heard`,
`summary.answered`, and of the agent that blocks (`--agent blocking`) `agent.asked`, `agent.told`, `agent.ran`; the
number says which time. CODER_PAUSE stops the process there
instead, until somebody continues it. CODER_STILL_SECONDS shortens the time after which a living owner
that stands still is followed. CODER_MUTANT breaks a promise on purpose, so that the checks of the
crash journeys can be seen to fail: `rerun`, `no-epoch`, `no-compare`, `untold` (after a summary, what was told
before), `unasked` (for more money), `forgetful` (of prompts that were taken).
"""

import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from coderelay import cli
from coderelay.agents.agent import Agent
from coderelay.agents.native.compaction import SUMMARISER
from coderelay.app import App
from coderelay.cli import default_command
from coderelay.cli.startup import open_app
from coderelay.config.loaded_config import Config, load
from coderelay.host import loaded_session, session_json_export
from coderelay.host.session_ownership import STILL_SECONDS, SessionOwnership
from coderelay.host.turn_lent_to_agent import AgentTurn
from coderelay.models.model import Completion, Model, Models, Piece, Request
from coderelay.protocol.calls import Call, Failed, Finished, Need
from coderelay.protocol.errors import HeadMoved
from coderelay.protocol.event_codec import kind_of
from coderelay.protocol.events import AnyEvent, HistoryCompacted, PromptTaken, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.session import turn_event_builder
from coderelay.session.state import State
from coderelay.store.open_store import open_owners
from coderelay.store.store import Store
from coderelay.testing.scripted_external_agent import AsksQuestion, BlockingAgent, Says, Step, uses
from coderelay.tools.tool import Tool
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace


class Failpoint:
    """Counts how often its arrow was reached, and dies or stands still there."""

    def __init__(self, crash: str, pause: str) -> None:
        self._signal = signal.SIGKILL if crash else signal.SIGSTOP
        self._side, self._arrow, times = (crash or pause or "::0").split(":")
        self._left = int(times)

    def reach(self, side: str, *arrows: str) -> None:
        if side == self._side and self._arrow in arrows:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), self._signal)


class CrashingStore:
    """Any store, with failpoints around its appends."""

    def __init__(self, store: Store, failpoint: Failpoint, mutant: str) -> None:
        self._store = store
        self._failpoint = failpoint
        self.heads, self.sessions, self.session, self.messages = (
            store.heads,
            store.sessions,
            store.session,
            store.messages,
        )
        self.waiting, self.named = store.waiting, store.named
        self.change_counter, self.rebuild, self.close = store.change_counter, store.rebuild, store.close
        self.limit_lock_waits, self.changed, self.all_heads = store.limit_lock_waits, store.changed, store.all_heads
        self.recent_folders, self.key_value_store = store.recent_folders, store.key_value_store
        self._mutant = mutant

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        kinds = [kind_of(event) for event in events]
        self._failpoint.reach("before", *kinds)
        recorded = await self._mutated_append(session, at, events, epoch)
        self._failpoint.reach("after", *kinds)
        return recorded

    async def _mutated_append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], epoch: int | None
    ) -> list[Recorded]:
        while True:
            try:
                if self._mutant == "no-epoch":
                    return _without_epochs(await self._store.append(session, at, events))
                return await self._store.append(session, at, events, epoch=epoch)
            except HeadMoved as moved:
                if self._mutant != "no-compare":
                    raise
                at = moved.head

    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        recorded = await self._store.read(session, after, limit)
        return _without_epochs(recorded) if self._mutant == "no-epoch" else recorded


def _without_epochs(recorded: list[Recorded]) -> list[Recorded]:
    return [replace(each, epoch=0) for each in recorded]


class CrashingModel:
    def __init__(self, model: Model, failpoint: Failpoint) -> None:
        self.id = model.id
        self.card = model.card
        self._model = model
        self._failpoint = failpoint

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        what = "summary" if request.system == SUMMARISER else "model"
        self._failpoint.reach("before", f"{what}.asked")
        async for piece in self._model.stream(request):
            if isinstance(piece, Completion):
                self._failpoint.reach("after", f"{what}.answered")
            yield piece
            self._failpoint.reach("after", f"{what}.heard")


class CrashingModels:
    def __init__(self, models: Models, failpoint: Failpoint) -> None:
        self._models = models
        self._failpoint = failpoint
        self.why_not, self.card, self.cheap = models.why_not, models.card, models.cheap

    def open(self, model: str) -> Model:
        return CrashingModel(self._models.open(model), self._failpoint)


class CrashingToolbox(Toolbox):
    def __init__(self, tools: list[Tool[Any]], failpoint: Failpoint) -> None:
        super().__init__(tools)
        self._failpoint = failpoint

    async def run(self, call: Call, workspace: Workspace, judged: Need | None = None) -> Finished | Failed:
        self._failpoint.reach("before", "tool.ran")
        outcome = await super().run(call, workspace, judged)
        self._failpoint.reach("after", "tool.ran")
        return outcome


class CrashingHouse(App):
    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.failpoint = Failpoint(os.environ.get("CODER_CRASH", ""), os.environ.get("CODER_PAUSE", ""))
        self.mutant = os.environ.get("CODER_MUTANT", "")
        self.still_seconds = float(os.environ.get("CODER_STILL_SECONDS", STILL_SECONDS))

    def store(self) -> Store:
        return CrashingStore(super().store(), self.failpoint, self.mutant)

    def takeover(self) -> SessionOwnership:
        owners = open_owners(self.config.owners, self.config.database_url)
        return SessionOwnership(owners, still_seconds=self.still_seconds)

    def toolbox(self) -> Toolbox:
        return CrashingToolbox(self.tools(), self.failpoint)

    def agents(self) -> list[Agent]:
        reached = partial(self.failpoint.reach, "after")
        verbatim = "CODER_VERBATIM" in os.environ
        return [*super().agents(), BlockingAgent(three_commands, reached, verbatim=verbatim)]

    def models(self, cwd: str) -> Models:
        return CrashingModels(super().models(cwd), self.failpoint)


def three_commands(prompt: str) -> list[Step]:
    """Three commands at the same time, then a fourth. The prompt `ask …` makes the agent ask a question first."""
    name = prompt.split()[-1]
    commands = [f"echo {name}{call} >> effects # {name}{call}" for call in "abcd"]
    question = [AsksQuestion("Which colour?")] if prompt.startswith("ask ") else []
    return [Says("let me see"), *question, uses(*commands[:3]), uses(commands[3]), Says(f"done {name}")]


def main() -> int:
    """Every subcommand of `coder`, in a house that crashes."""
    crashing = CrashingHouse(load(os.environ))
    _fail_around_snapshots(crashing.failpoint)
    if crashing.mutant == "rerun":
        _forget_what_started()
    if crashing.mutant in _BROKEN_FOLDS:
        _break_fold(_BROKEN_FOLDS[crashing.mutant])
    if crashing.mutant == "unasked":
        AgentTurn.may_continue = _may_always_spend
    if crashing.mutant == "no-epoch":
        AgentTurn._is_mine = _is_my_turn  # pyright: ignore[reportPrivateUsage] - breaking it is the point
    default_command.AGENTS = (*default_command.AGENTS, BlockingAgent.name)
    open_app.new_app = lambda cwd=None: crashing
    return cli.main()


def _fail_around_snapshots(failpoint: Failpoint) -> None:
    write_whole = session_json_export.write_whole

    def failing(path: str, content: bytes, mode: int) -> None:
        failpoint.reach("before", "snapshot")
        write_whole(path, content, mode)
        failpoint.reach("after", "snapshot")

    session_json_export.write_whole = failing


def _is_my_turn(self: AgentTurn, state: State) -> bool:
    """Without a look at whose session it is."""
    return state.turn is not None and state.turn.started.turn_id == self.id


async def _may_always_spend(self: AgentTurn) -> bool:
    return True


def _keep_told(state: State, before: State, event: AnyEvent) -> None:
    if isinstance(event, HistoryCompacted):
        state.told = before.told


def _keep_queue(state: State, before: State, event: AnyEvent) -> None:
    if isinstance(event, PromptTaken):
        state.queue = before.queue


_BROKEN_FOLDS = {"untold": _keep_told, "forgetful": _keep_queue}


def _break_fold(broken: Callable[[State, State, AnyEvent], None]) -> None:
    apply = loaded_session.apply

    def break_after(state: State, recorded: Recorded) -> None:
        before = replace(state, told=dict(state.told))
        apply(state, recorded)
        broken(state, before, recorded.event)

    loaded_session.apply = break_after


def _forget_what_started() -> None:
    claim = turn_event_builder.claim

    def forgetful(state: State, what: turn_event_builder.Claim) -> list[AnyEvent]:
        for call in state.open_calls():
            call.started_epoch = None
        return claim(state, what)

    turn_event_builder.claim = forgetful


if __name__ == "__main__":
    sys.exit(main())
