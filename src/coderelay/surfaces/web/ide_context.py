"""The open file and selection in each client's editor: passed on to the other clients and added to prompts."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from coderelay.surfaces.web.client_event_types import IdeContext
from coderelay.surfaces.web.client_send_queue import ClientSendQueue
from coderelay.surfaces.web.outgoing_event_json import Payload, event_text

MOST_SELECTED = 5000
_QUIET_SECONDS = 0.3


class IdeContexts:
    """The context of each client that sends one. The other clients are shown the latest one when it has not changed
    for a moment; the context of a disconnected client is forgotten. `publish` sends a text to all clients but one."""

    def __init__(self, publish: Callable[[str, ClientSendQueue | None], None]) -> None:
        self._publish = publish
        self._told: dict[ClientSendQueue, IdeContext] = {}  # the latest last
        self._timer: asyncio.TimerHandle | None = None

    def change(self, connection: ClientSendQueue, context: IdeContext) -> None:
        self._told.pop(connection, None)
        self._told[connection] = cut(context)
        self._later(connection)

    def forget(self, connection: ClientSendQueue) -> None:
        if self._told.pop(connection, None) is not None:
            self._later(None)

    def shown_to(self, connection: ClientSendQueue) -> str | None:
        """The context for a client that has just come, if there is one."""
        others = [each for told, each in self._told.items() if told is not connection]
        return event_text("ide.context", _fields(others[-1])) if others else None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _later(self, sender: ClientSendQueue | None) -> None:
        self.close()
        self._timer = asyncio.get_running_loop().call_later(_QUIET_SECONDS, self._tell, sender)

    def _tell(self, sender: ClientSendQueue | None) -> None:
        latest = next(reversed(self._told.values()), IdeContext())
        self._publish(event_text("ide.context", _fields(latest)), sender)


def cut(context: IdeContext) -> IdeContext:
    selection = context.selection
    if selection is None or len(selection.text) <= MOST_SELECTED:
        return context
    return replace(context, selection=replace(selection, text=selection.text[:MOST_SELECTED]))


def _fields(context: IdeContext) -> Payload:
    """Both fields always, null where there is nothing."""
    return {"activeFile": context.active_file, "selection": context.selection}


def with_context(prompt: str, context: IdeContext | None) -> str:
    """The prompt as the model gets it: what the person looked at follows the text."""
    if context is None:
        return prompt
    shown = cut(context)
    parts = [prompt]
    if shown.active_file is not None:
        parts.append(f'<open-file path="{_attribute(shown.active_file.path)}"/>')
    if (selected := shown.selection) is not None:
        lines = f"{selected.line_start}-{selected.line_end}"
        text = selected.text.rstrip("\n")
        parts.append(f'<selection path="{_attribute(selected.file_path)}" lines="{lines}">\n{text}\n</selection>')
    return "\n\n".join(filter(None, parts))


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")
