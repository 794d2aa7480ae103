"""What a command writes is seen while it runs, wherever somebody looks; and no more of it than of its result."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from coderelay.host.live_command_output import LiveCommandOutput
from coderelay.policy.secrets.masking import Secrets
from coderelay.policy.secrets.streamed_text_masking import MaskedLines
from coderelay.protocol.calls import Finished, Stopped
from coderelay.protocol.events import CallEnded, MessageAdded, Recorded
from coderelay.protocol.ids import CallId, MessageId
from coderelay.protocol.live_updates import Live, Notice, OutputDelta, TextDelta, join
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script
from tests.shell.scene import WAITS, outcomes, shell, there

KEY = "sk-ant-api03-Zk3vQ9xT7bLm2Rw8Yc5Nf1Hd6Gs4Jp0AeUiO"
BLOCK = f"-----BEGIN PRIVATE KEY-----\n{'MIIEvQIBADANBgkqhkiG9w0B' * 2}\n-----END PRIVATE KEY-----"


class Watching:
    """What a follower has seen of the commands so far."""

    def __init__(self, feed: AsyncGenerator[Recorded | Live, None]) -> None:
        self._feed = feed
        self.text = ""
        self.pieces = 0
        self.calls: set[CallId] = set()

    async def until(self, text: str) -> str:
        while text not in self.text:
            each = await anext(self._feed)
            if isinstance(each, OutputDelta):
                self.text += each.text
                self.pieces += 1
                self.calls.add(each.call_id)
            ended = isinstance(each, Recorded) and isinstance(each.event, CallEnded)
            assert not ended, f"the command is over, and only {self.text!r} was shown"
        return self.text

    async def rest(self) -> list[Recorded | Live]:
        """What comes until the call has ended."""
        seen: list[Recorded | Live] = []
        while not (seen and isinstance(seen[-1], Recorded) and isinstance(seen[-1].event, CallEnded)):
            seen.append(await anext(self._feed))
        return seen


@asynccontextmanager
async def watching(coder: InHouse) -> AsyncGenerator[Watching]:
    async with aclosing(coder.host.follow(coder.session)) as feed:
        yield Watching(feed)


@story
async def test_the_output_of_a_command_is_shown_while_it_runs(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash(f"echo one; {WAITS}; echo two")), says("done"))) as coder:
        await coder.prompt("go")
        async with watching(coder) as seen:
            assert await seen.until("one\n") == "one\n"
            events = [each.event for each in await coder.events()]
            (message,) = [each for each in events if isinstance(each, MessageAdded)]
            assert seen.calls == {message.calls[0].id}
            (coder.folder / "go").touch()
            await seen.rest()
        await coder.ended()
        (outcome,) = await outcomes(coder)
        assert isinstance(outcome, Finished)
        assert outcome.output == "one\ntwo"


@story
async def test_c15_so_is_that_of_a_command_of_the_persons_own_in_another_process(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as first, house(tmp_path, script()) as second:
        await first.create()
        await shell(first, f"echo one; echo two >&2; {WAITS}; echo three; until [ -e on ]; do sleep .01; done")
        second.session = first.session
        async with watching(second) as seen:
            await seen.until("one\n")
            await seen.until("two\n")
            (second.folder / "go").touch()
            await seen.until("three\n")
            async with watching(first) as late:  # who comes in the middle sees it from the start
                assert set((await late.until("three\n")).split()) == {"one", "two", "three"}
            (second.folder / "on").touch()
            await seen.rest()


@story
async def test_a_key_that_comes_in_pieces_is_hidden_all_the_same(tmp_path: Path) -> None:
    halves = f"printf 'first {KEY[:24]}'; {WAITS}; printf '{KEY[24:]} ..'; until [ -e on ]; do sleep .01; done"
    block = " ".join(f"'{line}'" for line in BLOCK.splitlines())
    lines = f"for line in {block}; do echo $line; sleep .15; done; echo last; sleep 600"
    async with house(tmp_path, script()) as coder:
        await coder.create()
        await shell(coder, f"{halves}; echo; {lines}")
        async with watching(coder) as seen:
            assert await seen.until("first") == "first "
            (coder.folder / "go").touch()
            assert await seen.until("..") == "first [hidden secret: anthropic key] .."
            (coder.folder / "on").touch()
            shown = await seen.until("last\n")
        await coder.stop()
        await coder.ended()
        private = "-----BEGIN PRIVATE KEY-----[hidden secret: private key]-----END PRIVATE KEY-----"
        assert shown == f"first [hidden secret: anthropic key] ..\n{private}\nlast\n"
        (outcome,) = await outcomes(coder)
        assert outcome == Stopped(True, shown.rstrip("\n"))


@story
async def test_of_a_flood_only_the_newest_is_shown_a_few_times_a_second(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        flood = "seq 1 300000; echo end of it; touch done; until [ -e on ]; do sleep .01; done"
        await shell(coder, f"echo ready; {WAITS}; {flood}")
        async with watching(coder) as seen:
            await seen.until("ready\n")
            (coder.folder / "go").touch()
            await there(coder.folder / "done")
            shown = await seen.until("end of it\n")
            assert len(shown) <= 8_100 * seen.pieces
            assert "\n…\n" in shown
            assert shown.endswith("300000\nend of it\n")
            (coder.folder / "on").touch()
            await seen.rest()
        (outcome,) = await outcomes(coder)
        assert isinstance(outcome, Finished)
        assert "bytes left out" in outcome.output


@story
async def test_who_comes_late_is_shown_nothing_of_a_call_that_has_ended(tmp_path: Path) -> None:
    second = "touch second; until [ -e on ]; do sleep .01; done"
    async with house(tmp_path, script(proposes(bash(f"echo one; {WAITS}"), bash(second)), says("done"))) as coder:
        await coder.prompt("go")
        async with watching(coder) as seen:
            await seen.until("one\n")
        (coder.folder / "go").touch()
        await there(coder.folder / "second")
        async with watching(coder) as late:
            first = await late.rest()
            (coder.folder / "on").touch()
            assert not any(isinstance(each, OutputDelta) for each in [*first, *await late.rest()])
        await coder.ended()


@given(
    words=st.lists(
        st.sampled_from(["so ", "..", KEY, "\n", f"{BLOCK}\n", "own-4711-value ", "50%\r", "日本"]), max_size=8
    ),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_however_it_is_cut_no_key_is_shown_and_nothing_else_is_lost(words: list[str], cuts: list[int]) -> None:
    text, hide = "".join([*words, "\n"]), Secrets(["own-4711-value"]).hide
    screen = MaskedLines(hide)
    ends = sorted({0, *(min(each, len(text)) for each in cuts), len(text)})
    shown = "".join(screen.grow(text[begin:end]) for begin, end in pairwise(ends))
    for secret in ("own-4711-value", KEY[3:], BLOCK.splitlines()[1]):
        assert secret not in shown
    assert shown == hide(text) or len(shown) - len(hide(text)) <= 5 * len(words)  # the first letters of a key


def test_neighbours_of_one_call_are_joined() -> None:
    one, two, message = CallId("one"), CallId("two"), MessageId("one")
    pieces: list[tuple[int, Live]] = [
        (1, OutputDelta(one, "a")),
        (1, OutputDelta(one, "b")),
        (1, OutputDelta(two, "c")),
        (2, OutputDelta(two, "d")),
        (2, TextDelta(message, "e")),
        (2, Notice("f")),
        (2, OutputDelta(two, "g")),
    ]
    assert join(pieces) == [
        (1, OutputDelta(one, "ab")),
        (1, OutputDelta(two, "c")),
        (2, OutputDelta(two, "d")),
        (2, TextDelta(message, "e")),
        (2, Notice("f")),
        (2, OutputDelta(two, "g")),
    ]


@story
async def test_a_command_that_is_over_at_once_is_not_shown_and_what_it_wrote_is_kept(tmp_path: Path) -> None:
    shown: list[OutputDelta] = []
    live = LiveCommandOutput(CallId("c"), str.upper, shown.append)
    live.add_output(b"h\xc3")
    live.add_output(b"\xbcte\n")
    live.add_output(b"")
    assert live.end() == "hüte"
    assert shown == []
