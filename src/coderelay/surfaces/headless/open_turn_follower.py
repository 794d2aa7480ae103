"""Follow a session until its open turn has ended or waits for an answer, whichever process runs it."""

import sys
from contextlib import aclosing

from coderelay.client.ask_view import headline
from coderelay.client.client import Client
from coderelay.client.follow_with_subagents import join_family
from coderelay.client.i18n import t
from coderelay.client.unattended_answers_and_exit import ExitDecision
from coderelay.protocol.events import Recorded, SessionDeleted, TurnEnded, asks_in
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListAsks, ShowSession
from coderelay.surfaces import nonblocking_standard_streams
from coderelay.surfaces.headless.exit_codes import DONE, ENDINGS, FAILED, PARKED
from coderelay.surfaces.headless.text_output_and_progress import ProgressLines, TextOutput


async def print_open_turns(client: Client, session: SessionId, after: int) -> int:
    """Print the open and queued turns until they end, or an ask is open and no call runs here beside it. Returns the
    exit code of `coder -p`."""
    progress = ProgressLines(sys.stderr)
    output = TextOutput(sys.stdout, sys.stderr, progress)
    summary = await client.get(ShowSession(session))
    if not summary.turn_open and not summary.queued:
        return DONE
    await _know_calls(client, session, after, progress)
    asks, events = await join_family(client, session, after)
    leaving = ExitDecision(client, session)
    async with aclosing(events) as feed:
        if asks:
            leaving.want()
        if await leaving.is_time():
            return await _still_waiting(client, session)
        async for each in feed:
            if not isinstance(each, Recorded):
                continue
            own = each.session == session
            if own:
                output.event(each)
            match each.event:
                case TurnEnded() as event if own:
                    output.finish(each)
                    await nonblocking_standard_streams.wait_until_written(nonblocking_standard_streams.MOST_WAITING)
                    if event.ending == "stopped" or not (await client.get(ShowSession(session))).queued:
                        return ENDINGS[event.ending]
                case SessionDeleted() if own:
                    return FAILED
                case event if asks_in(event):
                    leaving.want()
                case _:
                    pass
            if await leaving.is_time():
                return await _still_waiting(client, session)
    return FAILED


async def _know_calls(client: Client, session: SessionId, after: int, progress: ProgressLines) -> None:
    """Read the calls that were proposed before this process came, so that each is shown by its name."""
    async with aclosing(client.follow(session, 0)) as feed:
        async for each in feed:
            if isinstance(each, Recorded):
                progress.remember_calls(each)
                if each.seq >= after:
                    return


async def _still_waiting(client: Client, session: SessionId) -> int:
    """Print the open asks. Returns the exit code for a turn that waits for an answer."""
    for each in await client.get(ListAsks(session)):
        told = t("waiting for an answer: {id}  {ask}", id=each.ask.id, ask=headline(each.ask))
        sys.stdout.write(f"{told}\n")
    return PARKED
