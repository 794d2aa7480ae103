"""Coding agents that can be started in one place and steered from any other."""

TYPE_CHECKING = False  # typing takes longer to load than `coder --version` takes in all

if TYPE_CHECKING:
    from coderelay.public import Connection

__version__ = "0.1.0"
__all__ = ["__version__", "connect"]


def connect(who: str = "script") -> "Connection":
    """Open a connection for a script: `with connect() as coder` or `async with connect() as coder`.

    `who` is the name that everything this script does is recorded and shown under.
    """
    from coderelay.public import Connection  # `coder --version` must not pay for this

    return Connection(who)
