"""The text in an editor of the person's choice: pastes in full, to be changed too."""

import asyncio
import os
import shlex
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence

from prompt_toolkit.application import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from coderelay.client.language import t
from coderelay.protocol.errors import BadInput
from coderelay.surfaces.terminal.input.attachments import Attachments
from coderelay.surfaces.terminal.input.paste import harmless

_OTHERS = ("editor", "nano", "vim", "vi")


Lend = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]
"""Gives the whole terminal to something, until it is done."""


async def lend_terminal(work: Callable[[], Awaitable[object]]) -> None:
    async with in_terminal():
        await work()


async def edit(buffer: Buffer, attachments: Attachments, lend: Lend) -> None:
    """Raises BadInput if there is no editor, or it failed; the text stays as it was."""
    before = attachments.plain(buffer.text)
    after: list[str] = []

    async def work() -> None:
        after.append(await asyncio.to_thread(edited, before))

    await lend(work)
    text = attachments.fold(harmless(after[0]))
    buffer.document = Document(text, len(text))


def edited(text: str, env: Mapping[str, str] = os.environ) -> str:
    """Blocks until the editor ends."""
    with tempfile.TemporaryDirectory(prefix="coder-") as folder:
        path = os.path.join(folder, "prompt.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        _run_first(_editors(env), path)
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().removesuffix("\n")


def _run_first(editors: Sequence[list[str]], path: str) -> None:
    for command in editors:
        try:
            code = subprocess.call([*command, path])
        except OSError:  # not installed
            continue
        if code != 0:
            raise BadInput(t("{editor} ended with {code}; the text is as before", editor=command[0], code=code))
        return
    raise BadInput(t("no editor was found; set EDITOR"))


def _editors(env: Mapping[str, str]) -> list[list[str]]:
    named = [env[name] for name in ("VISUAL", "EDITOR") if env.get(name)]
    try:
        return [*map(shlex.split, named), *([each] for each in _OTHERS)]
    except ValueError as error:
        raise BadInput(t("EDITOR cannot be understood: {why}", why=error)) from error
