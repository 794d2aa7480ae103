"""What the workflow itself says and does: on the record like everything else, and marked as its own."""

from coderelay.protocol.calls import Call
from coderelay.protocol.content import Note, Text
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import MessageId, TurnId, new_id


def workflow_message(
    turn_id: TurnId, text: str = "", *, calls: tuple[Call, ...] = (), notes: tuple[Note, ...] = ()
) -> MessageAdded:
    """People and the model are told the text, the model alone the notes."""
    return MessageAdded(
        message_id=MessageId(new_id()),
        turn_id=turn_id,
        model="workflow",
        blocks=(Text(text),) if text else (),
        calls=calls,
        notes=notes,
        author="workflow",
    )
