"""What the sessions of one editor share."""

from msgspec import Struct

from coderelay.client.client import Client
from coderelay.protocol.asks import By
from coderelay.surfaces.editor.standard_acp_dialect import Dialect
from coderelay.wire.peer import Peer


class ConnectionContext(Struct, frozen=True):
    client: Client
    by: By
    peer: Peer
    dialect: Dialect
