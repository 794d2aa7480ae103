"""Which settings of a repository's git configuration may make git run programs or leave the folder."""

import os
from collections.abc import Collection

from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.git_config_parser import Setting, settings_in

_HARMLESS = {
    # Settings that name no program: those that git's own commands write, that other programs add without being told
    # to (editors and `gh` to branches and remotes), and that tests give to the repositories they make.
    "core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode"}
    | {"symlinks", "worktree", "autocrlf", "eol", "safecrlf", "quotepath", "abbrev", "compression", "longpaths"}
    | {"sparsecheckout", "sparsecheckoutcone", "sharedrepository", "hidedotfiles", "untrackedcache", "whitespace"},
    "extensions": {"objectformat", "compatobjectformat", "refstorage", "worktreeconfig", "partialclone"}
    | {"relativeworktrees", "preciousobjects", "noop"},
    "init": {"defaultbranch"},
    "user": {"name", "email", "useconfigonly", "signingkey"},
    "author": {"name", "email"},
    "committer": {"name", "email"},
    "remote": {"url", "pushurl", "fetch", "push", "tagopt", "prune", "promisor", "partialclonefilter", "mirror"}
    | {"gh-resolved", "pushdefault"},
    "branch": {"remote", "merge", "rebase", "description", "pushremote", "vscode-merge-base", "gh-merge-base"}
    | {"github-pr-owner-number", "autosetupmerge", "autosetuprebase"},
    "submodule": {"url", "active", "branch", "path", "shallow", "ignore", "recurse"},
    "pull": {"rebase", "ff"},
    "push": {"default", "autosetupremote", "followtags"},
    "fetch": {"prune", "prunetags", "writecommitgraph"},
    "commit": {"gpgsign"},
    "tag": {"gpgsign"},
    "merge": {"conflictstyle", "ff"},
    "receive": {"denycurrentbranch", "denynonfastforwards", "denydeletes", "shallowupdate"},
    "uploadpack": {"allowfilter", "allowanysha1inwant", "allowreachablesha1inwant", "allowtipsha1inwant"},
    "index": {"version", "sparse"},
    "status": {"showuntrackedfiles"},
    "gc": {"auto", "autodetach"},
    "maintenance": {"auto", "strategy"},
    "advice": {"detachedhead"},
    "lfs": {"repositoryformatversion", "access"},
}


def harmful_settings(content: bytes, git: str, folders: Collection[str]) -> tuple[str, ...]:
    """Return every setting in the configuration of the git folder `git` that is not known to be harmless. A file that
    cannot be parsed counts as one harmful setting. A work tree (`core.worktree`) is harmless if it lies in one of
    `folders`."""
    try:
        settings = list(settings_in(content.decode("utf-8", "surrogateescape")))
    except ValueError:
        from hashlib import sha256  # few files cannot be parsed

        return (f"unreadable {sha256(content).hexdigest()}",)
    harmful = [each for each in settings if not is_harmless(each) or _leads_elsewhere(each, git, folders)]
    return tuple(dict.fromkeys(map(str, harmful)))


def is_harmless(setting: Setting) -> bool:
    return setting.key in _HARMLESS.get(setting.section, ())


def _leads_elsewhere(setting: Setting, git: str, folders: Collection[str]) -> bool:
    if (setting.section, setting.key) != ("core", "worktree"):
        return False
    try:
        tree = os.path.realpath(os.path.join(git, setting.value or ""))
    except (OSError, ValueError):  # a running command is replacing a part of the path, or it is no path
        return True
    return not any(is_in(tree, folder) for folder in folders)
