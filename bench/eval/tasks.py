"""The tasks: what is there, what is asked, and how to see that it was done."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

Check = Callable[[Path, str], bool]
"""Whether it was done, seen in the folder and in the last answer."""


class Task(Struct, frozen=True):
    name: str
    prompt: str
    solved: Check
    files: Mapping[str, str] = {}


def holds(path: str, content: str) -> Check:
    """A line break at the end is nobody's mistake."""
    return lambda folder, _: _text(folder / path).rstrip("\n") == content


def says(*words: str) -> Check:
    return lambda _, answer: all(word in answer for word in words)


def prints(script: str, output: str) -> Check:
    return lambda folder, _: _run(folder, sys.executable, script).strip() == output


def moved(before: str, after: str, content: str) -> Check:
    return lambda folder, answer: not (folder / before).exists() and holds(after, content)(folder, answer)


def git_says(*arguments: str, word: str) -> Check:
    return lambda folder, _: word in _run(folder, "git", *arguments)


def has_version(folder: Path, _: str) -> bool:
    try:
        return json.loads(_text(folder / "package.json")) == {"name": "shop", "version": "2.0.0", "private": True}
    except ValueError:
        return False


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _run(folder: Path, *argv: str) -> str:
    try:
        return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=20, check=False).stdout
    except subprocess.TimeoutExpired:
        return ""


ADD = "def add(a, b):\n    return a - b\n\n\nif __name__ == '__main__':\n    print(add(2, 3))\n"
GREET = "def greet(name)\n    return f'Hello, {name}!'\n\n\nprint(greet('Ada'))\n"
SALES = "day,amount\nmonday,12\ntuesday,30\nwednesday,7\n"
PACKAGE = '{\n  "name": "shop",\n  "version": "1.0.0",\n  "private": true\n}\n'

TASKS = (
    Task("create", "Create a file hello.txt that contains exactly: hello world", holds("hello.txt", "hello world")),
    Task("create in a folder", "Write '# Today' into notes/today.md", holds("notes/today.md", "# Today")),
    Task(
        "read and answer",
        "Which port is set in config.ini?",
        says("8472"),
        {"config.ini": "[server]\nhost = 127.0.0.1\nport = 8472\n"},
    ),
    Task(
        "read two files",
        "What are the passwords in a.txt and in b.txt?",
        says("kiwi", "plum"),
        {"a.txt": "password: kiwi\n", "b.txt": "password: plum\n"},
    ),
    Task("count lines", "How many lines has data.txt?", says("17"), {"data.txt": "x\n" * 17}),
    Task(
        "run and report",
        "Run `sh magic.sh` and tell me the number it prints.",
        says("60417"),
        {"magic.sh": "echo $((60000 + 417))\n"},
    ),
    Task(
        "exit code",
        "Does `sh check.sh` succeed or fail? If it fails, say its exit code.",
        says("7"),
        {"check.sh": "exit 7\n"},
    ),
    Task("rename", "Rename old.txt to new.txt.", moved("old.txt", "new.txt", "keep me"), {"old.txt": "keep me\n"}),
    Task(
        "move",
        "Move report.md into the folder archive.",
        moved("report.md", "archive/report.md", "# Report"),
        {"report.md": "# Report\n"},
    ),
    Task("delete", "Delete temp.log.", lambda folder, _: not (folder / "temp.log").exists(), {"temp.log": "old\n"}),
    Task("copy", "Copy a.txt to backup.txt.", holds("backup.txt", "precious"), {"a.txt": "precious\n"}),
    Task(
        "append",
        "Add a line with the word pears at the end of list.txt.",
        holds("list.txt", "apples\nfigs\npears"),
        {"list.txt": "apples\nfigs\n"},
    ),
    Task(
        "replace a word",
        "In greeting.txt, replace Hello by Goodbye.",
        holds("greeting.txt", "Goodbye, world."),
        {"greeting.txt": "Hello, world.\n"},
    ),
    Task("fix a bug", "add.py should add, but it does not. Fix it.", prints("add.py", "5"), {"add.py": ADD}),
    Task(
        "fix the syntax",
        "greet.py has a syntax error. Fix it.",
        prints("greet.py", "Hello, Ada!"),
        {"greet.py": GREET},
    ),
    Task(
        "write a program", "Write fact.py, a Python program that prints the factorial of 5.", prints("fact.py", "120")
    ),
    Task(
        "change a setting",
        "Set the version in package.json to 2.0.0. Change nothing else.",
        has_version,
        {"package.json": PACKAGE},
    ),
    Task(
        "find a file",
        "Which file contains the word needle?",
        says("b.txt"),
        {"a.txt": "hay\n", "b.txt": "a needle\n", "c.txt": "hay\n"},
    ),
    Task("add up", "What is the sum of all amounts in sales.csv?", says("49"), {"sales.csv": SALES}),
    Task(
        "commit",
        "Commit all files with the message 'add notes'.",
        git_says("log", "--format=%s", word="add notes"),
        {"notes.txt": "notes\n"},
    ),
    Task(
        "make executable",
        "Make run.sh executable.",
        lambda folder, _: os.access(folder / "run.sh", os.X_OK),
        {"run.sh": "#!/bin/sh\necho run\n"},
    ),
)
