"""glob: files by name, the newest first."""

import os
import subprocess
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
async def test_c36_files_are_found_by_name_the_newest_first(tmp_path: Path) -> None:
    for age, name in enumerate(["src/b.ts", "a.py", "src/x/c.tsx", "src/d.py"]):
        lay_out(tmp_path, {name: ""})
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    async with scene(tmp_path) as here:
        assert await here.outcome("glob", pattern="*.py") == Finished("a.py\nsrc/d.py", "2 files")
        assert await here.outcome("glob", pattern="src/**/*.{ts,tsx}") == Finished("src/b.ts\nsrc/x/c.tsx", "2 files")
        assert await here.run("glob", pattern="*.tsx", path="src") == "src/x/c.tsx"
        assert await here.run("glob", pattern="x/*", path="src") == "src/x/c.tsx"
        assert await here.run("glob", pattern=f"{tmp_path}/src/*.py") == "src/d.py"
        assert await here.outcome("glob", pattern="*.rs") == Finished("no file matches", "0 files")


@pytest.mark.quick
@story
async def test_what_git_ignores_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    lay_out(tmp_path, {".gitignore": "dist/\n*.log\n", "dist/a.js": "", "b.js": "", "c.log": "", ".hidden/d.js": ""})
    async with scene(tmp_path) as here:
        assert sorted((await here.run("glob", pattern="*.js")).split("\n")) == [".hidden/d.js", "b.js"]
        assert await here.run("glob", pattern="*.js", path="dist") == "dist/a.js"
        assert await here.run("glob", pattern="dist/*.js") == (
            "no file matches\n(what git ignores was not looked at; give its folder as path to look there)"
        )
        assert ".git/" not in await here.run("glob", pattern="**")


@story
async def test_glob_truncates_many_files_and_says_how_many(tmp_path: Path) -> None:
    lay_out(tmp_path, {f"{number:03}": "" for number in range(250)})
    async with scene(tmp_path) as here:
        outcome = await here.outcome("glob", pattern="*")
        assert isinstance(outcome, Finished)
        assert outcome.summary == "250 files"
        assert outcome.output.endswith("\n(200 of 250 files, the newest; narrow the pattern to see others)")
        assert outcome.output.count("\n") == 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": " "}, "the pattern is empty"),
        ({"pattern": "../*.py"}, "the pattern must not go up with ..; give path instead"),
        ({"pattern": "{a,b}" * 10}, "the pattern stands for more than 256 patterns"),
        ({"pattern": "*", "path": "no"}, "no does not exist"),
        ({"pattern": "*", "path": "f"}, "f is a file; path must be a folder"),
    ],
)
@story
async def test_a_search_that_cannot_be_made_says_why(tmp_path: Path, arguments: dict[str, str], said: str) -> None:
    lay_out(tmp_path, {"f": ""})
    async with scene(tmp_path) as here:
        assert await here.refused("glob", **arguments) == said


@story
async def test_a_link_out_of_the_folder_is_shown_but_not_followed(tmp_path: Path) -> None:
    lay_out(tmp_path, {"outside/secret.py": "", "root/a.py": ""})
    (tmp_path / "root" / "link").symlink_to("../outside")
    async with scene(tmp_path / "root") as here:
        assert sorted((await here.run("glob", pattern="**")).split("\n")) == ["a.py", "link"]


NAMES = ["a.py", "b.ts", "src/a.py", "src/b.tsx", "src/x/a.py", "src/x/.c", "lib/y/z/a.py", "lib/README.md"]
PATTERN = st.lists(st.sampled_from(["*", "**", "a.py", "*.py", "src", "x", "?.*", "lib"]), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(PATTERN.map("/".join))
def test_glob_finds_what_plain_python_does(pattern: str) -> None:
    """`**/` before a name is what a pattern without a slash means."""
    wanted = pattern if "/" in pattern else f"**/{pattern}"
    with TemporaryDirectory() as folder:
        root = Path(folder)
        lay_out(root, dict.fromkeys(NAMES, ""))
        wanted = f"{wanted}/*" if wanted.endswith("**") else wanted  # Python's ** stands for folders alone
        expected = {str(path.relative_to(root)) for path in root.glob(wanted) if path.is_file()}

        @story
        async def check() -> None:
            async with scene(root) as here:
                found = (await here.run("glob", pattern=pattern)).split("\n")
                assert sorted(found) == sorted(expected or ["no file matches"])

        check()
