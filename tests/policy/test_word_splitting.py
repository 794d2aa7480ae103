"""Words as bash splits them: random texts, and whatever we read as literal is given to bash."""

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from coderelay.policy.shell.command_verdict import judge_command
from coderelay.policy.shell.strict_bash_parser import NotLiteral, Script, Word, read_script

BASH = shutil.which("bash") or "/bin/bash"
_FRAGMENTS = [
    "a", "b", "p", "p a", "-x", "--y=z", "1", "22", "a=b", "=", "/", ".", "..", ":", ",", "@", "%", "+", "^", "~",
    "~a", "a~", "é", " ", " ", " ", " ", "\t", "\n", "\n", "\\\n", "\\ ", "\\", "\\\\", "'", "''", "'a b'", "'a\\'",
    "'$a'", "'\n'", '"', '""', '"a b"', '"$a"', '"\\a"', '"`a`"', '"!"', '"*"', "$", "$a", "${a}", "$'a'", '$"a"',
    "$((1))", "$(p)", "`p`", "{", "}", "{}", "{a,b}", "{1..3}", "[", "]", "[a]", "*", "?", "!", "#", "# a", " # a",
    "a#b", "(", ")", "\\(", "\\)", "\\;", "\\!", ";", "; p ", "&&", " && p ", "|", " | p ", "|& p", "\np ", "&", "<",
    ">", "2>&1", " 2>&1", ">/dev/null", " 2>/dev/null", "&>/dev/null", "2>", "1", "<<a", "<<<a", ">&2", "if", "then",
    "time", "a:b", "coproc", "[[", "]]", "function", "in", "esac", "\x0b", "\r", "\u3000", "=(", "a[1]=2",
    '"a\\|b"', '"\\""', '"\\\\"', '"\\$a"', '"\\`"', '"\\\n"', '"$?"', '"$$"', '"a$?b"', '"$$(p)"', '"${a}"', "$?",
    "$$", "a@{0}", "^{b}", "{a},{b}", "{a}..{b}", "<(p b)", " <(p b | p c)", "<( p b )", ">(p b)", "< <(p b)",
    " \\\n ", " \\\n", "for a in b c; do p $a; done", "for a in ", "; do p $a", '; do p "x$a"', "; do p x$a.y ${a}",
    "; done", "\ndo\n", "\ndone\n", "for b in 1 'x y' '*' ''; do p \"$b\" ", "for IFS in b; do p", "do", "done",
    ' "$a" ', "${a%b}", "$a1", "${b}", "我的", "文档/", "à", "हि", "（终）", "*.文", "for a in 我 à; do p $a x$a",
]  # fmt: skip
_STARTS = ["p ", "p ", "p ", "for a in b c; do p ", "for a in 'b c' d; do p ", "p <(p ", "p x "]
# A process substitution is read to its end, so that whatever it does is told before the next text.
_TELL = """
p() {
  for each; do
    case $each in /dev/fd/*) while IFS= read -r line; do :; done <"$each" ;; esac
  done
  printf '%s\\0' "$#" "$@" >>"$OUT"
}
for text in "$@"; do
  ( eval "$text" ) </dev/null >/dev/null 2>&1
  printf 'end\\0' >>"$OUT"
done
"""


def accepted(seed: int, tries: int) -> list[tuple[str, Script]]:
    chance = random.Random(seed)
    found: list[tuple[str, Script]] = []
    for _ in range(tries):
        text = chance.choice(_STARTS) + "".join(chance.choices(_FRAGMENTS, k=chance.randint(1, 9)))
        if chance.random() < 0.7:
            text += "; done" * text.startswith("for") + ")" * text.startswith("p <(p")
        try:
            script = read_script(text)
        except NotLiteral:
            continue
        if may_be_tried(script):
            found.append((text, script))
    return found


def may_be_tried(script: Script) -> bool:
    """Only our own function runs, nothing is written, and no pattern depends on files."""
    return (
        all(each.words[0].text == "p" and not each.assignments for each in script.commands)
        and all((each.operator == ">&") == (each.target in ("1", "2")) for each in script.redirections)
        and all(each.target in ("/dev/null", "1", "2") for each in script.redirections)
        and not any("*" in word.text for each in script.commands for word in each.words)
    )


def as_pattern(word: Word) -> str:
    """What is not known before: the number that `$?` is, and the name of a process substitution."""
    if not word.glob:
        return re.escape(word.text)
    return r"/dev/fd/\d+" if word.text == "/dev/null" else re.escape(word.text).replace(r"\?", r"(?:\d+|\?)")


def are_the_same(ours: Script, theirs: list[list[str]]) -> bool:
    left = list(theirs)
    for command in ours.commands:
        patterns = [as_pattern(word) for word in command.words[1:]]
        for vector in left:
            if len(vector) == len(patterns) and all(map(re.fullmatch, patterns, vector)):
                left.remove(vector)
                break
        else:
            return False
    return not left


def as_bash_splits(texts: list[str], folder: Path) -> list[list[list[str]]]:
    out = folder / "out"
    out.write_bytes(b"")
    subprocess.run(
        [BASH, "--noprofile", "--norc", "-c", _TELL, "bash", *texts],
        env={"OUT": str(out), "PATH": "/nowhere"},
        cwd=folder,
        check=True,
        timeout=60,
    )
    told = out.read_bytes().decode().split("\0")[:-1]
    whole: list[list[list[str]]] = [[]]
    while told:
        if told[0] == "end":
            told = told[1:]
            whole.append([])
            continue
        count = int(told[0])
        whole[-1].append(told[1 : count + 1])
        told = told[count + 1 :]
    return whole[:-1]


@pytest.mark.parametrize("seed", range(4))
def test_c32_bash_splits_every_literal_text_into_the_same_words(seed: int, tmp_path: Path) -> None:
    tried = accepted(seed, 8000)
    assert len(tried) > 200
    bash = as_bash_splits([text for text, _ in tried], tmp_path)
    wrong = [
        (text, ours, theirs)
        for (text, ours), theirs in zip(tried, bash, strict=True)
        if not are_the_same(ours, theirs)
    ]
    assert wrong == []


@pytest.mark.quick
@pytest.mark.parametrize(
    "text",
    [
        "p > 2>&1",
        "p a>/dev/null",
        "p -x2>&1",
        "p a\\\nb",
        "p a\\ b",
        "p ~",
        "p a=~",
        "p {a,b}",
        "p a&",
        "p $a",
        "p 'a",
        "p {a,b}{c}",
        "p $$a$b",
        "p < <(p b)",
        "p >(p b)",
        "<(p b) a",
        "for a in 'b c'; do p $a; done",
        "for a in '*'; do p $a; done",
        "for a in ''; do p $a; done",
        "for a in src/*; do p $a; done",
        "for a in b; do p >$a; done",
        "for a in b; do p ${a%b}; done",
        "for a in b; do p; done; p $a",
        "for a in b; do a=c p; p $a c=$a; done; a=$a p",
        "for PATH in b; do p; done",
        "for http_proxy in b; do p; done",
        "for a; do p; done",
        "select a in b; do p; done",
        "[[ -f x ]]",
        "[ -f $(p) ]",
        "[ -f x\n]",
    ],
)
def test_c32_what_bash_may_read_in_another_way_is_not_read_at_all(text: str) -> None:
    with pytest.raises(NotLiteral):
        read_script(text)


@pytest.mark.quick
@pytest.mark.parametrize("text", ["ls 我的文档", "ls à/हिन्दी", "ls 报告（终）.md", "for a in 我; do ls $a; done"])
def test_an_unquoted_word_with_letters_beyond_ascii_was_asked_about(text: str) -> None:
    assert judge_command(text, "default", ("/ws",)).verdict == "allow"


@pytest.mark.quick
@pytest.mark.parametrize("text", ["cat ../我", "cat /etc/我", "rm 我", "cat 我\u3000/etc/passwd", "ls 我\u200b"])
def test_a_word_with_letters_beyond_ascii_is_judged_as_any_other(text: str) -> None:
    assert judge_command(text, "default", ("/ws",)).verdict == "ask"
