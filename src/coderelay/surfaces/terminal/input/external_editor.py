"""The person's own editor for the text of the input: `VISUAL`, `EDITOR`, or one that is installed."""

import asyncio
import os
import shlex
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from coderelay.client.i18n import t
from coderelay.protocol.errors import BadInput
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments, harmless

_OTHERS = ("editor", "nano", "vim", "vi")
Lend = Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]
"""A function that gives the whole terminal to some work until that is done."""


async def edit(buffer: Buffer, attachments: Attachments, lend: Lend) -> None:
    """Edit the buffer in an external editor. Raises BadInput if there is none or it failed; then the text is
    unchanged."""
    before = attachments.plain(buffer.text)
    after: list[str] = []

    async def work() -> None:
        after.append(await asyncio.to_thread(edited, before))

    await lend(work)
    text = attachments.fold(harmless(after[0]))
    buffer.document = Document(text, len(text))


def edited(text: str, env: Mapping[str, str] = os.environ) -> str:
    """The text after editing it in an external editor. Blocks until the editor ends."""
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
            raise BadInput(t("{editor} exited with code {code}; the text is unchanged", editor=command[0], code=code))
        return
    raise BadInput(t("no editor found; set EDITOR"))


def _editors(env: Mapping[str, str]) -> list[list[str]]:
    named = [env[name] for name in ("VISUAL", "EDITOR") if env.get(name)]
    try:
        return [*map(shlex.split, named), *([each] for each in _OTHERS)]
    except ValueError as error:
        raise BadInput(t("EDITOR is not a valid command: {why}", why=error)) from error
