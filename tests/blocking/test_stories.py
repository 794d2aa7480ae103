"""An agent that blocks, through the host: X-24, and D-02 to D-22 as far as they bind an agent we do not drive."""

import json
import subprocess
from pathlib import Path

import pytest

from coderelay.host.ask_deadlines import NOBODY
from coderelay.protocol.asks import Allow, Answers, By, Deny, DenyAndStop, QuestionAsk
from coderelay.protocol.calls import Denied, Stopped, Unknown
from coderelay.protocol.commands import Answered, SendPrompt, UndoTurn
from coderelay.protocol.events import (
    AskAnswered,
    BatchResumed,
    CallEnded,
    CallProposed,
    CallStarted,
    SessionClaimed,
    TreeTaken,
    TurnEnded,
)
from coderelay.protocol.ids import PromptId
from coderelay.protocol.queries import ListAsks
from coderelay.testing.scripted_external_agent import AsksQuestion, Fails, Says, uses
from tests.blocking.scene import begin, blocking_house, effect, effects, held, of_kind, steps
from tests.house import ME, story

pytestmark = pytest.mark.quick

JOB = steps(Says("let me see"), uses(effect("one")), Says("built"))
BEN = By(who="ben", via="web")


@story
async def test_x24_an_ask_that_is_held_is_answered_in_another_process_and_the_agent_goes_on(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, JOB) as coder, blocking_house(tmp_path, JOB) as other:
        await begin(coder)
        (ask,) = await held(coder)
        summary = await coder.summary()
        assert summary is not None
        assert (summary.phase, summary.owner is not None) == ("waiting", True)
        await other.open(coder.session)
        assert [each.ask for each in await other.host.get(ListAsks())] == [ask]
        await other.answer(ask, Allow(), by=BEN)
        late = await coder.answer(ask, Deny())
        assert isinstance(late, Answered)
        assert (late.decision, late.by) == (Allow(), BEN)
        assert (await coder.ended()).ending == "done"
        assert await coder.story() == ["user: go", "agent: let me see", "bash: ok", "agent: built"]
        assert effects(coder) == ["one"]
        assert len(await of_kind(coder, SessionClaimed)) == 1


@story
async def test_d22_a_denial_is_told_to_the_agent_which_goes_on(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, JOB) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await coder.answer(ask, Deny("not now"))
        assert (await coder.ended()).ending == "done"
        assert await of_kind(coder, CallStarted) == []
        (ended,) = await of_kind(coder, CallEnded)
        assert isinstance(ended, CallEnded)
        assert ended.outcome == Denied("not now")
        assert effects(coder) == []


@pytest.mark.parametrize("how", ["stop", "deny and stop"])
@story
async def test_x12_a_stop_ends_a_turn_that_holds_an_ask(tmp_path: Path, how: str) -> None:
    async with blocking_house(tmp_path, JOB) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await (coder.stop() if how == "stop" else coder.answer(ask, DenyAndStop()))
        assert (await coder.ended()).ending == "stopped"
        (ended,) = await of_kind(coder, CallEnded)
        assert isinstance(ended, CallEnded)
        assert ended.outcome == Stopped(started=False)
        assert await coder.host.get(ListAsks()) == []


@story
async def test_x12_a_stop_ends_a_call_that_the_agent_runs(tmp_path: Path) -> None:
    job = steps(uses("echo begun >> effects; exec sleep 600"))
    async with blocking_house(tmp_path, job) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await coder.answer(ask)
        await coder.until(lambda event: isinstance(event, CallStarted))
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        (ended,) = await of_kind(coder, CallEnded)
        assert isinstance(ended, CallEnded)
        assert ended.outcome == Stopped(started=True)


@story
async def test_x05_a_question_that_nobody_answers_in_time_is_denied(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, steps(AsksQuestion("Which colour?"), Says("well"))) as coder:
        await coder.create("default", agent="blocking")
        await coder.host.send(
            SendPrompt(session=coder.session, prompt_id=PromptId("p"), text="go", by=ME, answer_within=1)
        )
        (ask,) = await held(coder)
        assert isinstance(ask, QuestionAsk)
        assert (await coder.ended()).ending == "done"
        (answered,) = await of_kind(coder, AskAnswered)
        assert isinstance(answered, AskAnswered)
        assert answered.by == NOBODY
        assert await coder.story() == ["user: go", "ask_user: denied", "agent: well"]


@story
async def test_x37_an_answer_to_a_question_reaches_the_agent(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, steps(AsksQuestion("Which colour?"))) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await coder.answer(ask, Answers({"Which colour?": "Red"}))
        await coder.ended()
        assert await coder.story() == ["user: go", "ask_user: ok", "agent: Red"]


@pytest.mark.parametrize("release", ["together", "each"])
@story
async def test_x24_asks_open_at_the_same_time_are_one_batch_and_released_as_configured(
    tmp_path: Path, release: str
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"batch": {"release": release}}))
    async with blocking_house(tmp_path, steps(uses(effect("one"), effect("two")))) as coder:
        await begin(coder)
        first, second = await held(coder, 2)
        await coder.answer(first)
        if release == "each":
            await coder.until(lambda event: isinstance(event, CallEnded))
            await coder.answer(second)
        else:
            await coder.answer(second)
        await coder.ended()
        proposed = await of_kind(coder, CallProposed)
        assert len({each.batch_id for each in proposed if isinstance(each, CallProposed)}) == 1
        assert len(await of_kind(coder, BatchResumed)) == 1
        assert sorted(effects(coder)) == ["one", "two"]
        order = [type(each) for each in await of_kind(coder, BatchResumed, CallStarted)]
        assert order[0] is (BatchResumed if release == "together" else CallStarted)


@story
async def test_x24_a_batch_that_grows_waits_again(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, steps(uses(effect("one")), uses(effect("two")))) as coder:
        await begin(coder)
        (first,) = await held(coder)
        await coder.answer(first)
        _, second = await held(coder, 2)
        await coder.answer(second)
        await coder.ended()
        assert len(await of_kind(coder, BatchResumed)) == 2
        assert effects(coder) == ["one", "two"]


@story
async def test_x25_the_owner_leaves_with_an_open_ask_and_the_next_one_gets_the_answer_with_the_turn(
    tmp_path: Path,
) -> None:
    async with blocking_house(tmp_path, JOB) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        session = coder.session
    async with blocking_house(tmp_path, JOB) as next_owner:
        await next_owner.open(session)
        assert [each.ask for each in await next_owner.host.get(ListAsks())] == [ask]
        await next_owner.answer(ask)
        assert (await next_owner.ended()).ending == "done"
        proposed = [each for each in await of_kind(next_owner, CallProposed) if isinstance(each, CallProposed)]
        assert [each.judged.granted_by for each in proposed] == [None, proposed[0].call.id]
        assert len(await of_kind(next_owner, CallStarted)) == 1
        assert effects(next_owner) == ["one"]
        assert [line for line in await next_owner.story() if line.startswith("agent")] == [
            "agent: let me see",
            "agent: built",
        ]


@story
async def test_x25_a_call_that_ran_when_its_owner_left_is_not_made_again(tmp_path: Path) -> None:
    job = steps(uses("echo begun >> effects; exec sleep 600"), Says("built"))
    async with blocking_house(tmp_path, job) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await coder.answer(ask)
        await coder.until(lambda event: isinstance(event, CallStarted))
        session = coder.session
    async with blocking_house(tmp_path, job) as next_owner:
        await next_owner.open(session)
        assert (await next_owner.ended()).ending == "done"
        (ended,) = await of_kind(next_owner, CallEnded)
        assert isinstance(ended, CallEnded)
        assert ended.outcome == Unknown()
        assert len(await of_kind(next_owner, CallStarted)) == 1


@story
async def test_d18_an_agent_that_breaks_down_leaves_no_ask_open(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, steps(Says("well"), Fails("no such luck"))) as coder:
        await begin(coder)
        ended = await coder.ended()
        assert (ended.ending, ended.error) == ("failed", "RuntimeError: no such luck")


@story
async def test_c30_a_turn_whose_agent_did_not_ask_can_be_undone(tmp_path: Path) -> None:
    job = steps(uses("echo new > made; echo changed > there", without_asking=True), Says("done"))
    async with blocking_house(tmp_path, job) as coder:
        subprocess.run(["git", "init", "-q", coder.folder], check=True)
        (coder.folder / "there").write_text("as it was\n")
        await begin(coder)
        await coder.ended()
        order = [TreeTaken, CallProposed, CallStarted, CallEnded, TurnEnded]
        assert [type(each) for each in await of_kind(coder, *order)] == order
        await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert (coder.folder / "there").read_text() == "as it was\n"
        assert not (coder.folder / "made").exists()


@story
async def test_c30_what_people_change_while_an_ask_is_held_stays_when_the_turn_is_undone(tmp_path: Path) -> None:
    job = steps(uses("echo agent > by_agent"), uses("echo more >> by_agent"))
    async with blocking_house(tmp_path, job) as coder:
        subprocess.run(["git", "init", "-q", coder.folder], check=True)
        await begin(coder)
        (first,) = await held(coder)
        await coder.answer(first)
        _, second = await held(coder, 2)
        (coder.folder / "by_person").write_text("mine\n")
        await coder.answer(second)
        await coder.ended()
        await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert not (coder.folder / "by_agent").exists()
        assert (coder.folder / "by_person").read_text() == "mine\n"
