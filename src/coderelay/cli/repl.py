"""`coder [PATH]` where a person sits: the prompt is there at once, and behind it the house is built."""

import argparse
import asyncio
from functools import partial
from importlib import import_module

from coderelay.surfaces import standard_streams
from coderelay.surfaces.terminal.opening import Opening


def run(options: argparse.Namespace, folder: str) -> int:
    standard_streams.write_behind()
    return asyncio.run(Opening(folder).run(partial(_work, options, folder)))


async def _work(options: argparse.Namespace, folder: str, opening: Opening) -> int:
    behind = await asyncio.to_thread(import_module, "coderelay.cli.behind_prompt")  # takes longer than the prompt may
    return await behind.work(options, folder, opening)
