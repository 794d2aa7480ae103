"""Asks in one process and between two: kinds, deadlines, asking again, who goes on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coderelay.app import App
from coderelay.config.loaded_config import Config
from coderelay.host.ask_deadlines import NOBODY, expire, next_deadline
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Deny,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
    Unanswered,
)
from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.commands import Accepted, Answered, SendPrompt
from coderelay.protocol.errors import BadInput, MustAsk
from coderelay.protocol.events import (
    AskAnswered,
    AskParked,
    BatchResumed,
    CallStarted,
    MessageAdded,
    Recorded,
    SessionClaimed,
    TurnEnded,
)
from coderelay.protocol.ids import PromptId
from coderelay.protocol.queries import ListAsks
from coderelay.protocol.wall_clock import now
from coderelay.tools.bash import Bash, BashArguments
from coderelay.tools.tool import Tool
from coderelay.workspace.workspace import Workspace
from tests.children.conversations import conversations, task
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, by_history, call, proposes, says, script, write

pytestmark = pytest.mark.quick

COLOUR = call("ask_user", questions=[{"question": "Which colour?", "options": [{"label": "Red"}]}])


@story
async def test_x37_only_answers_that_fit_count(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(COLOUR), says("done"))) as coder:
        await coder.prompt("go")
        (ask,) = await coder.asks()
        assert isinstance(ask, QuestionAsk)
        for wrong in (Allow(), Answers({}), Answers({"Which?": "x"}), PlanDecision("keep")):
            with pytest.raises(BadInput):
                await coder.answer(ask, wrong)
        assert [each.ask for each in await coder.host.get(ListAsks())] == [ask]
        assert isinstance(await coder.answer(ask, Answers({"Which colour?": "Red"})), Accepted)
        await coder.ended()
        assert await coder.host.get(ListAsks()) == []
        assert await coder.story() == ["user: go", "ask_user: ok", "agent: done"]


@story
async def test_x05_a_question_waits_only_so_long_and_silence_is_no_answer(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(COLOUR, write("a", "x")), says("sorry"))) as coder:
        await coder.create("default")
        prompt = SendPrompt(session=coder.session, prompt_id=PromptId("p"), text="go", by=ME, answer_within=1)
        await coder.host.send(prompt)
        question, permission = await coder.asks()
        assert question.deadline is not None
        assert permission.deadline is None
        expired = await coder.until(lambda event: isinstance(event, AskAnswered))
        assert isinstance(expired.event, AskAnswered)
        assert (expired.event.ask_id, expired.event.by) == (question.id, NOBODY)
        assert expired.at >= question.deadline
        late = await coder.answer(question, Answers({"Which colour?": "Red"}))
        assert isinstance(late, Answered)
        assert late.by == NOBODY
        await coder.answer(permission)
        await coder.ended()
        assert await coder.story() == ["user: go", "ask_user: denied", "write: ok", "agent: sorry"]


def late(coder: InHouse, unanswered: Unanswered) -> SendPrompt:
    return SendPrompt(
        session=coder.session, prompt_id=PromptId("p"), text="go", by=ME, answer_within=1, unanswered=unanswered
    )


@story
async def test_e13_x44_a_deadline_can_stop_the_turn(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(COLOUR, write("a", "x")))) as coder:
        await coder.create("default")
        await coder.host.send(late(coder, "stop"))
        question, permission = await coder.asks()
        assert (await coder.ended()).ending == "stopped"
        assert await coder.story() == ["user: go", "ask_user: stopped", "write: stopped", "(stopped)"]
        told = await coder.answer(question, Answers({"Which colour?": "Red"}))
        assert (isinstance(told, Answered), getattr(told, "by", None)) == (True, NOBODY)
        assert isinstance(await coder.answer(permission), Answered)


@story
async def test_x44_a_deadline_of_a_task_stops_the_turn_that_gave_it(tmp_path: Path) -> None:
    asks = conversations([proposes(task("ask", "w"))], {"w": [proposes(COLOUR)]})
    async with house(tmp_path, by_history(asks)) as coder:
        await coder.create()
        await coder.host.send(late(coder, "stop"))
        assert (await coder.ended()).ending == "stopped"


@story
async def test_x04_x05_a_parked_ask_stays_open_and_its_answer_counts(tmp_path: Path) -> None:
    """It is parked once, and not again by the next process that attends the session."""
    async with house(tmp_path, script(proposes(COLOUR))) as coder:
        await coder.create()
        session = coder.session
        await coder.host.send(late(coder, "park"))
        (ask,) = await coder.asks()
        parked = await coder.until(lambda event: isinstance(event, AskParked))
        assert ask.deadline is not None
        assert parked.at >= ask.deadline
    async with house(tmp_path, script(says("red it is"))) as coder:
        await coder.open(session)
        record = await coder.host.load(session)
        await expire([record], now(), coder.host.send)
        assert next_deadline(record.state) is None
        assert [each.ask for each in await coder.host.get(ListAsks())] == [ask]
        assert isinstance(await coder.answer(ask, Answers({"Which colour?": "Red"})), Accepted)
        assert (await coder.ended()).text == "red it is"
        assert sum(isinstance(each.event, AskParked) for each in await coder.events()) == 1


@story
async def test_x05_a_deadline_survives_a_restart(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(COLOUR))) as coder:
        await coder.create()
        session = coder.session
        await coder.host.send(SendPrompt(session=session, prompt_id=PromptId("p"), text="go", by=ME, answer_within=1))
        (before,) = await coder.asks()
    async with house(tmp_path, script(says("sorry"))) as coder:
        await coder.open(session)
        (after,) = await coder.asks()
        assert after == before
        await coder.ended()
        assert await coder.story() == ["user: go", "ask_user: denied", "agent: sorry"]


class AskingBash(Bash):
    """Finds out only when it starts that it must ask, the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def need(self, arguments: BashArguments, workspace: Workspace) -> Need:
        return Need(tool="bash", kind="read", title=arguments.command, command=arguments.command)

    async def run(self, arguments: BashArguments, workspace: Workspace) -> Finished:
        if "ask" in arguments.command and arguments.command not in self.asked:
            self.asked.add(arguments.command)
            raise MustAsk("it wants to use the network")
        return await super().run(arguments, workspace)


class AskingHouse(App):
    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        super().__init__(config, env)
        self.bash = AskingBash()

    def tools(self) -> list[Tool[Any]]:
        return [self.bash]


@story
async def test_d11_a_call_that_asks_again_returns_to_waiting(tmp_path: Path) -> None:
    calls = proposes(bash("echo a >> effects"), bash("echo b >> effects # ask"), bash("echo c >> effects"))
    async with house(tmp_path, script(calls, says("done")), build=AskingHouse) as coder:
        await coder.prompt("go")
        (ask,) = await coder.asks_again()
        assert ask.reason == "it wants to use the network"
        assert (coder.folder / "effects").read_text() == "a\n"
        summary = await coder.summary()
        assert summary is not None
        assert (summary.phase, summary.owner) == ("waiting", None)
        await coder.answer(ask)
        await coder.ended()
        assert (coder.folder / "effects").read_text() == "a\nb\nc\n"
        assert await coder.story() == ["user: go", "bash: ok", "bash: ok", "bash: ok", "agent: done"]
        assert len(await _of(coder, BatchResumed)) == 1
        assert len(await _of(coder, CallStarted)) == 4


@story
async def test_d11_a_call_that_asks_again_and_is_denied_never_acts(tmp_path: Path) -> None:
    calls = proposes(bash("echo a >> effects # ask"), bash("echo b >> effects"))
    async with house(tmp_path, script(calls, says("done")), build=AskingHouse) as coder:
        await coder.prompt("go")
        (ask,) = await coder.asks_again()
        await coder.answer(ask, Deny())
        await coder.ended()
        assert (coder.folder / "effects").read_text() == "b\n"
        assert await coder.story() == ["user: go", "bash: denied", "bash: ok", "agent: done"]


@story
async def test_x22_a_plan_kept_ends_its_turn_and_nothing_follows(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("the plan"))) as coder:
        await coder.create("plan")
        await coder.prompt("plan it")
        (ask,) = await coder.plan_asks()
        assert ask == PlanAsk(ask.id, "the plan")
        assert await _of(coder, TurnEnded) == []
        await coder.answer(ask, PlanDecision("keep"))
        assert (await coder.ended()).text == "the plan"
        summary = await coder.summary()
        assert summary is not None
        assert (summary.mode, summary.phase, summary.queued) == ("plan", "done", 0)


@story
async def test_the_previous_owner_goes_on_if_it_is_still_there(tmp_path: Path) -> None:
    """After an answer elsewhere, the process that had the session before comes first."""
    async with (
        house(tmp_path, script(proposes(write("a", "x")), says("mine"))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.create("default")
        await first.prompt("go")
        (ask,) = await first.asks()
        second.session = first.session
        await second.answer(ask)
        assert (await second.ended()).text == "mine"
        claims = [each.event for each in await second.events() if isinstance(each.event, SessionClaimed)]
        assert len(claims) == 2
        assert claims[0].owner == claims[1].owner


@story
async def test_the_answering_process_goes_on_if_the_owner_is_gone(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a", "x")))) as first:
        await first.create("default")
        await first.prompt("go")
        (ask,) = await first.asks()
        session = first.session
    async with house(tmp_path, script(says("theirs"))) as second:
        second.session = session
        await second.answer(ask)
        assert (await second.ended()).text == "theirs"


async def _of(coder: InHouse, kind: type) -> list[Recorded]:
    return [each for each in await coder.events() if isinstance(each.event, kind)]


@story
async def test_x09_our_own_sessions_can_always_continue(tmp_path: Path) -> None:
    """They have their agent's id from the beginning, even if they never ran."""
    async with house(tmp_path, script(says("one"), says("two"))) as coder:
        session = await coder.create()
        summary = await coder.summary()
        assert summary is not None
        assert summary.agent_session_id == session
        await coder.prompt("go")
        await coder.prompt("go on")
        assert (await coder.ended(turns=2)).text == "two"


@story
async def test_x11_an_ask_names_the_models_call_and_has_a_durable_id_of_its_own(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a", "x")))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        message = next(each.event for each in await coder.events() if isinstance(each.event, MessageAdded))
        assert ask.call_id == message.calls[0].id == "call_1"
        assert ask.id.startswith(coder.session[:8])
    async with house(tmp_path, script()) as later:
        later.session = coder.session
        assert await later.asks() == [ask]


@story
async def test_d19_after_an_approval_the_result_is_on_disk_before_the_model_goes_on(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a", "x"), write("b", "y")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        asks = await coder.asks()
        assert [each.need.paths for each in asks if isinstance(each, PermissionAsk)] == [
            (str(coder.folder / "a"),),
            (str(coder.folder / "b"),),
        ]
        for ask in (*asks, *asks):  # a repeated trigger enters once
            await coder.answer(ask)
        await coder.ended()
        kinds = [type(each.event).__name__ for each in await coder.events()]
        assert kinds.count("BatchResumed") == 1
        kinds = [kind for kind in kinds if kind != "TreeTaken"]
        assert kinds[-6:] == [
            "CallStarted",
            "CallEnded",
            "CallStarted",
            "CallEnded",
            "MessageAdded",
            "TurnEnded",
        ]
