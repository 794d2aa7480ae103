"""Prompts that are sent while a turn runs: they wait, are changed or taken back, or steer the turn."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.commands import Accepted, EditPrompt, Outcome, RecallPrompt, SendPrompt, Unchanged
from coderelay.protocol.errors import BadInput, UnknownSession
from coderelay.protocol.events import CallStarted, PromptAdmitted, PromptTaken, TurnStarted
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.message_content import Image
from coderelay.protocol.queries import ListPrompts
from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder
from tests.config.config_files import Places
from tests.house import ME, InHouse, house, story
from tests.log_checker import check_settled, read_logs
from tests.model_server import (
    Answer,
    Body,
    bash,
    by_history,
    http_error,
    proposes,
    read,
    replies,
    says,
    script,
)

UNTIL_GO = "touch began; while [ ! -e go ]; do sleep 0.01; done"


async def send(
    coder: InHouse, text: str, name: str, *, steer: bool = False, images: tuple[Image, ...] = ()
) -> Outcome:
    prompt = SendPrompt(session=coder.session, prompt_id=PromptId(name), text=text, by=ME, steer=steer, images=images)
    return await coder.host.send(prompt)


async def edit(coder: InHouse, name: str, text: str) -> Outcome:
    return await coder.host.send(EditPrompt(session=coder.session, prompt_id=PromptId(name), text=text, by=ME))


async def recall(coder: InHouse, name: str) -> Outcome:
    return await coder.host.send(RecallPrompt(session=coder.session, prompt_id=PromptId(name), by=ME))


async def waiting(coder: InHouse) -> list[tuple[str, str]]:
    return [(each.prompt_id, each.text) for each in await coder.host.get(ListPrompts(coder.session))]


def held(gate: asyncio.Event, answer: Answer) -> Callable[[Body], Awaitable[Answer]]:
    async def wait(_: Body) -> Answer:
        await gate.wait()
        return answer

    return wait


def told(request: dict[str, Any]) -> list[tuple[str, str]]:
    """Who said what in a request, without the system prompt and the notes."""
    messages = request["messages"][1:]
    return [(each["role"], without_notes(each["content"] or "")) for each in messages]


@pytest.mark.quick
@story
async def test_x08_a_prompt_that_steers_is_heard_right_after_the_running_call(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash(UNTIL_GO)), says("blue then"))) as coder:
        await coder.prompt("paint it red")
        await coder.until(lambda event: isinstance(event, CallStarted))
        assert isinstance(await send(coder, "rather blue", "p2", steer=True), Accepted)
        assert await waiting(coder) == [("p2", "rather blue")]
        (coder.folder / "go").touch()
        assert (await coder.ended()).text == "blue then"
        assert told(coder.server.requests[1]) == [
            ("user", "paint it red"),
            ("assistant", ""),
            ("tool", "(no output)"),
            ("user", "rather blue"),
        ]
        events = [each.event for each in await coder.events()]
        assert [each.text for each in events if isinstance(each, TurnStarted | PromptTaken)] == [
            "paint it red",
            "rather blue",
        ]
        assert await waiting(coder) == []


@pytest.mark.quick
@story
async def test_x08_steering_that_comes_while_the_model_answers_waits_for_the_next_step(tmp_path: Path) -> None:
    gate = asyncio.Event()
    answers = script(replies(held(gate, proposes(read("a"), read("b")))), says("blue then"), says("nothing"))
    async with house(tmp_path, answers) as coder:
        await coder.prompt("paint it red")
        await coder.server.wait_for_requests(1)
        await send(coder, "rather blue", "p2", steer=True)
        await send(coder, "light blue", "p3", steer=True)
        await send(coder, "and then?", "p4")
        gate.set()
        await coder.ended(turns=2)
        roles = [role for role, _ in told(coder.server.requests[1])]
        assert roles == ["user", "assistant", "tool", "tool", "user"]
        assert told(coder.server.requests[1])[-1] == ("user", "rather blue\n\nlight blue")
        assert told(coder.server.requests[2])[-1] == ("user", "and then?")


@pytest.mark.quick
@story
async def test_x08_steering_that_comes_with_the_last_answer_gets_a_turn_of_its_own(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with house(tmp_path, script(replies(held(gate, says("red"))), says("blue"))) as coder:
        await coder.prompt("paint it")
        await coder.server.wait_for_requests(1)
        await send(coder, "rather blue", "p2", steer=True)
        gate.set()
        assert (await coder.ended(turns=2)).text == "blue"
        assert await coder.story() == ["user: paint it", "agent: red", "user: rather blue", "agent: blue"]


@pytest.mark.quick
@story
async def test_x08_any_process_steers_the_turn_of_another(tmp_path: Path) -> None:
    async with (
        house(tmp_path, script(proposes(bash(UNTIL_GO)), says("blue then"))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.prompt("paint it red")
        await first.until(lambda event: isinstance(event, CallStarted))
        second.session = first.session
        await send(second, "rather", "p2", steer=True)
        await edit(second, "p2", "rather blue")
        (first.folder / "go").touch()
        assert (await second.ended()).text == "blue then"
        assert told(first.server.requests[1])[-1] == ("user", "rather blue")


@pytest.mark.quick
@story
async def test_x08_a_picture_goes_along_with_the_prompt_that_steers(tmp_path: Path) -> None:
    picture = Image("image/png", "iVBORw0KGgo=")
    Places(tmp_path).write({"providers": {"openai": {"models": {"scripted": {"images": True}}}}})
    async with house(tmp_path, script(proposes(bash(UNTIL_GO)), says("nice"))) as coder:
        await coder.prompt("paint it")
        await coder.until(lambda event: isinstance(event, CallStarted))
        await send(coder, "like this", "p2", steer=True, images=(picture,))
        (coder.folder / "go").touch()
        await coder.ended()
        last = coder.server.requests[1]["messages"][-1]
        assert last["content"][1:] == [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        ]


@pytest.mark.quick
@story
async def test_x08_the_queue_is_listed_changed_and_taken_back_from_any_process(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with (
        house(tmp_path, script(replies(held(gate, says("one"))), says("three"))) as first,
        house(tmp_path, by_history(lambda _: says("three"))) as second,  # whoever comes first runs the next turn
    ):
        await first.prompt("first")
        await first.server.wait_for_requests(1)
        for name in ("p2", "p3"):
            await send(first, f"do {name}", name)
        second.session = first.session
        assert await waiting(second) == [("p2", "do p2"), ("p3", "do p3")]
        assert isinstance(await edit(second, "p3", "do it well"), Accepted)
        assert isinstance(await recall(second, "p2"), Accepted)
        assert isinstance(await recall(first, "p2"), Unchanged)
        with pytest.raises(BadInput):
            await edit(first, "p3", "  ")
        assert await first.host.get(ListPrompts(first.session)) == [
            PromptAdmitted(prompt_id=PromptId("p3"), text="do it well", by=ME)
        ]
        gate.set()
        await first.ended(turns=2)
        assert isinstance(await edit(second, "p3", "too late"), Unchanged)
        assert await first.story() == ["user: first", "agent: one", "user: do it well", "agent: three"]
        with pytest.raises(UnknownSession):
            await first.host.get(ListPrompts(SessionId("nope")))


@story
async def test_x25_what_waits_and_what_steers_survives_the_death_of_the_process(tmp_path: Path) -> None:
    answers = script(proposes(bash("touch began; sleep 600")), says("blue"), says("next"))
    async with house(tmp_path, answers) as coder:
        doomed = Coder(tmp_path / "home", coder.folder, coder.server.base_url).start("-p", "red", "--mode", "yolo")
        try:
            await coder.server.wait_for_requests(1)
            (found,) = await coder.host.store.sessions()
            coder.session = found.id
            await coder.until(lambda event: isinstance(event, CallStarted))
            await send(coder, "and then", "p2")
            await send(coder, "rather blue", "p3", steer=True)
        finally:
            doomed.kill()
        await coder.ended(turns=2)
        assert told(coder.server.requests[1])[-1] == ("user", "rather blue")
        assert await coder.story() == ["user: red", "bash: unknown", "agent: blue", "user: and then", "agent: next"]
        log = read_logs(tmp_path / "home" / "sessions.db")[found.id]
    check_settled(log)


@pytest.mark.quick
@story
async def test_x08_what_was_taken_is_told_again_if_the_request_failed(tmp_path: Path) -> None:
    gate = asyncio.Event()
    answers = script(replies(held(gate, proposes(read("a")))), http_error(500, "down"), says("blue"))
    async with house(tmp_path, answers) as coder:
        await coder.prompt("red")
        await coder.server.wait_for_requests(1)
        await send(coder, "rather blue", "p2", steer=True)
        gate.set()
        assert (await coder.ended()).ending == "failed"
        await coder.prompt("go on")
        assert (await coder.ended(turns=2)).text == "blue"
        assert told(coder.server.requests[2])[-1] == ("user", "rather blue\n\ngo on")
