"""The id and name of the machine that a session belongs to."""

from msgspec import Struct

from coderelay.protocol.ids import MachineId


class MachineIdentity(Struct, frozen=True):
    """A machine as the log knows it. Only `id` identifies it; `name` is for people and may change."""

    id: MachineId
    name: str
