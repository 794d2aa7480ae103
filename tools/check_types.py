"""Checks the types of those files of the product that changed since all were found right, and of their importers.

check_types.py [FILE ...]     and of these files, changed or not

The first run checks every file. A mistake that shows only farther away than in an importer is found by `make test`,
which always checks everything.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

_IMPORT = re.compile(r"^\s*from (coderelay[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)
_CHECKED = Path(".pyright.checked")
"""The digest of each file when its types were last found right, and of what decides about all of them."""
_SETTINGS = [Path("pyproject.toml"), Path("constraints.txt")]


def main(named: list[str]) -> int:
    files = sorted(Path("src").rglob("*.py"))
    digests = {str(file): _digest(file) for file in [*files, *_SETTINGS]}
    checked: dict[str, str] = json.loads(_CHECKED.read_text()) if _CHECKED.exists() else {}
    changed = {Path(path) for path in digests.keys() | checked.keys() if digests.get(path) != checked.get(path)}
    wanted = {*map(str, files_to_check(files, changed)), *named}
    if wanted:
        pyright = Path(sys.executable).with_name("pyright")
        found = subprocess.run([pyright, "--warnings", *sorted(wanted)], check=False)
        if found.returncode != 0:
            return found.returncode
    _CHECKED.write_text(json.dumps(digests))
    return 0


def files_to_check(files: list[Path], changed: set[Path]) -> set[Path]:
    """The changed files, and those that import a changed or removed one; all if the settings changed."""
    if not changed.isdisjoint(_SETTINGS):
        return set(files)
    modules = {_module(file) for file in changed}
    return {file for file in files if file in changed or not modules.isdisjoint(_imported(file))}


def _digest(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()


def _module(file: Path) -> str:
    return ".".join(file.with_suffix("").parts[1:]).removesuffix(".__init__")


def _imported(file: Path) -> set[str]:
    """Every module that the file may import: of `from a import b`, `a` and `a.b`."""
    found: set[str] = set()
    for package, names in _IMPORT.findall(file.read_text()):
        found |= {package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))}
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
