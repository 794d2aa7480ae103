"""Runs the commands of one session in a sandbox: one supervisor process with network access and one without.

A supervisor is started with the first command, and anew when the set of guarded files has changed. One that has been
idle for a while is ended. What the sandbox left in the workspace is removed at the end.
"""

import asyncio
import os
import stat
import time
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager

from coderelay.workspace.processes.command_runner import CannotStart, LaunchContext, Processes
from coderelay.workspace.sandbox.backend_detection import forget, sandbox_backend
from coderelay.workspace.sandbox.bubblewrap import expected_mounts
from coderelay.workspace.sandbox.cache_folders import cache_environment, cache_folder
from coderelay.workspace.sandbox.git_folder_search import GitSearch
from coderelay.workspace.sandbox.guarded_file_restore import (
    Restored,
    StateBefore,
    move_aside,
    record_state,
    restore_state,
)
from coderelay.workspace.sandbox.guarded_paths import (
    GuardedPaths,
    autorun_files_in,
    files_below,
    find_guarded_paths,
    open_folders,
)
from coderelay.workspace.sandbox.process_limits import ProcessGroup, resource_limits
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend, wrapped
from coderelay.workspace.sandbox.sandbox_profile import folders_around, profile
from coderelay.workspace.sandbox.sandbox_state_folder import PrivateFolder

IDLE_SECONDS = 60.0
_LOOK_SECONDS = 1.0
_LOOK_SHARE = 20  # checking the workspace takes at most a twentieth of the time
_MOST_SECONDS_BETWEEN = 60.0
_TEMPORARY = "/tmp"
_HIDDEN_FOLDER = "XDG_RUNTIME_DIR"
Marks = tuple[tuple[int, int, int] | None, ...]


class Sandbox:
    """The sandbox of one session. It also restores what commands changed although they should not have."""

    def __init__(
        self,
        *,
        coder_home: str,
        folders: tuple[str, ...],
        environment: Mapping[str, str],
        backend: SandboxBackend | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """Commands start in the first of `folders`. If no `backend` is given, it is the best one that works here."""
        self._coder_home = coder_home
        self.folders = tuple(os.path.realpath(folder) for folder in folders)
        self._environment = environment
        self._backend: SandboxBackend | None = backend
        self._idle_seconds = idle_seconds
        self._private: PrivateFolder | None = None
        self._current: dict[bool, _Confined] = {}
        self._left: set[_Confined] = set()
        self._planted = PlantedFiles(self.folders)
        self._search: GitSearch | None = None
        self._before: StateBefore | None = None  # set while commands run
        self._watching: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._entering = 0
        self._looking_took = 0.0
        self._untold: list[str] = []
        self._is_unchecked = False
        self._told_unchecked = False
        self._clock: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def backend(self) -> SandboxBackend:
        return self._backend or sandbox_backend(self._coder_home)

    @asynccontextmanager
    async def entered(self, *, network: bool) -> AsyncGenerator[LaunchContext]:
        """Start a command within this context. Requires a backend other than none. Raises CannotStart if the sandbox
        cannot be prepared."""
        self._entering += 1
        try:
            yield await self._place(network)
        finally:
            self._entering -= 1
            if not self._entering and (planted := self._planted.move_aside()):
                self._note([*self._untold, *planted])

    async def restore(self) -> Restored:
        """Call after a command: restores what commands have changed and could not be kept from changing. Each change
        is returned only once."""
        await self._restore()
        told = Restored(tuple(self._untold), self._is_unchecked and not self._told_unchecked)
        self._told_unchecked = self._is_unchecked
        if self._untold:
            self._note([])
        return told

    async def _place(self, network: bool) -> LaunchContext:
        try:
            confined = await self._confined(network)
            cache = cache_folder(self._coder_home, self.folders[0], self._environment)
        except OSError as error:
            raise self._cannot_start(error) from error
        self._restart_idle_timer()
        caches = cache_environment(cache, self._environment, network=network)
        temporary = _TEMPORARY if self.backend == "bubblewrap" else confined.temporary
        told = {name: value for name, value in self._environment.items() if name != _HIDDEN_FOLDER}
        return LaunchContext(confined.processes, told | caches | {"TMPDIR": temporary}, confined.temporary)

    @property
    def is_idle(self) -> bool:
        return not self._entering and all(each.processes.is_idle for each in (*self._current.values(), *self._left))

    async def _restore(self) -> None:
        async with self._one_at_a_time:
            was_idle = self.is_idle  # otherwise a running command may change what was already checked
            await asyncio.to_thread(self._restore_now)
            if was_idle and not self._entering and self._private is not None:
                self._before = None
                self._private.forget()

    def _restore_now(self) -> None:
        if self._before is not None and self._search is not None:
            restored = restore_state(self._before, self._search)
            self._is_unchecked = restored.unchecked
            if restored.paths:
                self._note([*self._untold, *restored.paths])

    def _note(self, untold: list[str]) -> None:
        self._untold = list(dict.fromkeys(untold))
        if self._private is not None:
            self._private.note_untold(self._untold)

    async def _watch(self) -> None:
        """Restore repeatedly while any command runs, since the person may use git meanwhile, and once more when it
        has ended."""
        while self._before is not None:
            await asyncio.sleep(min(max(_LOOK_SECONDS, _LOOK_SHARE * self._looking_took), _MOST_SECONDS_BETWEEN))
            await self._restore()
            if self._private is not None:
                self._private.note_alive()

    def forget_backend(self) -> None:
        """Discard the cached detection result, because the sandbox does not start here."""
        forget(self._coder_home)

    async def close(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        everything = [*self._current.values(), *self._left]
        self._current.clear()
        self._left.clear()
        await asyncio.gather(*(each.close() for each in everything), *self._closing)
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        await self._restore()
        if self._private is not None:
            self._private.remove()
            self._private = None

    async def _confined(self, network: bool) -> "_Confined":
        async with self._one_at_a_time:
            private, guard, marks = await asyncio.to_thread(self._prepare)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        confined = self._current.get(network)
        if confined is not None and (confined.guard, confined.marks) != (guard, marks):
            self._left.add(self._current.pop(network))
            confined = None
        if confined is None:
            confined = self._current[network] = self._start(private, guard, marks, network)
        return confined

    def _prepare(self) -> tuple[PrivateFolder, GuardedPaths, Marks]:
        began = time.monotonic()
        private = self._private = self._private or PrivateFolder(self._coder_home)
        self._restore_now()
        home = self._environment.get("HOME") or os.path.expanduser("~")
        private.make_folders(find_guarded_paths(self.folders, home).paths)
        guard = find_guarded_paths(self.folders, home)
        marks = tuple(_mark(path) for path in guard.paths)
        searched_folders = (*self.folders, *guard.git)
        if self._search is None or self._search.searched_folders != searched_folders:
            cache = cache_folder(self._coder_home, self.folders[0], self._environment)
            self._search = GitSearch(searched_folders, (os.path.realpath(cache), os.path.realpath(private.temporary)))
        if self._before is None:
            pinned, has_mounts = folders_around(guard, self.folders), self.backend == "bubblewrap"
            before = record_state(self._search, guard, pinned, home, has_mounts=has_mounts)
            private.remember(before)
            self._before = before
        self._planted.look(has_mounts=self.backend == "bubblewrap")
        self._looking_took = time.monotonic() - began
        return private, guard, marks

    def _start(self, private: PrivateFolder, guard: GuardedPaths, marks: Marks, network: bool) -> "_Confined":
        group = ProcessGroup()

        def wrap(argv: list[str]) -> list[str]:
            try:
                allowed = profile(
                    self.folders,
                    guard,
                    coder_home=self._coder_home,
                    env=self._environment,
                    cache=os.path.realpath(cache_folder(self._coder_home, self.folders[0], self._environment)),
                    temporary=private.temporary,
                    network=network,
                )
                mounts = expected_mounts(allowed) if self.backend == "bubblewrap" else ()
                supervisor = [*argv, *resource_limits(), *mounts]
                return group.entered(wrapped(self.backend, supervisor, allowed, private.blank))
            except OSError as error:
                raise self._cannot_start(error) from error

        return _Confined(Processes(wrap=wrap), group, guard, marks, private.temporary)

    def _cannot_start(self, error: OSError) -> CannotStart:
        return CannotStart(
            program="the sandbox", cwd=self.folders[0], what="sandbox", errno=error.errno or 0, detail=str(error)
        )

    def _restart_idle_timer(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = asyncio.get_running_loop().call_later(self._idle_seconds, self._rest)

    def _rest(self) -> None:
        """End the supervisors that are idle. Running commands go on, and the next command can reach their
        supervisor."""
        idle = {each for each in (*self._current.values(), *self._left) if each.processes.is_idle}
        self._current = {network: each for network, each in self._current.items() if each not in idle}
        self._left -= idle
        task = asyncio.ensure_future(self._end(idle))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        if self._current or self._left:
            self._restart_idle_timer()

    async def _end(self, confined: set["_Confined"]) -> None:
        await asyncio.gather(*(each.close() for each in confined))
        if not self._current and not self._left and self._private is not None:
            await self._restore()
            if not self._current and not self._left:
                self._private.remove_folders()


class _Confined:
    """One supervisor in a sandbox, and the guarded paths that it was started with."""

    def __init__(
        self, processes: Processes, group: ProcessGroup, guard: GuardedPaths, marks: Marks, temporary: str
    ) -> None:
        self.processes = processes
        self.guard = guard
        self.marks = marks
        self.temporary = temporary
        self._group = group

    async def close(self) -> None:
        await self.processes.close()
        self._group.remove()


def _mark(path: str) -> tuple[int, int, int] | None:
    """Return a mark that changes when the path is no longer the same file: then the mount does not cover it."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)


class Sandboxes:
    """The sandboxes of all sessions in this process."""

    def __init__(self, coder_home: str, environment: Mapping[str, str]) -> None:
        self._coder_home = coder_home
        self._environment = environment
        self._current: dict[str, Sandbox] = {}
        self._left: list[Sandbox] = []
        self._closing: set[asyncio.Task[None]] = set()

    def open(self, session: str, folders: tuple[str, ...]) -> Sandbox:
        """Return the session's sandbox, or a new one if the session's folders have changed."""
        known = self._current.get(session)
        if known is None or known.folders != folders:
            if known is not None:
                self._left.append(known)  # something may still run in it
            known = Sandbox(coder_home=self._coder_home, folders=folders, environment=self._environment)
            self._current[session] = known
        return known

    def release(self, session: str) -> None:
        """Close the session's sandbox, with its temporary files, unless commands run in it."""
        known = self._current.get(session)
        if known is not None and known.is_idle:
            task = asyncio.ensure_future(self._current.pop(session).close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in [*self._current.values(), *self._left]), *self._closing)


class PlantedFiles:
    """Compares the autorun files in the session's folders before and after a command."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = tuple(folders)
        self._before: set[str] | None = None
        self._has_mounts = True

    def look(self, *, has_mounts: bool) -> None:
        """Record what exists before a command. Of several commands that run at the same time, the first one's record
        counts. Without mounts, a command can also create files in a folder that existed."""
        if self._before is None:
            self._has_mounts = has_mounts
            self._before = self._present()

    def move_aside(self) -> list[str]:
        """Move aside what the command has created. Returns the paths."""
        if self._before is None:
            return []
        new = sorted(self._present() - self._before)
        self._before = None
        return [path for path in new if move_aside(path)]

    def _present(self) -> set[str]:
        present = {path for folder in self._folders for path in autorun_files_in(folder)}
        if not self._has_mounts:
            present |= {file for folder in open_folders(self._folders) for file in files_below(folder)}
        return present
