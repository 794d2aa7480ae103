"""Reads the files that a prompt names for a small model, which would change them unread or guess what they say."""

import os
import re

import msgspec

from coderelay.agents.native.workflow.message_texts import workflow_message
from coderelay.agents.turn import Turn
from coderelay.protocol.calls import Call
from coderelay.protocol.ids import CallId, new_id
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace

_MOST_FILES = 3
_MOST_BYTES = 4096
_PATH = r"(?a)[\w./+-]+"  # only ASCII: Chinese text has no blanks around names


async def read_next_named_file(turn: Turn, toolbox: Toolbox, workspace: Workspace) -> bool:
    """Before the model is asked, read a short file that the prompt names. Returns False if none is left. One call per
    message, as the model itself makes them."""
    now = turn.state.turn
    if now is None or not toolbox.has("read"):
        return False
    wanted = [
        msgspec.json.encode({"path": path}).decode()
        for path in named_files(now.started.typed_text, workspace.disk.root)
    ]
    if len(now.calls) >= len(wanted):
        return False
    call = Call(CallId(f"call_{new_id()}"), "read", wanted[len(now.calls)])
    await turn.add(workflow_message(turn.id, calls=(call,)), [toolbox.need(call, workspace)], final=False)
    return True


def named_files(prompt: str, folder: str) -> list[str]:
    """The short files in the folder that the prompt names; none if they are many, and never hidden ones."""
    words = dict.fromkeys(word.rstrip(".") for word in re.findall(_PATH, prompt))
    paths = [word for word in words if _is_plain(word) and _is_short_file(os.path.join(folder, word))]
    return paths if len(paths) <= _MOST_FILES else []


def _is_plain(path: str) -> bool:
    return all(part and not part.startswith(".") for part in path.split("/"))


def _is_short_file(path: str) -> bool:
    try:
        return os.path.isfile(path) and 0 < os.path.getsize(path) <= _MOST_BYTES
    except (OSError, ValueError):
        return False
