"""grep: lines of files, found without being led astray."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.protocol.calls import Finished
from tests.house import story
from tests.tools.toolbox_scene import lay_out, scene


@pytest.mark.quick
@story
async def test_c36_lines_are_given_with_path_and_number(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.py": "def f():\n    return 1\n", "src/b.py": "x = f()\n\n  return\n", "c.txt": "f()\n"})
    async with scene(tmp_path) as here:
        assert await here.outcome("grep", pattern=r"f\(|return$") == Finished(
            "a.py:1:def f():\nc.txt:1:f()\nsrc/b.py:1:x = f()\nsrc/b.py:3:  return", "4 matches in 3 files"
        )
        assert await here.outcome("grep", pattern="f", glob="*.txt") == Finished("c.txt:1:f()", "1 match in 1 file")
        assert await here.run("grep", pattern="f", path="src") == "src/b.py:1:x = f()"
        assert await here.run("grep", pattern="f", path="src/b.py", glob="*.txt") == "src/b.py:1:x = f()"
        assert await here.outcome("grep", pattern="nowhere") == Finished("no line matches", "no matches")


def called_b(paths: Iterable[str]) -> set[str]:
    return {path for path in paths if path.endswith("/b")}


@story
async def test_hidden_files_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "x\n", "b": "x\n", "sub/b": "y\n"})
    async with scene(tmp_path) as here:
        here.workspace.hidden = called_b
        left_out = "left out: their reading must be asked about; give one as path)"
        assert await here.run("grep", pattern="x") == f"a:1:x\n(2 files {left_out}"
        assert await here.run("grep", pattern="x", glob="sub/*") == f"no line matches\n(1 file {left_out}"
        assert await here.run("grep", pattern="x", glob="a") == "a:1:x"
        assert await here.run("grep", pattern="x", path="b") == "b:1:x"


LINES_TO_SEARCH = ["one", "ababc", "a word", "wörd", "end ", "你好a", "foo", "fox", "fo{", "x-e", "12.5", "a", "b"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("one$", ["one"]),
        ("^a", ["ababc", "a word", "a"]),
        ("(?i)ONE", ["one"]),
        ("b.b", ["ababc"]),
        (r"\bword\b", ["a word"]),
        (r"w\wrd", ["a word", "wörd"]),
        ("(?i)WÖR", ["wörd"]),
        (r"\s+$", ["end "]),
        (r"a\s+b", []),
        ("你好", ["你好a"]),
        ("^[^a-z]{2}", ["你好a", "12.5"]),
        (r"\d{2,3}", ["12.5"]),
        ("x|5", ["fox", "x-e", "12.5"]),
        ("(?:ab)+c", ["ababc"]),
        (r"\.", ["12.5"]),
        ("(?<=f)oo", ["foo"]),
        ("fo(?!o)", ["fox", "fo{"]),
        ("fo{", ["fo{"]),
        ("-e", ["x-e"]),
        ("^[[:alpha:]]{3}$", ["one", "foo", "fox"]),
        ("^[[:digit:][:punct:]]+$", ["12.5"]),
    ],
)
@story
async def test_grep_finds_matching_lines(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    lay_out(tmp_path, {"f": "\n".join(LINES_TO_SEARCH) + "\n"})
    async with scene(tmp_path) as here:
        found = (await here.run("grep", pattern=pattern)).split("\n")
        numbered = [f"f:{LINES_TO_SEARCH.index(line) + 1}:{line}" for line in expected]
        assert found == (numbered or ["no line matches"])


@story
async def test_line_ends_encodings_and_binaries_are_seen_alike(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "crlf": b"one\r\ntwo\r\n",
            "wide": "one\ntwo é\n".encode("utf-16"),
            "mark": b"\xef\xbb\xbftwo\n",
            "binary": b"two\n\0two\n",
            "late": (b"two" + b"-" * 200 + b"\n") * 900 + b"\0",
            "broken": b"two \xff\n",
            "open": b"x\ntwo",
            "empty": b"",
        },
    )
    async with scene(tmp_path) as here:
        assert (await here.run("grep", pattern="^two")).split("\n") == [
            "broken:1:two \ufffd",
            "crlf:2:two",
            "mark:1:two",
            "open:2:two",
            "wide:2:two é",
        ]
        assert await here.run("grep", pattern="two$", path="crlf") == "crlf:2:two"
        assert await here.run("grep", pattern="two", path="binary") == "no line matches"


@story
async def test_what_git_ignores_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    lay_out(
        tmp_path, {".gitignore": "dist/\n*.log\n", "dist/a": "x\n", "b.log": "x\n", ".hidden/c": "x\n", "d": "x\n"}
    )
    lay_out(tmp_path, {".ignore": "d\n", "sub/.gitignore": "!b.log\n", "sub/b.log": "x\n"})
    async with scene(tmp_path) as here:
        assert await here.run("grep", pattern="^x") == ".hidden/c:1:x\nd:1:x\nsub/b.log:1:x"
        assert await here.run("grep", pattern="^x", glob="*.log") == "sub/b.log:1:x"
        assert await here.run("grep", pattern="^x", path="dist") == "dist/a:1:x"
        assert await here.run("grep", pattern="^x", path="b.log") == "b.log:1:x"


@story
async def test_a_folder_that_is_no_repository_may_ignore_too(tmp_path: Path) -> None:
    lay_out(tmp_path, {".gitignore": "a\n", "a": "x\n", "b": "x\n"})
    async with scene(tmp_path) as here:
        assert await here.run("grep", pattern="^x") == "b:1:x"


@story
async def test_grep_truncates_many_matches_and_says_how_many(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "x\n" * 150, "b": "x\n" * 150, "long": "y" + "z" * 5000 + "\n"})
    async with scene(tmp_path) as here:
        outcome = await here.outcome("grep", pattern="x")
        assert isinstance(outcome, Finished)
        assert outcome.summary == "300 matches in 2 files"
        lines = outcome.output.split("\n")
        assert lines[-2:] == [
            "b:50:x",
            "(200 of 300 matches in 2 files; narrow pattern, path or glob to see the others)",
        ]
        assert await here.run("grep", pattern="y") == "long:1:y" + "z" * 299 + "…"


@story
async def test_grep_stops_after_too_much_output_and_returns_the_beginning(tmp_path: Path) -> None:
    lay_out(tmp_path, {f"{number:03}": ("x" * 500 + "\n") * 1000 for number in range(20)})
    async with scene(tmp_path) as here:
        outcome = await here.outcome("grep", pattern="x")
        assert isinstance(outcome, Finished)
        assert re.fullmatch(r"\d+ matches or more in \d+ files", outcome.summary)
        assert len(outcome.output) < 31_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "a("}, "invalid regular expression: "),
        ({"pattern": "*a"}, "invalid regular expression: "),
        ({"pattern": ""}, "the pattern is empty"),
        ({"pattern": "a\nb"}, "the pattern must be for one line, without line ends; search for a part of it"),
        ({"pattern": "a", "path": "no"}, "no does not exist"),
        ({"pattern": "a", "glob": "../x"}, "the pattern must not go up with ..; give path instead"),
    ],
)
@story
async def test_a_search_that_cannot_be_made_says_why(tmp_path: Path, arguments: dict[str, str], said: str) -> None:
    async with scene(tmp_path) as here:
        assert (await here.refused("grep", **arguments)).startswith(said)


@story
async def test_the_repository_does_not_configure_the_search(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "a": "x\n",
            ".ripgreprc": "--pre=./evil\n",
            "rg": "#!/bin/sh\ntouch ran\n",
            "evil": "#!/bin/sh\ntouch ran\n",
        },
    )
    for name in ("rg", "evil"):
        (tmp_path / name).chmod(0o755)
    async with scene(tmp_path) as here:
        path = here.workspace.environment["PATH"]
        here.workspace.environment = {
            "PATH": f".:{tmp_path}:{path}",
            "RIPGREP_CONFIG_PATH": str(tmp_path / ".ripgreprc"),
            "HOME": str(tmp_path),
        }
        assert await here.run("grep", pattern="^x") == "a:1:x"
    assert not (tmp_path / "ran").exists()


@story
async def test_a_pattern_that_never_ends_does_not_stop_the_others(tmp_path: Path) -> None:
    """Symptom: Python's own regular expressions hold the whole process while they match."""
    lay_out(tmp_path, {"a": "a" * 60 + "!\n"})
    async with scene(tmp_path) as here:
        endless = asyncio.ensure_future(here.outcome("grep", pattern="(a+)+$"))
        assert await here.run("grep", pattern="a!") == "a:1:" + "a" * 60 + "!"
        assert not endless.done()
        endless.cancel()
        await asyncio.wait([endless])


FLIP = """
import ctypes, sys
exchange = ctypes.CDLL(None).renameat2
while True:
    exchange(-100, b"sub", -100, b"link", 2)
"""


@story
async def test_a_link_that_is_put_in_the_way_meanwhile_does_not_lead_a_search_out(tmp_path: Path) -> None:
    """Symptom: of 96 searches by ripgrep while a command exchanged a folder for a link, up to 20 brought what was
    behind the link."""
    files = {f"sub/{number}/credentials": "x mine\n" for number in range(50)}
    lay_out(tmp_path, {f"root/{name}": text for name, text in files.items()})
    lay_out(tmp_path, {name.replace("sub", "outside"): "x secret\n" for name in files})
    (tmp_path / "root/link").symlink_to("../outside")
    flipping = await asyncio.create_subprocess_exec(sys.executable, "-c", FLIP, cwd=tmp_path / "root")
    try:
        async with scene(tmp_path / "root") as here:
            for _ in range(20):
                assert "secret" not in await here.run("grep", pattern="x")
    finally:
        flipping.kill()
        await flipping.wait()


@story
async def test_links_do_not_lead_a_search_out(tmp_path: Path) -> None:
    lay_out(tmp_path, {"outside/secret": "x\n", "root/a": "x\n"})
    (tmp_path / "root" / "link").symlink_to("../outside")
    (tmp_path / "root" / "file").symlink_to("../outside/secret")
    async with scene(tmp_path / "root") as here:
        assert await here.run("grep", pattern="x") == "a:1:x"
        for path in ("link", "file"):
            assert "outside the workspace" in await here.refused("grep", pattern="x", path=path)


LINES = st.lists(st.text(alphabet="ab .é\t", max_size=8), max_size=6)
PATTERNS = st.lists(
    st.sampled_from(
        ["a", "b", "é", ".", "a*", "b+", "^", "$", r"\s", r"\w", r"\b", "[ab]", "(?:a|é)", r"\.", "(?i)"]
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "(?i)" * ("(?i)" in parts) + "".join(part for part in parts if part != "(?i)"))


def test_random_lines_are_found_as_plain_python_finds_them() -> None:
    @settings(max_examples=25, deadline=None)
    @given(st.lists(LINES, min_size=1, max_size=3), PATTERNS.filter(bool))
    def check(files: list[list[str]], pattern: str) -> None:
        with TemporaryDirectory() as folder:
            root = Path(folder)
            lay_out(root, {str(number): "".join(f"{line}\n" for line in lines) for number, lines in enumerate(files)})
            expected = [
                f"{name}:{number}:{line}"
                for name, lines in enumerate(files)
                for number, line in enumerate(lines, 1)
                if re.search(pattern, line)
            ]

            @story
            async def search() -> None:
                async with scene(root) as here:
                    assert (await here.run("grep", pattern=pattern)).split("\n") == (expected or ["no line matches"])

            search()

    check()
