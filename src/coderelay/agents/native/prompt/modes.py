"""What the model is told of the mode it works in, whenever that changes."""

from coderelay.agents.native.prompt.child import READS_ONLY
from coderelay.protocol.content import Note
from coderelay.protocol.events import Mode
from coderelay.protocol.modes import mode_spec


def mode_note(mode: Mode, *, child: bool) -> Note:
    """A `child` works for another agent: nobody waits for its plan."""
    text = READS_ONLY if child and mode == "plan" else mode_spec(mode).prompt
    return Note("mode", f"<mode>{text}</mode>")
