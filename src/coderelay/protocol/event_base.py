"""The base of all events of the log."""

from msgspec import Struct


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of all events."""
