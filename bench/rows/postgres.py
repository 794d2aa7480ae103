"""Committed appends on PostgreSQL, where there is one."""

from collections.abc import Sequence
from importlib.util import find_spec

from bench.table import Line, Missing

_WHAT = "committed appends on PostgreSQL"


def measure() -> Sequence[Line]:
    if find_spec("psycopg") is None:
        return [Missing(_WHAT, "psycopg is not installed")]
    from bench.rows import postgres_appends  # needs psycopg
    from tests.postgres_server import NoServer

    try:
        return postgres_appends.measure()
    except NoServer:
        return [Missing(_WHAT, "no server is installed")]
