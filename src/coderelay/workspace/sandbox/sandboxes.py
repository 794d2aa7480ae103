"""The sandboxes of one process: one for each session that has run a command."""

import asyncio
from collections.abc import Mapping

from coderelay.workspace.sandbox.sandbox import Sandbox


class Sandboxes:
    def __init__(self, coder_home: str, environment: Mapping[str, str]) -> None:
        self._coder_home = coder_home
        self._environment = environment
        self._current: dict[str, Sandbox] = {}
        self._left: list[Sandbox] = []

    def open(self, session: str, folders: tuple[str, ...]) -> Sandbox:
        """The session's own, or another one as soon as it has other folders."""
        known = self._current.get(session)
        if known is None or known.folders != folders:
            if known is not None:
                self._left.append(known)  # something may still run in it
            known = Sandbox(coder_home=self._coder_home, folders=folders, environment=self._environment)
            self._current[session] = known
        return known

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in [*self._current.values(), *self._left]))
