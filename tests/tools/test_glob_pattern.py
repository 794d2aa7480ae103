"""Patterns for names."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.tools.search.glob_pattern import Glob, PathPattern, expand_braces


@pytest.mark.quick
@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "x/a.py", ".py", "x/y/.a.py"], ["a.pyc", "py", "a.py/b"]),
        ("./*.py", ["a.py"], ["x/a.py"]),
        ("/*.py", ["a.py"], ["x/a.py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "a/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/a.py", "src/x/y/a.py"], ["src", "a.py"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "srcs/a"]),
        ("src/", ["src/a", "src/a/b"], ["src", "x/src/a"]),
        ("src//a", ["src/a"], []),
        ("**/test_*", ["test_a", "x/test_a", "x/y/test_"], ["x/atest_"]),
        ("**", ["a", "a/b"], []),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/c", "a/x/b/y/z/c"], ["a/c", "a/b", "a/b/c/d"]),
        ("*.{ts,tsx}", ["a.ts", "x/a.tsx"], ["a.js", "a.{ts,tsx}"]),
        ("{src,lib/x}/*.c", ["src/a.c", "lib/x/a.c"], ["lib/a.c"]),
        ("a?c", ["abc", "x/a.c"], ["ac", "a/c"]),
        ("[a-c]*", ["a", "cx"], ["d"]),
        ("[!a]", ["b"], ["a", "ab"]),
        ("a{b", ["a{b"], ["ab"]),
        ("a{b}", ["a{b}"], ["ab"]),
        (r"\*", ["*"], ["a"]),
        ("[a", [], ["a", "[a"]),
    ],
)
def test_what_a_pattern_matches(pattern: str, yes: list[str], no: list[str]) -> None:
    glob = Glob(pattern)
    assert ([path for path in yes if not glob.matches(path)], [path for path in no if glob.matches(path)]) == ([], [])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a", ["a"]),
        ("a{b,c}d", ["abd", "acd"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("a{b,c{d,e}}", ["ab", "acd", "ace"]),
        ("{a,}", ["a", ""]),
        (r"\{a,b}", [r"\{a,b}"]),
        ("{{a,b}", ["{a", "{b"]),
    ],
)
def test_alternatives(pattern: str, expected: list[str]) -> None:
    assert expand_braces(pattern) == expected


@pytest.mark.quick
def test_too_many_alternatives_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 256 patterns"):
        Glob("{a,b}" * 9)


NAMES = st.text(alphabet="ab.", min_size=1, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
PATTERNS = st.lists(
    st.one_of(st.just("**"), st.text(alphabet="ab.*?", min_size=1, max_size=4).filter(lambda each: each != "**")),
    min_size=1,
    max_size=5,
).map("/".join)


@given(PATTERNS, PATHS)
def test_patterns_match_what_a_plain_reference_does(pattern: str, path: str) -> None:
    assert PathPattern(pattern).matches(path) is reference(pattern.split("/"), path.split("/"))


def reference(pattern: list[str], names: list[str]) -> bool:
    if not pattern:
        return not names
    first, *others = pattern
    if first == "**":
        skipped = range(1 if not others else 0, len(names) + 1)
        return any(reference(others, names[count:]) for count in skipped) and (bool(others) or bool(names))
    regex = "".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in first)
    return bool(names) and re.fullmatch(regex, names[0]) is not None and reference(others, names[1:])


@pytest.mark.quick
@pytest.mark.parametrize(
    "pattern", ["*a" * 30 + "b", "**/a/" * 20 + "b", "a*" * 40 + "/" + "*b" * 40, "**/*a*/" * 12 + "x"]
)
def test_no_pattern_takes_long(pattern: str) -> None:
    began = time.process_time()
    assert not Glob(pattern).matches("/".join(["a" * 200] * 30))
    assert time.process_time() - began < 1
