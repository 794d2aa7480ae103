"""Copies text to the clipboard: through the terminal (OSC 52), and with the desktop's program if there is one."""

import asyncio
from base64 import b64encode
from contextlib import suppress

from coderelay.surfaces.terminal.input.clipboard_image import program_on_path

_SECONDS = 3.0
_MOST_ENCODED = 74_994  # terminals cut or drop longer sequences
_PROGRAMS = (
    ("wl-copy", (), "WAYLAND_DISPLAY"),
    ("xclip", ("-selection", "clipboard"), "DISPLAY"),
    ("pbcopy", (), ""),
)


def terminal_sequence(text: str) -> str:
    """The sequence that asks a terminal to copy the text; empty if it is too long for one."""
    encoded = b64encode(text.encode("utf-8", "replace")).decode()
    return f"\x1b]52;c;{encoded}\x07" if len(encoded) <= _MOST_ENCODED else ""


async def copy_with_program(text: str) -> str:
    """The name of the program that took the text; empty if there is none, or it failed."""
    for name, arguments, needs in _PROGRAMS:
        program = program_on_path(name, needs)
        if program is not None and await _feed(program, arguments, text):
            return name
    return ""


async def _feed(program: str, arguments: tuple[str, ...], text: str) -> bool:
    """Such a program leaves a process behind that holds the text; that one keeps no stream of ours open."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        return False
    finally:
        with suppress(ProcessLookupError):  # it has already ended
            process.kill()
        await process.wait()
    return process.returncode == 0
