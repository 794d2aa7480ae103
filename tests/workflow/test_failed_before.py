"""C-42: what failed before the edits is told apart from what the edits broke; and nothing is said twice (C-41)."""

from pathlib import Path

import pytest

from coderelay.agents.native.workflow.verification_failure_cause import failed_tests
from tests.conftest import Serve
from tests.model_server import bash, call, proposes, says, script, write
from tests.workflow.project import PYTHON, RIGHT, WRONG, Project

FILES = PYTHON | {"a.py": RIGHT, "test_b.py": "def test_two():\n    assert False\n"}
READ = call("read", path="a.py")
OLD = "test_b.py::test_two"
NOT_RUN = "workflow: tests not run: no test command found for this project"


def test_c42_a_test_that_failed_before_the_edits_is_not_blamed_on_them(tmp_path: Path, serve: Serve) -> None:
    better = "# better\n" + RIGHT
    server = serve(script(proposes(READ, bash("pytest -q")), proposes(write("a.py", better)), says("done")))
    project = Project(tmp_path, server, FILES)
    project.ask("make it better")
    assert project.story()[-3:] == [
        "model: done",
        "workflow: bash pytest -q → failed",
        f"workflow: `pytest -q` fails, but this test already failed before the edits: {OLD}",
    ]


def test_c42_model_is_told_which_tests_its_edits_broke(tmp_path: Path, serve: Serve) -> None:
    answers = proposes(write("a.py", WRONG)), says("done"), proposes(write("a.py", RIGHT)), says("mended")
    server = serve(script(proposes(READ, bash("pytest -q")), *answers))
    project = Project(tmp_path, server, FILES)
    project.ask("make it worse")
    said = [line for line in project.story() if line.startswith("workflow: `")]
    assert said == [
        f"workflow: `pytest -q` failed. Broken by these edits: test_a.py::test_one. Failed before them: {OLD}. "
        "Please fix this and run it again.",
        f"workflow: `pytest -q` fails, but this test already failed before the edits: {OLD}",
    ]


def test_c42_without_an_earlier_run_every_failure_may_be_due_to_the_edits(tmp_path: Path, serve: Serve) -> None:
    project = Project(
        tmp_path, serve(script(proposes(READ), proposes(write("a.py", "# new\n" + RIGHT)), says("done"))), FILES
    )
    project.configure(workflow={"max_verify_attempts": 0})
    project.ask("make it better")
    assert project.story()[-1] == "workflow: `pytest -q` still fails after 1 run; not trying again"


def test_c41_that_nothing_was_verified_is_said_once_in_a_session(tmp_path: Path, serve: Serve) -> None:
    server = serve(script(proposes(write("a.xyz", "1")), says("one"), proposes(write("b.xyz", "2")), says("two")))
    project = Project(tmp_path, server, {"notes.xyz": ""})
    project.ask("make one")
    ran = project.ask("make another", "--continue")
    assert (ran.code, ran.out, ran.err) == (0, "two\n", "")
    assert [line.partition(";")[0] for line in project.story() if line.startswith("workflow")] == [NOT_RUN]


@pytest.mark.parametrize(
    ("output", "names"),
    [
        ("FAILED a.py::b - assert\nERROR c.py\n2 failed", {"a.py::b", "c.py"}),
        ("=== RUN\n    --- FAIL: TestOne (0.00s)\n--- FAIL: TestAll/two (0.00s)", {"TestOne", "TestAll/two"}),
        ("test net::slow ... FAILED\ntest net::fast ... ok", {"net::slow"}),
        ("not ok 2 - adds numbers\nok 3 - x", {"adds numbers"}),
        ("  ● sum › adds\n  ● Console", {"sum › adds"}),
        ("\x1b[31m FAIL \x1b[0m src/a.test.ts > adds", {"src/a.test.ts > adds"}),
        ("everything is fine", set[str]()),
    ],
)
def test_the_names_that_test_runners_list(output: str, names: set[str]) -> None:
    assert failed_tests(output) == names
