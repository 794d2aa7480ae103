"""Whether an edit changes the programs that a package manager runs by itself, such as `postinstall`."""

from typing import Any, cast

import msgspec

from coderelay.protocol.autorun_files import is_package_json
from coderelay.tools.editing.file_changes import FileEdit

# The scripts in a package.json that package managers and git hooks run unasked.
_RUN_BY_INSTALL = (
    "preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish", "dependencies",
    "pnpm:devPreinstall",
)  # fmt: skip
_RUN_BY_COMMITS = ("husky", "lint-staged", "simple-git-hooks", "pre-commit", "gitHooks")


def changes_install_scripts(change: FileEdit) -> bool:
    name = change.to or change.path
    if not is_package_json(name) or change.after is None:
        return False
    before = change.before.data if change.before is not None and is_package_json(change.path) else b"{}"
    try:
        return _run_unasked(before) != _run_unasked(change.after)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return True  # not readable as JSON: assume that they change


def _run_unasked(data: bytes) -> dict[str, Any]:
    content = msgspec.json.decode(data)
    if not isinstance(content, dict):
        raise ValueError("a package.json is an object")
    package = cast(dict[str, Any], content)
    found = {key: package[key] for key in _RUN_BY_COMMITS if key in package}
    scripts = package.get("scripts", {})
    if not isinstance(scripts, dict):
        return found | {"scripts": scripts}
    named = cast(dict[str, Any], scripts)
    return found | {f"scripts.{key}": named[key] for key in _RUN_BY_INSTALL if key in named}
