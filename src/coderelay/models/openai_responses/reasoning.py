"""A reasoning item of OpenAI's, kept with the thought it holds until it is sent back."""

from typing import Any

import msgspec
from msgspec import Struct

from coderelay.protocol.content import Seal


class Reasoning(Struct, frozen=True, omit_defaults=True):
    """It belongs to the item that followed it: the call of that number, else the text that comes next. Servers
    refuse one without the other."""

    id: str = ""
    summary: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    encrypted: str = ""
    call: int | None = None

    def sealed(self, by: str) -> Seal:
        return Seal(by, msgspec.json.encode(self).decode())

    def item(self) -> dict[str, Any]:
        item: dict[str, Any] = {"type": "reasoning"}
        if self.id:
            item["id"] = self.id
        item["summary"] = [{"type": "summary_text", "text": text} for text in self.summary]
        if self.content:
            item["content"] = [{"type": "reasoning_text", "text": text} for text in self.content]
        if self.encrypted:
            item["encrypted_content"] = self.encrypted
        return item


def unsealed(seal: Seal | None, by: str) -> Reasoning | None:
    """None for what another model sealed."""
    if seal is None or seal.by != by:
        return None
    return msgspec.json.decode(seal.data, type=Reasoning)
