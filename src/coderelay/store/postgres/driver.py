"""psycopg, or a clear word that it is missing. Loaded only when somebody asks for PostgreSQL."""

from coderelay.protocol.errors import StoreFailed

try:
    import psycopg
    from psycopg import adapt, conninfo, pq
except ImportError as error:
    raise StoreFailed("PostgreSQL needs psycopg", "Install it: pip install 'coderelay[postgres]'") from error

__all__ = ["adapt", "conninfo", "pq", "psycopg"]
