"""The forms a body travels in, cut at any place."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coderelay.http.errors import ServerMisbehaved
from coderelay.http.response_decoder import ChunkedBody, SizedBody, body_of, parse_head

Chunk = tuple[bytes, bytes, bytes]  # data, extension, end of line

chunks = st.lists(
    st.tuples(
        st.binary(min_size=1, max_size=40),
        st.sampled_from([b"", b";a", b"; a=b", b'; a="b;c"', b" ", b"\t;x"]),
        st.sampled_from([b"\r\n", b"\r\n", b"\n"]),
    ),
    max_size=8,
)
trailers = st.sampled_from([b"", b"x-sum: 1\r\n", b"a: b\r\nc: d\r\n"])
sizes = st.lists(st.integers(1, 30), min_size=1, max_size=20)


def chunked(parts: list[Chunk], trailer: bytes = b"", upper: bool = False) -> bytes:
    form = b"%X" if upper else b"%x"
    written = [form % len(data) + extension + end + data + end for data, extension, end in parts]
    return b"".join(written) + b"0\r\n" + trailer + b"\r\n"


def taken_apart(pieces: list[bytes]) -> tuple[bytes, bool, bool]:
    body, got = ChunkedBody(), b""
    for piece in pieces:
        got += body.feed(piece)
        if body.finished:
            break
    return got, body.finished, body.clean


@given(chunks, trailers, st.booleans())
def test_a_chunked_body_may_be_cut_at_every_place(parts: list[Chunk], trailer: bytes, upper: bool) -> None:
    whole, expected = chunked(parts, trailer, upper), b"".join(data for data, _, _ in parts)
    assert taken_apart([whole]) == (expected, True, True)
    assert taken_apart([whole[at : at + 1] for at in range(len(whole))]) == (expected, True, True)
    for cut in range(1, len(whole)):
        assert taken_apart([whole[:cut], whole[cut:]]) == (expected, True, True)


@given(chunks, trailers, sizes)
def test_a_chunked_body_may_come_in_pieces_of_any_size(
    parts: list[Chunk], trailer: bytes, lengths: list[int]
) -> None:
    whole, pieces = chunked(parts, trailer), list[bytes]()
    while whole:
        size = lengths[len(pieces) % len(lengths)]
        pieces.append(whole[:size])
        whole = whole[size:]
    assert taken_apart(pieces) == (b"".join(data for data, _, _ in parts), True, True)


@given(chunks, st.integers(0, 400))
def test_a_chunked_body_that_ends_early_is_broken(parts: list[Chunk], keep: int) -> None:
    whole = chunked(parts)
    body = ChunkedBody()
    if kept := whole[: min(keep, len(whole) - 1)]:
        body.feed(kept)
    assert not body.finished
    with pytest.raises(ServerMisbehaved, match="broke off mid-answer"):
        body.feed(b"")


@settings(max_examples=300)
@given(st.lists(st.binary(min_size=1, max_size=30), min_size=1, max_size=6))
@example([b"\xb2\r\n"])
@example([b"1_0\r\n"])
@example([b"f" * 5000] * 5)
def test_no_bytes_whatever_raise_anything_but_broken(pieces: list[bytes]) -> None:
    try:
        taken_apart(pieces)
    except ServerMisbehaved:
        pass  # the only way it may fail


@pytest.mark.parametrize(
    "size", [b"", b"-5", b"+5", b"0x5", b"1_0", b" 5", b"zz", b"5 5", b"\xef\xbc\x95", b"f" * 16, b"-", b"5,5"]
)
def test_a_chunk_size_is_hexadecimal_digits_and_nothing_else(size: bytes) -> None:
    with pytest.raises(ServerMisbehaved, match="a chunk without a size"):
        ChunkedBody().feed(size + b"\r\nhello\r\n0\r\n\r\n")


def test_a_chunk_that_is_longer_than_it_says_is_broken() -> None:
    with pytest.raises(ServerMisbehaved, match="longer than it says"):
        ChunkedBody().feed(b"2\r\nhello\r\n")


def test_a_size_that_never_ends_is_broken_before_it_fills_the_memory() -> None:
    body = ChunkedBody()
    assert [body.feed(b"0" * 1000) for _ in range(16)] == [b""] * 16
    with pytest.raises(ServerMisbehaved, match="a chunk without a size"):
        body.feed(b"0" * 1000)


def test_bytes_after_the_end_are_noticed() -> None:
    assert taken_apart([b"2\r\nok\r\n0\r\n\r\nHTTP/1.1 408"]) == (b"ok", True, False)


def test_a_huge_chunk_is_handed_on_before_it_is_whole() -> None:
    body = ChunkedBody()
    assert body.feed(b"fffffffffffffff\r\nabc") == b"abc"
    assert body.feed(b"def") == b"def"


def test_a_sized_body_ends_where_it_says() -> None:
    body = SizedBody(5)
    assert (body.feed(b"he"), body.finished) == (b"he", False)
    assert (body.feed(b"llo"), body.finished, body.clean) == (b"llo", True, True)
    longer = SizedBody(5)
    assert (longer.feed(b"hello, world"), longer.finished, longer.clean) == (b"hello", True, False)


@pytest.mark.parametrize("length", ["-1", "+1", "abc", "1 2", "5, 6", "", "９", "9" * 30, "0x5", "1_0", "²"])
def test_a_length_that_is_no_number_is_broken(length: str) -> None:
    head = parse_head(b"HTTP/1.1 200 OK\r\ncontent-length: " + length.encode())
    with pytest.raises(ServerMisbehaved, match="without a usable length"):
        body_of(head)
