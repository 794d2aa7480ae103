"""Thoughts are shown in full."""

from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.thinking_stream import ThinkingStream, drawn_thought
from tests.terminal.drawing.colour_marks import marked

_THOUGHT = "The person wants\x1b[2J a test.\n\n\n**So** I write one, which takes a while to explain.\n我想一想。\n"


def test_c36_a_thought_is_dim_and_whole() -> None:
    assert marked(drawn_thought(_THOUGHT, 30)) == (
        "\n⟨2⟩✻ ⟨⟩⟨2;3⟩The person wants\\x1b[2J a⟨⟩\n  ⟨2;3⟩test.⟨⟩\n"
        "\n  ⟨2;3⟩**So** I write one, which⟨⟩\n  ⟨2;3⟩takes a while to explain.⟨⟩\n  ⟨2;3⟩我想一想。⟨⟩\n"
    )


@given(st.lists(st.integers(0, len(_THOUGHT)), max_size=20))
@settings(deadline=None)
def test_c36_however_it_comes(cuts: list[int]) -> None:
    thought, shown, last = ThinkingStream(), "", 0
    for at in [*sorted(cuts), len(_THOUGHT)]:
        thought.feed(_THOUGHT[last:at])
        shown += thought.take_finished(30)
        assert thought.tail(30, 2).count("\n") <= 2
        last = at
    assert shown + thought.finish(30) == drawn_thought(_THOUGHT, 30)


def test_the_tail_is_what_has_no_end_yet() -> None:
    thought = ThinkingStream()
    thought.feed("one\ntwo and")
    assert without_colours(thought.take_finished(30)) == "\n✻ one\n"
    assert without_colours(thought.tail(30, 5)) == "  two and\n"
