"""Other processes, and none: a hook is asked once for a call, whatever dies in between."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.hooks.hook_scripts import configure, hook
from tests.log_checker import check_settled, read_logs
from tests.model_server import ModelServerThread, bash, proposes, says, script

CoderOn = Callable[[ModelServerThread], Coder]


def test_a26_a_call_that_was_judged_is_not_shown_to_hooks_again(
    serve: Serve, coder_on: CoderOn, tmp_path: Path, folder: Path
) -> None:
    runs = tmp_path / "runs"
    ask = json.dumps({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look"}})
    configure(tmp_path, hook("PreToolUse", f"echo run >> {runs}; echo '{ask}'"))
    coder = coder_on(serve(script(proposes(bash("echo a > made")), says("done"))))
    assert coder.run("-p", "go", "--mode", "yolo", "--unattended", "park").code == 5
    (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    assert row["ask"]["reason"].endswith(": look")
    assert coder.run("answer", row["ask"]["id"], "allow").out.splitlines()[-1] == "done"
    assert ((folder / "made").read_text(), runs.read_text()) == ("a\n", "run\n")


def test_a26_d01_a_kill_while_a_hook_looks_at_a_result_never_runs_it_again(
    serve: Serve, coder_on: CoderOn, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "begun")
    runs, begun = tmp_path / "runs", tmp_path / "begun"
    command = f"echo $$ >> {runs}; echo > {begun}; exec tail -f /dev/null"
    configure(tmp_path, hook("PostToolUse", command, matcher="bash"))
    coder = coder_on(serve(script(proposes(bash("echo a >> effects")), says("done"))))
    started = coder.start("-p", "go", "--mode", "yolo")
    begun.read_text()
    started.kill()
    (session,) = read_logs(coder.home / "sessions.db")
    assert coder.run("resume", session).out.splitlines()[-1] == "done"
    (log,) = read_logs(coder.home / "sessions.db").values()
    check_settled(log)
    assert [each["outcome"]["type"] for each in log if each["kind"] == "call.ended"] == ["unknown"]
    (pid,) = runs.read_text().split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)
