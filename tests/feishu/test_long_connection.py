"""The long connection itself, over the frames of the real client: it is opened again, and it ends."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from coderelay.protocol.errors import CannotRun
from coderelay.testing.feishu_server import FakeFeishu
from coderelay.testing.feishu_server.connections import CONTROL, DATA, PlatformFrame, decode_frame
from tests.feishu.platform_bot import aside, platform_bot
from tests.house import story
from tests.patience import PATIENCE


@story
async def test_a_lost_connection_is_opened_again_and_what_came_meanwhile_arrives(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        chat = feishu.person("ou_1").chat
        for number in range(3):
            await aside(feishu.connections.drop)
            await aside(chat.say, f"text {number}")
        await bot.chats.until(3)
        assert bot.chats.texts == ["text 0", "text 1", "text 2"]
        assert feishu.connections.opened >= 4
        assert bot.connected[:3] == [True, False, True]


@story
async def test_an_event_whose_acknowledgement_is_lost_acts_once(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        chat = feishu.person("ou_1").chat
        for number in range(10):
            saying = asyncio.create_task(aside(chat.say, f"text {number}"))
            await bot.chats.until(number + 1)
            await aside(feishu.connections.drop)
            await saying  # the platform has sent it until it was acknowledged
        assert bot.chats.texts == [f"text {number}" for number in range(10)]


@story
async def test_a_platform_that_refuses_for_a_while_is_tried_again(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        feishu.fail("/callback/ws/endpoint", status=500)
        feishu.fail("/callback/ws/endpoint", code=1)  # it is busy
        feishu.fail("/callback/ws/endpoint", code=1000040350)  # too many connections
        feishu.fail("/callback/ws/endpoint", drops=True)
        await aside(feishu.connections.drop)
        await aside(feishu.person("ou_1").chat.say, "at last")
        await bot.chats.until(1)
        assert feishu.faults.left() == 0


@story
async def test_an_event_in_many_parts_is_joined(feishu: FakeFeishu, tmp_path: Path) -> None:
    text = "深" * 30_000
    async with platform_bot(feishu, tmp_path) as bot:
        await aside(feishu.person("ou_1").chat.say, text)
        await bot.chats.until(1)
        assert bot.chats.texts == [text]


@story
async def test_the_connection_runs_in_its_own_thread_and_ends_with_the_bot(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    async with platform_bot(feishu, tmp_path):
        assert [each.name for each in threading.enumerate()].count("feishu-connection") == 1
        await aside(feishu.connections.wait, 1, PATIENCE)
        opened = feishu.connections.opened
        while not any(each.pings for each in feishu.connections._open):  # pyright: ignore[reportPrivateUsage]
            await aside(time.sleep, 0.01)
    assert "feishu-connection" not in [each.name for each in threading.enumerate()]
    assert (len(feishu.connections), feishu.connections.opened) == (0, opened)


@story
async def test_a_bot_ends_at_once_while_the_platform_cannot_be_reached(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path):
        feishu.fail("/callback/ws/endpoint", times=1000, status=500)
        await aside(feishu.connections.drop)
        with feishu.connections.changed:
            feishu.connections.changed.wait_for(lambda: len(feishu.connections) == 0, 60)
        began = time.monotonic()
    assert time.monotonic() - began < 20


@story
async def test_a_bot_ends_while_the_platform_takes_its_time(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path):
        feishu.fail("/callback/ws/endpoint", times=1000, delay=25, drops=True)
        await aside(feishu.connections.drop)
        await aside(feishu.wait_for_request, "POST /callback/ws/endpoint", 2)
        began = time.monotonic()
    assert time.monotonic() - began < 20


@story
async def test_a_frame_that_cannot_be_read_does_no_harm(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        connection = await aside(feishu.connections.any, PATIENCE)
        event = {"type": "event", "message_id": "m", "trace_id": "t"}
        for raw in (
            b"\xff\xff\xff",
            b"",
            PlatformFrame(DATA, {**event, "sum": "2", "seq": "7"}, b"{}").encode(),
            PlatformFrame(DATA, {**event, "sum": "x", "seq": "0"}, b"{}").encode(),
            PlatformFrame(DATA, {"type": "event"}, b"no json").encode(),
            PlatformFrame(DATA, {"type": "card"}, b"{}").encode(),
            PlatformFrame(CONTROL, {"type": "pong"}, b"no json").encode(),
            PlatformFrame(CONTROL, {"type": "pong"}, b'{"PingInterval": -3}').encode(),
        ):
            connection.push_raw(raw)
        await aside(feishu.person("ou_1").chat.say, "still here")
        await bot.chats.until(1)
        assert feishu.connections.opened == 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [({"code": 99991663, "status": 400}, "refuses this app"), ({"status": 500}, "cannot be reached")],
)
def test_a_bot_that_the_platform_refuses_says_so(
    feishu: FakeFeishu, tmp_path: Path, fault: dict[str, int], said: str
) -> None:
    @story
    async def tell() -> None:
        feishu.fail("bot/v3/info", **fault)
        with pytest.raises(CannotRun) as refused:
            async with platform_bot(feishu, tmp_path):
                pass
        assert said in refused.value.message

    tell()


def test_frames_are_those_of_the_library() -> None:
    """Both ways, so that the fake platform proves something."""
    from lark_oapi.ws.pb import pbbp2_pb2  # pyright: ignore[reportMissingTypeStubs]  # it has none

    headers = {"type": "event", "message_id": "m", "sum": "1", "seq": "0", "trace_id": "深"}
    ours = PlatformFrame(DATA, headers, b"\x00payload" * 50, seq=300, log=2**40, service=7)
    theirs = getattr(pbbp2_pb2, "Frame")()  # noqa: B009  # made by a generator
    theirs.ParseFromString(ours.encode())
    assert (theirs.method, theirs.SeqID, theirs.LogID, theirs.service) == (1, 300, 2**40, 7)
    assert {each.key: each.value for each in theirs.headers} == headers
    read = decode_frame(theirs.SerializeToString())
    assert (read.method, read.headers, read.payload) == (DATA, headers, ours.payload)
    assert decode_frame(PlatformFrame(CONTROL, {}).encode()).method == CONTROL
