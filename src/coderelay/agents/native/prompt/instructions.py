"""What the project tells agents: AGENTS.md, from the top of the repository down, CLAUDE.md where there is none."""

import os
from collections.abc import Iterable, Iterator

from coderelay.protocol.content import Note
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files import Files
from coderelay.workspace.git_head import root_of

NAMES = ("AGENTS.md", "CLAUDE.md")
_BYTES = 32 * 1024


def instruction_notes(cwd: str, home: str, seen: Iterable[str]) -> list[Note]:
    """The person's own, then those of every folder from the top of the repository to the working folder, then those
    of folders below it that files have been `seen` in."""
    notes = [_note(home, home, "~/.coder/")]
    top = root_of(cwd) or cwd
    for folder in [*_down_to(top, cwd), *_below(cwd, seen)]:
        notes.append(_note(top, folder, os.path.relpath(folder, cwd) + "/"))
    return [note for note in notes if note is not None]


def _down_to(top: str, cwd: str) -> list[str]:
    folders = [cwd]
    while folders[-1] != top:
        folders.append(os.path.dirname(folders[-1]))
    return folders[::-1]


def _below(cwd: str, seen: Iterable[str]) -> list[str]:
    folders: set[str] = set()
    for path in seen:
        folder = os.path.dirname(path)
        while folder.startswith(cwd + os.sep) and folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return sorted(folders)


def _note(top: str, folder: str, shown: str) -> Note | None:
    """`top` is the folder that a link may not lead out of: a repository must not tell the model our other files."""
    for name, text in _found(top, folder):
        where = shown.removeprefix("./") + name
        return Note(f"instructions:{where}", f'<instructions from="{where}">\n{text}\n</instructions>')
    return None


def _found(top: str, folder: str) -> Iterator[tuple[str, str]]:
    files = Files(top)
    for name in NAMES:
        try:
            content, size = files.read(os.path.join(folder, name), _BYTES)
        except ToolFailed:
            continue  # not there, or nothing one could read
        text = content.decode("utf-8", "replace").strip()
        if size > _BYTES:
            text += f"\n(cut: {size} bytes in all; read the rest of the file if you need it)"
        if text:
            yield name, text
