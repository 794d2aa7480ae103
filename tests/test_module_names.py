"""The modules that tests and benchmarks name in strings exist: a test that a module is not loaded would hold for ever
once the module has another name."""

import pkgutil
import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

_NAMED = re.compile(r"""["'](coderelay(?:\.\w+)+)["']""")
_ROOT = Path(__file__).parents[1]


def test_every_module_that_is_named_exists() -> None:
    files = [file for folder in ("tests", "bench", "tools") for file in (_ROOT / folder).rglob("*.py")]
    named = {name for file in files for name in _NAMED.findall(file.read_text())}

    assert len(named) > 20
    assert sorted(name for name in named if not _exists(name)) == []


def _exists(name: str) -> bool:
    """Whether it is a module, or something in one."""
    with suppress(ModuleNotFoundError):  # what holds it is no package
        if find_spec(name) is not None:
            return True
    module, _, inner = name.rpartition(".")
    return hasattr(pkgutil.resolve_name(module), inner)
