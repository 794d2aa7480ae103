"""A model that repeats its calls is stopped; one that makes progress is not."""

from itertools import cycle, islice
from pathlib import Path

import pytest

from coderelay.agents.native.loop_detection import REPEATED
from coderelay.protocol.events import MessageAdded
from tests.config.config_files import Places
from tests.house import house, story
from tests.model_server import (
    bash,
    proposes,
    says,
    script,
)
from tests.model_server.answers import Message
from tests.native.model_requests import results


def steps_of(*rounds: Message, times: int) -> list[Message]:
    return list(islice(cycle(rounds), times))


@story
async def test_a_model_that_goes_round_between_two_calls_was_never_stopped(tmp_path: Path) -> None:
    one, two = proposes(bash("echo 1 >> log; echo one")), proposes(bash("echo 2 >> log; echo two"))
    async with house(tmp_path, script(*steps_of(one, two, times=7), says("stuck"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "stuck"
        assert (coder.folder / "log").read_text().split() == ["1", "2"] * 3
        assert results(coder.server.requests[-1])[-1].startswith("Error: you made exactly this call")


@story
async def test_a_check_between_different_changes_is_no_repetition(tmp_path: Path) -> None:
    test = proposes(bash("echo 1 failed"))
    steps = [step for n in range(6) for step in (test, proposes(bash(f"echo {n} > f")))]
    async with house(tmp_path, script(*steps, says("done"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).ending == "done"
        assert results(coder.server.requests[-1]) == ["1 failed", "(no output)"] * 6


@story
async def test_a_change_and_its_check_in_one_message_were_taken_for_a_repetition(tmp_path: Path) -> None:
    steps = [proposes(bash(f"echo {n} > f"), bash("echo 1 failed")) for n in range(5)]
    async with house(tmp_path, script(*steps, says("done"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "done"
        assert results(coder.server.requests[-1]) == ["(no output)", "1 failed"] * 5


@pytest.mark.quick
@story
async def test_what_a_model_costs_that_is_stopped_for_repeating_itself_is_counted(tmp_path: Path) -> None:
    price = {"input": 10, "output": 10}
    Places(tmp_path).write({"providers": {"openai": {"models": {"scripted": {"price": price}}}}})
    async with house(tmp_path, script(*[proposes(bash("echo same"))] * 4)) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.ending, ended.error) == ("failed", "the model keeps repeating the same bash call")
        messages = [each.event for each in await coder.events() if isinstance(each.event, MessageAdded)]
        assert (len(messages), ended.steps) == (4, 4)
        assert ended.usage.input_tokens == sum(each.usage.input_tokens for each in messages)
        assert ended.cost == sum(each.cost or 0.0 for each in messages)


@story
async def test_identical_calls_side_by_side_each_get_their_result(tmp_path: Path) -> None:
    both = proposes(bash("echo same"), bash("echo same"))
    async with house(tmp_path, script(both, both, both, says("stuck"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert results(coder.server.requests[-1]) == [*["same"] * 4, *[f"Error: {REPEATED}"] * 2]
