"""Words as bash splits them: random texts, and whatever we read as literal is given to bash."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from coderelay.policy.shell_words import NotLiteral, Script, parse, read_script

BASH = shutil.which("bash") or "/bin/bash"
_FRAGMENTS = [
    "a", "b", "p", "p a", "-x", "--y=z", "1", "22", "a=b", "=", "/", ".", "..", ":", ",", "@", "%", "+", "^", "~",
    "~a", "a~", "é", " ", " ", " ", " ", "\t", "\n", "\n", "\\\n", "\\ ", "\\", "\\\\", "'", "''", "'a b'", "'a\\'",
    "'$a'", "'\n'", '"', '""', '"a b"', '"$a"', '"\\a"', '"`a`"', '"!"', '"*"', "$", "$a", "${a}", "$'a'", '$"a"',
    "$((1))", "$(p)", "`p`", "{", "}", "{}", "{a,b}", "{1..3}", "[", "]", "[a]", "*", "?", "!", "#", "# a", " # a",
    "a#b", "(", ")", "\\(", "\\)", "\\;", "\\!", ";", "; p ", "&&", " && p ", "|", " | p ", "|& p", "\np ", "&", "<",
    ">", "2>&1", " 2>&1", ">/dev/null", " 2>/dev/null", "&>/dev/null", "2>", "1", "<<a", "<<<a", ">&2", "if", "then",
    "time", "a:b", "coproc", "[[", "]]", "function", "in", "esac", "\x0b", "\r", "\u3000", "=(", "a[1]=2",
]  # fmt: skip
_TELL = """
p() { printf '%s\\0' "$#" "$@" >>"$OUT"; }
for text in "$@"; do
  ( eval "$text" ) </dev/null >/dev/null 2>&1
  printf 'end\\0' >>"$OUT"
done
"""


def accepted(seed: int, tries: int) -> list[tuple[str, Script]]:
    chance = random.Random(seed)
    found: list[tuple[str, Script]] = []
    for _ in range(tries):
        text = "p " + "".join(chance.choices(_FRAGMENTS, k=chance.randint(1, 9)))
        try:
            script = read_script(text, parse(text))
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
        and not any(word.glob for each in script.commands for word in each.words)
    )


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
    bash = [sorted(each) for each in as_bash_splits([text for text, _ in tried], tmp_path)]
    ours = [sorted([word.text for word in each.words[1:]] for each in script.commands) for _, script in tried]
    wrong = [(text, our, theirs) for (text, _), our, theirs in zip(tried, ours, bash, strict=True) if our != theirs]
    assert wrong == []


@pytest.mark.quick
@pytest.mark.parametrize(
    "text",
    [
        "p > 2>&1",
        "p a>/dev/null",
        "p -x2>&1",
        "p \\\n a",
        "p a\\ b",
        "p ~",
        "p a=~",
        "p {a,b}",
        "p a&",
        "p $a",
        "p 'a",
    ],
)
def test_c32_what_bash_may_read_in_another_way_is_not_read_at_all(text: str) -> None:
    with pytest.raises(NotLiteral):
        read_script(text, parse(text))
