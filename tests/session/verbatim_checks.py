"""Checks of the messages in a log that an agent hands in as its program emitted them (B-56)."""

from msgspec import Struct, field

from coderelay.protocol.events import AnyEvent, CallEnded, CallProposed, MessageAdded, MessageKept, TurnEnded
from coderelay.protocol.ids import CallId, MessageId
from tests.session.ask_checks import promise


class KnownMessages(Struct):
    """What stands in the messages of the open turn."""

    ids: set[MessageId] = field(default_factory=set[MessageId])
    calls: set[CallId] = field(default_factory=set[CallId])
    results: set[CallId] = field(default_factory=set[CallId])
    have_result: bool = False

    def keep(self, event: MessageKept) -> None:
        promise(event.message_id not in self.ids, "a message is kept twice in a turn (B-56)")
        self.ids.add(event.message_id)
        self.calls |= {*event.calls}
        self.results |= {*event.results}
        self.have_result = self.have_result or event.is_last

    def check(self, event: AnyEvent) -> None:
        """Whoever reads an event alone knows whether there is a message for it."""
        match event:
            case MessageAdded():
                stands = event.message_id in self.ids
            case CallProposed():
                stands = event.call.id in self.calls
            case CallEnded():
                stands = event.call_id in self.results
            case TurnEnded():
                stands = self.have_result
            case _:
                return
        promise(event.verbatim or not stands, "what stands in a message is shown again (B-56)")
        promise(stands or not event.verbatim, "what stands in no message is not shown (B-56)")
