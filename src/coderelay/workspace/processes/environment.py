"""Filters environment variables for commands by an allowlist of names, so that a new secret is hidden by default."""

import re
from collections.abc import Mapping

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
