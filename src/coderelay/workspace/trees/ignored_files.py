"""Finds the files that git ignores, by the current .gitignore rules or by those of an earlier snapshot."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from coderelay.workspace.trees.git_subprocess import Git, nul_ended, nul_split
from coderelay.workspace.trees.project_repository import read_regular
from coderelay.workspace.trees.shadow_repository import ShadowRepository

RULES = b".gitignore"
_MOST_RULES = 1 << 20


def ignored_paths(shadow: ShadowRepository, paths: Sequence[bytes]) -> list[bytes]:
    """Those of the paths that match an ignore rule, tracked or not. Paths start at the root of the work tree."""
    return _ignored(shadow.git, paths)


def ignored_paths_in_tree(shadow: ShadowRepository, tree: str, prefix: bytes, paths: Sequence[bytes]) -> list[bytes]:
    """Like `ignored_paths`, by the rules in an earlier tree of a folder and the current rules above the folder, which
    the tree does not contain."""
    with tempfile.TemporaryDirectory(prefix="rules-", dir=shadow.folder) as place:
        for name, pieces in [*_rules_in(shadow.reader, tree, prefix), *_rules_above(shadow.repository.root, prefix)]:
            path = os.path.join(os.fsencode(place), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(pieces)
        return _ignored(shadow.git.at(os.path.realpath(place)), paths)


def _rules_in(git: Git, tree: str, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    entries = [line.partition(b"\t") for line in nul_split(git.run("ls-tree", "-r", "-z", tree))]
    with git.blobs() as blobs:
        for head, _, name in entries:
            if os.path.basename(name) == RULES and head.startswith(b"100"):  # git does not follow links for rules
                yield prefix + name, b"".join(blobs.pieces(head.split()[2].decode()))


def _rules_above(root: str, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    while prefix := prefix.rstrip(b"/"):
        prefix = os.path.dirname(prefix)
        name = os.path.join(prefix, RULES)
        if content := read_regular(os.path.join(root, os.fsdecode(name)), _MOST_RULES):
            yield name, content


def _ignored(git: Git, paths: Sequence[bytes]) -> list[bytes]:
    asked = list(_not_behind_links(os.fsencode(git.work_tree), paths))
    if not asked:
        return []
    plain = git.with_env(GIT_LITERAL_PATHSPECS="0")  # unsupported here; `./` makes any name literal
    given = nul_ended(b"./" + path for path in asked)
    told = plain.run("check-ignore", "-z", "--stdin", "--no-index", given=given, codes=(0, 1))
    return [path.removeprefix(b"./") for path in nul_split(told)]


def _not_behind_links(top: bytes, paths: Sequence[bytes]) -> Iterable[bytes]:
    """Leave out paths behind a link: git refuses to answer for them."""
    are_real: dict[bytes, bool] = {}
    for path in paths:
        folder = os.path.join(top, os.path.dirname(path.rstrip(b"/"))).rstrip(b"/")
        if folder not in are_real:
            are_real[folder] = os.path.realpath(folder) == folder
        if are_real[folder]:
            yield path
