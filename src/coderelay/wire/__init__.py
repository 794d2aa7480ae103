"""Messages between programs: one JSON-RPC peer, and the transports that carry its lines."""
