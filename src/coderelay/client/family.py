"""Follow a session together with those that work for it, so that what they ask is seen where the person is."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from coderelay.client.client import Client
from coderelay.protocol.events import ChildOpened, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live import Live
from coderelay.protocol.queries import ListChildren


async def follow_family(client: Client, session: SessionId, after: int) -> AsyncGenerator[Recorded | Live, None]:
    """As `follow` does, and with it what is recorded in the children: in those that open from their beginning, in
    those at work already from where they stand. Live pieces are the session's own."""
    known = await client.get(ListChildren(session))  # raises UnknownSession
    children = {each.id: each.head for each in known if each.turn_open or each.queued}
    if not children:
        async with aclosing(client.follow(session, after)) as feed:
            async for each in feed:
                yield each
                if isinstance(each, Recorded):
                    after = each.seq
                    if isinstance(each.event, ChildOpened):
                        children[each.event.child] = 0
                        break
    if children:
        from coderelay.client.family_feed import FamilyFeed  # most sessions have no children

        async with aclosing(FamilyFeed(client, session).events(after, children)) as events:
            async for each in events:
                yield each
