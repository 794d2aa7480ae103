"""Which agent runs a session with which model, if a client names one of them, both or none."""

from coderelay.client.client import Client
from coderelay.client.typed_model_name import GUIDE, agent_for
from coderelay.protocol.errors import CannotRun
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ShowDefaults, ShowSession, WhyNotRun


async def for_a_new_session(client: Client, cwd: str, agent: str | None, model: str | None) -> tuple[str, str]:
    """The agent and the model. Raises CannotRun if this host cannot run them in that folder."""
    defaults = await client.get(ShowDefaults(cwd))
    found = _fitting(agent, model, (defaults.agent, defaults.model), defaults.model)
    if (problem := await client.get(WhyNotRun(cwd=cwd, agent=found[0], model=found[1]))) is not None:
        raise CannotRun(problem)
    return found


async def for_a_session(client: Client, session: SessionId, agent: str | None, model: str | None) -> tuple[str, str]:
    """The same for a session that has both."""
    now = await client.get(ShowSession(session))
    default = now.model
    if now.model == GUIDE and agent is not None and model is None:
        default = (await client.get(ShowDefaults(now.cwd))).model
    found = _fitting(agent, model, (now.agent, now.model), default)
    if (problem := await client.get(WhyNotRun(session, agent=found[0], model=found[1]))) is not None:
        raise CannotRun(problem)
    return found


def _fitting(agent: str | None, model: str | None, now: tuple[str, str], default: str) -> tuple[str, str]:
    """The guide is an agent without a model, and is chosen and left by either name."""
    if model is not None:
        return agent or agent_for(model, now[0]), model
    if agent is None:
        return now
    if agent == GUIDE:
        return agent, GUIDE
    return agent, default if now[1] == GUIDE else now[1]
