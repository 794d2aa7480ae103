"""What the model is told of the mode it works in, whenever that changes."""

from coderelay.agents.native.prompt.child import READS_ONLY
from coderelay.protocol.content import Note
from coderelay.protocol.events import Mode

_MODES: dict[Mode, str] = {
    "plan": "plan: look and think only. Files cannot be changed, and only commands that read can be run. Find out "
    "what must be done, then propose it with plan_exit: what to change, where, in which order, and how to check it.",
    "default": "default: the person is asked before a file is changed, and before a command that does more than "
    "read.",
    "auto-edit": "auto-edit: files may be changed, and tests and builds run in the sandbox, without asking; the "
    "person is asked before other commands that do more than read.",
    "yolo": "yolo: files may be changed and commands run without asking. Nobody looks over your shoulder, so take "
    "care: nothing that cannot be undone unless it was asked for.",
}


def mode_note(mode: Mode, *, child: bool) -> Note:
    """A `child` works for another agent: nobody waits for its plan."""
    text = READS_ONLY if child and mode == "plan" else _MODES[mode]
    return Note("mode", f"<mode>{text}</mode>")
