"""What the model must be told of background commands: that one has ended, and after a summary which there are."""

from coderelay.protocol.content import Note
from coderelay.session.background import background_topic, over_topic, told
from coderelay.session.state import BackgroundCommand, State


def background_notes(state: State) -> list[Note]:
    news = [each for each in state.background.values() if not each.old and _topic(each) not in state.told]
    return [Note(_topic(each), f"<background>{told(each)}.</background>") for each in news]


def _topic(command: BackgroundCommand) -> str:
    return background_topic(command.id) if command.end is None else over_topic(command.id)
