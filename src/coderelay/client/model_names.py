"""Names of models as people type them, and who runs a session with one."""

GUIDE = "guide"


def agent_for(model: str) -> str:
    """Who runs a session with this model: the guide needs none."""
    return GUIDE if model == GUIDE else "native"


def with_provider(name: str, current: str) -> str:
    """A bare name keeps the provider of the model there is now."""
    provider = current.partition(":")[0]
    return name if ":" in name or GUIDE in (name, current) else f"{provider}:{name}"
