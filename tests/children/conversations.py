"""Models that talk in several conversations at once, and the sessions they are."""

from collections.abc import Callable, Mapping, Sequence

from coderelay.protocol.asks import Allow, Decision
from coderelay.protocol.calls import Outcome
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.commands import Outcome as Answered
from coderelay.protocol.events import AnyEvent, CallEnded, ChildOpened
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import ListAsks, ListChildren
from tests.house import ME, InHouse
from tests.model_server import Answer, Call, History, call
from tests.outcomes import in_english


def task(description: str, prompt: str) -> Call:
    return call("task", description=description, prompt=prompt)


def conversations(
    parent: Sequence[Answer], children: Mapping[str, Sequence[Answer]] | None = None
) -> Callable[[History], Answer]:
    """Each conversation goes by the last line of its first prompt, and each answer by how many there were before."""

    def decide(history: History) -> Answer:
        first = next(said.text for said in history if said.role == "user").splitlines()[-1]
        return (children or {}).get(first, parent)[sum(said.role == "assistant" for said in history)]

    return decide


async def children_of(coder: InHouse) -> list[Summary]:
    return await coder.host.get(ListChildren(coder.session))


async def child_opened(coder: InHouse, times: int = 1) -> SessionId:
    """Wait for the nth."""
    seen = 0

    def nth(event: AnyEvent) -> bool:
        nonlocal seen
        seen += isinstance(event, ChildOpened)
        return seen == times

    event = (await coder.until(nth)).event
    assert isinstance(event, ChildOpened)
    return event.child


def seen_from(coder: InHouse, session: SessionId) -> InHouse:
    """The same process, talking about another session."""
    other = InHouse(coder.host, coder.server, coder.folder)
    other.session = session
    return other


async def outcomes(coder: InHouse) -> list[Outcome]:
    return [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]


async def ask_of_child(coder: InHouse, times: int = 1) -> AskRow:
    """Wait until the nth child asks; as everyone sees it who looks at the parent."""
    child = seen_from(coder, await child_opened(coder, times))
    (ask,) = await child.asks()
    return next(row for row in await coder.host.get(ListAsks(coder.session)) if row.ask.id == ask.id)


async def answer(coder: InHouse, row: AskRow, decision: Decision | None = None) -> Answered:
    command = AnswerAsk(session=row.session, ask=row.ask.id, decision=decision or Allow(), by=ME)
    return await coder.host.send(command)
