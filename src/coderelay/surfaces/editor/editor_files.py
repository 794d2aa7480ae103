"""The files of an editor, with text that is not saved yet, through `fs/read_text_file` and `fs/write_text_file`."""

import asyncio
from typing import Any, cast

from coderelay.acp.request_params import Initialize
from coderelay.protocol.ids import SessionId
from coderelay.wire.messages_and_errors import NoAnswer, Params, RpcError
from coderelay.wire.peer import Peer

_SECONDS = 10.0


class EditorFiles:
    """Returns None or False if the editor does not answer; the caller then uses the disk."""

    def __init__(self, peer: Peer, session: SessionId, initialized: Initialize) -> None:
        self._peer = peer
        self._session = session
        self._initialized = initialized

    async def read_text(self, path: str) -> str | None:
        if not self._initialized.reads_files:
            return None
        result = await self._asked("fs/read_text_file", {"path": path})
        content: object = cast("Params", result).get("content") if isinstance(result, dict) else None
        return content if isinstance(content, str) else None

    async def write_text(self, path: str, text: str) -> bool:
        if not self._initialized.writes_files:
            return False
        return await self._asked("fs/write_text_file", {"path": path, "content": text}) is not _NO_ANSWER

    async def _asked(self, method: str, params: Params) -> Any:
        try:
            return await self._peer.send_request(
                method, {"sessionId": self._session, **params}, asyncio.timeout(_SECONDS)
            )
        except (RpcError, NoAnswer):
            return _NO_ANSWER


_NO_ANSWER = object()
