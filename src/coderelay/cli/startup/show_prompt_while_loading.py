"""`coder [PATH]` at a terminal: the prompt appears at once, and the app is built in the background."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from coderelay.cli.startup.localized_argument_parser import PICK
from coderelay.surfaces import nonblocking_standard_streams
from coderelay.surfaces.terminal.prompt_while_opening import PromptWhileOpening


def run(options: argparse.Namespace, folder: str) -> int:
    nonblocking_standard_streams.write_behind()
    first = "/resume" if options.resume == PICK else options.first_prompt
    return asyncio.run(PromptWhileOpening(folder, first).run(partial(_work, options, folder)))


async def _work(options: argparse.Namespace, folder: str, opening: PromptWhileOpening) -> int:
    work = await asyncio.to_thread(_load)
    return await work(options, folder, opening)


def _load() -> Callable[[argparse.Namespace, str, PromptWhileOpening], Awaitable[int]]:
    from coderelay.cli.startup.run_full_repl import work  # takes longer to load than the prompt may take

    return work
