"""Per-project cache folders for package managers and build tools, since home is read-only in the sandbox.

Each project has a cache folder of its own for what tools download and build. Some tools can be given the cache in
home as a second, read-only location. Others know one location only: theirs stays in home until something was
downloaded into the project's cache folder.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress

from coderelay.workspace.files.openat import LOOK, make_folder

_OWN = {
    "XDG_CACHE_HOME": "xdg",
    "XDG_STATE_HOME": "state",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "npm_config_cache": "npm",
    "npm_config_store_dir": "pnpm",
    "YARN_CACHE_FOLDER": "yarn",
    "YARN_GLOBAL_FOLDER": "yarn-berry",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "COREPACK_HOME": "corepack",
    "GOCACHE": "go-build",
    "GOMODCACHE": "go-mod",
    "GRADLE_USER_HOME": "gradle",
    "NUGET_PACKAGES": "nuget",
    "DOTNET_CLI_HOME": "dotnet",
    "CCACHE_DIR": "ccache",
    "SCCACHE_DIR": "sccache",
    "ZIG_GLOBAL_CACHE_DIR": "zig",
    "MPLCONFIGDIR": "matplotlib",
}
_READ_BESIDE = {  # the location in home, and the format of the variable's value that names it as a read-only cache
    "GRADLE_RO_DEP_CACHE": (".gradle/caches", "{}"),
    "NUGET_FALLBACK_PACKAGES": (".nuget/packages", "{}"),
    "GOPROXY": ("go/pkg/mod/cache/download", "file://{},https://proxy.golang.org,direct"),
    "PLAYWRIGHT_BROWSERS_PATH": (".cache/ms-playwright", "{}"),
    "PUPPETEER_CACHE_DIR": (".cache/puppeteer", "{}"),
    "CYPRESS_CACHE_FOLDER": (".cache/Cypress", "{}"),
    "POETRY_VIRTUALENVS_PATH": (".cache/pypoetry/virtualenvs", "{}"),
    "PRE_COMMIT_HOME": (".cache/pre-commit", "{}"),
    "HF_HOME": (".cache/huggingface", "{}"),
    "TORCH_HOME": (".cache/torch", "{}"),
}
_ONE_PLACE = {  # the location in home, our folder, the subfolder that shows ours is in use, the format of the value
    "CARGO_HOME": (".cargo", "cargo", "registry", "{}"),
    "DENO_DIR": (".cache/deno", "deno", "npm", "{}"),
    "MAVEN_OPTS": (".m2/repository", "maven", "org", "-Dmaven.repo.local={}"),
}
_CARGO_CONFIG = "config.toml"


def cache_folder(home: str, root: str, env: Mapping[str, str]) -> str:
    """Return the project's cache folder, which is created if it is missing. `home` is coder's home folder, `root` the
    project's folder."""
    path = os.path.join(home, "caches", hashlib.sha256(os.fsencode(root)).hexdigest()[:16])
    os.makedirs(path, mode=0o700, exist_ok=True)
    theirs = os.path.join(env.get("CARGO_HOME") or os.path.join(env.get("HOME", ""), ".cargo"), _CARGO_CONFIG)
    if os.path.isfile(theirs):  # it may name the package mirror to use
        with suppress(OSError):  # the link exists, or a command has replaced its folder
            _link_in(os.path.realpath(path), "cargo", _CARGO_CONFIG, theirs)
    return path


def _link_in(cache: str, folder: str, name: str, target: str) -> None:
    opened = make_folder(cache, folder, LOOK, [])
    try:
        os.symlink(target, name, dir_fd=opened)
    finally:
        os.close(opened)


def cache_environment(cache: str, env: Mapping[str, str], *, network: bool) -> dict[str, str]:
    """Return the environment variables that point tools to the cache folder `cache`."""
    home = env.get("HOME", "")
    own = {name: os.path.join(cache, folder) for name, folder in _OWN.items()}
    return own | dict(_read_beside(home, env)) | dict(_in_one_place(cache, home, env, network))


def _read_beside(home: str, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, (place, said) in _READ_BESIDE.items():
        if name not in env and os.path.isdir(path := os.path.join(home, place)):
            yield name, said.format(path)


def _in_one_place(cache: str, home: str, env: Mapping[str, str], network: bool) -> Iterator[tuple[str, str]]:
    for name, (place, folder, mark, said) in _ONE_PLACE.items():
        own, theirs = os.path.join(cache, folder), env.get(name) or os.path.join(home, place)
        if network or os.path.isdir(os.path.join(own, mark)) or not os.path.isdir(theirs):
            yield name, said.format(own)
        elif said == "{}":
            yield name, theirs
