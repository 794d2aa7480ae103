"""What clients were shown of a session after some event, for a client that missed it."""

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING

from coderelay.client.client import Client
from coderelay.protocol.events import Recorded, TurnEnded, TurnStarted, asks_in
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.surfaces.web.session_frames import Frame, SessionFrames

if TYPE_CHECKING:
    from coderelay.surfaces.web.hub import EventHub

_LOOK_BACK = (256, 4096, sys.maxsize)


async def replay(client: Client, hub: "EventHub", summary: Summary, after: int) -> list[Frame]:
    """The frames of the events after the cursor, up to the head that the summary has. They are the same that clients
    were shown at the time, so the view begins with what was open then: the turn and its asks."""
    view = SessionFrames(summary, [])
    for each in await _since_the_turn_began(client, summary.id, after):
        view.pass_over(each)
    frames: list[Frame] = []
    for each in await _events(client, summary.id, after, summary.head):
        await hub.learn(summary.id, view, asks_in(each.event))
        frames += [frame for frame in view.frames(each) if not frame.live]
    return frames


async def _since_the_turn_began(client: Client, session: SessionId, cursor: int) -> list[Recorded]:
    """Some events up to the cursor, with the beginning or end of a turn among them, or else all."""
    found: list[Recorded] = []
    for back in _LOOK_BACK:
        begin = max(cursor - back, 0)
        found = await _events(client, session, begin, cursor)
        if begin == 0 or any(isinstance(each.event, TurnStarted | TurnEnded) for each in found):
            break
    return found


async def _events(client: Client, session: SessionId, after: int, until: int) -> list[Recorded]:
    found: list[Recorded] = []
    if after >= until:
        return found
    async with aclosing(client.follow(session, after)) as events:
        async for each in events:
            if isinstance(each, Recorded):
                found.append(each)
                if each.seq >= until:
                    break
    return found
