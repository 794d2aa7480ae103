"""Projections with faults, to find out what a store makes of them."""

from collections.abc import Sequence

from coderelay.client.views.cowork import SessionRows
from coderelay.protocol.events import PromptAdmitted, Recorded
from coderelay.protocol.summary import MessageRow, Summary


class Stumbled(Exception):
    """Not one of ours: what a fault in a projection looks like."""


class Stumbling(SessionRows):
    """A projection with a fault."""

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]:
        if isinstance(recorded.event, PromptAdmitted) and recorded.event.text == "stumble":
            raise Stumbled
        return super().messages(recorded)


class Blank(SessionRows):
    """A projection that makes no rows."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
        return None
