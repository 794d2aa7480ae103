"""Chooses the test command that checks the work. Only commands of a fixed list (`COMMANDS`) are ever run."""

import re
from collections.abc import Callable, Sequence
from itertools import islice

from msgspec import Struct

COMMANDS = (
    "go test ./...",
    "pytest -q",
    "npm test -- --watch=false",
    "pnpm test -- --watch=false",
    "yarn test --watch=false",
    "cargo test",
    "mvn -q test",
    "gradle test",
    "./gradlew test",
)

_NAMED = re.compile(r"(?<![A-Za-z0-9_./=$-])(?:" + "|".join(map(re.escape, COMMANDS)) + r")(?!\.?[A-Za-z0-9_/=-])")
# If any of these surrounds a listed command, the person means another command that only contains the listed one.
_BEFORE = re.compile(
    r"(?:\b(?:sudo|env|exec|npx|time|nohup|(?:uv|poetry|pdm|hatch|pipenv|rye) run)|-m|&&|\|\|?"
    r"|\b[A-Za-z_]\w*=\S*)\s+\Z"
)
_AFTER = re.compile(r"[ \t]*(?:[|&<>]|[ \t]-|[ \t][A-Za-z0-9_.]*[/\\:=_*]|[ \t][A-Za-z0-9_]+\.\w)")
_LOOKED_AT = 50  # matches; a prompt with more of them contains pasted text


class CheckCommand(Struct, frozen=True):
    """`folder` is where the command runs, relative to the session's folder; empty for that folder itself."""

    command: str
    folder: str = ""


def choose_command(
    prompts: Sequence[str], configured: Sequence[str], inferred: Callable[[], CheckCommand | None]
) -> CheckCommand | None:
    """The command that the person named last, otherwise the first listed one in the configuration, otherwise the one
    inferred from the project's files. Commands that are not on the list are ignored."""
    for prompt in reversed(prompts):
        if named := named_in(prompt):
            return CheckCommand(named)
    for each in configured:
        if each.strip() in COMMANDS:
            return CheckCommand(each.strip())
    choice = inferred()
    return choice if choice is not None and choice.command in COMMANDS else None


def named_in(prompt: str) -> str | None:
    """The first listed command in a prompt that is not part of a longer command."""
    found = islice(_NAMED.finditer(prompt), _LOOKED_AT)
    return next((each[0] for each in found if _is_whole(prompt, each)), None)


def _is_whole(prompt: str, found: re.Match[str]) -> bool:
    before, after = prompt[: found.start()], prompt[found.end() :]
    if before.count("`") % 2:
        line = re.split(r"[`\n]", before)[-1] + found[0] + re.split(r"[`\n]", after)[0]
        return line.strip().removeprefix("$ ") == found[0]
    if before[-1:] in ("'", '"'):
        return after[:1] == before[-1:]
    return not _BEFORE.search(before[-100:]) and not _AFTER.match(after)
