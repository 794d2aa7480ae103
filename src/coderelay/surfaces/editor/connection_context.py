"""What the sessions of one editor share."""

from msgspec import Struct

from coderelay.client.client import Client
from coderelay.protocol.asks import By
from coderelay.surfaces.editor.acp_dialect_base import Dialect
from coderelay.wire.peer import Peer


class ConnectionContext(Struct, frozen=True):
    client: Client
    by: By
    peer: Peer
    dialect: Dialect
