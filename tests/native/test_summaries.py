"""A summary that replaces a history keeps what the person asked for, and is refused where it would not help."""

from collections.abc import Mapping, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import Any

import pytest

from coderelay.agents.native.compaction import SUMMARISER
from coderelay.app import App
from coderelay.models.model import Models
from coderelay.models.model_registry import ModelRegistry
from coderelay.protocol.asks import By
from coderelay.protocol.commands import CompactHistory, SendPrompt
from coderelay.protocol.events import HistoryCompacted
from coderelay.protocol.ids import PromptId
from coderelay.protocol.message_content import Image
from tests.config.config_files import Places
from tests.house import InHouse, house, story
from tests.model_server import (
    Answer,
    Body,
    Script,
    bash,
    call,
    http_error,
    proposes,
    read,
    replies,
    says,
    script,
)
from tests.model_server.script import Replies
from tests.native.model_requests import users

ME = By("anne", "test")
LONG = "seq 2000 # {}"


def configure(root: Path, *, keep: int = 2, **card: object) -> None:
    Places(root).write({"compaction": {"keep": keep}, "providers": {"openai": {"models": {"scripted": card}}}})


def is_for_a_summary(request: Mapping[str, Any]) -> bool:
    return request["messages"][0]["content"] == SUMMARISER


def answers(*steps: Answer | Replies, summed_up: Sequence[Answer]) -> Script:
    """One after the other, and others for requests that are for a summary."""
    others, summaries = iter(steps), iter(summed_up)

    async def decide(body: Body) -> Answer:
        answer = next(summaries if is_for_a_summary(body) else others)
        if not isinstance(answer, Replies):
            return answer
        decided = answer.decide(body)
        return await decided if isawaitable(decided) else decided

    return script(*[replies(decide)] * 50)


def asked_for_summaries(coder: InHouse) -> list[str]:
    return [users(each)[0] for each in coder.server.requests if is_for_a_summary(each)]


def summaries(events: list[Any]) -> list[str]:
    return [each.event.summary for each in events if isinstance(each.event, HistoryCompacted)]


@story
async def test_a_second_summary_in_one_turn_forgot_what_the_person_had_asked_for(tmp_path: Path) -> None:
    configure(tmp_path, context=8000)
    items = [{"content": "paint", "status": "in_progress"}, {"content": "dry", "status": "pending"}]

    async def steer(_: Body) -> Answer:
        command = SendPrompt(session=coder.session, prompt_id=PromptId("s"), text="rather\n\nblue", steer=True, by=ME)
        await coder.host.send(command)
        return proposes(call("todo", items=items))

    long = [proposes(bash(LONG.format(n))) for n in range(5)]
    texts = ("one", "two", "three", "four")
    summed_up = [says(each) for each in texts]
    async with house(tmp_path, answers(replies(steer), *long, says("x"), summed_up=summed_up)) as coder:
        await coder.prompt("paint it red")
        assert (await coder.ended()).text == "x"
        todo = "The todo list:\n- [in_progress] paint\n- [pending] dry"
        asked = "What the person asked for in this turn, word for word:\npaint it red\n\nrather\n\nblue"
        made = summaries(await coder.events())
        assert len(made) >= 2
        assert made == [f"{text}\n\n{todo}\n\n{asked}" for text in texts[: len(made)]]


@pytest.mark.quick
@story
async def test_a_long_prompt_was_left_out_of_what_the_summariser_was_told(tmp_path: Path) -> None:
    configure(tmp_path, context=4000)
    prompt = f"BEGIN {'x ' * 6000}END"
    async with house(tmp_path, answers(proposes(read("f")), says("done"), summed_up=[says("short")])) as coder:
        await coder.prompt(prompt)
        assert (await coder.ended()).text == "done"
        (told,) = asked_for_summaries(coder)
        assert ("BEGIN" in told, "END" in told, len(told) < 5000) == (True, True, True)
        (summary,) = summaries(await coder.events())
        assert ("BEGIN" in summary, "END" in summary, len(summary) < 4000) == (True, True, True)


@story
async def test_an_earlier_summary_was_left_out_of_the_next(tmp_path: Path) -> None:
    configure(tmp_path, context=8000)
    long = [proposes(bash(LONG.format(n))) for n in range(6)]
    summed_up = [says("KEY " + "fact " * 1000), says("two"), says("three"), says("four")]
    async with house(tmp_path, answers(*long, says("x"), summed_up=summed_up)) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert "KEY" in asked_for_summaries(coder)[1]


@story
async def test_a_summary_longer_than_what_it_replaces_filled_the_window(tmp_path: Path) -> None:
    configure(tmp_path, context=8000)
    long = [proposes(bash(LONG.format(n))) for n in range(3)]
    summed_up = [says("BEGIN " + "blah " * 20_000 + "END"), says("two"), says("three")]
    async with house(tmp_path, answers(*long, says("x"), summed_up=summed_up)) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "x"
        first, *_ = summaries(await coder.events())
        assert (first.startswith("BEGIN"), "END\n\nWhat" in first, len(first) < 7000) == (True, True, True)


@pytest.mark.quick
@pytest.mark.parametrize("bad", [says("", thinking="hm"), says("I cannot", finish_reason="content_filter")])
@story
async def test_a_summary_that_says_nothing_replaced_the_whole_history(tmp_path: Path, bad: Answer) -> None:
    async with house(tmp_path, script(says("one"), bad, says("two"))) as coder:
        await coder.prompt("a")
        await coder.ended()
        await coder.host.send(CompactHistory(session=coder.session, prompt_id=PromptId("c"), by=ME))
        ended = await coder.ended(turns=2)
        assert (ended.ending, ended.error) == ("failed", "the model made no summary")
        await coder.prompt("b")
        await coder.ended(turns=3)
        assert users(coder.server.requests[-1])[-1] == "b"


class Small(ModelRegistry):
    def cheap(self, model: str) -> str:
        return "openai:tiny"


class WithSmall(App):
    def models(self, cwd: str) -> Models:
        return Small(self.env, self.folders.of(cwd).settings.providers)


@pytest.mark.quick
@story
async def test_a_session_was_stuck_when_the_small_model_for_summaries_was_refused(tmp_path: Path) -> None:
    """The person's key may not be good for it; their own model does it then."""
    configure(tmp_path, context=3000)
    steps = script(proposes(bash(LONG.format(1))), http_error(403, "not for you"), says("in short"), says("done"))
    async with house(tmp_path, steps, build=WithSmall) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "done"
        assert [each["model"] for each in coder.server.requests] == ["scripted", "tiny", "scripted", "scripted"]


@pytest.mark.quick
@story
async def test_an_image_that_was_summed_up_was_not_mentioned(tmp_path: Path) -> None:
    configure(tmp_path, keep=0, images=True)
    async with house(tmp_path, script(says("a cat"), says("in short"))) as coder:
        await coder.create()
        image = (Image("image/png", "aWs="),)
        command = SendPrompt(session=coder.session, prompt_id=PromptId("p"), text="what is it?", images=image, by=ME)
        await coder.host.send(command)
        await coder.ended()
        await coder.host.send(CompactHistory(session=coder.session, prompt_id=PromptId("c"), by=ME))
        await coder.ended(turns=2)
        assert "what is it? (with an image)" in asked_for_summaries(coder)[0]
