"""The loop when things go wrong, when the model is changed, and when something comes in between."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.agents.native.loop_detection import REPEATED
from coderelay.agents.native.native_settings import NativeSettings
from coderelay.app import App
from coderelay.protocol.asks import By
from coderelay.protocol.commands import ConfigureSession, SendPrompt
from coderelay.protocol.events import CallStarted, MessageAdded, Recorded
from coderelay.protocol.ids import PromptId
from coderelay.protocol.live_updates import Notice, TextDelta
from coderelay.protocol.queries import ReadMessages
from tests.house import InHouse, house, story
from tests.model_server import (
    Answer,
    Body,
    bash,
    call,
    cut_off,
    empty,
    garbage,
    http_error,
    proposes,
    raw_call,
    read,
    replies,
    says,
    script,
)
from tests.native.model_requests import results, users

ME = By("anne", "test")


class Patient(App):
    """Tries again at once, or nearly so."""

    def native_settings(self, cwd: str) -> NativeSettings:
        return replace(super().native_settings(cwd), retry_seconds=0.001)


async def _shown(coder: InHouse) -> list[object]:
    """Everything a follower saw up to the end of the turn."""
    seen: list[object] = []
    async with aclosing(coder.host.follow(coder.session)) as feed:
        async for each in feed:
            seen.append(each)
            if isinstance(each, Recorded) and type(each.event).__name__ == "TurnEnded":
                break
    return seen


FAULTS: list[tuple[Answer, str]] = [
    (
        http_error(429, "slow down", {"retry-after": "0"}),
        "API error 429: slow down; retrying",
    ),
    (http_error(529, "overloaded"), "API error 529: overloaded; retrying"),
    (http_error(500, "oops"), "API error 500: oops; retrying"),
    (
        http_error(500, "upstream https://me:h8Kd2mWqZ1@proxy.internal.net failed"),
        "API error 500: upstream https://me:[hidden secret: password]@proxy.internal.net failed; retrying",
    ),
    (empty(), "the model gave an empty answer; retrying"),
]


@pytest.mark.quick
@pytest.mark.parametrize(("fault", "told"), FAULTS)
@story
async def test_what_may_pass_is_tried_again_and_told(tmp_path: Path, fault: Answer, told: str) -> None:
    async with house(tmp_path, script(fault, fault, says("at last")), build=Patient) as coder:
        await coder.create()
        following = asyncio.create_task(_shown(coder))
        await coder.prompt("go")
        assert (await coder.ended()).text == "at last"
        assert [each.text for each in await following if isinstance(each, Notice)] == [told, told]
        assert len({received.raw for received in coder.server.received}) == 1


@pytest.mark.quick
@pytest.mark.parametrize("broken", [cut_off(says("one two three"), 3), garbage(says("one two three"), 3)])
@story
async def test_an_answer_that_breaks_off_is_asked_for_again(tmp_path: Path, broken: Answer) -> None:
    async with house(tmp_path, script(broken, says("four five")), build=Patient) as coder:
        await coder.create()
        following = asyncio.create_task(_shown(coder))
        await coder.prompt("go")
        assert (await coder.ended()).text == "four five"
        seen = await following
        (message,) = [each.event for each in seen if isinstance(each, Recorded) and _is_message(each)]
        assert isinstance(message, MessageAdded)
        whole = [each for each in seen if isinstance(each, TextDelta) and each.message_id == message.message_id]
        assert "".join(each.text for each in whole) == "four five"


def _is_message(recorded: Recorded) -> bool:
    return isinstance(recorded.event, MessageAdded)


@pytest.mark.quick
@story
async def test_what_cannot_pass_is_not_tried_again(tmp_path: Path) -> None:
    async with house(tmp_path, script(http_error(401, "no such key")), build=Patient) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.ending, ended.error) == (
            "failed",
            "API error 401: no such key\nCheck OPENAI_API_KEY.",
        )


@pytest.mark.quick
@story
async def test_after_eight_tries_the_turn_fails(tmp_path: Path) -> None:
    async with house(tmp_path, script(*[http_error(503, "busy")] * 8), build=Patient) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).error == "API error 503: busy"


@pytest.mark.quick
@story
async def test_a_stop_ends_the_wait_for_another_try(tmp_path: Path) -> None:
    async with house(tmp_path, script(http_error(429, "later", {"retry-after": "100"})), build=Patient) as coder:
        await coder.create()
        following = asyncio.create_task(_shown(coder))
        await coder.prompt("go")
        await coder.server.wait_for_requests(1)
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        await following


@pytest.mark.quick
@story
async def test_a_server_that_wants_us_to_wait_for_hours_is_not_waited_for(tmp_path: Path) -> None:
    async with house(tmp_path, script(http_error(429, "later", {"retry-after": "7200"})), build=Patient) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).error == "API error 429: later"


@pytest.mark.quick
@story
async def test_the_third_identical_call_is_not_run(tmp_path: Path) -> None:
    steps = [proposes(bash("echo x >> log; echo same"))] * 3
    async with house(tmp_path, script(*steps, says("stuck"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "stuck"
        assert (coder.folder / "log").read_text() == "x\nx\n"
        assert results(coder.server.requests[-1]) == [
            "same",
            "same",
            f"Error: {REPEATED}",
        ]


@pytest.mark.quick
@story
async def test_a_model_that_repeats_a_call_for_ever_ends_its_turn(tmp_path: Path) -> None:
    async with house(tmp_path, script(*[proposes(bash("echo same"))] * 4)) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.ending, ended.error) == ("failed", "the model keeps repeating the same bash call")


@story
async def test_the_same_call_with_another_result_is_no_repetition(tmp_path: Path) -> None:
    steps = [proposes(bash("echo x >> log; wc -l < log"))] * 5
    async with house(tmp_path, script(*steps, says("done"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).ending == "done"
        assert [each.strip() for each in results(coder.server.requests[-1])] == ["1", "2", "3", "4", "5"]


@pytest.mark.quick
@story
async def test_a_text_that_is_exactly_one_call_is_the_call(tmp_path: Path) -> None:
    written = '```json\n{"name": "bash", "arguments": {"command": "echo hi"}}\n```'
    async with house(tmp_path, script(says(written), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert await coder.story() == ["user: go", "bash: ok", "agent: done"]


@pytest.mark.quick
@story
async def test_malformed_and_unknown_calls_become_results_the_model_can_act_on(tmp_path: Path) -> None:
    calls = [raw_call("bash", '{"command": '), raw_call("frobnicate", "{}"), raw_call("read", '{"file": "x"}')]
    async with house(tmp_path, script(proposes(*calls), says("sorry"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "sorry"
        said = results(coder.server.requests[-1])
        assert [text.partition(":")[0] for text in said] == ["Error", "Error", "Error"]
        assert "bad arguments for bash" in said[0]
        assert "there is no tool 'frobnicate'; available: read, list, glob, grep, write" in said[1]
        assert "it takes path, offset, limit" in said[2]


@pytest.mark.quick
@story
async def test_c21_a_model_changed_in_mid_turn_answers_from_the_next_step(tmp_path: Path) -> None:
    async def change(_: Body) -> Answer:
        await coder.host.send(ConfigureSession(session=coder.session, model="openai:other", by=ME))
        return proposes(bash("true"))

    async with house(tmp_path, script(replies(change), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert [each["model"] for each in coder.server.requests] == ["scripted", "other"]
        messages = [each.event for each in await coder.events() if isinstance(each.event, MessageAdded)]
        assert [each.model for each in messages] == ["openai:scripted", "openai:other"]


@story
async def test_a_long_file_comes_in_parts_that_say_how_to_go_on(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(read("big"), read("wide")), says("done"))) as coder:
        (coder.folder / "big").write_text("".join(f"line {n}\n" for n in range(400_000)))
        (coder.folder / "wide").write_text(f"{'x' * 1000}\n" * 4_000)
        await coder.prompt("go")
        await coder.ended()
        big, wide = results(coder.server.requests[-1])
        assert big.endswith("(lines 1-2000 of 400000; go on with offset=2001)")
        assert wide.endswith("(lines 1-49 of 4000; go on with offset=50)")


@story
async def test_a_huge_result_reaches_the_model_cut_and_people_whole(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("yes | head -c 500000")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        (result,) = results(coder.server.requests[-1])
        assert len(result) < 61_000
        assert "\n[439999 characters left out here; to see them, ask for less at a time]\n" in result
        (row,) = [
            row for row in (await coder.host.get(ReadMessages(coder.session))).rows if "tool_result" in row.data
        ]
        assert len(row.data) > 500_000


@pytest.mark.quick
@story
async def test_a_turn_failed_when_its_session_was_given_to_the_guide(tmp_path: Path) -> None:
    async def change(_: Body) -> Answer:
        await coder.host.send(ConfigureSession(session=coder.session, model="guide", agent="guide", by=ME))
        return proposes(bash("true"))

    async with house(tmp_path, script(replies(change), says("done"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "done"
        assert [each["model"] for each in coder.server.requests] == ["scripted", "scripted"]


@pytest.mark.quick
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


@pytest.mark.quick
@story
async def test_a_model_that_cannot_be_opened_in_mid_turn_ends_it_and_says_what_to_do(tmp_path: Path) -> None:
    async def change(_: Body) -> Answer:
        await coder.host.send(ConfigureSession(session=coder.session, model="anthropic:claude", by=ME))
        return proposes(bash("true"))

    async with house(tmp_path, script(replies(change), says("again"))) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.ending, (ended.error or "").partition(":")[0]) == ("failed", "no API key for anthropic")
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
    """ModelRegistry refuse more than 5 MB of base64, and then every request after it."""
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


@pytest.mark.quick
@story
async def test_a_folder_that_goes_away_in_mid_turn_is_told_by_its_tools(tmp_path: Path) -> None:
    away = f"mv {tmp_path / 'work'} {tmp_path / 'gone'}"
    async with house(tmp_path, script(proposes(bash(away)), proposes(read("f")), says("gone"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "gone"
        assert "No such file or directory" in results(coder.server.requests[-1])[-1]
