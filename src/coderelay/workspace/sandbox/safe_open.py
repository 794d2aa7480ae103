"""Names in the workspace, used outside of the sandbox: a command may have put a link in the way of any of them."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from coderelay.workspace.files.openat import LOOK, open_folder


@contextmanager
def folder_of(path: str, flags: int = LOOK) -> Generator[tuple[int, str]]:
    """The folder that it is in, and its name there. Raises OSError if a link is in the way."""
    above, name = os.path.split(path)
    folder = open_folder("/", above.lstrip("/"), flags)
    try:
        yield folder, name
    finally:
        os.close(folder)
