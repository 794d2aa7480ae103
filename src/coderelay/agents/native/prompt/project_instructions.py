"""Project instructions for agents: AGENTS.md, or CLAUDE.md where there is none, from the repository root down."""

import os
import re
from collections.abc import Collection, Iterable

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.message_content import Note
from coderelay.workspace.files.confined_files import ConfinedFiles

NAMES = ("AGENTS.md", "CLAUDE.md")
_BYTES = 32 * 1024
_SHARE = 0.8  # bytes for each token of the window, which is a fifth of the window
_TAG = (  # the tags of coderelay's own notes; a file must not be able to imitate such a note
    r"(?i)<(/?(?:instructions|environment|mode|skills?|agents|hook|reminder|file-changed|background|summary)\b)"
)
_LOOKED_AT = 200  # only the most recently read files


def instruction_notes(cwd: str, home: str, seen: Collection[str], window: int, repository: str | None) -> list[Note]:
    """The instructions as notes: first the person's own, then those of every folder from the repository root to the
    working folder, then those of folders below it that contain a file in `seen`. `repository` is the root
    of the work tree that contains the working folder. All paths are resolved (realpath)."""
    most = min(_BYTES, int(window * _SHARE))
    notes = [_note(None, home, "~/.coder/", most)]
    top = repository or cwd
    for folder in [*_folders_from_root_to(top, cwd), *_below(cwd, list(seen)[-_LOOKED_AT:])]:
        notes.append(_note(top, folder, os.path.relpath(folder, cwd) + "/", most))
    return [note for note in notes if note is not None]


def _folders_from_root_to(top: str, cwd: str) -> list[str]:
    folders = [cwd]
    while folders[-1] != top:
        folders.append(os.path.dirname(folders[-1]))
    return folders[::-1]


def _below(cwd: str, seen: Iterable[str]) -> list[str]:
    folders: set[str] = set()
    inside = os.path.join(cwd, "")
    for path in seen:
        folder = os.path.dirname(path)
        while folder.startswith(inside) and folder != inside and folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return sorted(folders)


def _note(top: str | None, folder: str, shown: str, most: int) -> Note | None:
    """The note for one folder. `top` is the folder that a symbolic link may not lead out of, because a repository
    must not be able to show the model other files of the person. Without `top`, a link may lead anywhere."""
    for name in NAMES:
        text = _text(top, os.path.join(folder, name), most)
        if text:
            where = shown.removeprefix("./") + name
            told = re.sub(_TAG, r"&lt;\1", where.replace('"', "&quot;"))
            inside = re.sub(_TAG, r"&lt;\1", text)
            return Note(f"instructions:{where}", f'<instructions from="{told}">\n{inside}\n</instructions>')
    return None


def _text(top: str | None, path: str, most: int) -> str:
    """The text of the file, or an empty text if it does not exist or is not readable text."""
    if not os.path.lexists(path):
        return ""
    try:
        found = ConfinedFiles([top or os.path.dirname(os.path.realpath(path))]).read(path, most)
    except ToolFailed:
        return ""
    if b"\0" in found.data:
        return ""
    text = found.data.decode("utf-8", "replace").strip()
    cut = f"\n(cut: {found.size} bytes in all; read the rest of the file if you need it)"
    return text + cut if text and found.size > most else text
