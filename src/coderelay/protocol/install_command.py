"""The command that installs an optional package beside this program, however the program was installed."""

import sys
from importlib.util import find_spec
from shlex import quote


def install_command(package: str) -> str:
    python = quote(sys.executable)
    pip = f"{python} -m pip install" if find_spec("pip") is not None else f"uv pip install --python {python}"
    return f"{pip} {quote(package)}"
