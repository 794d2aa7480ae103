"""The shadow repository: our own git folder (settings, index, objects) for a person's work tree.

The person's own git folder is only ever read.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

from coderelay.workspace.trees.git_subprocess import Cancellation, Git, GitFailed, git_in
from coderelay.workspace.trees.project_repository import ProjectRepository, read_regular

_MOST_INDEX = 1 << 30
_MOST_RULES = 1 << 20
_HARMLESS = ("core.ignorecase", "core.precomposeunicode")
_PLAIN = (*_HARMLESS, "core.filemode", "core.symlinks", "core.autocrlf", "core.eol")

# Attributes that store bytes unchanged, and keep the repository's own attributes from deciding how diffs show them.
_EXACT = b"* -text -ident !filter !working-tree-encoding !diff\n"
# Where there is no repository, there often are no ignore rules either. What these folders hold can be fetched again.
_USUALLY_IGNORED = b"node_modules/\n.venv/\nvenv/\n__pycache__/\n.tox/\n.gradle/\n.mypy_cache/\n.ruff_cache/\n"
_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = false
\tfsmonitor = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tsplitIndex = false
\tuntrackedCache = false
\tprotectNTFS = false
\tprotectHFS = false
\tquotePath = false
\tcompression = 1
\tcreateObject = rename
\tlogAllRefUpdates = false
[index]
\tsparse = false
\tskipHash = true
[fastimport]
\tunpackLimit = 1
[gc]
\tauto = 0
[protocol]
\tallow = never
"""


class ShadowRepository:
    """Our git folder for one work tree. `source` is the environment in which git is found."""

    def __init__(
        self, folder: str, repository: ProjectRepository, source: Mapping[str, str], cancellation: Cancellation
    ) -> None:
        self.folder = folder
        self.repository = repository
        self.hash_name = repository.hash_name()
        self.git = git_in(folder, repository.root, source, cancellation)
        self._source = source

    @property
    def reader(self) -> Git:
        """Git that also reads the person's objects. Do not use it to write objects: git would update the times of
        those that the person has already."""
        return self.git if self.repository.alone else self.git.reading(self.repository.objects)

    @property
    def index(self) -> str:
        return os.path.join(self.folder, "index")

    @contextmanager
    def locked(self) -> Generator[None]:
        """Lock the shadow against other processes. A lock file of git's own that a killed process left is removed."""
        os.makedirs(self.folder, 0o700, exist_ok=True)
        file = os.open(os.path.join(self.folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _try_lock(file):
                self.git.cancellation.check()
                time.sleep(0.005)
            self.git = self.git.inheriting_descriptors(file)
            os.utime(file)
            with suppress(FileNotFoundError):
                os.unlink(self.index + ".lock")
            yield
        finally:
            self.git = self.git.inheriting_descriptors()
            os.close(file)

    def prepare(self, *, exact: bool, hidden: str) -> None:
        """Create the folder, or bring its rules up to date. With `exact`, every file is stored byte by byte;
        otherwise files are seen as the person's git sees them. `hidden` is a folder of ours, which is ignored if it
        is in the work tree."""
        for each in ("", "objects", "objects/pack", "refs", "info"):
            os.makedirs(os.path.join(self.folder, each), 0o700, exist_ok=True)
        if not os.path.exists(os.path.join(self.folder, "HEAD")):
            self._configure(exact)
        self._follow_work_tree()
        self._write("info/exclude", self._rules(hidden))
        self._write("info/attributes", _EXACT if exact else self._person_git_file("attributes"))

    def copy_index(self, name: str) -> str:
        """Copy the person's index into our folder. Its time is kept: git trusts files older than the index."""
        ours = os.path.join(self.folder, name)
        with suppress(FileNotFoundError):
            os.unlink(ours)
        for theirs in () if self.repository.alone else _index_files(self.repository.git_folder):
            path = os.path.join(self.repository.git_folder, theirs)
            content = read_regular(path, _MOST_INDEX)
            if content is not None:
                found = os.stat(path)
                copied = name if theirs == "index" else theirs
                self._write(copied, content)
                os.utime(os.path.join(self.folder, copied), ns=(found.st_atime_ns, found.st_mtime_ns))
        return ours

    def forget_index(self) -> None:
        self._forget("index")

    def rules(self) -> str:
        """A hash of the ignore rules outside of the .gitignore files: it changes whenever those rules do."""
        return self.hash(self.remembered("info/exclude"))

    def remembered(self, name: str) -> bytes:
        return read_regular(os.path.join(self.folder, name), _MOST_INDEX) or b""

    def remember(self, name: str, content: bytes) -> None:
        self._write(name, content)

    def hash(self, data: bytes) -> str:
        return hashlib.new(self.hash_name, data, usedforsecurity=False).hexdigest()

    def _follow_work_tree(self) -> None:
        """Forget the index and the lists of paths if their paths began at another folder: a repository was created or
        removed since. The objects stay."""
        now = os.fsencode(f"{self.repository.alone:d} {self.repository.root}")
        before = self.remembered("work-tree")
        if before not in (now, b""):
            self._forget("index", "adopted", "named", "repositories")
        self._write("work-tree", now)

    def _forget(self, *names: str) -> None:
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder, name))

    def _configure(self, exact: bool) -> None:
        """HEAD is written last: its existence means that the folder is complete."""
        self._write("config", b"")
        persons = self._settings(os.path.join(self._source.get("HOME", "/"), ".gitconfig"))
        settings = persons | self._settings(os.path.join(self.repository.common, "config"))
        sha256 = self.hash_name == "sha256"
        text = _CONFIG.format(version=int(sha256))
        for name in _HARMLESS if exact else _PLAIN:
            if name in settings:
                text += f"[core]\n\t{name.partition('.')[2]} = {_config_value(settings[name])}\n"
        if sha256:
            text += "[extensions]\n\tobjectFormat = sha256\n"
        self._write("config", os.fsencode(text))
        self._write("excludes", os.fsencode(self._excludes(persons)))
        self._write("HEAD", b"ref: refs/heads/none\n")

    def _settings(self, file: str) -> dict[str, str]:
        """The settings in one git config file. Files that it includes are not read."""
        if not os.path.isfile(file):
            return {}
        try:
            said = self.git.with_env(GIT_DIR="/dev/null").run("config", "-z", "--file", file, "--list")
        except GitFailed:  # repairing a damaged file is up to the person
            return {}
        pairs = (line.partition("\n") for line in os.fsdecode(said).split("\0"))
        return {name: value for name, equals, value in pairs if equals}

    def _rules(self, hidden: str) -> bytes:
        """The ignore rules of the person, of the repository, and ours, in this order: the last match counts."""
        persons = read_regular(os.fsdecode(self.remembered("excludes")), _MOST_RULES) or b""
        usual = _USUALLY_IGNORED if self.repository.alone else b""
        return usual + persons + b"\n" + self._person_git_file("exclude") + _rule_for(hidden, self.repository.root)

    def _excludes(self, persons: Mapping[str, str]) -> str:
        home = self._source.get("HOME", "/")
        default = os.path.join(self._source.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "ignore")
        named = persons.get("core.excludesfile", default)
        return os.path.join(home, named.removeprefix("~/"))

    def _person_git_file(self, name: str) -> bytes:
        found = read_regular(os.path.join(self.repository.common, "info", name), _MOST_RULES) or b""
        return found + b"\n" if found else b""

    def _write(self, name: str, content: bytes) -> None:
        path = os.path.join(self.folder, name)
        if read_regular(path, len(content) + 1) == content:
            return
        with open(path + ".new", "wb", opener=_private) as file:
            file.write(content)
        os.replace(path + ".new", path)


def index_mark(repository: ProjectRepository) -> bytes:
    """A value that changes whenever the person's index does."""
    try:
        found = os.stat(repository.index)
    except OSError:
        return b""
    return b"%d-%d-%d" % (found.st_mtime_ns, found.st_size, found.st_ino)


def _index_files(git_folder: str) -> list[str]:
    """The index, and the shared index files if it is split."""
    return [name for name in os.listdir(git_folder) if name == "index" or name.startswith("sharedindex.")]


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _rule_for(hidden: str, root: str) -> bytes:
    if not hidden.startswith(root + os.sep):
        return b""
    path = os.fsencode(os.path.relpath(hidden, root))
    return b"/" + b"".join(b"\\" + bytes([each]) if each in b"\\*?[ " else bytes([each]) for each in path) + b"/\n"


def _config_value(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
