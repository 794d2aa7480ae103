"""The contract of a peer: how it is told of one prompt and of the model, and what its tools are called."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from bench.peers.form import CHAT, Form
from tests.model_server import Call

PROMPT = "hi"


class Tools(Struct, frozen=True):
    """The three calls of the job, as this peer's model would propose them. Paths are absolute."""

    read: Callable[[str], Call]
    write: Callable[[str, str], Call]
    shell: Callable[[str], Call]

    def translate(self, ours: Call, folder: str) -> Call:
        assert isinstance(ours.arguments, dict)
        told = {name: str(value) for name, value in ours.arguments.items()}
        match ours.name:
            case "read":
                return self.read(f"{folder}/{told['path']}")
            case "write":
                return self.write(f"{folder}/{told['path']}", told["content"])
            case _:
                return self.shell(told["command"])


class Peer(Struct, frozen=True):
    """One turn of it, without a terminal and without questions. `{url}` in any of its texts is the model server's
    address, without a path."""

    name: str
    argv: tuple[str, ...]
    tools: Tools
    form: Form = CHAT
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])  # beneath its home
    has_version: bool = True
