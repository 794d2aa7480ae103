"""What a command wants beyond the sandbox, read from its own text: that text is what a person is shown."""

from coderelay.protocol.calls import Right


def rights_of(command: str) -> tuple[Right, ...]:
    """Sorted."""
    return ()
