"""Names of models as people type them, and which agent runs a session with one."""

GUIDE = "guide"
NATIVE = "native"


def agent_for(model: str, agent: str) -> str:
    """The agent that runs the session after this model was chosen; `agent` runs it now. Choosing a model keeps the
    agent, except that the model name `guide` selects the guide, and any other name leaves it."""
    if model == GUIDE:
        return GUIDE
    return NATIVE if agent == GUIDE else agent


def with_provider(name: str, current: str) -> str:
    """A name without a provider gets the provider of the current model, and `sonnet` means the newest one of that
    provider. The models of some agents have no provider."""
    provider, colon, _ = current.partition(":")
    if not colon or ":" in name or name == GUIDE:
        return name
    from coderelay.models.catalog import full_name  # only where a model is named

    full = full_name(name)
    return full if full.startswith(f"{provider}:") else f"{provider}:{name}"
