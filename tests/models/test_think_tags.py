"""Thoughts between tags, wherever the text is split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.models.think_tags import ThinkTags


def told_apart(*pieces: str) -> tuple[str, str]:
    tags = ThinkTags()
    told = [*(tags.feed(piece) for piece in pieces), tags.end()]
    return "".join(thinking for thinking, _ in told), "".join(text for _, text in told)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("written", "thinking", "text"),
    [
        ("<think>hm</think>so", "hm", "so"),
        ("<thinking>hm</thinking>so", "hm", "so"),
        ("<thought>hm</thought>so", "hm", "so"),
        ("\n <think>\n\nhm, hm\n</think>\n\nso\n", "hm, hm\n", "so\n"),
        ("<think>\n\n</think>\n\nso", "", "so"),
        ("<think>a < b </ think> </thinking></think>so", "a < b </ think> </thinking>", "so"),
        ("<think>hm</think>", "hm", ""),
        ("<think>never closed", "never closed", ""),
        ("<think>never closed </thi", "never closed </thi", ""),
        ("<think>", "", ""),
        ("<thi", "", "<thi"),
        ("< think>no</think>", "", "< think>no</think>"),
        ("so <think>is a tag</think>", "", "so <think>is a tag</think>"),
        ("<think>hm</think>use <think>x</think>", "hm", "use <think>x</think>"),
        ("</think>so", "", "</think>so"),
        ("<thinker>", "", "<thinker>"),
        ("  indented", "", "  indented"),
        (" \n ", "", " \n "),
        ("", "", ""),
    ],
)
def test_a58_thoughts_between_tags_at_the_beginning_are_thinking(written: str, thinking: str, text: str) -> None:
    assert told_apart(written) == (thinking, text)
    assert told_apart(*written) == (thinking, text)


PARTS = ("<think>", "</think>", "<thinking>", "</thinking>", "<thought>", "</thought>", "<", "/", ">", " ", "hm")


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join), st.data())
def test_a58_any_split_gives_the_same_as_none(written: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(written)))))
    pieces = [written[start:end] for start, end in zip([0, *cuts], [*cuts, len(written)], strict=True)]
    assert told_apart(*pieces) == told_apart(written)


@given(st.text(max_size=40), st.data())
def test_a58_text_without_tags_is_never_changed(written: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(written)))
    assert told_apart(written[:cut], written[cut:]) == ("", written)


def test_a58_what_cannot_be_a_tag_any_more_is_told_at_once() -> None:
    tags = ThinkTags()
    told = [tags.feed(piece) for piece in ("<think>he said <", "b> and </", "think", "> so <", "b>")]
    assert told == [("he said ", ""), ("<b> and ", ""), ("", ""), ("", "so <"), ("", "b>")]
