"""Filters environment variables for commands by an allowlist of names, so that a new secret is hidden by default."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress

_ALLOWED_NAMES = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR TMPDIR
    HOMEBREW_PREFIX ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION PIP_CACHE_DIR UV_CACHE_DIR
    NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR
    CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN GOPATH GOROOT GOBIN GOCACHE GOMODCACHE
    JAVA_HOME GRADLE_USER_HOME MAVEN_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT
    RBENV_ROOT GEM_HOME GEM_PATH
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS PIP_CERT
    GIT_SSL_CAINFO NIX_SSL_CERT_FILE
"""
_ALLOWED = frozenset(_ALLOWED_NAMES.split())
PROXIES = re.compile(r"(all|ftp|http|https|no)_proxy", re.IGNORECASE)
SECRET_NAME = re.compile(r"key|token|secret|passw|passphrase|credential", re.IGNORECASE)
OWN_DOOR = "CODER_TOKEN"
LOGIN_IN_ADDRESS = re.compile(r"://[^/\s]*@")

# Nobody sits at the terminal of a command, so it must neither prompt nor page. Git must not accept a folder that was
# committed as a bare repository, because the configuration in it could start programs.
ADDED = {
    "GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "GIT_PAGER": "cat", "CODER": "1",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.bareRepository", "GIT_CONFIG_VALUE_0": "explicit",
}  # fmt: skip


def command_environment(source: Mapping[str, str]) -> dict[str, str]:
    """The environment of commands. `PWD` is left out because a command starts in a folder of its own, `CI` because it
    changes what tools do."""
    return {name: value for name, value in source.items() if may_be_seen(name, value)} | ADDED


def person_environment(source: Mapping[str, str]) -> dict[str, str]:
    """The environment of the person's programs that we start: everything except what looks like a secret, which they
    should not get from us."""
    return {name: value for name, value in source.items() if not _is_secret(name, value)} | ADDED


def own_environment(source: Mapping[str, str]) -> dict[str, str]:
    """The environment of commands that a person runs as their own: everything except coder's own access tokens."""
    return {name: value for name, value in source.items() if not name.startswith(OWN_DOOR)}


def may_be_seen(name: str, value: str) -> bool:
    if _is_secret(name, value):
        return False
    if PROXIES.fullmatch(name):
        return "@" not in value  # a proxy may contain a login without a scheme before it
    return is_allowed(name)


def is_allowed(name: str) -> bool:
    if not name.startswith(("LC_", "XDG_")):
        return name in _ALLOWED
    return re.fullmatch(r"LC_\w+|XDG_\w+_(HOME|DIR|DIRS)", name) is not None


def _is_secret(name: str, value: str) -> bool:
    return SECRET_NAME.search(name) is not None or LOGIN_IN_ADDRESS.search(value) is not None


_FIRST_AND_END = slice(47, 49)  # env_start and env_end, among the fields after the name in /proc/self/stat


def blank_own_environment() -> None:
    """Overwrite secrets in our environment as /proc shows it to other processes. Does nothing without /proc."""
    with suppress(OSError, ValueError):
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        first, end = map(int, fields[_FIRST_AND_END])
        if end > first > 0:
            _blank(first, end - first)


def _blank(first: int, size: int) -> None:
    import ctypes  # takes milliseconds, and is only needed to start commands

    at = first
    for entry in ctypes.string_at(first, size).split(b"\0"):
        name, is_set, value = entry.partition(b"=")
        if is_set and not may_be_seen(os.fsdecode(name), os.fsdecode(value)):
            if name in os.environb:
                os.putenv(name, os.environb[name])  # kept in other memory, for our libraries and children
            ctypes.memset(at + len(name) + 1, 0, len(value))
        at += len(entry) + 1
