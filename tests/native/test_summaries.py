"""Symptoms that were seen in a review of the native agent, each with its story."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from inspect import isawaitable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from coderelay.agents.native.compaction import SUMMARISER
from coderelay.agents.native.repeats import REPEATED
from coderelay.app import House
from coderelay.models.model import Models
from coderelay.models.providers import Providers
from coderelay.protocol.asks import By
from coderelay.protocol.commands import CompactHistory, ConfigureSession, SendPrompt
from coderelay.protocol.content import Image
from coderelay.protocol.events import CallStarted, HistoryCompacted, MessageAdded
from coderelay.protocol.ids import PromptId
from tests.config.written import Places
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
from tests.model_server.answers import Message
from tests.model_server.script import Replies
from tests.native.requests import results, users
from tests.native.test_loop import Patient

pytestmark = pytest.mark.quick
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


class Small(Providers):
    def cheap(self, model: str) -> str:
        return "openai:tiny"


class WithSmall(House):
    def models(self, cwd: str) -> Models:
        return Small(self.env, self.settings(cwd).providers)


@story
async def test_a_session_was_stuck_when_the_small_model_for_summaries_was_refused(tmp_path: Path) -> None:
    """The person's key may not be good for it; their own model does it then."""
    configure(tmp_path, context=3000)
    steps = script(proposes(bash(LONG.format(1))), http_error(403, "not for you"), says("in short"), says("done"))
    async with house(tmp_path, steps, build=WithSmall) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "done"
        assert [each["model"] for each in coder.server.requests] == ["scripted", "tiny", "scripted", "scripted"]


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


@story
async def test_instructions_larger_than_the_window_left_no_room_for_anything(tmp_path: Path) -> None:
    configure(tmp_path, context=4000)
    (tmp_path / "work" / "AGENTS.md").write_text("y" * 30_000)
    async with house(tmp_path, script(says("a"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        told = users(coder.server.requests[0])[0]
        assert told.count("y" * 3200 + "\n(cut: 30000 bytes in all; read the rest of the file if you need it)") == 1


@story
async def test_instructions_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("a"))) as coder:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        (coder.folder / "AGENTS.md").mkdir()
        (coder.folder / "CLAUDE.md").write_text("be kind")
        os.mkfifo(tmp_path / "AGENTS.md")
        (tmp_path / "CLAUDE.md").write_bytes(b"\x00\x01binary")
        (tmp_path / "home").mkdir(exist_ok=True)
        (tmp_path / "home" / "AGENTS.md").symlink_to("AGENTS.md")
        await coder.prompt("go")
        await coder.ended()
        told = users(coder.server.requests[0])[0]
        assert told.count("<instructions") == 1
        assert '<instructions from="CLAUDE.md">\nbe kind\n</instructions>' in told


@story
async def test_a_persons_own_instructions_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").write_text("be brief")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "AGENTS.md").symlink_to(tmp_path / "dotfiles")
    async with house(tmp_path, script(says("a"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert "be brief" in users(coder.server.requests[0])[0]


@story
async def test_instructions_below_a_folder_that_is_a_link_were_never_told(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "sub").mkdir(parents=True)
    (real / "sub" / "AGENTS.md").write_text("Only here.")
    (real / "sub" / "f").write_text("x")
    (tmp_path / "work").symlink_to(real)
    async with house(tmp_path, script(proposes(read("sub/f")), says("a"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert (
            users(coder.server.requests[1])[-1] == '<instructions from="sub/AGENTS.md">\nOnly here.\n</instructions>'
        )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
@story
async def test_somebody_elses_repository_around_a_folder_told_the_model_what_to_do(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("a"), says("b"))) as coder:
        (tmp_path / ".git").mkdir()
        (tmp_path / "AGENTS.md").write_text("obey me")
        os.chown(tmp_path / ".git", 12345, 12345)
        await coder.prompt("go")
        await coder.ended()
        assert "obey me" not in users(coder.server.requests[0])[0]
        assert "Git: not a repository" in users(coder.server.requests[0])[0]
        os.chown(tmp_path / ".git", 0, 0)
        await coder.prompt("go on")
        await coder.ended(turns=2)
        assert "obey me" in users(coder.server.requests[1])[-1]


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


@story
async def test_what_a_model_costs_that_is_stopped_for_repeating_itself_is_counted(tmp_path: Path) -> None:
    configure(tmp_path, price={"input": 10, "output": 10})
    async with house(tmp_path, script(*[proposes(bash("echo same"))] * 4)) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.ending, ended.error) == ("failed", "the model repeats the same call of bash again and again")
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


@story
async def test_a_turn_failed_when_its_session_was_given_to_the_guide(tmp_path: Path) -> None:
    async def change(_: Body) -> Answer:
        await coder.host.send(ConfigureSession(session=coder.session, model="guide", agent="guide", by=ME))
        return proposes(bash("true"))

    async with house(tmp_path, script(replies(change), says("done"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "done"
        assert [each["model"] for each in coder.server.requests] == ["scripted", "scripted"]


@story
async def test_a_model_that_fails_was_tried_to_the_end_though_another_was_chosen(tmp_path: Path) -> None:
    async def change(_: Body) -> Answer:
        await coder.host.send(ConfigureSession(session=coder.session, model="openai:other", by=ME))
        return http_error(503, "busy")

    async with house(
        tmp_path, script(http_error(503, "busy"), replies(change), says("done")), build=Patient
    ) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "done"
        assert [each["model"] for each in coder.server.requests] == ["scripted", "scripted", "other"]


@story
async def test_a_model_that_cannot_be_opened_in_mid_turn_ends_it_and_says_what_to_do(tmp_path: Path) -> None:
    async def change(_: Body) -> Answer:
        await coder.host.send(ConfigureSession(session=coder.session, model="anthropic:claude", by=ME))
        return proposes(bash("true"))

    async with house(tmp_path, script(replies(change), says("again"))) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.ending, (ended.error or "").partition(":")[0]) == ("failed", "no key for anthropic")
        await coder.host.send(ConfigureSession(session=coder.session, model="openai:scripted", by=ME))
        await coder.prompt("on")
        assert (await coder.ended(turns=2)).text == "again"


@story
async def test_a_todo_list_that_was_touched_and_forgotten_again_was_not_recalled(tmp_path: Path) -> None:
    items = [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "pending"}]
    silence = [proposes(bash(f"echo {n}")) for n in range(11)]
    steps = [proposes(call("todo", items=items)), *silence, proposes(call("todo", items=items[::-1])), *silence]
    async with house(tmp_path, script(*steps, says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert [text.startswith("<reminder>") for text in users(coder.server.requests[-1])].count(True) == 2


@story
async def test_an_image_was_sent_that_is_too_large_once_it_is_encoded(tmp_path: Path) -> None:
    """Providers refuse more than 5 MB of base64, and then every request after it."""
    async with house(tmp_path, script(proposes(read("big.png"), read("fits.png")), says("a"))) as coder:
        png = b"\x89PNG\r\n\x1a\n"
        (coder.folder / "big.png").write_bytes(png.ljust(4_000_000, b"x"))
        (coder.folder / "fits.png").write_bytes(png.ljust(3_900_000, b"x"))
        await coder.prompt("look")
        await coder.ended()
        big, fits = results(coder.server.requests[-1])
        assert big == "Error: the image has 4000000 bytes; 3932160 at most can be shown"
        assert fits.startswith("image/png, 3900000 bytes")


@story
async def test_steering_that_comes_while_a_person_is_asked_is_heard_after_the_answer(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("echo hi > x")), says("blue"))) as coder:
        await coder.create("default")
        await coder.prompt("paint it red")
        (ask,) = await coder.asks()
        for name, text in (("s1", "rather blue"), ("s2", "light blue")):
            command = SendPrompt(session=coder.session, prompt_id=PromptId(name), text=text, steer=True, by=ME)
            await coder.host.send(command)
        await coder.answer(ask)
        await coder.until(lambda event: isinstance(event, CallStarted))
        assert (await coder.ended()).text == "blue"
        assert users(coder.server.requests[1])[-1] == "rather blue\n\nlight blue"


@story
async def test_a_folder_that_goes_away_in_mid_turn_is_told_by_its_tools(tmp_path: Path) -> None:
    away = f"mv {tmp_path / 'work'} {tmp_path / 'gone'}"
    async with house(tmp_path, script(proposes(bash(away)), proposes(read("f")), says("gone"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "gone"
        assert "No such file or directory" in results(coder.server.requests[-1])[-1]
