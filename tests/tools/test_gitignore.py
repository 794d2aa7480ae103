"""What git ignores, asked of git itself."""

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.tools.search.file_walk import Walk
from tests.tools.toolbox_scene import lay_out

FILES = [
    "a",
    "a.b",
    ".a",
    "a b",
    "ab",
    "[a]",
    "a\\b",
    "!a",
    "#a",
    "b/a/b",
    "b/a.b",
    "b/.a",
    "b/ab/a/b/a",
    "c/a",
    "c/b/a",
]

ODD = re.compile(r"\\/|[^/]\*\*|\*\*[^/]")  # git means one thing here and another there by these

LINE = st.one_of(
    st.lists(
        st.sampled_from(
            ["a", "b", "*", "**", "?", "/", "/**/", ".", " ", "\\", "[ab]", "[!a]", "[a-b]", "[[:alpha:]]", "!", "#"]
        ),
        max_size=6,
    )
    .map("".join)
    .filter(lambda line: not ODD.search(line)),
    st.sampled_from(
        ["a/", "/a", "**/a", "a/**", "!a/b", "*", "!*/", "a\r", "\\ ", "a\\ ", "[]a]", "[^a]", "[a", "b/*/b"]
    ),
)


def ignored_by_us(root: Path) -> set[str]:
    found = {place.path for place in Walk(str(root))}
    return {path for path in files_in(root) if path not in found}


def ignored_by_git(root: Path) -> set[str]:
    names = sorted(files_in(root))
    argv = ["git", "-C", str(root), "check-ignore", "--no-index", "-z", "--stdin"]
    said = subprocess.run(argv, input="\0".join(names).encode(), capture_output=True, check=False)
    assert said.returncode in (0, 1), said.stderr
    return {name for name in said.stdout.decode().split("\0") if name}


def files_in(root: Path) -> set[str]:
    every = {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}
    return {path for path in every if not path.startswith(".git/")}


@pytest.mark.parametrize(
    "rules",
    [
        "*.log\n!keep.log\n",
        "/build\nnode_modules/\n",
        "docs/**/*.html\n**/cache\nlogs/**\n",
        "# comment\n\\#hash\n\\!bang\ntrailing   \nescaped\\ \n",
        "*\n!*/\n!*.py\n",
        "foo/\n!foo/bar\n",
        "\ufeffbom.txt\r\nother.txt\r\n",
        "a/**/b\nx**y\n[[:digit:]].txt\n[!a-c].md\n",
        "x\\/y\n",
    ],
)
def test_known_rules_mean_what_git_means(tmp_path: Path, rules: str) -> None:
    names = """
        a.log keep.log sub/x.log sub/keep.log build/x sub/build/x node_modules/m/i.js sub/node_modules/x
        docs/a.html docs/b/c/d.html cache/x sub/cache logs/x logs/y/z #hash !bang trailing escaped| a.py sub/a.py
        foo/bar foo/baz bom.txt other.txt a/b a/x/b a/x/y/b xay x/y 1.txt d.md a.md
    """.replace("|", " ").split()
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    lay_out(tmp_path, dict.fromkeys([*names, "escaped "], "") | {".gitignore": rules})
    assert ignored_by_us(tmp_path) == ignored_by_git(tmp_path)


@settings(max_examples=80, deadline=None)
@given(st.lists(LINE, max_size=5), st.lists(LINE, max_size=3), st.lists(LINE, max_size=2))
def test_random_rules_mean_what_git_means(top: list[str], below: list[str], own: list[str]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        lay_out(root, dict.fromkeys(FILES, ""))
        rules = {".gitignore": top, "b/.gitignore": below, ".git/info/exclude": own}
        lay_out(root, {name: "\n".join(lines) + "\n" for name, lines in rules.items()})
        assert ignored_by_us(root) == ignored_by_git(root)


def test_rules_from_above_the_start_count(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    lay_out(tmp_path, {".gitignore": "*.log\n/work/sub/x\n", "work/.gitignore": "!keep.log\n"})
    lay_out(tmp_path, {f"work/sub/{name}": "" for name in ("a.log", "keep.log", "x", "y")})
    assert [place.path for place in Walk(str(tmp_path / "work"), "sub")] == ["sub/keep.log", "sub/y"]
    assert [place.path for place in Walk(str(tmp_path / "work" / "sub"))] == ["keep.log", "y"]


def test_links_are_not_followed_and_rules_that_are_links_not_read(tmp_path: Path) -> None:
    lay_out(tmp_path, {"rules": "*\n", "sub/a": ""})
    (tmp_path / "sub" / ".gitignore").symlink_to("../rules")
    (tmp_path / "sub" / "up").symlink_to("..")
    assert [place.path for place in Walk(str(tmp_path))] == ["rules", "sub/.gitignore", "sub/a", "sub/up"]
