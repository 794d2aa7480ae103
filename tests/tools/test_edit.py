"""edit: one place, or every one; and why not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.protocol.errors import ToolFailed
from coderelay.tools.edit import EditArguments, replaced
from tests.house import story
from tests.tools.toolbox_scene import contents, lay_out, scene

CODE = "def f():\n    return 1\n\ndef g():\n    return 1\n"


@pytest.mark.quick
@story
async def test_c36_edit_replaces_one_place_and_says_how_much(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.py": CODE})
    async with scene(tmp_path) as here:
        outcome = await here.outcome(
            "edit", path="a.py", old="g():\n    return 1", new="g():\n    x = 2\n    return x"
        )
        assert (getattr(outcome, "output", outcome), outcome.summary) == ("edited a.py (+2 -1)", "+2 -1")
        said = await here.run("edit", path="a.py", old="return", new="yield", all=True)
        assert said == "edited a.py in 2 places (+2 -2)"
    assert contents(tmp_path) == {"a.py": b"def f():\n    yield 1\n\ndef g():\n    x = 2\n    yield x\n"}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"old": "return", "new": "x"},
            "the text to replace is in a.py 2 times (lines 2, 5); add lines around the one you mean, or use all=true "
            "for every one",
        ),
        ({"old": "return", "new": "return"}, "old and new are the same, so nothing would change"),
        ({"old": "", "new": "x"}, "old is empty; use write to replace a.py whole"),
        (
            {"old": "def f():\n\treturn 1\n", "new": "x"},
            "the text to replace is not in a.py; the nearest place is lines 1-2:\n1\tdef f():\n2\t    return 1\n"
            "line 2 differs in its indentation: you gave '\\treturn 1', the file has '    return 1'",
        ),
        (
            {"old": "def g(): \n    return  1", "new": "x"},
            "the text to replace is not in a.py; the nearest place is lines 4-5:\n4\tdef g():\n5\t    return 1\n"
            "line 4 differs in blanks at its end: you gave 'def g(): ', the file has 'def g():'\n"
            "line 5 differs in its blanks: you gave '    return  1', the file has '    return 1'",
        ),
        (
            {"old": "2\t    return 1\n3\t\n4\tdef g():\n", "new": "x"},
            "the text to replace is not in a.py: it begins with the line numbers of read; leave them out",
        ),
        (
            {"old": "def fun():", "new": "x"},
            "the text to replace is not in a.py; the nearest place is line 1:\n1\tdef f():\n"
            "line 1 differs in its text: you gave 'def fun():', the file has 'def f():'",
        ),
        (
            {"old": "something else entirely", "new": "x"},
            "the text to replace is not in a.py; nothing in the file is similar; read the file again",
        ),
        (
            {"old": "def g():\n    return 1\n\nmore", "new": "x"},
            "the text to replace is not in a.py; the nearest place is lines 4-5:\n4\tdef g():\n5\t    return 1\n"
            "the file ends after line 5",
        ),
    ],
)
@story
async def test_an_edit_that_fails_says_why(tmp_path: Path, arguments: dict[str, str], said: str) -> None:
    lay_out(tmp_path, {"a.py": CODE})
    async with scene(tmp_path) as here:
        assert await here.refused("edit", path="a.py", **arguments) == said
        assert here.need("edit", path="a.py", **arguments).problem == said
    assert contents(tmp_path) == {"a.py": CODE.encode()}


@pytest.mark.parametrize(
    ("here", "given_", "said"),
    [
        ('say("hi")', "say('hi')", "its quotes"),
        ("say(“hi”)", 'say("hi")', "its quotes"),
        ("a – b", "a - b", "its dashes"),
        ("a\u00a0b = long", "a b = long", "its blanks"),
    ],
)
@story
async def test_characters_that_look_alike_are_told_apart(tmp_path: Path, here: str, given_: str, said: str) -> None:
    lay_out(tmp_path, {"f": here + "\n"})
    async with scene(tmp_path) as at_hand:
        assert said in await at_hand.refused("edit", path="f", old=given_, new="x")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\nc\n", "b\nc", "x\ny", b"a\r\nx\ny\n"),
        (b"a\nb\r\nc\r\n", "b\nc\n", "x\n", b"a\nx\r\n"),
        (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\nb\n", "a\nb", "x\r\ny", b"x\r\ny\n"),
        (b"a\r\nb", "\nb", "", b"a"),
        ("é\nü\n".encode("utf-16"), "ü", "ö", "é\nö\n".encode("utf-16")),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("Müller\n".encode("latin-1"), "ller", "é", b"M\xfc\xe9\n"),
        ("你好 é".encode() + b"\xff\n", "é", "e", "你好 e".encode() + b"\xff\n"),
    ],
)
@story
async def test_line_ends_and_encodings_stay_what_they_are(
    tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    lay_out(tmp_path, {"f": before})
    async with scene(tmp_path) as here:
        await here.run("edit", path="f", old=old, new=new)
    assert contents(tmp_path) == {"f": after}


@story
async def test_what_an_encoding_lacks_and_what_is_no_text_is_refused(tmp_path: Path) -> None:
    lay_out(tmp_path, {"west": "Müller\n".encode("latin-1"), "binary": b"\0\1\2\3"})
    async with scene(tmp_path) as here:
        assert (
            await here.refused("edit", path="west", old="M", new="你")
            == "west is written in cp1252, which has no '你'"
        )
        assert await here.refused("edit", path="binary", old="M", new="x") == "binary is a binary file"
        assert await here.refused("edit", path="no", old="M", new="x") == "no does not exist; use write to create it"


@pytest.mark.quick
@story
async def test_a_changed_file_is_not_edited_before_it_was_read_again(tmp_path: Path) -> None:
    lay_out(tmp_path, {"f": "one\ntwo\n"})
    async with scene(tmp_path) as here:
        await here.run("read", path="f")
        lay_out(tmp_path, {"f": "one\ntwo\nthree\n"})
        assert await here.refused("edit", path="f", old="two", new="2") == (
            "f has changed since you read it:\n@@ -1,2 +1,3 @@\n one\n two\n+three\nRead it again."
        )
        await here.run("read", path="f")
        await here.run("edit", path="f", old="two", new="2")
        await here.run("edit", path="f", old="three", new="3")
    assert contents(tmp_path) == {"f": b"one\n2\n3\n"}


@story
async def test_an_edit_does_not_make_a_file_known_that_was_never_read(tmp_path: Path) -> None:
    """Symptom: after one edit from what grep showed, the whole file could be replaced unseen."""
    lay_out(tmp_path, {"f": "one\ntwo\n"})
    async with scene(tmp_path) as here:
        outcome = await here.outcome("edit", path="f", old="two", new="2")
        assert getattr(outcome, "seen", None) == ()
        assert "you have not read it" in await here.refused("write", path="f", content="x")


PIECES = st.lists(st.sampled_from(["a", "b", " ", "\n", "\r\n"]), max_size=40).map("".join)
PLAIN = st.text(alphabet="ab \n", max_size=8)


@given(text=PIECES, old=PLAIN.filter(bool), new=PLAIN)
def test_edit_changes_its_place_and_nothing_else(text: str, old: str, new: str) -> None:
    plain = text.replace("\r\n", "\n")
    places = [at for at in range(len(plain)) if plain.startswith(old, at)]
    if len(places) != 1 or old == new:
        with pytest.raises(ToolFailed):
            replaced(text, EditArguments("f", old, new), "f")
        return
    result, count = replaced(text, EditArguments("f", old, new), "f")
    assert (result.replace("\r\n", "\n"), count) == (plain.replace(old, new), 1)
    assert result.startswith(text[: _raw(text, places[0])])
    assert result.endswith(text[_raw(text, places[0] + len(old)) :])


@given(text=PLAIN, old=PLAIN.filter(bool), new=PLAIN)
def test_edit_everywhere_does_what_replace_does(text: str, old: str, new: str) -> None:
    text = (text + old) * 2
    if old != new:
        assert replaced(text, EditArguments("f", old, new, all=True), "f") == (
            text.replace(old, new),
            text.count(old),
        )


def _raw(text: str, at: int) -> int:
    """Where a place of the text with plain line ends is in the text, found by counting."""
    raw = 0
    for _ in range(at):
        raw += 2 if text[raw : raw + 2] == "\r\n" else 1
    return raw
