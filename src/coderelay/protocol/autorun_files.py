"""The table of autorun files, which make other programs run code unasked (`.vscode/tasks.json`, `.envrc`).

This is the one table for tools, commands and the sandbox. A program outside the sandbox runs what such a file names
as soon as a person opens the folder, enters it with a shell, commits, installs packages or pushes. To write such a
file is therefore to escape from the sandbox (decision 0024).
"""

import re
from functools import cache
from typing import Literal

from msgspec import Struct

Guard = Literal["always", "present", "never"]
"""What the sandbox does with such a file at the top of a folder. `always`: the file is mounted read-only; if it does
not exist, an empty folder is mounted in its place. `present`: an existing file is mounted read-only; a new one is
moved aside after the command. `never`: commands may write it, because version control or a package manager has to."""
END_OF_NAME = r"[ .]*(?::[^/]*)?(?=/|$)"
"""A regex for the end of a file name. Windows and its network shares ignore trailing blanks and dots and a stream
name."""
_HANGUL_FILLERS = "\u115f\u1160\u3164\uffa0"  # Unicode classifies them as letters, but they are invisible


class AutorunFiles(Struct, frozen=True):
    """One entry of the table. `names` are lower-case names of files or folders at any depth; `*` matches any part of
    one name. `why` is the explanation for people, with `{path}` for the file."""

    names: tuple[str, ...]
    why: str
    guard: Guard = "present"


_VS_CODE = "VS Code can run programs that {path} names when the folder is opened"
_JETBRAINS = "JetBrains IDEs can run programs that {path} names when the folder is opened"
_SHELL = "a shell can run commands from {path} when the folder is entered"
_AGENTS = "coding agents can start programs that {path} names"
AUTORUN_FILES = (
    AutorunFiles((".vscode",), _VS_CODE, "always"),
    AutorunFiles(("*.code-workspace",), _VS_CODE),
    AutorunFiles((".idea",), _JETBRAINS, "always"),
    AutorunFiles((".fleet", ".run"), _JETBRAINS),
    AutorunFiles(
        (
            ".zed", ".nova", ".helix", ".vs", ".vim", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc",
            ".emacs.d", ".emacs", ".dir-locals.el", ".dir-locals-2.el", "*.sublime-project",
        ),
        "an editor can run what {path} says when files in the folder are opened",
    ),
    AutorunFiles(
        (".devcontainer", ".devcontainer.json", ".gitpod.yml"),
        "a development container is built and started from {path} when the folder is opened",
    ),
    AutorunFiles((".envrc",), _SHELL, "always"),
    AutorunFiles(
        (
            ".direnv", ".autoenv", ".autoenv.zsh", ".tool-versions", "mise.toml", ".mise.toml",
            "mise.*.toml", ".mise.*.toml", ".mise", ".config/mise", ".config/mise.toml", ".rtx.toml",
        ),
        _SHELL,
    ),
    AutorunFiles(
        (
            ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
            ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".xprofile", ".xinitrc",
            ".xsession", ".tmux.conf", ".screenrc", ".gdbinit", ".lldbinit", ".pythonrc", ".irbrc", ".pryrc",
            ".pdbrc", ".rprofile", ".ghci", ".ocamlinit", ".iex.exs", ".gitconfig", ".lazygit.yml",
            ".config/git", ".config/fish", ".config/nvim", ".config/autostart", ".config/systemd",
            "library/launchagents",
        ),
        "a shell or another program does what {path} says when it starts",
    ),
    AutorunFiles(
        (
            ".husky", ".githooks", ".git-hooks", ".lefthook", "lefthook.*", ".lefthook.*", "lefthook-local.*",
            ".lefthook-local.*", ".pre-commit-config.y*ml", ".pre-commit-hooks.y*ml", ".overcommit.yml",
            ".simple-git-hooks.*", "simple-git-hooks.*", ".lintstagedrc*", "lint-staged.config.*", ".huskyrc*",
        ),
        "git hooks run what {path} says when something is committed",
    ),
    AutorunFiles((".hg/hgrc", ".hg/hgrc-not-shared"), "Mercurial runs programs that {path} names"),
    AutorunFiles((".gitmodules",), "git fetches code from addresses that {path} names", "never"),
    AutorunFiles(
        (
            ".npmrc", ".yarnrc*", ".pnpmfile.*", "bunfig.toml", ".cargo/config", ".cargo/config.toml",
            ".bundle/config", ".mvn", "pip.conf", "pip.ini", "nuget.config",
            "binding.gyp", "rust-toolchain", "rust-toolchain.toml",
        ),
        "package managers and compilers follow {path}, which can name programs and servers",
    ),
    AutorunFiles(
        (".yarn/releases", ".yarn/plugins"),
        "package managers and compilers follow {path}, which can name programs and servers",
        "never",
    ),
    AutorunFiles((".mcp.json",), _AGENTS, "always"),
    AutorunFiles(
        (
            "mcp.json", ".cursor", ".cursorrules", ".windsurf", ".gemini", ".codex", ".qwen", ".iflow", ".kimi",
            ".kiro", ".roo", ".cline", ".continue", ".opencode", "opencode.json", "opencode.jsonc", ".amazonq",
            ".augment", ".goose", ".crush.json", "crush.json", ".aider.conf.yml",
        ),
        _AGENTS,
    ),
    AutorunFiles((".claude", ".agents"), _AGENTS, "never"),  # the sandbox guards Claude's settings files separately
    AutorunFiles(
        (
            ".github/workflows", ".github/actions", ".gitlab-ci.y*ml", ".gitlab/ci", ".circleci", ".travis.yml",
            ".forgejo/workflows", ".gitea/workflows", ".drone.yml", ".woodpecker", ".woodpecker.y*ml", ".buildkite",
            "azure-pipelines.y*ml", ".azure-pipelines", "bitbucket-pipelines.yml", "jenkinsfile", "appveyor.yml",
            ".appveyor.yml", ".cirrus.yml", ".semaphore", ".tekton",
        ),
        "CI runs {path}, often with secrets of the project, once it is pushed",
        "never",
    ),
)  # fmt: skip
PACKAGE_JSON = "package managers run install scripts that {path} names"
"""The explanation when a change of a `package.json` needs permission. Which changes do depends on the content."""


def autorun_entry(path: str) -> AutorunFiles | None:
    """The entry that matches a path, or None. The path is relative to a folder of the session, because that folder's
    own name does not matter."""
    plain = folded(path)
    return next((files for files, pattern in _patterns() if pattern.search(plain)), None)


def is_package_json(path: str) -> bool:
    return re.search(_PACKAGE_JSON, folded(path)) is not None


_PACKAGE_JSON = rf"/package\.json{END_OF_NAME}$"


@cache
def _patterns() -> tuple[tuple[AutorunFiles, re.Pattern[str]], ...]:
    """Compiled when the first file is changed, because most processes change none."""
    return tuple(
        (files, re.compile(f"/(?:{'|'.join(map(_pattern, files.names))}){END_OF_NAME}")) for files in AUTORUN_FILES
    )


def _pattern(name: str) -> str:
    return f"{END_OF_NAME}/".join(map(_part, name.split("/")))


def _part(name: str) -> str:
    pattern = re.escape(name).replace(r"\*", "[^/]*")
    if not name.startswith("."):
        return pattern
    short = re.sub(r"[^a-z0-9_-]", "", name[1:].partition(".")[0])[:6]
    return rf"(?:{pattern}|{short}~\d(?:\.[^/]{{0,3}})?)"  # the DOS short name (8.3)


def folded(path: str) -> str:
    """A relative path with a slash before every name, normalised: no case, width, accents or invisible characters."""
    return "/" + (path.lower() if path.isascii() else _fold(path)).replace("\\", "/").lstrip("/")


def _fold(text: str) -> str:
    from unicodedata import category, normalize  # not loaded for ASCII names, and most names are

    folded = normalize("NFKD", normalize("NFKD", text).upper().casefold())
    return "".join(each for each in folded if category(each)[0] not in "CM" and each not in _HANGUL_FILLERS)
