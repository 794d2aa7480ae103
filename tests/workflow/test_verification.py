"""C-37, C-41 to C-43, X-33: when the work is checked, how often, and what is said about it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.agents.native.native_settings import VerificationSettings
from coderelay.agents.native.workflow.message_texts import best_effort, not_run, repair_prompt, still_failing
from coderelay.agents.native.workflow.project_test_command import ProjectFiles
from coderelay.agents.native.workflow.verification_after_edits import (
    CannotTell,
    Passed,
    Repair,
    Skip,
    StillFailing,
    TurnWork,
    Verify,
    after_run,
    edited_in,
    is_document,
    verification_due,
)
from coderelay.agents.native.workflow.verification_command_choice import CheckCommand
from coderelay.agents.native.workflow.verification_failure_cause import CheckRun
from coderelay.protocol.asks import Allow, Deny
from coderelay.protocol.calls import Finished
from coderelay.protocol.events import CallEnded
from coderelay.protocol.session_setting_values import Mode
from coderelay.session.fold import fold
from coderelay.workspace.files.confined_files import ConfinedFiles
from tests.house import house, story
from tests.model_server import bash, call, proposes, read, says, script, write
from tests.tools.toolbox_scene import lay_out

EDITED = TurnWork("auto-edit", ("fix it",), ("src/a.py",))
PYTEST = Verify(CheckCommand("pytest -q"))


@pytest.fixture
def files(tmp_path: Path) -> ProjectFiles:
    lay_out(tmp_path, {"pyproject.toml": ""})
    return ProjectFiles(ConfinedFiles([str(tmp_path)]))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("mode", "prompt", "due"),
    [
        ("auto-edit", "fix it", PYTEST),
        ("yolo", "fix it", PYTEST),
        ("default", "fix it", None),
        ("default", "fix it and run the tests", PYTEST),
        ("default", "修复它并执行验证", PYTEST),
        ("default", "修复它，不要验证", None),
        ("default", "don't run tests", None),
        ("plan", "fix it", None),
        ("plan", "执行验证", None),
        ("auto-edit", "修复它，不要验证", Skip("refused")),
        ("yolo", "fix it, but don't run the tests", Skip("refused")),
        ("auto-edit", "fix it, check with cargo test", Verify(CheckCommand("cargo test"))),
    ],
)
def test_c37_the_mode_and_the_person_decide(
    files: ProjectFiles, mode: Mode, prompt: str, due: Verify | Skip | None
) -> None:
    assert verification_due(replace(EDITED, mode=mode, prompts=(prompt,)), VerificationSettings(), files) == due


@pytest.mark.quick
@pytest.mark.parametrize(
    ("work", "settings"),
    [
        (replace(EDITED, edited=()), VerificationSettings()),
        (replace(EDITED, edited=("README.md", "docs/conf.py", "a/b.MD")), VerificationSettings()),
        (replace(EDITED, bash=False), VerificationSettings()),
        (EDITED, VerificationSettings(enabled=False)),
        (replace(EDITED, runs=3), VerificationSettings()),
        (replace(EDITED, runs=1), VerificationSettings(attempts=0)),
    ],
)
def test_c37_each_condition_must_hold(files: ProjectFiles, work: TurnWork, settings: VerificationSettings) -> None:
    assert verification_due(EDITED, VerificationSettings(), files) == PYTEST
    assert verification_due(work, settings, files) is None


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("README.md", True),
        ("src/NOTES.MD", True),
        ("docs/guide.html", True),
        ("docs/deep/a.py", True),
        ("manual.rst", True),
        ("a.py", False),
        ("src/docs.py", False),
        ("src/docs/views.py", False),
        ("docs.py", False),
        ("mydocs/a.py", False),
        ("requirements.txt", False),
        ("a.md.py", False),
    ],
)
def test_c37_documents_need_no_check(path: str, document: bool) -> None:
    assert is_document(path) == document


def test_c37_one_file_of_code_among_documents_is_enough(files: ProjectFiles) -> None:
    assert verification_due(replace(EDITED, edited=("README.md", "a.py")), VerificationSettings(), files) == PYTEST


def test_c41_no_command_is_said(tmp_path: Path) -> None:
    files = ProjectFiles(ConfinedFiles([str(tmp_path)]))
    assert verification_due(EDITED, VerificationSettings(), files) == Skip("no command")
    off = VerificationSettings(commands=("make test", "pytest"))
    assert verification_due(replace(EDITED, prompts=("run make test",)), off, files) == Skip("no command")


@pytest.mark.quick
@pytest.mark.parametrize(("attempts", "runs"), [(0, 1), (1, 2), (2, 3), (3, 3), (5, 3)])
def test_c42_x33_settings_only_tighten_how_often_it_runs(files: ProjectFiles, attempts: int, runs: int) -> None:
    settings = VerificationSettings(attempts=attempts)
    seen: list[object] = []
    work = EDITED
    while isinstance(verification_due(work, settings, files), Verify):
        work = replace(work, runs=work.runs + 1)
        seen.append(after_run(CheckRun(1, "1 failed"), "pytest -q", work, settings))
    assert seen == [Repair()] * (runs - 1) + [StillFailing()]


def test_c42_c43_what_follows_from_how_it_went() -> None:
    work, settings = replace(EDITED, runs=1), VerificationSettings()
    assert after_run(CheckRun(0, "1 passed"), "pytest -q", work, settings) == Passed()
    assert after_run(CheckRun(5), "pytest -q", work, settings) == CannotTell("no tests")
    assert after_run(CheckRun(2, "No module named 'src.b'"), "pytest -q", work, settings) == Repair()
    assert after_run(CheckRun(2, "No module named 'b'"), "pytest -q", work, settings) == CannotTell("module missing")
    assert after_run(CheckRun("not run"), "pytest -q", replace(work, runs=3), settings) == CannotTell("not run")


@pytest.mark.quick
def test_c41_c42_c43_the_words_are_those_of_the_seed() -> None:
    assert not_run("no command", "zh").startswith("未执行自动验证：")
    assert not_run("refused", "zh") == "未执行自动验证：按你的要求"
    assert not_run("refused", "en") == "tests not run: as you asked"
    assert repair_prompt("pytest -q", "zh") == "`pytest -q` 未通过。请修复并再次验证。"
    assert repair_prompt("pytest -q", "en") == "`pytest -q` failed. Please fix this and run it again."
    assert best_effort("cargo test", "no network", "zh") == (
        "best-effort 警告：`cargo test` 未能验证改动（需要网络），自动验证结束"
    )
    assert best_effort("cargo test", "no network", "en") == (
        "warning: could not check the changes with `cargo test`: it needs the network"
    )
    assert still_failing("cargo test", 3, "en") == "`cargo test` still fails after 3 runs; not trying again"
    assert still_failing("cargo test", 3, "zh") == "`cargo test` 运行 3 次后仍未通过，自动验证结束"


@story
async def test_c37_write_edit_and_patch_count_as_edits_and_nothing_else_does(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: c.py\n+x\n*** End Patch"
    calls = (
        write("a.py", "x = 1\n"),
        call("edit", path="b.py", old="1", new="2"),
        call("patch", patch=patch),
        read("d.py"),
        bash("touch e.py"),
        call("edit", path="d.py", old="not there", new="2"),
    )
    async with house(tmp_path, script(proposes(read("b.py"), read("d.py")), proposes(*calls), says("done"))) as coder:
        lay_out(coder.folder, {"b.py": "x = 1\n", "d.py": "x = 1\n"})
        session = await coder.create("yolo")
        await coder.prompt("go")
        await coder.ended()
        log = await coder.events()
        ends = [each.event for each in log if isinstance(each.event, CallEnded)]
        assert [isinstance(end.outcome, Finished) for end in ends] == [*[True] * 7, False]
        calls_made = fold(session, log).calls.values()
        assert edited_in(calls_made, ConfinedFiles([str(coder.folder)]).relative) == ("a.py", "b.py", "c.py")


@story
async def test_c37_a_change_that_was_not_allowed_is_none(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a.py", "x"), write("b.py", "x")), says("done"))) as coder:
        session = await coder.create("default")
        await coder.prompt("go")
        allowed, denied = await coder.asks()
        await coder.answer(allowed, Allow())
        await coder.answer(denied, Deny())
        await coder.ended()
        calls_made = fold(session, await coder.events()).calls.values()
        assert edited_in(calls_made, ConfinedFiles([str(coder.folder)]).relative) == ("a.py",)
