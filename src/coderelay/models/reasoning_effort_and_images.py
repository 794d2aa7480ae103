"""What a request says by the card of its model: how much to think, in the words of the providers, and no images for a
model that does not see them."""

import re

from msgspec.structs import replace

from coderelay.models.model_card import Card
from coderelay.protocol.session_setting_values import Think
from coderelay.session.model_messages import AssistantMessage, Message

_NONE = r"gpt-(5\.\d|[6-9])|gemini-2\.5-flash"  # models that can leave out thinking altogether
_MINIMAL = r"gpt-5(-mini|-nano)?(-20\d\d.*)?$"


def effort(think: Think, card: Card, name: str) -> str | None:
    """The provider's word for how hard to think; None if the model is not told, or there is no word for it."""
    if card.thinks != "effort" or think == "auto":
        return None
    name = name.rpartition("/")[2]
    if name.startswith("gpt-") and "-pro" in name:  # these models only think hard
        return None
    return _lowest_effort(name) if think == "off" else think


def _lowest_effort(name: str) -> str:
    """The word for the least thinking. Models refuse a word they do not know; `low` is known by all."""
    if "codex" in name:
        return "low"
    if re.match(_NONE, name):
        return "none"
    return "minimal" if re.match(_MINIMAL, name) else "low"


_NOT_SHOWN = "(What should be here is an image. It is not shown: this model is not known to see images.)"


def without_images(message: Message) -> Message:
    """Replace images with a note. A model that cannot see images would refuse the whole history, so it is told that
    there is something it cannot see."""
    if isinstance(message, AssistantMessage) or not message.images:
        return message
    notes = [_NOT_SHOWN] * len(message.images)
    return replace(message, text="\n".join([message.text, *notes] if message.text else notes), images=())
