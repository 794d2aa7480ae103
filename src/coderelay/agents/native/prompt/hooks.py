"""What the person's hooks want the model to know."""

from coderelay.protocol.content import Note
from coderelay.session.state import State


def hook_notes(state: State) -> list[Note]:
    notes: list[Note] = []
    if state.environment is not None and state.environment.told:
        notes.append(Note("hook:environment", f"<hook>{state.environment.told}</hook>"))
    if state.turn is not None and state.turn.prolonged:
        text = f"The turn is not over yet. {state.turn.prolonged}"
        notes.append(Note(f"hook:{state.turn.started.turn_id}", f"<hook>{text}</hook>"))
    return notes
