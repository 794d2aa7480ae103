"""C-42, C-43: whether a check that failed can be mended by the model, or is the machine's fault."""

import sys
from pathlib import Path

import pytest

from coderelay.agents.native.workflow.verification_failure_cause import (
    CheckRun,
    Trouble,
    environment_failure_of,
    run_of,
)
from coderelay.protocol.calls import CommandEnd, Denied, Failed, Finished, Stopped, Unknown
from tests.house import story
from tests.tools.toolbox_scene import lay_out, scene

PYTEST = "pytest -q"
NPM = "npm test -- --watch=false"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("command", "code", "output", "trouble"),
    [
        (PYTEST, 0, "2 passed", None),
        (PYTEST, 1, "E   assert 1 == 2\n1 failed, 3 passed in 0.1s", None),
        (PYTEST, 2, "E     SyntaxError: invalid syntax\n1 error in 0.1s", None),
        (PYTEST, 2, "E   ModuleNotFoundError: No module named 'requests'\n1 error in 0.1s", "module missing"),
        (PYTEST, 2, "E   ModuleNotFoundError: No module named 'shop.cart'\n1 error in 0.1s", None),
        (PYTEST, 2, "E   ModuleNotFoundError: No module named 'shop'\n1 error in 0.1s", None),
        (PYTEST, 1, "ModuleNotFoundError: No module named 'requests'\n1 failed, 1 error", None),
        (PYTEST, 1, "/usr/bin/python3: No module named pytest", "tool missing"),
        (PYTEST, 4, "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov", "wrong use"),
        (PYTEST, 4, "ImportError while loading conftest 'conftest.py'.\nE   NameError: name 'x'", None),
        (PYTEST, 5, "no tests ran in 0.01s", "no tests"),
        ("cargo test", 5, "", None),
        (PYTEST, 126, "bash: line 1: ./pytest: Permission denied", "tool missing"),
        (PYTEST, 127, "bash: line 1: pytest: command not found", "tool missing"),
        (PYTEST, 137, "Killed", "killed"),
        (PYTEST, 143, "", "killed"),
        (PYTEST, 139, "Fatal Python error: Segmentation fault", None),
        (PYTEST, 1, "PermissionError: [Errno 13] Permission denied: '/var/x'\n1 error", "not permitted"),
        (PYTEST, 1, "OSError: [Errno 30] Read-only file system\n1 error", "not permitted"),
        (PYTEST, 1, "OSError: [Errno 28] No space left on device", "no room"),
        (NPM, 127, "sh: 1: jest: not found", "tool missing"),
        (NPM, 1, 'npm error Missing script: "test"', "no tests"),
        (NPM, 1, "No tests found, exiting with code 1", "no tests"),
        (NPM, 1, "Error: Cannot find module 'react'\nRequire stack:", "module missing"),
        (NPM, 1, "Error: Cannot find module './cart'\nRequire stack:", None),
        (NPM, 1, "Tests:       1 failed, 4 passed, 5 total", None),
        (NPM, 1, "not ok 1 - adds\n  error: 'no'", None),
        (NPM, 1, "error: unknown option '--watch=false'", "wrong use"),
        (NPM, 1, "npm error code ENOTFOUND\nnpm error getaddrinfo ENOTFOUND registry", "no network"),
        ("go test ./...", 1, "--- FAIL: TestAdd (0.00s)\nFAIL\tshop\t0.1s", None),
        ("go test ./...", 1, "\x1b[31m--- FAIL: TestDial\x1b[0m\n    dial tcp: no such host", None),
        ("go test ./...", 2, "./cart.go:3:5: undefined: x\nFAIL\tshop [build failed]", None),
        ("go test ./...", 1, "go: a/b@v1: Get: dial tcp: lookup proxy: no such host", "no network"),
        ("go test ./...", 1, "no required module provides package a.example/b; to add it:", "module missing"),
        ("go test ./...", 1, "go: cannot find main module, but found .git/config in /x", "wrong use"),
        ("cargo test", 101, "test result: FAILED. 0 passed; 1 failed; 0 ignored", None),
        ("cargo test", 101, "error[E0308]: mismatched types\nerror: could not compile `x`", None),
        ("cargo test", 101, "error: failed to download `serde v1`", "no network"),
        ("cargo test", 101, "error: linker `cc` not found", "tool missing"),
        ("mvn -q test", 1, "[\x1b[1;31mERROR\x1b[m] There are test failures.", None),
        ("mvn -q test", 1, "[ERROR] COMPILATION ERROR :\n[ERROR] /x/A.java:[1,2] ';' expected", None),
        ("mvn -q test", 1, "[ERROR] artifacts could not be resolved: Cannot access central", "no network"),
        ("mvn -q test", 1, "there is \x1b[1mno POM in this directory\x1b[m (/x)", "wrong use"),
        ("mvn -q test", 1, "The JAVA_HOME environment variable is not defined correctly", "tool missing"),
        ("./gradlew test", 1, "> There were failing tests. See the report at: /x", None),
        ("./gradlew test", 1, 'Exception in thread "main" java.net.UnknownHostException: services', "no network"),
    ],
)
def test_c43_what_is_the_machines_fault(command: str, code: int, output: str, trouble: Trouble | None) -> None:
    assert environment_failure_of(CheckRun(code, output), command, ["shop/main.py", "lib/x.js"]) == trouble


def test_c43_a_check_that_did_not_end_by_itself_is_not_tried_again() -> None:
    assert environment_failure_of(CheckRun("too slow", "collecting ..."), PYTEST) == "too slow"
    assert environment_failure_of(CheckRun("not run"), PYTEST) == "not run"
    assert environment_failure_of(CheckRun("too slow", "not ok 1 - adds"), NPM) is None


def test_c42_a_long_output_is_judged_by_its_ends() -> None:
    noise = "all is well\n" * 100_000
    assert environment_failure_of(CheckRun(1, f"{noise}1 failed, 3 passed"), PYTEST) is None
    assert (
        environment_failure_of(CheckRun(1, f"{noise}PermissionError: Permission denied"), PYTEST) == "not permitted"
    )
    assert environment_failure_of(CheckRun(1, f"dial tcp: no such host\n{noise}"), "go test ./...") == "no network"


def test_c42_a_recorded_call_carries_how_the_check_ended() -> None:
    outcomes = (
        Finished("3 passed", end=CommandEnd(exit_code=0)),
        Failed("any words\n1 failed", end=CommandEnd(exit_code=1)),
        Failed("any words", end=CommandEnd(signal=9)),
        Failed("any words\ncollecting", end=CommandEnd(signal=9, cause="timeout")),
        Failed("any words", end=CommandEnd(signal=9, cause="disk")),
        Failed("any words", end=CommandEnd(cause="not started")),
        Failed("any words", end=CommandEnd(cause="lost")),
    )
    assert [run_of(each) for each in outcomes] == [
        CheckRun(0, "3 passed"),
        CheckRun(1, "1 failed"),
        CheckRun(137),
        CheckRun("too slow", "any words\ncollecting"),
        CheckRun("not run", "any words"),
        CheckRun("not run", "any words"),
        CheckRun("cut off"),
    ]


def test_c42_a_log_from_before_outcomes_had_an_end_says_it_in_its_first_line() -> None:
    outcomes = (
        Finished("3 passed"),
        Failed("exit code 1\n1 failed"),
        Failed("ended by signal 9"),
        Failed("timed out after 120 s and was ended\ncollecting"),
        Failed("the command could not be started: no"),
        Denied("no"),
        Stopped(started=True),
        Unknown(),
    )
    assert [run_of(each) for each in outcomes] == [
        CheckRun(0, "3 passed"),
        CheckRun(1, "1 failed"),
        CheckRun(137),
        CheckRun("too slow", "timed out after 120 s and was ended\ncollecting"),
        CheckRun("not run", "the command could not be started: no"),
        CheckRun("not run"),
        CheckRun("cut off"),
        CheckRun("cut off"),
    ]


@story
async def test_c42_a_check_that_was_lost_is_not_said_not_to_have_run(tmp_path: Path) -> None:
    async with scene(tmp_path) as folder:
        pass  # what runs its commands is gone
    lost = await folder.outcome("bash", command=PYTEST)
    assert isinstance(lost, Failed)
    assert lost.message.startswith("the command was lost: it may have run")
    assert run_of(lost) == CheckRun("cut off")


@pytest.mark.parametrize(
    ("files", "edited", "trouble", "passed"),
    [
        ({"test_a.py": "def test_a(): assert True"}, "a.py", None, True),
        ({"test_a.py": "def test_a(): assert False"}, "a.py", None, False),
        ({"test_a.py": "def test_a(:"}, "a.py", None, False),
        ({"a.py": ""}, "a.py", "no tests", False),
        ({"test_a.py": "import not_installed_here"}, "a.py", "module missing", False),
        ({"test_a.py": "import shop.nothing", "shop/__init__.py": ""}, "shop/__init__.py", None, False),
        ({"test_a.py": "", "pytest.ini": "[pytest]\naddopts = --no-such-option"}, "a.py", "wrong use", False),
    ],
)
@story
async def test_c42_c43_real_runs_of_pytest(
    tmp_path: Path, files: dict[str, str], edited: str, trouble: Trouble | None, passed: bool
) -> None:
    lay_out(tmp_path, files)
    async with scene(tmp_path, path=f"{Path(sys.executable).parent}:/usr/bin:/bin") as folder:
        run = run_of(await folder.outcome("bash", command=PYTEST))
    assert (run.ended == 0, environment_failure_of(run, PYTEST, [edited])) == (passed, trouble), run


@pytest.mark.parametrize("command", ["go test ./...", "cargo test", "mvn -q test", "gradle test", "./gradlew test"])
@story
async def test_c43_a_tool_that_is_not_installed_is_the_machines_fault(tmp_path: Path, command: str) -> None:
    async with scene(tmp_path, path=str(tmp_path)) as folder:
        run = run_of(await folder.outcome("bash", command=command))
    assert environment_failure_of(run, command) == "tool missing", run


@story
async def test_c43_a_check_without_end_is_the_machines_fault(tmp_path: Path) -> None:
    lay_out(tmp_path, {"gradlew": "#!/bin/sh\nwhile :; do sleep 1; done\n"})
    (tmp_path / "gradlew").chmod(0o755)
    async with scene(tmp_path) as folder:
        run = run_of(await folder.outcome("bash", command="./gradlew test", timeout=0.3))
    assert environment_failure_of(run, "./gradlew test") == "too slow"
