"""The two examples of docs/hooks.md, taken from there and run."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import Answer, History, ModelServerThread, bash, by_history, proposes, says, write

CoderOn = Callable[[ModelServerThread], Coder]
TEXT = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text()
GUARD, TESTS_PASS = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
FIRST, SECOND = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)


def install(coder: Coder, tmp_path: Path, name: str, text: str, config: str) -> None:
    programs = tmp_path / "person" / "bin"
    programs.mkdir(parents=True)
    (programs / name).write_text(text)
    (programs / name).chmod(0o755)
    coder.home.mkdir()
    quiet = {"workflow.auto_verify_after_edit": False}
    (coder.home / "config.json").write_text(json.dumps(json.loads(config) | quiet))


def last_result(history: History) -> str | None:
    return next((said.text for said in reversed(history) if said.role == "tool"), None)


def test_a26_the_guard_of_the_documentation_denies_and_asks(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    def publish(history: History) -> Answer:
        return says(last_result(history) or "") if last_result(history) else proposes(bash("git push"))

    coder = coder_on(serve(by_history(publish)))
    config = FIRST.replace('"Bash"', '"Bash|Write"').replace("notify-send", "true")
    install(coder, tmp_path, "guard", GUARD, config)
    ran = coder.run("-p", "go", "--mode", "yolo")
    assert ran.out == "Not allowed: hook guard: pushing is for people. The call did not run.\n"

    def migrate(history: History) -> Answer:
        return says("done") if last_result(history) else proposes(write("db/migrations/1.sql", "x"))

    coder.env["OPENAI_BASE_URL"] = serve(by_history(migrate)).base_url
    assert coder.run("-p", "go", "--mode", "yolo", "--unattended", "park").code == 5
    (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    assert row["ask"]["reason"].endswith("hook guard: a migration")


def test_a26_the_tests_of_the_documentation_must_pass(
    serve: Serve, coder_on: CoderOn, tmp_path: Path, folder: Path
) -> None:
    def repair(history: History) -> Answer:
        if not any("hook tests-pass: 1 failed" in said.text for said in history):
            return says("done")
        return says("repaired") if last_result(history) else proposes(write("state", "good"))

    coder = coder_on(serve(by_history(repair)))
    install(coder, tmp_path, "tests-pass", TESTS_PASS, SECOND)
    runner = tmp_path / "person" / "bin" / "pytest"
    runner.write_text("#!/bin/sh\ngrep -q good state 2>/dev/null || { echo '1 failed'; exit 1; }\n")
    runner.chmod(0o755)
    path = f"{runner.parent}:{coder.env['PATH']}"
    assert coder.run("-p", "go", "--mode", "yolo", env={"PATH": path}).out == "repaired\n"
    assert (folder / "state").read_text() == "good"
