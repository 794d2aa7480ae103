"""Random commands: whatever counts as reading is really run, and must change nothing and show
nothing from outside of the workspace.

What we know of a program is a table of ours; this asks the program itself whether it reads its options the same way.
"""

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.file_readers import FILE_READERS
from coderelay.policy.shell.programs.git import SUBCOMMANDS
from coderelay.policy.shell.programs.harmless_option_check import Options
from coderelay.policy.shell.programs.read_only_check import recognise
from coderelay.policy.shell.strict_bash_parser import Word

CANARY = "canary-7261"
SECRET = "SECRET"  # stands for a file outside of the workspace
TABLES = {
    name: each.reads for name, each in FILE_READERS.items() if each.reads and name != "sleep" and shutil.which(name)
}
VALUES = [
    "x", "y", "a/b", "a", "1", "2", "0", "out", "args", "list", "@args", "evil", "./evil", SECRET, SECRET, "-", "foo",
    "a b", "HEAD", "HEAD~1", "x:y", "w out", "%s", "n", "=", "+1", "--", "--output=out", "--pre=./evil", "-oout",
]  # fmt: skip
SED = [
    "s", "/", "/", "/", "[", "]", "[^", "x", "w", "w out", "e", "1e touch out", ";", ";", "p", "g", "\n", "{", "}",
    ":a", "b", "ba", "t", "1", "$", "!", ",", "\\", "\\/", "|", "#", "@", "_", "N", "D", "P", "h", "W out", "I", "~",
    " ", "*", "a", "i", "c\\", "y/a/b/", "[[:alpha:]]", "[]", "\\]", "=", "q",
]  # fmt: skip
AWK = [
    "print ", "printf ", ">", ">", ">>", ">=", '"out"', '"touch out"', "(", ")", "{", "}", "/", "x", "||", "|", "&&",
    ";", "NR", "$1", "1", '"', '\\"', "\\", "#", "\n", " ", " ", "+", "=", "==", "!", "~", "END", "if", "(", "a", "[",
    "]", ",", "?", ":", "<", '"x"', "length", "next", 'print 1 > "out"', 'print (1) > "out"', 'print "(" > "out"',
]  # fmt: skip
FIND = [
    "-name", "-type", "-newer", "-newermt", "-maxdepth", "-print", "-o", "-not", "(", ")", "-prune", "-printf",
    "-delete", "-exec", "-ok", "-fprint", "cat", "uniq", "xxd", "sort", "{}", ";", "+", "x", "1", "f", "out", SECRET,
    "-oout",
]  # fmt: skip


def of_readers(chance: random.Random) -> list[str]:
    name = chance.choice(sorted(TABLES))
    return [name, *words_for(TABLES[name], chance)]


def of_git(chance: random.Random) -> list[str]:
    name = chance.choice(sorted(SUBCOMMANDS))
    return ["git", name, *words_for(SUBCOMMANDS[name], chance)]


def of_find(chance: random.Random) -> list[str]:
    words = chance.choices(FIND, k=chance.randint(0, 5))
    runs = ["-exec", chance.choice(sorted(TABLES)), "{}", chance.choice(";+")]
    return ["find", chance.choice(["a", ".", "x"]), *words, *(runs if chance.random() < 0.5 else [])]


def of_sed(chance: random.Random) -> list[str]:
    script = "".join(chance.choices(SED, k=chance.randint(1, 10)))
    mark = chance.choice("/|#@_")
    begin = f"s{mark}{chance.choice(['x', '[/]', '[x]', '[^/]', f'[{mark}]'])}{mark}"
    end = chance.choice([mark, f"{mark}p", "/", "/g;p"])
    scripts = [script if chance.random() < 0.4 else begin + script + end]
    if chance.random() < 0.3:
        scripts.append("".join(chance.choices(SED, k=4)))
    return ["sed", *(each for script in scripts for each in ("-e", script)), "x"]


def of_awk(chance: random.Random) -> list[str]:
    program = "".join(chance.choices(AWK, k=chance.randint(1, 10)))
    begin = chance.choice(["NR>0", "", "$1>0", "x>=1 || 1", "(1>2)"])
    return ["awk", program if chance.random() < 0.3 else f"{begin}{{{program}}}", "x"]


def words_for(known: Options, chance: random.Random) -> list[str]:
    """Mostly options it is known to have, with and without values, in any order, among operands of all kinds."""
    letters = known.short + known.texts + known.files + known.joined
    words: list[str] = []
    for _ in range(chance.randint(1, 5)):
        match chance.randint(1, 8):
            case 1 | 2 | 3 if letters:
                value = chance.choice(VALUES) if chance.random() < 0.3 else ""
                words.append(f"-{''.join(chance.choices(letters, k=chance.randint(1, 3)))}{value}")
            case 4 if known.long:
                name, takes_one, _ = chance.choice(known.long).partition("=")
                words.append(f"{name}={chance.choice(VALUES)}" if takes_one and chance.random() < 0.6 else name)
            case 5 if known.single_dash:
                words.append(chance.choice(known.single_dash))
            case _:
                words.append(chance.choice(VALUES))
    return words


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "a").mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text(CANARY)
    files = {
        "x": "a b\nwx e\n1,2\n",
        "y": "a/b\nfoo\n",
        "a/b": "hello\n",
        "args": f"{secret}\n-o\nout\n",
        "list": f"{secret}\0",
        "evil": "#!/bin/sh\ntouch out\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "evil").chmod(0o755)
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a", "commit", "-qam", "a"]
    for command in (["git", "init", "-q"], ["git", "add", "-A"], commit):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / "y").write_text("changed\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    files = (each for each in folder.rglob("*") if each.is_file() and each.name != "index")
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def shows(vector: list[str], folder: Path) -> bytes:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C", "TOKEN": CANARY}
    try:
        ran = subprocess.run(
            vector, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
        )
    except subprocess.TimeoutExpired:
        return b""  # a loop, or a file that is followed
    return ran.stdout + ran.stderr


TRIED = 900 if "CODER_SOAK" in os.environ else 300


@pytest.mark.timeout(600)
@pytest.mark.parametrize("new_vector", [of_readers, of_git, of_find, of_sed, of_awk])
def test_c07_c32_what_is_taken_for_reading_reads_and_stays_inside(
    new_vector: Callable[[random.Random], list[str]], workspace: Path
) -> None:
    chance = random.Random(7)
    before = contents(workspace)
    ran = 0
    for _ in range(TRIED):
        vector = [word.replace(SECRET, str(workspace.parent / "secret")) for word in new_vector(chance)]
        try:
            recognise([Word(word) for word in vector], CommandFolders((str(workspace),), sandboxed=True))
        except NotReadOnly:
            continue
        if vector[0] == "tail" and any(word.startswith(("-", "+")) for word in vector):
            continue
        ran += 1
        shown = shows(vector, workspace)
        assert CANARY.encode() not in shown, vector
        assert contents(workspace) == before, vector
    assert ran > TRIED / 10
