"""An answer as it is written: what a person sees of it, however it comes."""

from pathlib import Path

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.markdown_stream import MarkdownStream, drawn_markdown
from coderelay.surfaces.terminal.drawing.width_and_truncation import width_of
from tests.terminal.drawing.colour_marks import marked

_HERE = Path(__file__).parent
_ANSWER = (_HERE / "answer.md").read_text()


def plain(text: str, width: int = 60) -> str:
    return without_colours(drawn_markdown(text, width))


@pytest.mark.quick
def test_c36_an_answer_with_everything_in_it() -> None:
    assert plain(_ANSWER) == (_HERE / "answer.txt").read_text()
    assert marked(drawn_markdown(_ANSWER, 60)) == (_HERE / "answer.marked.txt").read_text()


@given(st.lists(st.integers(0, len(_ANSWER)), max_size=60), st.sets(st.integers(0, 60)))
@settings(deadline=None, max_examples=60)
def test_c04_each_block_is_given_once_and_the_same_however_the_text_comes(cuts: list[int], looks: set[int]) -> None:
    assert _streamed(_ANSWER, sorted(cuts), looks) == drawn_markdown(_ANSWER, 60)


_LINES = ["\n", "\n\n", "- ", "  - ", "1. ", "2) ", "> ", "# ", "    ", "\t", "---\n", "===\n", "\r", "~~~~\n"]
_WORDS = ["a", "word ", "*", "**", "[x](y)", "\b", "中文，", "👨\u200d👩", "\x1b[2J", "<b>", "`"]
_PLAIN = _LINES + _WORDS
_MORE = ["```", "~~~\n", "```py\n", "| a | b |\n", "|---|---|\n"]
_MARKUP = st.lists(st.sampled_from(_PLAIN + _MORE), max_size=40).map("".join)


@given(_MARKUP, st.lists(st.integers(0, 200), max_size=20), st.sets(st.integers(0, 20)))
@settings(deadline=None, max_examples=300)
def test_c04_that_holds_for_any_markup(text: str, cuts: list[int], looks: set[int]) -> None:
    assert _streamed(text, sorted(min(each, len(text)) for each in cuts), looks) == drawn_markdown(text, 60)


def _streamed(text: str, cuts: list[int], looks: set[int]) -> str:
    written = MarkdownStream()
    shown = ""
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(text)], strict=True)):
        written.feed(text[start:end])
        if number in looks:
            shown += written.take_finished(60)
            rows = without_colours(written.tail(60, 5)).splitlines()
            assert len(rows) <= 5
            assert [row for row in rows if width_of(row) > 60] == []
    return shown + written.finish(60)


@given(st.lists(st.sampled_from(_PLAIN), max_size=40).map("".join))
@settings(deadline=None, max_examples=200)
def test_nothing_that_was_said_is_lost(text: str) -> None:
    """But for columns that a table does not have, and the name of a language."""
    shown = plain(text)
    assert [(each, shown.count(each)) for each in "rd中文👩"] == [(each, text.count(each)) for each in "rd中文👩"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one\ntwo", "\none\ntwo\n"),
        ("a  \nb", "\na\nb\n"),
        ("# Head\ntext", "\nHead\n\ntext\n"),
        ("Head\n====\ntext", "\nHead\n\ntext\n"),
        ("[text](https://x.example/a)", "\ntext (https://x.example/a)\n"),
        ("<https://x.example/>", "\nhttps://x.example/\n"),
        ("[run](javascript:alert(1))", "\n[run](javascript:alert(1))\n"),
        ("![a picture](https://x.example/p.png)", "\na picture (https://x.example/p.png)\n"),
        ("<b>bold</b> <!-- hidden -->", "\n<b>bold</b> <!-- hidden -->\n"),
        ("[x][y]\n\n[y]: https://x.example", "\n[x][y]\n\n[y]: https://x.example\n"),
        ("&#x202e;evil &lt;", "\n\\u202eevil <\n"),
        ("- a\n- b\n\n- c", "\n• a\n• b\n\n• c\n"),
        ("- a\n\n  more\n- b", "\n• a\n\n  more\n• b\n"),
        ("- a\n  - b\n    - c", "\n• a\n  ◦ b\n    ▪ c\n"),
        ("3. a\n3. b", "\n3. a\n4. b\n"),
        ("1. a\n\n```\ncode\n```\n\n2. b", "\n1. a\n\ncode\n\n2. b\n"),
        ("- [ ] a\n- [x] b", "\n• ☐ a\n• ☑ b\n"),
        ("> a\n> b\n\nc", "\n▎ a\n▎ b\n\nc\n"),
        ("```\na  \n\n  b\n```", "\na  \n\n  b\n"),
        ("````\n```\n````", "\n```\n"),
        ("```py\nopen", "\nopen\n"),
        ("* * *", "\n" + "─" * 40 + "\n"),
        ("a | b\n--|--\n1 | 2", "\na │ b\n──┼──\n1 │ 2\n"),
        ("before\n| a |\n|---|\n| 1 |\nafter | x", "\nbefore\n\na\n─────\n1\nafter\n"),
    ],
)
def test_markdown_is_drawn(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_lines_are_broken_between_words_and_chinese_ones_not_before_a_full_stop() -> None:
    assert plain("aaaa bbbb cccc", 10) == "\naaaa bbbb\ncccc\n"
    assert plain("一二三四五。六", 10) == "\n一二三四\n五。六\n"
    assert plain(f"see https://x.example/{'a' * 30} now", 20) == f"\nsee\nhttps://x.example/{'a' * 30}\nnow\n"


def test_code_keeps_its_lines_and_has_nothing_around_it() -> None:
    line = "x = 1  # " + "long " * 30
    assert plain(f"```python\n{line}\n\tif x:\n```", 40) == f"\n{line}\n\tif x:\n"


def test_a_table_that_has_no_room_is_told_row_by_row() -> None:
    table = "| name | what |\n|---|---|\n| a | " + "word " * 10 + "|\n| b | c |\n"
    assert plain(table, 24) == (
        "\nname │ what\n─────┼──────────────────\n"
        "a    │ word word word\n     │ word word word\n     │ word word word\n     │ word\n"
        "─────┼──────────────────\nb    │ c\n"
    )
    assert plain("| n | w | x | y |\n|---|---|---|---|\n" + f"| {'a' * 9} " * 4 + "|", 20) == (
        "\nn: aaaaaaaaa\nw: aaaaaaaaa\nx: aaaaaaaaa\ny: aaaaaaaaa\n"
    )


def test_code_is_given_line_by_line_and_a_table_whole() -> None:
    written = MarkdownStream()
    written.feed('Intro.\n\n```python\na = """one\n')
    assert marked(written.take_finished(60)) == '\nIntro.\n\na = ⟨32⟩"""one⟨⟩\n'
    written.feed("two")
    assert (written.take_finished(60), marked(written.tail(60, 5))) == ("", "⟨32⟩two⟨⟩\n")
    written.feed('"""\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n')
    assert marked(written.take_finished(60)) == '⟨32⟩two"""⟨⟩\n'
    assert without_colours(written.tail(60, 2)) == "──┼──\n1 │ 2\n"
    written.feed("\n")
    assert without_colours(written.take_finished(60)) == "\na │ b\n──┼──\n1 │ 2\n"
    assert (written.tail(60, 5), written.finish(60)) == ("", "")


def test_the_tail_looks_as_it_will() -> None:
    written = MarkdownStream()
    written.feed("one\ntwo **bo")
    assert marked(written.tail(60, 5)) == "\none\ntwo ⟨1⟩bo⟨⟩\n"
    assert marked(written.tail(60, 1)) == "two ⟨1⟩bo⟨⟩\n"
    assert written.tail(60, 0) == ""


def test_the_tail_of_a_long_item_with_code_in_it_is_code() -> None:
    written = MarkdownStream()
    written.feed("1. do this\n   ```sh\n" + "   # comment\n" * 50)
    assert written.take_finished(60) == ""
    assert marked(written.tail(60, 2)) == "⟨2⟩# comment⟨⟩\n⟨2⟩# comment⟨⟩\n"


def test_the_tail_has_no_emoji_that_the_region_would_misplace() -> None:
    written = MarkdownStream()
    written.feed("👨\u200d👩\u200d👧 🇩🇪 ❤\ufe0f 1\ufe0f\u20e3 👍🏽")
    assert written.tail(60, 3) == "\n👨 DE ❤ 1 👍\n"
    assert written.finish(60) == "\n👨\u200d👩\u200d👧 🇩🇪 ❤\ufe0f 1\ufe0f\u20e3 👍🏽\n"


def test_columns_stand_below_each_other_whatever_is_in_them() -> None:
    cells = ["plain", "中文字", "e\u0301", "👍", "👨\u200d👩\u200d👧", "한국", "`code`", "**粗体**", "ｆｕｌｌ"]
    drawn = drawn_markdown("| a | b |\n|---|---|\n" + "".join(f"| {each} | x |\n" for each in cells), 60)
    screen = pyte.Screen(60, 20)
    pyte.Stream(screen).feed(drawn.replace("\n", "\r\n"))
    bars = [[at for at in range(60) if screen.buffer[row][at].data == "│"] for row in range(3, 3 + len(cells))]
    joined = 4  # pyte draws a family as three
    assert [bar for number, bar in enumerate(bars) if number != joined] == [[9]] * (len(cells) - 1)
