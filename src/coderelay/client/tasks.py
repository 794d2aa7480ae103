"""What other agents do for a session, for people who type."""

from coderelay.client.client import Client
from coderelay.protocol.asks import By
from coderelay.protocol.commands import Accepted, StopTurn
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListChildren
from coderelay.protocol.summary import Summary


async def list_or_stop(client: Client, session: SessionId, rest: str, by: By) -> str:
    children = await client.get(ListChildren(session))
    action, _, number = rest.partition(" ")
    if not action:
        return "\n".join(map(_line, range(1, len(children) + 1), children)) or "no task was given to another agent"
    if action != "stop" or not number.strip().isdecimal():
        raise BadInput("/tasks shows what other agents do, /tasks stop N ends one")
    place = int(number)
    if not 1 <= place <= len(children):
        raise BadInput(f"there is no task {place}; /tasks shows what there is")
    done = isinstance(await client.send(StopTurn(session=children[place - 1].id, by=by)), Accepted)
    return f"(task {place} is asked to stop)" if done else "it is over"


def _line(number: int, child: Summary) -> str:
    cost = "" if child.cost is None else f"  ${child.cost:.4f}"
    return f"{number}. {child.phase:8} {child.title}{cost}  · {child.id}"
