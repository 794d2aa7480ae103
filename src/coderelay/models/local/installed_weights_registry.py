"""The registry of installed weights: the files, and the list `models.json` beside them."""

import fcntl
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

import msgspec
from msgspec import Struct

from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.translatable import say

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_MAGIC = b"GGUF"


def models_folder(env: Mapping[str, str]) -> str:
    home = env.get("CODER_HOME") or os.path.join(os.path.expanduser("~"), ".coder")
    return os.path.join(os.path.abspath(os.path.expanduser(home)), "models")


class Weights(Struct, frozen=True, omit_defaults=True):
    """`file` is a name in the models folder, or the absolute path of a file that a person keeps; of such a file no
    digest is taken."""

    name: str
    file: str
    size: int
    source: str
    sha256: str = ""


class WeightsFolder:
    def __init__(self, path: str) -> None:
        self.path = path
        self._list = os.path.join(path, "models.json")

    def all(self) -> dict[str, Weights]:
        """The installed weights by name, in the order they were added."""
        try:
            with open(self._list, "rb") as file:
                return msgspec.json.decode(file.read(), type=dict[str, Weights])
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError as error:
            raise CoderError(
                say("{path} is damaged: {why}", path=self._list, why=error), "Remove it, and add the models again."
            ) from error

    def path_of(self, weights: Weights) -> str:
        return os.path.join(self.path, weights.file)

    def add(self, weights: Weights) -> None:
        with self._changing() as known:
            known[weights.name] = weights

    def remove(self, name: str) -> Weights:
        """Remove weights from the list. A file of ours is deleted too; one that a person keeps elsewhere is only
        forgotten."""
        with self._changing() as known:
            if name not in known:
                there = ", ".join(known) or say("none")
                rest = say("available: {names}", names=there)
                raise BadInput(say("no local model {name}; {rest}", name=repr(name), rest=rest))
            weights = known.pop(name)
        if not os.path.isabs(weights.file):
            with suppress(FileNotFoundError):
                os.unlink(self.path_of(weights))
        return weights

    @contextmanager
    def _changing(self) -> Generator[dict[str, Weights]]:
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        with open(os.path.join(self.path, "lock"), "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self.all()
            yield known
            written = f"{self._list}.new"
            with open(written, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(known), indent=1))
            os.replace(written, self._list)


def check_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise BadInput(
            say("{name} is not a valid name for a model", name=repr(name)),
            "Use lower-case letters, digits, dots and dashes, at most 64: --name NAME",
        )
    return name


def check_gguf(path: str) -> int:
    """The size of the file. Raises BadInput if it is not a readable GGUF file."""
    try:
        with open(path, "rb") as file:
            begins = file.read(len(_MAGIC))
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise BadInput(say("cannot read {path}: {why}", path=path, why=error.strerror)) from error
    if begins != _MAGIC:
        raise BadInput(say("{path} is not a GGUF file", path=path), "Convert other formats with llama.cpp.")
    return size
