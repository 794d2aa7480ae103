"""`coder doctor`: what is found, what is missing, what to do; and never a secret."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest

from coderelay import __version__
from coderelay.models.local.installed_weights_registry import Weights, WeightsFolder
from coderelay.models.providers import KNOWN
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.guide.no_model_servers import nobody_listens
from tests.model_server import ModelServerThread, says, script

pytest_plugins = ["tests.postgres"]

CoderOn = Callable[[ModelServerThread], Coder]

KEY = "sk-very-secret-0123456789"


class Patient:
    """`coder` where nothing of this machine is seen: a home, a PATH and servers of its own."""

    def __init__(self, root: Path, addresses: dict[str, str]) -> None:
        self.home = root / "person"
        self.bin = root / "bin"
        self.folder = root / "work"
        self.coder_home = root / "coder"
        for path in (self.home, self.bin, self.folder, self.coder_home):
            path.mkdir()
        self._providers = {name: {"base_url": address} for name, address in addresses.items()}
        self.configure({})
        self._coder = Coder(self.coder_home, self.folder, None)

    def configure(self, more: dict[str, Any]) -> None:
        providers = self._providers | more.pop("providers", {})
        (self.coder_home / "config.json").write_text(json.dumps({"providers": providers, **more}))

    def install(self, *programs: str) -> None:
        for name in programs:
            (self.bin / name).touch(0o755)

    def examine(self, *arguments: str, **env: str) -> Ran:
        mine = {"HOME": str(self.home), "PATH": str(self.bin), "OPENAI_MODEL": ""}
        ran = self._coder.run("doctor", *arguments, env=mine | env)
        assert ran.err == ""
        assert KEY not in ran.out
        return ran

    def findings(self, **env: str) -> dict[str, dict[str, str]]:
        told = json.loads(self.examine("--json", **env).out)["findings"]
        return {each.pop("what"): each for each in told}


@pytest.fixture
def patient(tmp_path: Path) -> Generator[Patient]:
    with nobody_listens() as addresses:
        yield Patient(tmp_path, addresses)


def _found(text: str) -> dict[str, str]:
    return {"found": text, "state": "found", "do": ""}


def test_with_nothing_here_the_guide_is_there_and_coder_works(patient: Patient) -> None:
    ran = patient.examine("--json")
    told = json.loads(ran.out)
    assert (ran.code, told["works"]) == (0, True)
    states = {each["what"]: each["state"] for each in told["findings"]}
    missing = {"model", "keys", "agents", "servers", "weights", "bash", "git"}
    found = {"coder", "python", "sqlite", "config", "other files", "log", "folder"}
    assert states.pop("sandbox") in ("found", "missing")  # as this machine has it
    assert states == dict.fromkeys(found, "found") | dict.fromkeys(missing, "missing")
    by_name = {each.pop("what"): each for each in told["findings"]}
    assert by_name["coder"] == _found(__version__)
    assert by_name["folder"] == _found(str(patient.folder))
    assert by_name["model"]["found"] == "none (nothing found)"
    assert "ANTHROPIC_API_KEY" in by_name["model"]["do"]
    assert by_name["log"] == _found(f"{patient.coder_home}/sessions.db (created with the first session)")
    assert sorted(path.name for path in patient.coder_home.iterdir()) == ["config.json"]


def test_the_lines_say_what_to_do(patient: Patient) -> None:
    ran = patient.examine()
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == f"✓ coder        {__version__}"
    place = lines.index("– git          not found")
    assert lines[place + 1] == "               → install git; undo and diff need it"


def test_b36_x41_keys_are_told_by_name_and_never_shown(patient: Patient) -> None:
    (patient.home / ".claude").mkdir()
    settings = {
        "env": {"ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_BASE_URL": f"https://me:{KEY}@relay.example/x?k={KEY}"}
    }
    (patient.home / ".claude" / "settings.json").write_text(json.dumps(settings))
    (patient.home / ".iflow").mkdir()
    (patient.home / ".iflow" / "settings.json").write_text(json.dumps({"apiKey": KEY, "selectedAuthType": "iflow"}))
    findings = patient.findings(OPENAI_API_KEY=KEY, GEMINI_API_KEY=KEY)
    assert findings["keys"] == _found("ANTHROPIC_AUTH_TOKEN, OPENAI_API_KEY, IFLOW_API_KEY, GEMINI_API_KEY")
    assert findings["other files"] == _found(
        "~/.claude/settings.json: ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL; ~/.iflow/settings.json: IFLOW_API_KEY"
    )
    patient.examine(OPENAI_API_KEY=KEY)


def test_the_model_is_told_with_its_host_and_where_it_comes_from(patient: Patient) -> None:
    findings = patient.findings(CODER_MODEL="openai:mine", OPENAI_API_KEY=KEY)
    assert findings["model"] == _found("openai:mine (CODER_MODEL) at api.openai.com")
    findings = patient.findings(
        CODER_MODEL="openai:mine", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"https://me:{KEY}@relay.example:8443/v1"
    )
    assert findings["model"] == _found("openai:mine (CODER_MODEL) at relay.example:8443")
    assert patient.findings(ANTHROPIC_API_KEY=KEY)["model"] == _found(
        f"anthropic:{KNOWN['anthropic'].example} (ANTHROPIC_API_KEY) at api.anthropic.com"
    )


def test_a_model_that_was_chosen_and_cannot_be_used_is_bad(patient: Patient) -> None:
    ran = patient.examine(CODER_MODEL="anthropic:x")
    assert ran.code == 1
    assert "✗ model        anthropic:x (CODER_MODEL)\n" in ran.out
    assert "→ no API key for anthropic:x; set ANTHROPIC_API_KEY" in ran.out
    assert patient.findings(CODER_MODEL="guide")["model"]["found"] == "none (CODER_MODEL)"


class ListsModels(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        names = ["text-embedding", "coder-7b"] if self.path == "/v1/models" else []
        body = json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in names]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@pytest.fixture
def lists_models() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), ListsModels) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_programs_servers_and_weights_are_found(patient: Patient, lists_models: str) -> None:
    patient.install("bash", "git", "claude", "kimi")
    patient.configure({"providers": {"vllm": {"base_url": f"http://{lists_models}/v1"}}})
    WeightsFolder(str(patient.coder_home / "models")).add(Weights("small", "small.gguf", 4, "here"))
    findings = patient.findings()
    assert findings["agents"] == _found("claude, kimi (installed; not supported by this version yet)")
    assert findings["weights"] == _found("small")
    assert findings["servers"] == _found(f"vllm at {lists_models}: 2 models")
    assert findings["model"] == _found(f"vllm:coder-7b (vllm at {lists_models})")


def test_a_list_of_weights_that_is_damaged_is_told(patient: Patient) -> None:
    (patient.coder_home / "models").mkdir()
    (patient.coder_home / "models" / "models.json").write_text("{")
    weights = patient.findings()["weights"]
    assert "is damaged" in weights["found"]
    assert weights["state"] == "missing"


def test_a_configuration_with_a_mistake_is_bad_and_the_rest_is_still_told(patient: Patient) -> None:
    patient.configure({"modle": "x"})
    ran = patient.examine("--json")
    assert ran.code == 1
    findings = {each.pop("what"): each for each in json.loads(ran.out)["findings"]}
    assert findings["config"]["state"] == "bad"
    assert "modle" in findings["config"]["found"]
    assert findings["log"]["state"] == "found"


def test_what_a_folder_wants_and_does_not_get_is_told_by_name(patient: Patient) -> None:
    (patient.folder / ".coder").mkdir()
    wants = {"permissions": {"allow": ["bash"]}, "max_steps": 3}
    (patient.folder / ".coder" / "config.json").write_text(json.dumps(wants))
    trust = patient.findings()["trust"]
    assert trust["state"] == "missing"
    assert "permissions" in trust["found"]


def test_a_home_that_cannot_be_written_is_bad(patient: Patient, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = patient.examine(CODER_HOME=str(tmp_path / "file" / "home"), CODER_MODEL="guide")
    assert ran.code == 1
    assert f"✗ log          {tmp_path}/file cannot be written" in ran.out


def test_the_log_is_examined_and_left_as_it_is(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    coder = coder_on(serve(script(says("a"))))
    coder.run("-p", "go")
    ran = coder.run("doctor", "--json", env={"HOME": str(tmp_path)})
    assert ran.code == 0
    findings = {each["what"]: each["found"] for each in json.loads(ran.out)["findings"]}
    assert findings["log"].startswith(f"{coder.home}/sessions.db: intact, 1 session, ")


def test_postgresql_is_really_asked(patient: Patient, database: str) -> None:
    log = patient.findings(CODER_DATABASE_URL=database)["log"]
    assert log["state"] == "found"
    assert log["found"].startswith("PostgreSQL ")
    assert log["found"].endswith(" answers")


def test_a_postgresql_log_of_a_newer_version_is_bad(patient: Patient, database: str) -> None:
    """Symptom: the doctor was content with a log that `coder` refuses."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE schema_version (program TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        connection.execute("INSERT INTO schema_version VALUES ('coderelay', 2001)")
    log = patient.findings(CODER_DATABASE_URL=database)["log"]
    assert log["state"] == "bad"
    assert "newer version" in log["found"]
    assert "pgrade" in log["do"]


def test_a_postgresql_that_is_not_there_is_bad_and_its_password_is_not_told(patient: Patient, tmp_path: Path) -> None:
    url = f"postgresql://ann:{KEY}@/team?host={tmp_path}"
    ran = patient.examine(CODER_DATABASE_URL=url)
    assert ran.code == 1
    assert f"✗ log          PostgreSQL at {tmp_path}/team cannot be reached" in ran.out
    malformed = patient.examine(CODER_DATABASE_URL=f"postgresql://ann:{KEY}/x@host/team")
    assert malformed.code == 1
    assert "CODER_DATABASE_URL is not the address of a PostgreSQL database" in malformed.out


def test_a_postgresql_that_says_nothing_does_not_hold_anyone_up(patient: Patient) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        ran = patient.examine(CODER_DATABASE_URL=f"postgresql://ann:{KEY}@127.0.0.1:{port}/team?sslmode=disable")
    assert ran.code == 1
    assert f"PostgreSQL at 127.0.0.1:{port}/team does not answer within 3 s" in ran.out


def test_a_folder_that_is_gone_is_said(patient: Patient, tmp_path: Path) -> None:
    command = 'cd gone && /bin/rmdir ../gone && exec "$0" -m coderelay.cli doctor'
    (tmp_path / "gone").mkdir()
    ran = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable],
        cwd=tmp_path,
        env={"HOME": str(patient.home), "PATH": str(patient.bin), "CODER_HOME": str(patient.coder_home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "✗ folder       it no longer exists\n" in ran.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said(patient: Patient) -> None:
    patient.folder.chmod(0o500)
    assert patient.findings()["folder"]["state"] == "missing"
