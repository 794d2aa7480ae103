"""C-39: which listed command fits a project, by its files and by what was edited. Real folders."""

import json
from pathlib import Path

import pytest

from coderelay.agents.native.workflow.project_test_command import ProjectFiles, infer_command
from coderelay.agents.native.workflow.verification_command_choice import CheckCommand
from coderelay.workspace.files.confined_files import ConfinedFiles
from tests.tools.toolbox_scene import lay_out

TESTED = json.dumps({"scripts": {"test": "vitest run"}})
UNTESTED = json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})
DEEP = f'{{"scripts": {{"test": {"[" * 100_000}{"]" * 100_000}}}}}'
GO, PYTEST, CARGO, MAVEN = (
    CheckCommand(each) for each in ("go test ./...", "pytest -q", "cargo test", "mvn -q test")
)
NPM, PNPM, YARN = (
    CheckCommand(each)
    for each in ("npm test -- --watch=false", "pnpm test -- --watch=false", "yarn test --watch=false")
)


def inferred(root: Path, files: dict[str, str], *edited: str) -> CheckCommand | None:
    lay_out(root, files)
    return infer_command(ProjectFiles(ConfinedFiles([str(root)])), edited)


@pytest.mark.parametrize(
    ("files", "edited", "choice"),
    [
        ({"go.mod": "module a"}, "main.go", GO),
        ({"pyproject.toml": ""}, "src/a/b.py", PYTEST),
        ({"setup.py": ""}, "a.py", PYTEST),
        ({"pytest.ini": ""}, "a.py", PYTEST),
        ({"requirements.txt": ""}, "a.py", PYTEST),
        ({"test_a.py": ""}, "a.py", PYTEST),
        ({"tests/test_a.py": ""}, "src/a.py", PYTEST),
        ({"a.py": ""}, "a.py", None),
        ({"Cargo.toml": ""}, "src/lib.rs", CARGO),
        ({"pom.xml": ""}, "src/main/java/A.java", MAVEN),
        ({"build.gradle": ""}, "src/main/java/A.java", CheckCommand("gradle test")),
        ({"build.gradle.kts": "", "gradlew": ""}, "src/main/kotlin/A.kt", CheckCommand("./gradlew test")),
        (
            {"gradlew": "", "settings.gradle": "", "app/build.gradle": ""},
            "app/A.java",
            CheckCommand("./gradlew test"),
        ),
        ({"app/build.gradle": ""}, "app/A.java", CheckCommand("gradle test", "app")),
        ({"package.json": TESTED}, "index.ts", NPM),
        ({"package.json": TESTED, "package-lock.json": ""}, "index.ts", NPM),
        ({"package.json": TESTED, "pnpm-lock.yaml": ""}, "index.ts", PNPM),
        ({"package.json": TESTED, "yarn.lock": ""}, "index.ts", YARN),
        ({"package.json": json.dumps({**json.loads(TESTED), "packageManager": "pnpm@9"})}, "a.js", PNPM),
        ({"package.json": json.dumps({**json.loads(TESTED), "packageManager": "bun@1"})}, "a.js", NPM),
        ({"package.json": UNTESTED}, "index.ts", None),
        ({"package.json": "{}"}, "index.ts", None),
        ({"package.json": json.dumps({"scripts": {"test": " "}})}, "index.ts", None),
        ({"package.json": json.dumps({"scripts": {"test": 3}})}, "index.ts", None),
        ({"package.json": json.dumps({"scripts": "jest"})}, "index.ts", None),
        ({"package.json": json.dumps({"scripts": {"test": "node --test"}})}, "index.ts", None),
        ({"package.json": "not json"}, "index.ts", None),
        ({"package.json": DEEP}, "index.ts", None),
        ({"package.json": json.dumps({"scripts": {"test": "jest\nnode --test"}})}, "index.ts", None),
        ({"Makefile": "test:\n\trm -rf /"}, "a.c", None),
        ({}, "a.go", None),
    ],
)
def test_c39_a_project_is_known_by_its_files(
    tmp_path: Path, files: dict[str, str], edited: str, choice: CheckCommand | None
) -> None:
    assert inferred(tmp_path, files, edited) == choice


MIXED = {
    "pyproject.toml": "",
    "web/package.json": TESTED,
    "web/pnpm-lock.yaml": "",
    "web/packages/ui/package.json": UNTESTED,
    "server/go.mod": "module a",
    "native/Cargo.toml": "",
}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("edited", "choice"),
    [
        (("src/a.py",), PYTEST),
        (("web/src/a.ts",), CheckCommand(PNPM.command, "web")),
        (("web/packages/ui/a.ts",), CheckCommand(PNPM.command, "web")),
        (("web/tools/gen.py",), PYTEST),
        (("server/a.go",), CheckCommand(GO.command, "server")),
        (("native/src/a.rs", "src/a.py"), CheckCommand(CARGO.command, "native")),
        (("src/a.py", "server/a.go", "server/b.go"), CheckCommand(GO.command, "server")),
        (("server/config.yaml",), CheckCommand(GO.command, "server")),
        (("Dockerfile",), PYTEST),
        (("src/a.ts",), PYTEST),
        ((), None),
    ],
)
def test_c39_in_a_mixed_project_the_nearest_marker_counts(
    tmp_path: Path, edited: tuple[str, ...], choice: CheckCommand | None
) -> None:
    assert inferred(tmp_path, MIXED, *edited) == choice


def test_c39_two_projects_in_one_folder_are_told_apart_by_what_was_edited(tmp_path: Path) -> None:
    both = {"pyproject.toml": "", "package.json": TESTED, "go.mod": "", "Cargo.toml": "", "pom.xml": ""}
    assert [inferred(tmp_path, both, f"a.{each}") for each in ("py", "tsx", "go", "rs", "java", "txt")] == [
        PYTEST,
        NPM,
        GO,
        CARGO,
        MAVEN,
        GO,
    ]


def test_c39_a_script_without_tests_is_not_checked_by_another_language(tmp_path: Path) -> None:
    assert inferred(tmp_path, {"package.json": UNTESTED, "pyproject.toml": ""}, "a.ts") is None


def test_c39_a_script_that_is_long_takes_no_longer_than_it_is(tmp_path: Path) -> None:
    """Bounded by the timeout of the test: quadratic would be hours."""
    assert inferred(tmp_path, {"package.json": json.dumps({"scripts": {"test": "node " * 200_000}})}, "a.ts") == NPM


def test_c39_nothing_above_or_beside_the_folder_is_looked_at(tmp_path: Path) -> None:
    lay_out(tmp_path, {"pyproject.toml": "", "other/package.json": TESTED, "work/a.py": ""})
    (tmp_path / "work" / "package.json").symlink_to(tmp_path / "other" / "package.json")
    files = ProjectFiles(ConfinedFiles([str(tmp_path / "work")]))
    for edited in ("a.py", "../a.py", f"{tmp_path}/a.py", "a.ts"):
        assert infer_command(files, [edited]) is None


def test_c39_a_file_of_another_folder_of_the_session_is_checked_there(tmp_path: Path) -> None:
    lay_out(tmp_path, {"work/pyproject.toml": "", "other/go.mod": "", "other/a.go": ""})
    files = ProjectFiles(ConfinedFiles([str(tmp_path / "work"), str(tmp_path / "other")]))
    assert infer_command(files, [f"{tmp_path}/other/a.go"]) == CheckCommand(GO.command, f"{tmp_path}/other")
