"""Whether the person looks at this window, if the terminal tells."""

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

TELL, TELL_NO_MORE = "\x1b[?1004h", "\x1b[?1004l"
_CAME, _WENT = Keys.ControlF23, Keys.ControlF24  # keys that no keyboard has

ANSI_SEQUENCES["\x1b[I"] = _CAME
ANSI_SEQUENCES["\x1b[O"] = _WENT


class Focus:
    def __init__(self) -> None:
        self.is_known = False
        self.is_here = True
        self.bindings = KeyBindings()
        self.bindings.add(_CAME)(self._came)
        self.bindings.add(_WENT)(self._went)

    def _came(self, _: KeyPressEvent) -> None:
        self.is_known = self.is_here = True

    def _went(self, _: KeyPressEvent) -> None:
        self.is_known, self.is_here = True, False
