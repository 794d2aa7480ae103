"""The head of a Markdown file: simple forms are understood, anything else is complained about by line."""

import time

import pytest

from coderelay.config.skills_and_commands.front_matter import read_front_matter
from coderelay.protocol.errors import BadInput


def head(*lines: str) -> str:
    return "\n".join(("---", *lines, "---", "body"))


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["d: plain words"], "plain words"),
        (["d:   spaced   "], "spaced"),
        (["d: when: it has a colon"], "when: it has a colon"),
        (["d: words # a comment"], "words"),
        (["d: C#"], "C#"),
        (["d: over", "  two lines", "", "  and three"], "over two lines and three"),
        (["d:", "  on the next"], "on the next"),
        (['d: "in \\"quotes\\" # all"'], 'in "quotes" # all'),
        (['d: "a\\nb\\u4e2d"  # comment'], "a\nb中"),
        (['d: "over', '  two"'], "over two"),
        (["d: 'it''s \\n'"], "it's \\n"),
        (["d: |", "  one", "    two", "", "  three"], "one\n  two\n\nthree"),
        (["d: >-", "  one", "  two", "", "  three"], "one two\nthree"),
        (["d: 中文说明"], "中文说明"),
        (["d: [a] [b]"], "[a] [b]"),
        (["# comment", "", "d: x"], "x"),
        (["meta:", "  d: other", "  deep:", "    - x", "d: mine"], "mine"),
        (["d:"], ""),
        (["other: x"], ""),
        ([], ""),
    ],
)
def test_texts_are_read_as_people_write_them(lines: list[str], text: str) -> None:
    read = read_front_matter(head(*lines))
    assert (read.text("d"), read.body) == (text, "body")


@pytest.mark.parametrize(
    ("lines", "texts"),
    [
        (["t: Read, Grep"], ("Read", "Grep")),
        (["t: Read Grep"], ("Read", "Grep")),
        (["t: Bash(git add:*), Bash(git commit -m x)"], ("Bash(git add:*)", "Bash(git commit -m x)")),
        (["t: [Read, \"Grep\", 'Glob', Bash(a, b)]"], ("Read", "Grep", "Glob", "Bash(a, b)")),
        (["t: []"], ()),
        (["t: [a,", "  b]"], ("a", "b")),
        (["t:", '  ["a", "b",', '   "c"]'], ("a", "b", "c")),
        (["t:", "  - Read # comment", '  - "Bash(x: *)"'], ("Read", "Bash(x: *)")),
        (["t:", "- Read", "- Grep"], ("Read", "Grep")),
        (["t:"], ()),
        ([], ()),
    ],
)
def test_lists_are_read_as_people_write_them(lines: list[str], texts: tuple[str, ...]) -> None:
    assert read_front_matter(head(*lines)).texts("t") == texts


def test_a_file_without_a_head_is_all_body() -> None:
    for text in ("", "# Title\n---\nx: y\n---\n", " ---\nx: y\n---\n"):
        assert (read_front_matter(text).fields, read_front_matter(text).body) == ({}, text)


def test_windows_lines_and_a_mark_of_the_encoding_do_not_matter() -> None:
    read = read_front_matter("\ufeff---\r\nd: x\r\n---\r\nbody\r\n")
    assert (read.text("d"), read.body) == ("x", "body\n")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("---\nd: x\n", "line 1: the front matter that begins with --- must end with --- within 200 lines"),
        (
            "---\n" + "#\n" * 300 + "---\n",
            "line 1: the front matter that begins with --- must end with --- within 200 lines",
        ),
        (head("d: x", "d: y"), "line 3: d is set twice"),
        (head("just words"), "line 2: there must be `key: value`"),
        (head("d: x", "\ty: tab"), "line 3: there must be `key: value`"),
        (head("d:x"), "line 2: there must be `key: value`"),
        (head("{d: x}"), "line 2: there must be `key: value`"),
        (head("d: &anchor x"), "line 2: d begins with &, so it must be in quotes"),
        (head("d: *alias"), "line 2: d begins with *, so it must be in quotes"),
        (head("d: !!python/object x"), "line 2: d begins with !, so it must be in quotes"),
        (head("d: {a: b}"), "line 2: d begins with {, so it must be in quotes"),
        (head("d: |2", "  x"), "line 2: d begins with |, so it must be in quotes"),
        (head('d: "open'), "line 2: d has a quote that does not end"),
        (head('d: "a" b'), "line 2: d has a quote that does not end"),
        (head('d: "\\x41"'), "line 2: d has a \\ that means nothing; write \\\\ or use single quotes"),
        (head("d:", "  a: b"), "line 2: d must be a text"),
        (head("d:", "  - b"), "line 2: d must be a text"),
    ],
)
def test_anything_else_is_a_readable_complaint(text: str, complaint: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_front_matter(text).text("d")
    assert str(caught.value) == complaint


@pytest.mark.parametrize("value", ["[a", "[a, [b]]", "[a, {b: c}]", "[,]", "[&a b]"])
def test_a_list_that_is_not_simple_is_complained_about(value: str) -> None:
    with pytest.raises(BadInput, match=r"^line 2: t "):
        read_front_matter(head(f"t: {value}")).texts("t")


@pytest.mark.parametrize(("value", "flag"), [("true", True), ("Yes", True), ("false", False), ("", False)])
def test_front_matter_booleans(value: str, flag: bool) -> None:
    assert read_front_matter(head(f"f: {value}")).flag("f") is flag
    with pytest.raises(BadInput, match="must be true or false"):
        read_front_matter(head("f: perhaps")).flag("f")


@pytest.mark.parametrize(
    "hostile", ['"' * 99_999, "[" * 100_000, "[" + "a," * 50_000, "[" + "a(" * 50_000, '"' + "\\" * 99_999]
)
def test_a_hostile_head_is_refused_in_no_time(hostile: str) -> None:
    with pytest.raises(BadInput, match=r"^line 2: d .{1,80}$"):
        read_front_matter(head(f"d: {hostile}")).texts("d")


def test_a_long_line_that_is_wrong_is_refused_at_once() -> None:
    head = read_front_matter("---\nallowed-tools: [a" + " " * 60_000 + "( ]\n---\n")
    began = time.process_time()
    with pytest.raises(BadInput, match="must be a list of plain texts"):
        head.texts("allowed-tools")
    assert time.process_time() - began < 2
