"""Read-only check for git: the subcommands and options that only look, and those that are dangerous.

A folder below the root may pose as a repository whose configuration starts programs, so git counts as harmless only
at the root of the workspace. Even there the folder may be part of a committed bare repository, so without a sandbox
git does not count as harmless at all.
"""

import re
from collections.abc import Sequence
from itertools import dropwhile

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.harmless_option_check import Operands, Options, check
from coderelay.policy.shell.programs.program_spec import Build, Program
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.translatable import say

# Left out: --ext-diff and --textconv run programs, --output writes, -O opens a pager.
_DIFF = (
    "--stat=?", "--shortstat", "--numstat", "--dirstat=?", "--name-only", "--name-status", "--cached", "--staged",
    "--color=?", "--no-color", "--color-words=?", "--word-diff=?", "--word-diff-regex=", "--unified=?", "--patch",
    "--no-patch", "--raw", "--summary", "--minimal", "--patience", "--histogram", "--ignore-all-space",
    "--ignore-space-change", "--ignore-blank-lines", "--ignore-space-at-eol", "--diff-filter=?", "--relative=?",
    "--find-renames=?", "--find-copies=?", "--no-renames", "--no-ext-diff", "--no-textconv", "--exit-code",
    "--quiet", "--check", "--function-context", "--merge-base", "--full-index", "--binary", "--abbrev=?",
    "--compact-summary", "--patch-with-stat", "--submodule=?", "--inter-hunk-context=?", "--text", "--no-prefix",
)  # fmt: skip
_LOG = (
    *_DIFF,
    "--oneline", "--graph", "--decorate=?", "--no-decorate", "--all", "--branches=?", "--tags=?", "--remotes=?",
    "--format=?", "--pretty=?", "--abbrev-commit", "--no-abbrev-commit", "--date=", "--relative-date", "--since=",
    "--until=", "--after=", "--before=", "--author=", "--committer=", "--grep=", "--all-match", "--invert-grep",
    "--regexp-ignore-case", "--extended-regexp", "--fixed-strings", "--merges", "--no-merges", "--first-parent",
    "--reverse", "--follow", "--max-count=", "--skip=", "--topo-order", "--date-order", "--left-right",
    "--cherry-pick", "--cherry-mark", "--cherry", "--full-history", "--simplify-by-decoration", "--source",
    "--name-only", "--pickaxe-regex", "--pickaxe-all", "--boundary", "--ancestry-path=?",
    "--no-walk=?", "--merge", "--parents", "--children", "--reflog", "--notes=?", "--no-notes", "--cc",
)  # fmt: skip
# git takes a value of these options only if it is joined to the letter; a separate word would be a file.
_JOINED = "UMCB"
_PATCHES = Options(short="pusazbwWRcmt", texts="SGLl", joined=_JOINED, long=_LOG, numbers=True)
_CHANGES = Options(short="rpstmcuzR", joined=_JOINED, long=(*_DIFF, "--no-commit-id", "--root"))
_LIST = ("--list=?", "--sort=", "--format=", "--contains=?", "--no-contains=?", "--merged=?", "--no-merged=?",
         "--points-at=", "--color=?", "--no-color", "--column=?", "--no-column", "--ignore-case")  # fmt: skip

SUBCOMMANDS: dict[str, Options] = {
    "status": Options(
        short="sbvz",
        long=("--short", "--branch", "--porcelain=?", "--long", "--verbose", "--untracked-files=?", "--ignored=?",
              "--show-stash", "--ahead-behind", "--no-ahead-behind", "--renames", "--no-renames", "--column=?"),
        single_dash=("-uno", "-unormal", "-uall", "-u"),
    ),
    "diff": Options(short="pusbwWRaz", texts="SGl", joined=_JOINED, long=_DIFF),
    "log": Options(short="pusazbwWRcmtigEFP", texts="SGLln", joined=_JOINED, long=_LOG, numbers=True),
    "show": _PATCHES,
    "whatchanged": _PATCHES,
    "shortlog": Options(
        short="snec", long=("--summary", "--numbered", "--email", "--all", "--no-merges", "--since="),
    ),
    "blame": Options(
        short="bcelfnpstw",
        texts="L",
        joined="MC",
        long=("--porcelain", "--line-porcelain", "--date=", "--show-email", "--show-name", "--show-number",
              "--root", "--reverse", "--incremental"),
    ),
    "ls-files": Options(
        short="cdmosiktuvz",
        texts="x",
        long=("--cached", "--deleted", "--modified", "--others", "--ignored", "--stage", "--exclude-standard",
              "--full-name", "--error-unmatch", "--exclude=", "--directory", "--unmerged", "--eol"),
    ),
    "ls-tree": Options(short="drltz", long=("--name-only", "--name-status", "--full-name", "--full-tree", "--long")),
    "rev-parse": Options(
        short="q",
        long=("--show-toplevel", "--abbrev-ref=?", "--short=?", "--verify", "--is-inside-work-tree", "--git-dir",
              "--show-prefix", "--show-cdup", "--symbolic-full-name", "--absolute-git-dir", "--git-common-dir",
              "--is-bare-repository", "--all", "--quiet", "--symbolic"),
    ),
    "rev-list": Options(texts="n", long=(*_LOG, "--count", "--objects"), numbers=True),
    "describe": Options(long=("--tags", "--all", "--always", "--abbrev=?", "--long", "--dirty=?", "--exact-match",
                              "--match=", "--exclude=", "--contains", "--first-parent")),
    "merge-base": Options(short="a", long=("--all", "--is-ancestor", "--octopus", "--fork-point")),
    "cat-file": Options(short="tspe", most_operands=2),
    "name-rev": Options(long=("--name-only", "--tags", "--always")),
    "for-each-ref": Options(long=(*_LIST, "--count=")),
    "show-ref": Options(short="dqs", long=("--heads", "--tags", "--head", "--verify", "--hash=?", "--quiet")),
    "check-ignore": Options(short="qvnz", long=("--verbose", "--quiet", "--non-matching", "--no-index")),
    "check-attr": Options(short="az", long=("--all", "--cached")),
    "count-objects": Options(short="vH", long=("--verbose", "--human-readable"), most_operands=0),
    "diff-tree": _CHANGES,
    "diff-index": _CHANGES,
    "diff-files": _CHANGES,
    "range-diff": Options(short="s", joined="U", long=(*_DIFF, "--no-dual-color", "--creation-factor=")),
    "show-branch": Options(short="ar", long=("--all", "--remotes", "--list", "--sha1-name", "--no-name", "--current",
                                             "--topo-order", "--merge-base", "--independent", "--more=?")),
    "symbolic-ref": Options(short="q", long=("--short", "--quiet"), most_operands=1),
    "fsck": Options(long=("--full", "--no-full", "--strict", "--no-dangling", "--unreachable", "--no-reflogs",
                          "--connectivity-only", "--name-objects", "--no-progress", "--verbose")),
    "cherry": Options(short="v"),
    "version": Options(long=("--build-options",), most_operands=0),
    "grep": Options(
        short="abcEFGHhiIlLnopPqvwWz",
        texts="ABCem",
        files="f",
        long=("--count", "--line-number", "--ignore-case", "--files-with-matches", "--name-only", "--cached",
              "--untracked", "--heading", "--break", "--show-function", "--function-context", "--word-regexp",
              "--extended-regexp", "--perl-regexp", "--fixed-strings", "--color=?", "--and", "--or", "--not",
              "--all-match", "--max-depth=", "--context=", "--after-context=", "--before-context=", "--column"),
        text_operands=1,
        instead=("-e", "-f"),
    ),
    "branch": Options(
        short="arv", long=(*_LIST, "--all", "--remotes", "--verbose", "--show-current"), most_operands=0,
        single_dash=("-vv",),
    ),
    "tag": Options(short="l", joined="n", long=_LIST, most_operands=0),
    "remote": Options(short="v", long=("--verbose",), most_operands=0),
}  # fmt: skip
# Subcommands that only look if they are followed by this second word.
_WORDS: dict[tuple[str, str], Options] = {
    ("stash", "list"): Options(short="p", long=_LOG, numbers=True, most_operands=0),
    ("stash", "show"): Options(short="pu", long=_DIFF, most_operands=1),
    ("remote", "get-url"): Options(long=("--all", "--push"), text_operands=1, most_operands=1),
    ("worktree", "list"): Options(short="vz", long=("--porcelain", "--verbose"), most_operands=0),
    ("reflog", "show"): Options(texts="n", long=_LOG, numbers=True),
    ("bisect", "log"): Options(most_operands=0),
    ("notes", "list"): Options(most_operands=1),
    ("config", "--get"): Options(text_operands=1, most_operands=1),
    ("config", "--get-all"): Options(text_operands=1, most_operands=1),
}
# Subcommands that only look if one of the given options is present.
_ONLY_WITH: dict[str, tuple[Options, tuple[str, ...]]] = {
    "format-patch": (Options(short="k", long=("--stdout", "--root", "--no-stat"), numbers=True), ("--stdout",)),
    "clean": (Options(short="ndxX", texts="e", long=("--dry-run", "--exclude=")), ("-n", "--dry-run")),
}
# With these options branch and tag only list, and their operands are patterns.
_LISTS = {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}
# Subcommands that show the contents of files, and those that do so if they are asked for patches.
_SHOWS = {"diff", "show", "grep", "whatchanged", "format-patch", "range-diff"}
_SHOWS_PATCH = {"log", "stash", "reflog", "rev-list", "diff-tree", "diff-index", "diff-files"}
_PATCH = re.compile(
    r"-[A-Za-z]*[pucLUW].*|--patch.*|--cc|--unified.*|--function-context|--binary|--check|--(?:color-words|word-diff).*"
)
_NO_PATCH = re.compile(r"--(?:stat|shortstat|numstat|dirstat|name-only|name-status|summary|no-patch|quiet|raw).*|-s")
_OBJECT = re.compile(r"[0-9a-f]{4,64}", re.IGNORECASE)
_CHECKS_SIGNATURE = re.compile(r"%[-+ ]?G|%\(\*?signature")


_DANGERS = {
    "push": "it publishes commits",
    "clean": "it removes files",
    **dict.fromkeys(("reset", "checkout", "restore"), "it may discard work"),
    **dict.fromkeys(("rebase", "filter-branch", "filter-repo", "update-ref"), "it rewrites history"),
    "config": "it changes what git runs",
    "gc": "it may delete unreachable git objects",
}


def recognise_git(words: Sequence[Word], folders: CommandFolders) -> None:
    """Raises NotReadOnly for every git command that is not known to only look."""
    rest = list(words)
    root = folders.at_root
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option == "--version" and not rest:
            return
        if option == "-C" and rest and not rest[0].glob:
            folder = rest.pop(0).text
            root = root if folder == "." else folder.startswith("/") and folders.is_root(folder)
        elif option not in ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"):
            raise NotReadOnly(say("the git option {option} may change things", option=option))
    if not root:
        raise NotReadOnly("git runs below the root of the workspace, where it may use another repository")
    if not rest or any(each.glob for each in rest[:2]):
        raise NotReadOnly("git is given no plain subcommand")
    if any(_CHECKS_SIGNATURE.search(each.text) for each in rest):
        raise NotReadOnly("git would have a signature checked by another program")
    if any(each.text.startswith("-") for each in _after_the_options(rest)[1:]):
        raise NotReadOnly("git blame takes options even behind --")
    _subcommand(rest, folders)
    if not folders.sandboxed:
        raise NotReadOnly("git may start programs that a repository names, and there is no sandbox")


def has_git_table(words: Sequence[str]) -> bool:
    """Whether the tables know this subcommand. The answer is also yes without a subcommand or with options before it,
    so that an allow rule covers such a command only if it is proved to only read."""
    if not words or words[0].startswith("-"):
        return True
    name, second = words[0], words[1] if len(words) > 1 else ""
    return name in SUBCOMMANDS or name in _ONLY_WITH or name in ("reflog", "config") or (name, second) in _WORDS


def _subcommand(words: list[Word], folders: CommandFolders) -> Operands | None:
    name, second = words[0].text, words[1].text if len(words) > 1 else ""
    if (name, second) in _WORDS:
        return check(words[2:], _WORDS[name, second], folders)
    if name == "reflog" and (not second or second.startswith("-")):
        return check(words[1:], _WORDS["reflog", "show"], folders)
    if name == "config" and len(words) == 2 and re.fullmatch(r"[a-z]+(\.[\w-]+)+", second, re.IGNORECASE):
        return None
    if name in ("branch", "tag") and _LISTS & {word.text for word in words}:
        return check(words[1:], Options(short="arvil", joined="n", long=_LIST, text_operands=99), folders)
    if name in _ONLY_WITH:
        known, needed = _ONLY_WITH[name]
        operands = check(words[1:], known, folders)
        if not set(needed) & set(operands.options):
            raise NotReadOnly(say("git {name} only reads with {option}", name=name, option=needed[-1]))
        return operands
    if name not in SUBCOMMANDS:
        raise NotReadOnly(say("git {name} may change things", name=name))
    return check(words[1:], SUBCOMMANDS[name], folders)


def _after_the_options(words: list[Word]) -> list[Word]:
    """The words from `--` on."""
    return list(dropwhile(lambda word: word.text != "--", words))


def find_git_danger(rest: Sequence[str]) -> str | None:
    """The reason why a git command is dangerous, if it is. Options before the subcommand can name programs to run."""
    if rest and rest[0].startswith(("-c", "--exec-path", "--config-env")):
        return "it changes what git runs"
    words = list(rest)
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-C", "--git-dir", "--work-tree") else 1 :]
    if words[:2] in (["config", "--get"], ["config", "--get-all"], ["config", "--list"]):
        return None
    if words[:1] == ["config"] and len(words) == 2 and not words[1].startswith("-"):
        return None
    if words[:1] == ["clean"] and any(re.fullmatch(r"-[dxX]*n[dxX]*|--dry-run", word) for word in words):
        return None
    if words[:2] == ["checkout", "-b"] and not any(word.startswith("-") for word in words[2:]):
        return None
    if words[:1] == ["branch"] and {"-D", "-d", "--delete", "-f"} & set(words):
        return "it removes or moves a branch"
    if words[:2] in (["stash", "drop"], ["stash", "clear"]):
        return "it discards work"
    return _DANGERS.get(words[0]) if words else None


def shown_by_git(words: Sequence[str]) -> tuple[list[str], bool]:
    """The paths behind `--` of a git command that shows the contents of files, or else the whole folder; and whether
    it shows untracked files too."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "-C" else 1
    subcommand, rest = words[at] if at < len(words) else "", words[at + 1 :]
    if not _shows(subcommand, rest):
        return [], False
    behind = list(rest[rest.index("--") + 1 :]) if "--" in rest else []
    if any(set(path) & set(":*?[\\") for path in behind):
        behind = []  # a git pathspec pattern may match any file
    return behind or ["."], subcommand == "grep" and "--untracked" in rest


def _shows(subcommand: str, rest: Sequence[str]) -> bool:
    patch = any(map(_PATCH.fullmatch, rest))
    by_number = any(map(_OBJECT.fullmatch, rest))  # an object id may be that of a file
    if subcommand in _SHOWS_PATCH:
        return patch
    if subcommand == "cat-file":
        return by_number and not {"-t", "-s", "-e"} & {*rest}
    quiet = any(map(_NO_PATCH.fullmatch, rest)) and not patch and not (subcommand == "show" and by_number)
    return subcommand in _SHOWS and not quiet


GIT = Program(
    recognise=recognise_git,
    builds={
        ("add",): Build(Options(short="AuvN", long=("--all", "--update", "--verbose")), changes=True),
        ("commit",): Build(
            Options(short="aqv", texts="m", long=("--all", "--message=", "--quiet"), most_operands=0),
            signature_options=("-a", "--all"),
            changes=True,
        ),
    },
    whole="grep",
    listing=frozenset(("ls-files", "ls-tree", "grep", "--name-only", "--name-status")),
    shown_paths=shown_by_git,
    messages=frozenset(("commit", "tag", "notes", "merge", "stash")),
    joins_subcommand=True,
    renaming=r"(?:-c)?alias\.|--config-env",
    command_after=("foreach", "run", "--exec", "-x"),
    find_danger=find_git_danger,
    network=frozenset(("fetch", "pull", "push", "clone", "ls-remote")),
)
