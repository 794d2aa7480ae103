"""The last turn of the newest session undone, by a process that may crash as `coder` does.

    CODER_CRASH=after:file.undone:2 python -m tests.crash.undoing

Besides the arrows of `crashing.py` there are `file.undone`, one file that goes or comes back, and `file.written`,
when its content is beside it and not in its place yet. CODER_MUTANT `log-first` says that the turn is undone before
its files are.
"""

import asyncio
import os
import sys
from collections.abc import Generator, Iterable

import msgspec

from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.protocol.asks import By
from coderelay.protocol.commands import UndoTurn
from coderelay.protocol.errors import Refusal
from coderelay.protocol.events import TurnUndone
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListSessions
from coderelay.session import decide
from coderelay.workspace.trees.work_tree_files import WorkTreeFiles
from tests.crash.crashing import CrashingHouse, Failpoint

BY = By("anne", "test")
DONE, REFUSED = 0, 1


async def main() -> int:
    house = CrashingHouse(load(os.environ))
    _fail_around_files(house.failpoint)
    host = house.open()
    try:
        session = (await host.get(ListSessions(limit=1)))[0].id
        if house.mutant == "log-first":
            await _undo_log_first(house, host, session)
            return DONE
        outcome = await host.send(UndoTurn(session=session, by=BY))
        sys.stdout.write(msgspec.json.encode(outcome).decode())
        return DONE
    except Refusal as refusal:
        sys.stdout.write(str(refusal))
        return REFUSED
    finally:
        await house.close(host)


async def _undo_log_first(house: CrashingHouse, host: Host, session: SessionId) -> None:
    record = await host.load(session)
    turn = decide.undoable(record.state)
    await record.append(lambda state: [TurnUndone(turn_id=turn.turn_id, by=BY)])
    await house.turn_files().undo(turn, BY)


def _fail_around_files(failpoint: Failpoint) -> None:
    remove, write = WorkTreeFiles.remove, WorkTreeFiles.write

    def failing_remove(self: WorkTreeFiles, path: bytes) -> None:
        failpoint.reach("before", "file.undone")
        remove(self, path)
        failpoint.reach("after", "file.undone")

    def failing_write(self: WorkTreeFiles, path: bytes, mode: str, pieces: Iterable[bytes]) -> None:
        def failing_pieces() -> Generator[bytes]:
            yield from pieces
            failpoint.reach("after", "file.written")

        failpoint.reach("before", "file.undone")
        write(self, path, mode, failing_pieces())
        failpoint.reach("after", "file.undone")

    WorkTreeFiles.remove, WorkTreeFiles.write = failing_remove, failing_write


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
