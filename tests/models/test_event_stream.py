"""Events as servers send them, in whatever pieces they arrive."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from coderelay.http.sse import EventStream

SENT = (
    b': hello\nevent: message\nid: 7\ndata: {"a":\r\ndata:  1}\r\n\r\n\n\ndata:x\n\ndata:\n\nretry: 5\n\ndata: half'
)
BY_LINE = [b'{"a":', b"1}", b"x", b"half"]
EVENTS = [b'{"a":\n 1}', b"x"]


def at_most(most: int) -> Callable[[int], None]:
    def check_size(size: int) -> None:
        if size > most:
            raise OverflowError(size)

    return check_size


@given(some.lists(some.integers(0, len(SENT)), max_size=8))
def test_the_same_events_in_whatever_pieces(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(SENT)]
    stream = EventStream(at_most(1000))
    heard = [event for start, end in pairwise(ends) for event in stream.feed(SENT[start:end])]
    assert heard == EVENTS
    stream = EventStream(at_most(1000), by_line=True)
    lines = [event for start, end in pairwise(ends) for event in stream.feed(SENT[start:end])]
    assert [*lines, *stream.end()] == BY_LINE


@pytest.mark.parametrize("piece", [b"data: 0123456789\n", b"0123456789"])
def test_an_event_without_an_end_is_too_long(piece: bytes) -> None:
    stream = EventStream(at_most(10_000))
    for _ in range(10_000 // len(piece)):
        assert stream.feed(piece) == []
    with pytest.raises(OverflowError):
        stream.feed(piece * 100)


def test_a_stream_of_signs_of_life_is_not_too_long() -> None:
    stream = EventStream(at_most(1000))
    assert [event for _ in range(1000) for event in stream.feed(b": still here\n")] == []
