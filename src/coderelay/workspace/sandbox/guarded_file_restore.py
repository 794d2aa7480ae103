"""Detects what commands changed although they should not have, and restores it after each command.

A mount protects only what exists when the sandbox starts. What git would obey later, outside of the sandbox, can also
be new: a repository in any folder, or a file that sends git to another one. So the files that git obeys are listed
before the first command (`git_autorun_files`), and what only appears in a later one is moved aside. A sandbox without
mounts can neither keep a file from being written nor a folder from being moved; both are restored.

The list is also saved on disk while commands run, so that another process can restore after the owner was killed.
"""

import json
import math
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from coderelay.workspace.files.openat import folder_of
from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.git_autorun_files import ASIDE, GitAutorunFile, find_git_autorun_files, read_file
from coderelay.workspace.sandbox.git_folder_search import GitSearch
from coderelay.workspace.sandbox.guarded_paths import GuardedPaths, files_below, open_folders


class StateBefore(Struct, frozen=True):
    """The state of the workspace before a command ran. `mounted` paths are protected by mounts for as long as they
    are the same file or folder: what is new in them was then made outside of the sandbox. Replacing a file from
    outside ends its mount, and a command that still runs can write the new file. `absent` paths did not exist and
    must not appear. `files` (contents) and `folders` (inode numbers) are what has to be restored in a sandbox without
    mounts."""

    searched_folders: tuple[str, ...]
    lent: tuple[str, ...]
    home: str
    autorun_files: Mapping[str, GitAutorunFile]
    mounted: Mapping[str, str]
    absent: tuple[str, ...]
    files: Mapping[str, bytes]
    folders: Mapping[str, int | None]


class Restored(Struct, frozen=True):
    """What `restore_state` did: `paths` had been changed. `unchecked`: some folders could not be searched."""

    paths: tuple[str, ...]
    unchecked: bool = False


def record_state(
    search: GitSearch, guard: GuardedPaths, pinned: Iterable[str], home: str, *, has_mounts: bool
) -> StateBefore:
    """Record the state before a command. `home` is the home folder of the person, with the person's git
    configuration."""
    there = tuple(path for path in guard.paths if os.path.lexists(path))
    absent = tuple(path for path in guard.named if not os.path.lexists(path))
    opened = [] if has_mounts else [path for path in open_folders(search.searched_folders) if path not in guard.named]
    kept = () if has_mounts else (*there, *(file for folder in opened for file in files_below(folder)))
    files = {path: content for path in kept if (content := read_file(path)) is not None}
    folders = {} if has_mounts else {path: _number(path) for path in (*pinned, *opened)}
    mounted = {path: _identity(path) for path in there if has_mounts and os.path.realpath(path) == path}
    listed = find_git_autorun_files(search.find(), search.searched_folders, home)
    return StateBefore(search.searched_folders, search.lent, home, listed, mounted, absent, files, folders)


def restore_state(before: StateBefore, search: GitSearch, until: float = math.inf) -> Restored:
    """Restore the recorded state. What is there instead keeps its content, under another name. A file that was
    changed after the time `until`, when no command ran any more, is left alone."""
    changed: list[str] = []
    for path, number in before.folders.items():
        if _number(path) != number:
            is_moved = move_aside(path)
            if _bring_back(path, number) or is_moved:  # otherwise it was removed
                changed.append(path)
    for path in before.absent:
        if os.path.lexists(path) and not _is_later(path, until):
            changed.append(path)
            move_aside(path)
    mounted = [path for path, identity in before.mounted.items() if _identity(path) == identity]
    repositories = {each.git for each in before.autorun_files.values()}
    contents = {each.content for each in before.autorun_files.values() if each.named} - {None}
    places = search.find()
    for each in find_git_autorun_files(places, before.searched_folders, before.home).values():
        known = before.autorun_files.get(each.path)
        known_before = {*(known.instructions if known else ())}
        is_new = not {*each.instructions} <= known_before and not _is_later(each.path, until)
        if each.named and each.content in contents:  # even if it is in another work tree now
            continue
        switch = each.path if each.git in repositories else _switch(each)
        if is_new and switch not in changed and not any(is_in(each.path, path) for path in mounted):
            changed.append(switch)
            move_aside(switch)
            if known is not None and known.content is not None:
                _write(each.path, known.content)
    for path, content in before.files.items():
        if read_file(path) != content and not _is_later(path, until):
            is_moved = move_aside(path)
            if _write(path, content) or is_moved:  # otherwise its folder was removed
                changed.append(path)
    return Restored(tuple(dict.fromkeys(changed)), not places.is_whole)


def encoded(before: StateBefore) -> str:
    """Encode as JSON, which preserves file names that are not UTF-8."""
    listed = [
        [each.path, each.instructions, _text(each.content), each.git, each.named]
        for each in before.autorun_files.values()
    ]
    files = {path: _text(content) for path, content in before.files.items()}
    mounted, folders = dict(before.mounted), dict(before.folders)
    return json.dumps(
        [before.searched_folders, before.lent, before.home, listed, mounted, before.absent, files, folders]
    )


def decoded(text: str) -> StateBefore:
    """Raises ValueError for a text that `encoded` did not write, or that is incomplete."""
    written: Any = json.loads(text)
    try:
        searched_folders, lent, home, listed, mounted, absent, files, folders = written
        known = {
            path: GitAutorunFile(path, tuple(instructions), _bytes(content), git, named)
            for path, instructions, content, git, named in listed
        }
        contents = {path: _bytes(content) or b"" for path, content in files.items()}
        return StateBefore(
            tuple(searched_folders), tuple(lent), home, known, dict(mounted), tuple(absent), contents, dict(folders)
        )
    except (TypeError, AttributeError) as error:
        raise ValueError("not a list of what git obeys") from error


def _switch(new: GitAutorunFile) -> str:
    """Return what has to be moved aside so that git does not obey the file. If a command turned some folder of the
    project into a repository, that folder's `hooks` or `config` may be the project's own and not git's, so HEAD is
    moved instead."""
    is_gits_own = not new.git or any(part.lower() == ".git" for part in new.git.split(os.sep))
    return new.path if is_gits_own else os.path.join(new.git, "HEAD")


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("latin-1")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("latin-1")


def _number(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None


def _is_later(path: str, until: float) -> bool:
    """Compares the change time (ctime), which nobody can set."""
    try:
        return os.lstat(path).st_ctime > until
    except OSError:
        return False


def _identity(path: str) -> str:
    """A new file may get the inode number of a removed one, so the change time is part of a file's identity. It is
    not for a folder, whose change time differs with each new name in it."""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    return str(found.st_ino) if stat.S_ISDIR(found.st_mode) else f"{found.st_ino} {found.st_ctime_ns}"


def move_aside(path: str) -> bool:
    """Rename what is at `path`. Returns whether something was there."""
    with suppress(OSError), folder_of(path) as (folder, name):  # it does not exist, or its folder is another one
        with suppress(OSError):  # a command may have made it unwritable; if this fails, it is not ours
            os.chmod(f"/proc/self/fd/{folder}", os.fstat(folder).st_mode & 0o7777 | 0o700)
        os.rename(name, f"{name}{ASIDE}{os.urandom(4).hex()}", src_dir_fd=folder, dst_dir_fd=folder)
        return True
    return False


def _bring_back(path: str, number: int | None) -> bool:
    """Move a folder back to `path`, if it was only renamed within its parent folder."""
    with suppress(OSError), folder_of(path, os.O_RDONLY) as (folder, wanted):
        for name in os.listdir(folder):
            if os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino == number:
                os.rename(name, wanted, src_dir_fd=folder, dst_dir_fd=folder)
                return True
    return False


def _write(path: str, content: bytes) -> bool:
    with (
        suppress(OSError),
        folder_of(path) as (folder, name),
    ):  # its folder is gone, or somebody else is creating the file now
        is_program = os.path.basename(os.path.dirname(path)) == "hooks" or content.startswith(b"#!")
        mode = 0o755 if is_program else 0o644
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode, dir_fd=folder)
        with open(opened, "wb") as file:
            file.write(content)
        return True
    return False
