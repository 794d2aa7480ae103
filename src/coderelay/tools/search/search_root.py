"""Resolves where a search begins: one of the session's folders, and the path beneath it without links."""

import os

from msgspec import Struct

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.workspace.files.path_resolution import is_in, part
from coderelay.workspace.workspace import Workspace


class SearchRoot(Struct, frozen=True):
    """`root` is a real path. `folder` is relative to it, and empty for the root itself. `file` is the name of a file
    in `folder` if only that file is searched."""

    root: str
    folder: str
    file: str = ""

    def full(self, path: str) -> str:
        """The absolute path of a path relative to the root."""
        return os.path.join(self.root, path)


def resolve_search_root(path: str, workspace: Workspace) -> SearchRoot:
    """Raises ToolFailed if the path does not exist, or is outside of the session's folders."""
    real = workspace.disk.target(path)
    root = max((root for root in workspace.disk.roots if is_in(real, root)), key=len)
    if os.path.isdir(real):
        return SearchRoot(root, part(real, root))
    if not os.path.exists(real):
        raise ToolFailed(say("{path} does not exist", path=workspace.disk.relative(workspace.disk.locate(path))))
    folder, name = os.path.split(part(real, root))
    return SearchRoot(root, folder, name)
