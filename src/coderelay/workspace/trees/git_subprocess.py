"""Runs git subprocesses in such a way that no setting of a repository can start a program.

Git reads its settings from its git folder, and some of them name programs: filters, hooks, fsmonitor, external diffs.
So git never uses the person's git folder: `GIT_DIR` is a folder of ours (`shadow_repository.py`), and no other
settings are read. Everything here blocks; `run_cancellable` runs it in a thread and can end it there.
"""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TypeVar

from msgspec import Struct, structs

from coderelay.protocol.errors import CoderError
from coderelay.protocol.translatable import say
from coderelay.workspace.processes.find_program import find_program, outside_path

SECONDS = 120.0
MOST_BYTES = 1 << 28
# Git reads ignore rules whole, however large the file is, so its memory is limited. The limit is in kilobytes;
# packs that git maps do not count.
_IN_LITTLE_MEMORY = ("/bin/sh", "-c", 'ulimit -d 4194304; exec "$@"', "sh")
_CHUNK = 1 << 20
_FIXED = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
}
T = TypeVar("T")
_PATIENCE = 0.3
_SHARE = 10  # searching for FIFOs takes at most a tenth of the time
_READ_BY_GIT = (".gitignore", ".gitattributes", ".gitmodules")


class GitFailed(CoderError):
    """Git failed, was ended, or is not installed."""


class Cancellation:
    """Cancels git work that runs in a thread: `cut` kills the running git at once and prevents the next one."""

    def __init__(self) -> None:
        self._cut = threading.Event()
        self._running: set[subprocess.Popen[bytes]] = set()

    def check(self) -> None:
        if self._cut.is_set():
            raise GitFailed("git was ended")

    @contextmanager
    def hold(self, process: subprocess.Popen[bytes]) -> Generator[None]:
        self._running.add(process)
        try:
            self.check()
            yield
        finally:
            process.kill()  # does nothing if it has ended already
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
            self._running.discard(process)

    def cut(self) -> None:
        self._cut.set()
        for process in list(self._running):
            process.kill()


async def run_cancellable(work: Callable[[Cancellation], T]) -> T:
    """Run blocking work in a thread, for at most `SECONDS`. When this raises, no git of that work is running."""
    cancellation = Cancellation()
    task = asyncio.ensure_future(asyncio.to_thread(work, cancellation))
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        async with asyncio.timeout(SECONDS):
            return await asyncio.shield(task)
    except TimeoutError as error:
        raise GitFailed(say("git took more than {seconds} seconds", seconds=f"{SECONDS:g}")) from error
    finally:
        if not task.done():
            cancellation.cut()
            await asyncio.wait([task])


class Blobs:
    """Reads contents of blobs by id, one after the other, from one running `git cat-file`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._asks, self._says = process.stdin, process.stdout

    def pieces(self, blob: str) -> Generator[bytes]:
        """The content in chunks. It must be read to its end before the next blob is requested."""
        try:
            self._asks.write(f"{blob}\n".encode())
            self._asks.flush()
        except OSError as error:
            raise GitFailed("git cat-file ended") from error
        head = self._says.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            raise GitFailed(say("git does not have {blob} any more", blob=blob))
        left = int(head[2])
        while left:
            piece = self._says.read(min(left, _CHUNK))
            if not piece:
                raise GitFailed("git cat-file ended")
            left -= len(piece)
            yield piece
        self._says.read(1)


class Git(Struct, frozen=True):
    """Runs git with one git folder and one work tree. `inherited_descriptors` are descriptors that git inherits;
    `alternates` are further object folders that it reads."""

    program: str
    work_tree: str
    env: dict[str, str]
    cancellation: Cancellation
    inherited_descriptors: tuple[int, ...] = ()
    alternates: tuple[str, ...] = ()

    def at(self, work_tree: str) -> Git:
        return structs.replace(self.with_env(GIT_WORK_TREE=work_tree), work_tree=work_tree)

    def reading(self, *objects: str) -> Git:
        """A copy that also reads objects from these folders, as alternates, and stores none there."""
        named = os.pathsep.join(map(_quoted, objects))
        return structs.replace(self.with_env(GIT_ALTERNATE_OBJECT_DIRECTORIES=named), alternates=objects)

    def inheriting_descriptors(self, *descriptors: int) -> Git:
        """A copy whose git inherits these descriptors: a lock on one lasts until git ends, even if we are killed."""
        return structs.replace(self, inherited_descriptors=descriptors)

    def with_env(self, **env: str) -> Git:
        return structs.replace(self, env=self.env | env)

    def run(self, *arguments: str, given: bytes = b"", codes: Sequence[int] = (0,)) -> bytes:
        """The whole output. Raises GitFailed if git fails or writes more than `MOST_BYTES`."""
        output, cut = self.run_truncated(*arguments, most=MOST_BYTES, given=given, codes=codes)
        if cut:
            raise GitFailed(
                say("git {name} wrote more than {count} MB of output", name=arguments[0], count=MOST_BYTES >> 20)
            )
        return output

    def run_truncated(
        self, *arguments: str, most: int, given: bytes = b"", codes: Sequence[int] = (0,)
    ) -> tuple[bytes, bool]:
        """At most the first `most` bytes of the output, and whether there were more."""
        with tempfile.TemporaryFile() as errors, _file_of(given) as stdin:
            process = self._start(arguments, stdin, errors)
            with self.cancellation.hold(process), fifos_released(self.work_tree, self.alternates):
                output, cut = _read(process, most)
                if cut:
                    return output, True
                code = process.wait()
            self.cancellation.check()
            if code not in codes:
                errors.seek(0)
                said = errors.read(2000).decode(errors="replace").strip()
                raise GitFailed(say("git {name} failed ({code}): {why}", name=arguments[0], code=code, why=said))
        return output, False

    def feed(self, *arguments: str, pieces: Iterable[bytes]) -> None:
        """Stream `pieces` to git's standard input as they are generated. The output is discarded."""
        process = self._start(arguments, subprocess.PIPE, subprocess.DEVNULL, subprocess.DEVNULL)
        with self.cancellation.hold(process):
            assert process.stdin is not None
            try:
                process.stdin.writelines(pieces)
                process.stdin.close()
            except BrokenPipeError as error:
                raise GitFailed(say("git {name} ended before it had read its input", name=arguments[0])) from error
            if process.wait() != 0:
                raise GitFailed(say("git {name} failed ({code})", name=arguments[0], code=process.returncode))

    @contextmanager
    def blobs(self) -> Generator[Blobs]:
        process = self._start(["cat-file", "--batch"], subprocess.PIPE, subprocess.DEVNULL)
        with self.cancellation.hold(process):
            yield Blobs(process)

    def _start(
        self,
        arguments: Sequence[str],
        stdin: int | IO[bytes],
        stderr: int | IO[bytes],
        stdout: int = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        self.cancellation.check()
        try:
            return subprocess.Popen(
                [*_IN_LITTLE_MEMORY, self.program, "--no-pager", *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=self.work_tree,
                env=self.env,
                pass_fds=self.inherited_descriptors,
                start_new_session=True,
            )
        except OSError as error:
            raise GitFailed(
                say("cannot start git in {folder}: {why}", folder=self.work_tree, why=error.strerror)
            ) from error


def git_in(folder: str, work_tree: str, source: Mapping[str, str], cancellation: Cancellation) -> Git:
    """`source` is an environment whose PATH is used to find git; nothing else of it is used."""
    here = (os.path.realpath(work_tree),)
    path = outside_path(source.get("PATH", ""), here)
    program = find_program("git", path, here)
    if program is None:
        raise GitFailed("git is not installed", "Undo and diff need it.")
    env = {**_FIXED, "PATH": path, "GIT_DIR": folder, "GIT_WORK_TREE": work_tree}
    return Git(program, work_tree, env, cancellation)


def nul_ended(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def nul_split(output: bytes) -> list[bytes]:
    return output.split(b"\0")[:-1]


def _read(process: subprocess.Popen[bytes], most: int) -> tuple[bytes, bool]:
    assert process.stdout is not None
    read = process.stdout.read(most)
    return read, bool(process.stdout.read(1))


@contextmanager
def _file_of(content: bytes) -> Generator[int | IO[bytes]]:
    """Input for git as a file, not a pipe, so that nobody has to write while reading the output."""
    if not content:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


def _quoted(path: str) -> str:
    """A path quoted as git requires in a colon-separated list."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


@contextmanager
def fifos_released(work_tree: str, objects: Sequence[str]) -> Generator[None]:
    """While git works in `work_tree` and reads from the folders `objects`, keep it from blocking on a FIFO there: a
    thread opens the other end, and git reads an empty file."""
    over = threading.Event()
    thread = threading.Thread(target=_release_until, args=(over, work_tree, objects), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _release_until(over: threading.Event, work_tree: str, objects: Sequence[str]) -> None:
    took = 0.0
    while not over.wait(max(_PATIENCE, _SHARE * took)):
        began = time.monotonic()
        with suppress(OSError, RecursionError):  # folders may disappear meanwhile
            _release_rules(over, work_tree)
            for folder in objects:
                _release_all(over, folder)
        took = time.monotonic() - began


def _release_rules(over: threading.Event, work_tree: str) -> None:
    for _, folders, files, folder in os.fwalk(work_tree):
        if over.is_set():
            return
        folders[:] = [name for name in folders if name != ".git"]
        for name in _READ_BY_GIT:
            if name in files:
                _release(name, folder)


def _release_all(over: threading.Event, top: str) -> None:
    for _, _, files, folder in os.fwalk(top):
        if over.is_set():
            return
        for name in files:
            _release(name, folder)


def _release(name: str, folder: int) -> None:
    """Unblock a reader of this FIFO. Opening the writing end fails at once if nobody is reading."""
    with suppress(OSError):
        if stat.S_ISFIFO(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.close(os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))
