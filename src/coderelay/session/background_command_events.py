"""Background commands in the log: which there are, and the events that stop and end them."""

from coderelay.protocol.asks import By
from coderelay.protocol.background_commands import End, end_in_words
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AnyEvent, BackgroundEnded, BackgroundStopRequested
from coderelay.protocol.ids import BackgroundId
from coderelay.protocol.translatable import say
from coderelay.session.state import BackgroundCommand, State


def next_id(state: State) -> BackgroundId:
    """The next number, counted from the log so that none is used twice."""
    return BackgroundId(str(len(state.background) + 1))


def running(state: State) -> list[BackgroundCommand]:
    return [each for each in state.background.values() if each.end is None]


def find(state: State, background: BackgroundId) -> BackgroundCommand:
    """The command of that number. Raises BadInput if there never was one."""
    found = state.background.get(background)
    if found is None:
        raise BadInput(say("no background command {number}; {rest}", number=background, rest=_which(state)))
    return found


def request_stop(state: State, background: BackgroundId, by: By) -> list[AnyEvent]:
    """The request to stop it; no event if it is over or a stop was requested already."""
    command = find(state, background)
    if command.end is not None or command.stop_by is not None:
        return []
    return [BackgroundStopRequested(background_id=background, by=by)]


def end(state: State, background: BackgroundId, how: End) -> list[AnyEvent]:
    """The end of the command; no event if the log has one already, or does not list the command because the session
    was deleted."""
    command = state.background.get(background)
    if command is None or command.end is not None:
        return []
    return [BackgroundEnded(background_id=background, end=how)]


def name(command: BackgroundCommand) -> str:
    line = command.command.strip().partition("\n")[0]
    return f"{command.id} ({line if len(line) <= 80 else line[:79] + '…'})"


def status_text(command: BackgroundCommand) -> str:
    """The state of the command in words, for a model."""
    how = "still runs" if command.end is None else end_in_words(command.end)
    return f"background command {name(command)} {how}"


def background_topic(background: BackgroundId) -> str:
    """The note topic which says that the model knows of this command."""
    return f"background:{background}"


def end_topic(background: BackgroundId) -> str:
    """The note topic which says that the model knows of its end."""
    return f"background:{background}:over"


def _which(state: State) -> str:
    names = ", ".join(map(name, running(state)))
    return (
        say("{names} are running", names=names)
        if len(running(state)) > 1
        else say("{names} is running", names=names)
        if names
        else "none is running"
    )
