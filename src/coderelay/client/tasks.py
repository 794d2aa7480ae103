"""What other agents do for a session, for people who type."""

from coderelay.client.built_in import usage_of
from coderelay.client.client import Client
from coderelay.client.columns import padded
from coderelay.client.language import t
from coderelay.client.visible import visible
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
        return "\n".join(map(_line, range(1, len(children) + 1), children)) or t("no task was given to another agent")
    if action != "stop" or not number.strip().isdecimal():
        raise BadInput(t("it is {usage}", usage=usage_of("tasks")))
    place = int(number)
    if not 1 <= place <= len(children):
        raise BadInput(t("there is no task {number}; /tasks shows what there is", number=place))
    done = isinstance(await client.send(StopTurn(session=children[place - 1].id, by=by)), Accepted)
    return t("(task {number} is asked to stop)", number=place) if done else t("it is over")


def _line(number: int, child: Summary) -> str:
    cost = "" if child.cost is None else f"  ${child.cost:.4f}"
    title = visible(" ".join(child.title.split()))
    return f"{number}. {padded(t(child.phase), 8)} {title}{cost}  · {child.id}"
