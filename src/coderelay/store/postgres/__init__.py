"""The log on a PostgreSQL server."""
