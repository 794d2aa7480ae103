"""Names of models as people type them, and which agent runs a session with one."""

GUIDE = "guide"


def agent_for(model: str) -> str:
    """The agent that runs a session with this model; the guide stands for an agent without a model."""
    return GUIDE if model == GUIDE else "native"


def with_provider(name: str, current: str) -> str:
    """A name without a provider gets the provider of the current model."""
    provider = current.partition(":")[0]
    return name if ":" in name or GUIDE in (name, current) else f"{provider}:{name}"
