"""What the bot takes of lark-oapi: the app's tokens, the frames of the long connection, and decryption.

`import lark_oapi` loads the platform's whole API: 3.6 s of CPU time and 130 MB, of which the bot uses nothing. So the
packages that would load it are left empty here, and only the modules with these parts are loaded.
"""

import sys
from importlib.util import find_spec, module_from_spec
from typing import Any, cast


def _leave_empty(package: str) -> None:
    """Let modules of a package be loaded without what its `__init__` would load."""
    if package not in sys.modules and (spec := find_spec(package)) is not None:
        sys.modules[package] = module_from_spec(spec)


_leave_empty("lark_oapi")
_leave_empty("lark_oapi.ws")

from lark_oapi.core.exception import ObtainAccessTokenException  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
from lark_oapi.core.model import Config  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
from lark_oapi.core.token import TokenManager  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
from lark_oapi.core.utils.decryptor import AESCipher  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
from lark_oapi.ws.pb import pbbp2_pb2  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]

Frame: Any = cast("Any", pbbp2_pb2).Frame

__all__ = ["AESCipher", "Config", "Frame", "ObtainAccessTokenException", "TokenManager"]
