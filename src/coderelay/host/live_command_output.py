"""Live output of a running command, for people to watch meanwhile.

Secrets are masked as they will be in the result. Output is shown a few times a second, and only as much as a person
could read. A command that ends within the first moment is never shown live: its result is there at once.
"""

import asyncio
import codecs
from collections.abc import Callable

from coderelay.policy.secrets.streamed_text_masking import MaskedLines
from coderelay.protocol.ids import CallId
from coderelay.protocol.live_updates import OutputDelta
from coderelay.workspace.processes.command_output import Output

SECONDS = 0.1
_AT_ONCE = 8_000
_KEPT = 64 * 1024


class LiveCommandOutput:
    """The live output of one call: collects what its command writes and shows it in masked pieces."""

    def __init__(self, call: CallId, hide: Callable[[str], str], show: Callable[[OutputDelta], None]) -> None:
        self._call = call
        self._show = show
        self._screen = MaskedLines(hide)
        self._kept = Output(_KEPT)
        self._fresh = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._timer: asyncio.TimerHandle | None = None

    def add_output(self, chunk: bytes) -> None:
        if not chunk:
            return
        self._kept.add(chunk)
        self._fresh += chunk
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SECONDS, self._show_collected)

    def end(self) -> str:
        """Stop showing. Returns what the command had written, with the middle left out if it is long."""
        if self._timer is not None:
            self._timer.cancel()
        return self._kept.text()[0].rstrip("\n")

    def _show_collected(self) -> None:
        self._timer = None
        left_out = len(self._fresh) > _AT_ONCE
        text = self._decoder.decode(self._fresh[-_AT_ONCE:])
        self._fresh.clear()
        if shown := self._screen.after_gap(text) if left_out else self._screen.grow(text):
            self._show(OutputDelta(self._call, shown))
