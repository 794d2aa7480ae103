"""Names of models as people type them, and which agent runs a session with one."""

GUIDE = "guide"
NATIVE = "native"


def agent_for(model: str, agent: str = NATIVE) -> str:
    """The agent that runs a session with this model, if `agent` runs it now. Choosing a model keeps the agent; only
    the guide, which has no model, is chosen and left by the name of a model."""
    if model == GUIDE:
        return GUIDE
    return NATIVE if agent == GUIDE else agent


def with_provider(name: str, current: str) -> str:
    """A name without a provider gets the provider of the current model. The models of some agents have none."""
    provider, colon, _ = current.partition(":")
    return f"{provider}:{name}" if colon and ":" not in name and name != GUIDE else name
