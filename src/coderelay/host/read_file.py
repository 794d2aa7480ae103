"""Shows a file of a session to a person, unless the agent might not read it without asking."""

import os

from msgspec.structs import replace

from coderelay.host.context import HostContext
from coderelay.protocol.errors import BadInput, ToolFailed
from coderelay.protocol.queries import ReadFile
from coderelay.protocol.session_info import FileShown
from coderelay.protocol.translatable import say
from coderelay.session.state import SessionSettings
from coderelay.workspace.files.disk import Disk

_MOST_BYTES = 4 * 1024 * 1024


async def read_file(query: ReadFile, settings: SessionSettings, context: HostContext) -> FileShown:
    """Whoever asks may be far away, so the rules of mode default count, whatever mode the session is in. Raises
    BadInput."""
    named = (settings.cwd, *settings.folders)
    try:
        full = Disk(named).locate(query.path)
        folders = tuple(dict.fromkeys([*named, *map(os.path.realpath, named)]))
        if context.folders.of(settings.cwd).hidden({full, os.path.realpath(full)}, "default", folders):
            raise BadInput(say("{path} may hold secrets and is not shown", path=query.path))
        shown = await context.machine.file_text(named, query.path, min(max(1, query.most_bytes), _MOST_BYTES))
    except ToolFailed as refused:
        raise BadInput(refused.message) from refused
    return replace(shown, text=context.secrets.hide(shown.text))
