"""How undo, clear and fork change the history that the model is sent, and the record of the files that the model has
seen."""

from msgspec.structs import replace

from coderelay.protocol.calls import Finished
from coderelay.protocol.events import HistoryCompacted, MessageAdded, TurnUndone
from coderelay.protocol.ids import SessionId, TurnId
from coderelay.session.background_command_events import background_topic, end_topic
from coderelay.session.state import Entry, State, calls_of


def undo(state: State, event: TurnUndone) -> None:
    """Cut the model's history where the undone turn began. What is already part of a summary stays in it."""
    state.past = [each for each in state.past if each.turn_id != event.turn_id]
    places = [place for place, each in enumerate(state.history) if _is_of(each, event.turn_id)]
    for entry in state.history[places[0] :] if places else ():
        for call in calls_of(entry):
            state.calls[call.id].forgotten = True
    if places:
        del state.history[places[0] :]
        _rebuild_known_files_and_notes(state)
    state.context_tokens = 0


def clear(state: State, session: SessionId) -> None:
    """Forget the history and all that the model knows from it. The model is told again about background commands that
    are running. Agents that keep a history of their own start a new one."""
    if state.settings is not None and state.settings.agent_session_id != session:
        state.settings = replace(state.settings, agent_session_id=None)
    state.attached.clear()
    for command in state.background.values():
        command.old = command.old or command.end is not None
    for call in state.calls.values():
        call.forgotten = True
    waiting = {each.prompt_id for each in state.queue}
    state.images = {prompt_id: images for prompt_id, images in state.images.items() if prompt_id in waiting}
    state.history.clear()
    state.told.clear()
    state.seen.clear()
    state.context_tokens = 0


def forget_origin_session(state: State) -> None:
    """Forget what belongs to the session that this one was forked from, and keep what the model knows."""
    state.past.clear()
    state.background.clear()
    state.allowances.clear()
    state.offers.clear()
    state.cost = None


def _rebuild_known_files_and_notes(state: State) -> None:
    """Rebuild what the model was told and has seen from the history that is left."""
    state.told, state.seen = {}, {}
    for entry in state.history:
        if isinstance(entry, MessageAdded):
            state.told.update({note.topic: note.text for note in entry.notes})
        for call in calls_of(entry):
            outcome = state.calls[call.id].outcome
            if isinstance(outcome, Finished):
                note_seen_files(state, outcome)


def _is_of(entry: Entry, turn_id: TurnId) -> bool:
    return not isinstance(entry, HistoryCompacted) and entry.turn_id == turn_id


def note_seen_files(state: State, outcome: Finished) -> None:
    for seen in outcome.seen:
        state.seen.pop(seen.path, None)  # so that the files seen last come last
        state.seen[seen.path] = seen.mark
        state.told.pop(f"file:{seen.path}", None)
    if outcome.background is not None:
        state.told[background_topic(outcome.background)] = ""
    if outcome.over is not None:
        state.told[end_topic(outcome.over)] = ""
