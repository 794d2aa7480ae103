"""Removes images from the messages for a model that cannot see images."""

from msgspec.structs import replace

from coderelay.session.model_messages import AssistantMessage, Message

_NOT_SHOWN = "(What should be here is an image. It is not shown: this model is not known to see images.)"


def without_images(message: Message) -> Message:
    """Replace images with a note. A model that cannot see images would refuse the whole history, so it is told that
    there is something it cannot see."""
    if isinstance(message, AssistantMessage) or not message.images:
        return message
    notes = [_NOT_SHOWN] * len(message.images)
    return replace(message, text="\n".join([message.text, *notes] if message.text else notes), images=())
