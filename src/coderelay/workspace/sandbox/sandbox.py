"""Where the commands of one session run confined: a supervisor of ours inside a sandbox, one for each right.

It is started with the first command and again when what has to be guarded is not what it was; one that nobody has
used for a while is ended, and what it left in the workspace is taken away at the end.
"""

import asyncio
import os
import stat
from collections.abc import Mapping

from coderelay.workspace.processes import CannotStart, Processes
from coderelay.workspace.sandbox.bubblewrap import expected_mounts
from coderelay.workspace.sandbox.caches import cache_environment, cache_folder
from coderelay.workspace.sandbox.guarded import Guarded, guarded
from coderelay.workspace.sandbox.ladder import forget, rung_here
from coderelay.workspace.sandbox.limits import ProcessGroup, resource_limits
from coderelay.workspace.sandbox.mend import Mending
from coderelay.workspace.sandbox.place import Place, Rung
from coderelay.workspace.sandbox.planted import Planted
from coderelay.workspace.sandbox.private import PrivateFolder
from coderelay.workspace.sandbox.profile import around, profile
from coderelay.workspace.sandbox.wrapper import wrapped

IDLE_SECONDS = 60.0
_TEMPORARY = "/tmp"
_HIDDEN_FOLDER = "XDG_RUNTIME_DIR"

Marks = tuple[tuple[int, int, int] | None, ...]


class Sandbox:
    def __init__(
        self,
        *,
        coder_home: str,
        folders: tuple[str, ...],
        environment: Mapping[str, str],
        rung: Rung | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """The first of `folders` is where commands start. `rung` is the best that works here, if none is given."""
        self._coder_home = coder_home
        self.folders = tuple(os.path.realpath(folder) for folder in folders)
        self._environment = environment
        self._rung: Rung | None = rung
        self._idle_seconds = idle_seconds
        self._private: PrivateFolder | None = None
        self._current: dict[bool, _Confined] = {}
        self._left: set[_Confined] = set()
        self._mending: Mending | None = None
        self._planted = Planted(self.folders)
        self._clock: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def rung(self) -> Rung:
        return self._rung or rung_here(self._coder_home)

    def place(self, *, network: bool) -> Place:
        """Only where there is a rung. Raises CannotStart if it cannot be prepared."""
        try:
            confined = self._confined(network)
            cache = cache_folder(self._coder_home, self.folders[0], self._environment)
        except OSError as error:
            raise self._cannot_start(error) from error
        self._wind_clock()
        caches = cache_environment(cache, self._environment, network=network)
        temporary = _TEMPORARY if self.rung == "bubblewrap" else confined.temporary
        told = {name: value for name, value in self._environment.items() if name != _HIDDEN_FOLDER}
        return Place(confined.processes, told | caches | {"TMPDIR": temporary}, confined.temporary)

    def mend(self) -> list[str]:
        """After a command: the names of what it has changed and could not be kept from, put back as they were."""
        if self._mending is None:
            return []
        mended = [*self._planted.move_aside(), *self._mending.mend()]
        if all(each.processes.is_idle for each in (*self._current.values(), *self._left)):
            self._mending = None  # until then somebody may still change what was put back
        return mended

    def forget_rung(self) -> None:
        """It does not start here, whatever was found out before."""
        forget(self._coder_home)

    async def close(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        everything = [*self._current.values(), *self._left]
        self._current.clear()
        self._left.clear()
        await asyncio.gather(*(each.close() for each in everything), *self._closing)
        self.mend()
        if self._private is not None:
            self._private.remove()
            self._private = None

    def _confined(self, network: bool) -> "_Confined":
        if self._private is None:
            self._private = PrivateFolder(self._coder_home)
        self.mend()
        self._private.make_folders(guarded(self.folders).paths)
        guard = guarded(self.folders)
        marks = tuple(_mark(path) for path in guard.paths)
        if self._mending is None:
            pinned, has_mounts = around(guard, self.folders), self.rung == "bubblewrap"
            self._mending = Mending(guard, pinned, self.folders, has_mounts=has_mounts)
        self._planted.look()
        confined = self._current.get(network)
        if confined is not None and (confined.guard, confined.marks) != (guard, marks):
            self._left.add(self._current.pop(network))
            confined = None
        if confined is None:
            confined = self._current[network] = self._start(self._private, guard, marks, network)
        return confined

    def _start(self, private: PrivateFolder, guard: Guarded, marks: Marks, network: bool) -> "_Confined":
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
                mounts = expected_mounts(allowed) if self.rung == "bubblewrap" else ()
                supervisor = [*argv, *resource_limits(), *mounts]
                return group.entered(wrapped(self.rung, supervisor, allowed, private.blank))
            except OSError as error:
                raise self._cannot_start(error) from error

        return _Confined(Processes(wrap=wrap), group, guard, marks, private.temporary)

    def _cannot_start(self, error: OSError) -> CannotStart:
        return CannotStart(
            program="the sandbox", cwd=self.folders[0], what="sandbox", errno=error.errno or 0, detail=str(error)
        )

    def _wind_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = asyncio.get_running_loop().call_later(self._idle_seconds, self._rest)

    def _rest(self) -> None:
        """End what nobody uses. What still runs goes on, and can be reached by the next command."""
        idle = {each for each in (*self._current.values(), *self._left) if each.processes.is_idle}
        self._current = {network: each for network, each in self._current.items() if each not in idle}
        self._left -= idle
        task = asyncio.ensure_future(self._end(idle))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        if self._current or self._left:
            self._wind_clock()

    async def _end(self, confined: set["_Confined"]) -> None:
        await asyncio.gather(*(each.close() for each in confined))
        if not self._current and not self._left and self._private is not None:
            self.mend()
            self._private.remove_folders()


class _Confined:
    """One supervisor in a sandbox, and what it was made for."""

    def __init__(
        self, processes: Processes, group: ProcessGroup, guard: Guarded, marks: Marks, temporary: str
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
    """Another one when it is not the same file any more: then nothing is mounted on it."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)
