"""A text that a record brings in every language we write ourselves."""

from msgspec import Struct


class Localized(Struct, frozen=True):
    """Any further language translates `english` in its own file, `client/languages/`."""

    english: str
    chinese: str
