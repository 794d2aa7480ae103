import pytest
from prompt_toolkit.utils import get_cwidth
from rich.cells import cell_len

from coderelay.surfaces.terminal.drawing.sanitizing import without_wide_joins


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("plain 中文 한국어 e\u0301", "plain 中文 한국어 e\u0301"),
        ("👨\u200d👩\u200d👧\u200d👦!", "👨!"),
        ("🏳\ufe0f\u200d🌈", "🏳"),
        ("🇩🇪🇫🇷", "DEFR"),
        ("❤\ufe0f ☎\ufe0e", "❤ ☎"),
        ("1\ufe0f\u20e3 #\u20e3", "1 #"),
        ("👍🏽 ✌🏿", "👍 ✌"),
        ("می\u200cخواهم क\u094d\u200dष", "می\u200cخواهم क\u094d\u200dष"),
    ],
)
def test_joined_emoji_become_one_that_is_counted_right(text: str, simple: str) -> None:
    assert without_wide_joins(text) == simple
    if "\u200c" not in simple:
        assert get_cwidth(simple) == cell_len(simple)
