"""Infers a project's test command from its marker files (go.mod, package.json, …) nearest to the edited files."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from posixpath import dirname, join, splitext
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from coderelay.agents.native.workflow.verification_command_choice import CheckCommand
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files.confined_files import ConfinedFiles

Language = Literal["go", "python", "node", "rust", "java"]
_MOST_BYTES = 1 << 20


class ProjectFolder(Protocol):
    """The session's folder. Paths are relative to it, with `/`; the empty path is the folder itself."""

    def names(self, folder: str) -> Collection[str]:
        """The names of the entries of a folder; empty if the folder does not exist."""
        ...

    def text(self, path: str) -> str:
        """The text of a file; empty if it cannot be read."""
        ...


class ProjectKind(Struct, frozen=True):
    language: Language
    markers: tuple[str, ...]
    suffixes: tuple[str, ...]


_JAVA = (".java", ".kt", ".kts", ".groovy", ".scala")
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
_GO = ProjectKind("go", ("go.mod",), (".go",))
_PYTHON = ProjectKind(
    "python",
    ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt"),
    (".py", ".pyi"),
)
_NODE = ProjectKind("node", ("package.json",), _SCRIPTS)
_RUST = ProjectKind("rust", ("Cargo.toml",), (".rs",))
_MAVEN = ProjectKind("java", ("pom.xml",), _JAVA)
_GRADLE = ProjectKind("java", ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"), _JAVA)
KINDS = (
    _GO,
    _PYTHON,
    _NODE,
    _RUST,
    _MAVEN,
    _GRADLE,
)  # of two kinds in one folder the first is used, if nothing else decides
_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_NODE_COMMANDS = {
    "npm": "npm test -- --watch=false",
    "pnpm": "pnpm test -- --watch=false",
    "yarn": "yarn test --watch=false",
}


def infer_command(files: ProjectFolder, edited: Sequence[str]) -> CheckCommand | None:
    """The command of the project that most of the edited files belong to; in a tie, of the project that was edited
    first."""
    found = [choice for path in edited if (choice := _choice_for(files, path)) is not None]
    return Counter(found).most_common(1)[0][0] if found else None


def _choice_for(files: ProjectFolder, path: str) -> CheckCommand | None:
    """A file in one of the known languages is checked only by a project of that language, if there is one."""
    suffix = splitext(path)[1].lower()
    marked = list(_marked(files, path))
    own = [each for each in marked if suffix in each[1].suffixes]
    if not own and suffix in _PYTHON.suffixes and (loose := _loose_tests(files)):
        return loose
    choices = (_choice(files, folder, kind) for folder, kind in own or marked)
    return next((choice for choice in choices if choice is not None), None)


def _marked(files: ProjectFolder, path: str) -> Iterator[tuple[str, ProjectKind]]:
    """The projects that contain a file, innermost first."""
    for folder in _folder_and_parents(dirname(path)):
        names = files.names(folder)
        for kind in KINDS:
            if any(marker in names for marker in kind.markers):
                yield folder, kind


def _folder_and_parents(folder: str) -> Iterator[str]:
    """All folders from this one up to the session's folder, or up to the root of the disk if it is outside the
    session's folder."""
    while folder not in ("", "/"):
        yield folder
        folder = dirname(folder)
    yield folder


def _choice(files: ProjectFolder, folder: str, kind: ProjectKind) -> CheckCommand | None:
    if kind is _GO:
        return CheckCommand("go test ./...", folder)
    if kind is _PYTHON:
        return CheckCommand("pytest -q", folder)
    if kind is _RUST:
        return CheckCommand("cargo test", folder)
    if kind is _MAVEN:
        return CheckCommand("mvn -q test", folder)
    return _gradle(files, folder) if kind is _GRADLE else _node(files, folder)


def _gradle(files: ProjectFolder, folder: str) -> CheckCommand:
    """The gradlew script of a project is usually in its topmost folder."""
    for above in _folder_and_parents(folder):
        if "gradlew" in files.names(above):
            return CheckCommand("./gradlew test", above)
    return CheckCommand("gradle test", folder)


class Package(Struct, frozen=True, rename="camel"):
    scripts: dict[str, object] = {}
    package_manager: str = ""


def _node(files: ProjectFolder, folder: str) -> CheckCommand | None:
    try:
        package = msgspec.json.decode(files.text(join(folder, "package.json")), type=Package)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not _is_real(package.scripts.get("test")):
        return None
    return CheckCommand(_NODE_COMMANDS[_package_manager(files, folder, package)], folder)


def _is_real(script: object) -> bool:
    """Whether a test script runs tests and ends. `npm init` writes a script that only says that there are no tests.
    `node --test` would watch for ever, because it takes `--watch=false`, which the listed commands pass on, for
    `--watch`."""
    if not isinstance(script, str) or not script.strip() or "no test specified" in script:
        return False
    return re.match(r"(?s)(?>.*?\bnode\b).*--test\b", script) is None


def _package_manager(files: ProjectFolder, folder: str, package: Package) -> str:
    for above in _folder_and_parents(folder):
        names = files.names(above)
        if lock := next((lock for lock in _LOCKS if lock in names), None):
            return _LOCKS[lock]
    said = package.package_manager.partition("@")[0]
    return said if said in _NODE_COMMANDS else "npm"


def _loose_tests(files: ProjectFolder) -> CheckCommand | None:
    """The command for Python scripts with tests beside them but without a project file."""
    names = [*files.names(""), *files.names("tests"), *files.names("test")]
    return CheckCommand("pytest -q") if any(_is_test(name) for name in names) else None


def _is_test(name: str) -> bool:
    return name == "conftest.py" or (name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py")))


class ProjectFiles:
    def __init__(self, disk: ConfinedFiles) -> None:
        self._disk = disk
        self._names: dict[str, frozenset[str]] = {}

    def names(self, folder: str) -> frozenset[str]:
        if folder not in self._names:
            self._names[folder] = self._list(folder)
        return self._names[folder]

    def text(self, path: str) -> str:
        try:
            return self._disk.read(path, _MOST_BYTES).data.decode("utf-8", "replace")
        except ToolFailed:
            return ""

    def _list(self, folder: str) -> frozenset[str]:
        try:
            return frozenset(entry.name for entry in self._disk.list(folder or "."))
        except ToolFailed:
            return frozenset()
