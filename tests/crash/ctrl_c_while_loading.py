"""`coder`, to which somebody sends Ctrl-C at the moment when msgspec loads `datetime`."""

import os
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

from coderelay.cli import run


class Interrupting(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "datetime":
            sys.meta_path.remove(self)  # once
            os.kill(os.getpid(), signal.SIGINT)


assert "msgspec" not in sys.modules
sys.meta_path.insert(0, Interrupting())
run()
