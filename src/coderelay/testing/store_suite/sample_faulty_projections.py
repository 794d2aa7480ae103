"""Faulty projections, to test how a store handles them."""

from collections.abc import Sequence

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.events import PromptAdmitted, Recorded
from coderelay.protocol.projected_rows import MessageRow, Summary


class Stumbled(Exception):
    """An exception outside the CoderError tree, as a bug in a projection would raise."""


class Stumbling(SessionRows):
    """A projection that fails on a prompt with the text `stumble`."""

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]:
        if isinstance(recorded.event, PromptAdmitted) and recorded.event.text == "stumble":
            raise Stumbled
        return super().messages(recorded)


class Blank(SessionRows):
    """A projection that makes no rows."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
        return None
