"""PostToolUse for agents that run their own calls: hooks hear of them as of any other (A-26, 0014, 0027)."""

import asyncio
import json
from pathlib import Path

import pytest

from coderelay.protocol.asks import Answers, Deny
from coderelay.protocol.calls import Finished
from coderelay.protocol.events import CallEnded
from coderelay.testing.scripted_external_agent import AsksQuestion, Says, uses
from tests.blocking.scene import begin, blocking_house, effect, effects, held, of_kind, steps
from tests.crash.journey import wait_until
from tests.hooks.hook_scripts import configure, feedback, hook
from tests.hooks.hook_scripts import script as program
from tests.house import story

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("unasked", [False, True])
@story
async def test_a26_a_hook_hears_of_a_call_that_an_agent_made_itself(tmp_path: Path, *, unasked: bool) -> None:
    heard = tmp_path / "heard"
    checker = program(tmp_path, f"cat >> {heard}; echo 'not tidy' >&2; exit 2\n")
    configure(tmp_path, hook("PostToolUse", checker, "bash"))
    async with blocking_house(tmp_path, steps(uses(effect("one"), without_asking=unasked), Says("done"))) as coder:
        await coder.create("yolo", agent="blocking")
        await coder.prompt("go")
        assert (await coder.ended()).ending == "done"
        assert await feedback(coder) == ["" if unasked else "hook hook0: not tidy"]
        assert await coder.story() == ["user: go", "bash: ok", "agent: hook hook0: not tidy", "agent: done"]
        given = json.loads(heard.read_text())
        assert (given["hook_event_name"], given["tool_input"]) == ("PostToolUse", {"command": effect("one")})


@story
async def test_a26_answers_denials_and_failures_of_an_agents_calls_are_not_looked_at(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    configure(tmp_path, hook("PostToolUse", f"cat >> {heard}"))
    job = steps(AsksQuestion("Which colour?"), uses("exit 1", without_asking=True), uses(effect("one")))
    async with blocking_house(tmp_path, job) as coder:
        await begin(coder)
        (question,) = await held(coder)
        await coder.answer(question, Answers({"Which colour?": "Red"}))
        _, permission = await held(coder, 2)
        await coder.answer(permission, Deny("not now"))
        assert (await coder.ended()).ending == "done"
        assert (heard.exists(), effects(coder)) == (False, [])


@pytest.mark.parametrize("unasked", [False, True])
@story
async def test_a26_a_stop_keeps_the_result_of_an_agents_call_and_ends_the_hook(
    tmp_path: Path, *, unasked: bool
) -> None:
    begun = tmp_path / "begun"
    configure(tmp_path, hook("PostToolUse", program(tmp_path, f"touch {begun}; exec sleep 600\n")))
    async with blocking_house(tmp_path, steps(uses(effect("one"), without_asking=unasked))) as coder:
        await coder.create("yolo", agent="blocking")
        await coder.prompt("go")
        await asyncio.to_thread(wait_until, begun.exists, list)
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        (ended,) = await of_kind(coder, CallEnded)
        assert isinstance(ended, CallEnded)
        assert isinstance(ended.outcome, Finished)
        assert effects(coder) == ["one"]
