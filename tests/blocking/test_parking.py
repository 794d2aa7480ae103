"""Nobody answers a held ask in time, and its deadline says `park`: then its owner may leave (X-04, X-05)."""

import json
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, Answers, Deny, QuestionAsk
from coderelay.protocol.calls import Finished
from coderelay.protocol.commands import SendPrompt
from coderelay.protocol.events import (
    AskAnswered,
    AskParked,
    BatchResumed,
    CallEnded,
    CallProposed,
    SessionClaimed,
    TurnParked,
)
from coderelay.protocol.ids import PromptId
from coderelay.protocol.queries import ListAsks
from coderelay.protocol.session_setting_values import Mode
from coderelay.testing.scripted_external_agent import AsksQuestion, Says, uses
from tests.blocking.scene import blocking_house, effect, effects, held, of_kind, steps
from tests.house import ME, InHouse, story

pytestmark = pytest.mark.quick

COLOUR = "Which colour?"
RED = Answers({COLOUR: "Red"})
JOB = steps(Says("let me see"), AsksQuestion(COLOUR), uses(effect("one")), Says("built"))
AGENT_SAID = ["agent: let me see", "agent: Red", "agent: built"]


async def begin(coder: InHouse, mode: Mode = "yolo") -> None:
    await coder.create(mode, agent="blocking")
    prompt = SendPrompt(
        session=coder.session, prompt_id=PromptId("p"), text="go", by=ME, answer_within=1, unanswered="park"
    )
    await coder.host.send(prompt)


async def left(coder: InHouse) -> None:
    await coder.until(lambda event: isinstance(event, TurnParked))


@story
async def test_x04_x05_the_owner_leaves_and_the_answer_reaches_the_agent_of_the_next_one(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, JOB) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await left(coder)
        summary = await coder.summary()
        assert summary is not None
        assert (summary.phase, summary.owner, summary.asks) == ("waiting", None, (ask,))
        session = coder.session
    async with blocking_house(tmp_path, JOB) as other:
        await other.open(session)
        assert [each.ask for each in await other.host.get(ListAsks())] == [ask]
        await other.answer(ask, RED)
        assert (await other.ended()).ending == "done"
        order = [AskParked, TurnParked, AskAnswered, BatchResumed]
        assert [type(each) for each in await of_kind(other, *order)] == order
        first, second = [each for each in await of_kind(other, CallProposed) if isinstance(each, CallProposed)][:2]
        assert second.judged.granted_by == first.call.id
        assert [line for line in await other.story() if line.startswith("agent")] == AGENT_SAID
        assert effects(other) == ["one"]


@story
async def test_x04_the_process_that_left_carries_the_turn_on_when_the_answer_comes(tmp_path: Path) -> None:
    """Its agent was ended, and is started anew with the answer."""
    async with blocking_house(tmp_path, JOB) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await left(coder)
        await coder.answer(ask, RED)
        assert (await coder.ended()).ending == "done"
        assert len(await of_kind(coder, SessionClaimed)) == 2
        assert [line for line in await coder.story() if line.startswith("agent")] == AGENT_SAID
        assert effects(coder) == ["one"]


@story
async def test_x04_another_process_carries_the_turn_on_while_the_first_one_lives(tmp_path: Path) -> None:
    """The first one has nobody who attends the session any more, but is alive."""
    async with blocking_house(tmp_path, JOB) as coder, blocking_house(tmp_path, JOB) as other:
        await begin(coder)
        (ask,) = await held(coder)
        await left(coder)
        await other.open(coder.session)
        await other.answer(ask, Deny("not now"))
        assert (await other.ended()).ending == "done"
        assert effects(other) == ["one"]
        assert len(await of_kind(other, SessionClaimed)) == 2


@story
async def test_x12_a_stop_ends_a_turn_that_its_owner_has_left(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, JOB) as coder:
        await begin(coder)
        await held(coder)
        await left(coder)
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        assert effects(coder) == []


@story
async def test_x24_the_owner_stays_while_people_are_asked_for_permission(tmp_path: Path) -> None:
    """That ask has no deadline, so its agent goes on waiting, and keeps its memory."""
    async with blocking_house(tmp_path, steps(uses(effect("one"), question=COLOUR), Says("built"))) as coder:
        await begin(coder, "default")
        asks = await held(coder, 2)
        await coder.until(lambda event: isinstance(event, AskParked))
        for ask in asks:
            await coder.answer(ask, RED if isinstance(ask, QuestionAsk) else Allow())
        assert (await coder.ended()).ending == "done"
        assert await of_kind(coder, TurnParked) == []
        assert len(await of_kind(coder, SessionClaimed)) == 1
        assert effects(coder) == ["one"]


@pytest.mark.parametrize("release", ["together", "each"])
@story
async def test_x24_the_owner_stays_while_a_call_beside_the_parked_question_runs(tmp_path: Path, release: str) -> None:
    """A call that runs would otherwise be cut short, and its end would be unknown."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"batch": {"release": release}}))
    gate = tmp_path / "gate"
    slow = f"while [ ! -e {gate} ]; do sleep 0.01; done; {effect('slow')}"
    async with blocking_house(tmp_path, steps(uses(slow, question=COLOUR), Says("built"))) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await coder.until(lambda event: isinstance(event, AskParked))
        assert await of_kind(coder, TurnParked) == []
        gate.touch()
        await left(coder)
        (ended,) = await of_kind(coder, CallEnded)
        assert isinstance(ended, CallEnded)
        assert isinstance(ended.outcome, Finished)
        await coder.answer(ask, RED)
        assert (await coder.ended()).ending == "done"
        assert effects(coder) == ["slow"]
