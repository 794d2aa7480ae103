"""How it is found out what commands can be confined by, and what is kept of that."""

import os
from pathlib import Path

import msgspec
import pytest

from coderelay.workspace.sandbox import backend_detection, bubblewrap
from coderelay.workspace.sandbox.backend_detection import DetectedSandbox, detect_sandbox, sandbox_backend
from coderelay.workspace.sandbox.failure_hints import sandbox_hint
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from coderelay.workspace.sandbox.sandbox_probe import probe


def test_the_best_way_that_works_is_taken_and_kept(tmp_path: Path, bubblewrap: SandboxBackend):
    assert sandbox_backend(str(tmp_path)) == bubblewrap
    kept = msgspec.json.decode((tmp_path / "sandboxes/rung.json").read_bytes())
    assert kept["found"] == {"rung": "bubblewrap", "why_not": {}}
    assert sorted(os.listdir(tmp_path / "sandboxes")) == [".lock", "rung.json"]


def test_what_is_kept_is_not_believed_when_anything_has_changed(tmp_path: Path, backend: SandboxBackend):
    (tmp_path / "sandboxes").mkdir()
    wrong: dict[str, object] = {"key": "another machine", "found": {"rung": "none", "why_not": {}}}
    (tmp_path / "sandboxes/rung.json").write_bytes(msgspec.json.encode(wrong))
    assert sandbox_backend(str(tmp_path)) != "none"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"key": 1}'])
def test_a_damaged_file_is_no_obstacle(tmp_path: Path, bubblewrap: SandboxBackend, content: bytes):
    (tmp_path / "sandboxes").mkdir()
    (tmp_path / "sandboxes/rung.json").write_bytes(content)
    assert sandbox_backend(str(tmp_path)) == bubblewrap


def test_a_wrapper_that_confines_nothing_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It starts what it is given, as a broken one might."""
    fake = tmp_path / "bwrap"
    fake.write_text('#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "_SYSTEM", (str(tmp_path),))
    assert probe("bubblewrap", str(tmp_path / "coder")) == "it can write outside of the workspace"


def test_why_there_is_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "_SYSTEM", (str(tmp_path),))
    found = detect_sandbox(str(tmp_path / "coder"))
    assert found.why_not["bubblewrap"] == "bwrap: setting up uid map: Permission denied"
    monkeypatch.setattr(bubblewrap, "_SYSTEM", ())
    monkeypatch.setattr(backend_detection, "BACKENDS", ("bubblewrap",))
    assert detect_sandbox(str(tmp_path / "coder")) == DetectedSandbox(
        "none", {"bubblewrap": "bwrap is not installed"}
    )


NETWORK = "CODER_NETWORK=1"
OUTSIDE = "CODER_SANDBOX=0"


@pytest.mark.parametrize(
    ("output", "backend", "hinted"),
    [
        ("curl: (6) Could not resolve host: example.org", "bubblewrap", NETWORK),
        ("connect: Network is unreachable", "bubblewrap", NETWORK),
        ("npm error code EAI_AGAIN", "bubblewrap", NETWORK),
        ("touch: cannot touch '/etc/x': Read-only file system", "bubblewrap", OUTSIDE),
        ("git@github.com: Permission denied (publickey).", "bubblewrap", OUTSIDE),
        ("error: could not write config file .git/config: Device or resource busy", "bubblewrap", OUTSIDE),
        ("touch: cannot touch '/etc/x': Permission denied", "sandlock", OUTSIDE),
        ("bash: ./run: Permission denied", "bubblewrap", ""),
        ("E   assert 1 == 2", "bubblewrap", ""),
        ("touch: cannot touch '/etc/x': Read-only file system", "none", ""),
    ],
)
def test_a_failure_that_looks_like_the_sandbox_says_how_to_ask_for_more(
    output: str, backend: SandboxBackend, hinted: str
):
    hint = sandbox_hint(output, backend)
    assert (hinted in hint, bool(hint)) == (True, bool(hinted))


def test_who_has_the_right_already_is_not_told_to_ask_for_it():
    assert sandbox_hint("Could not resolve host: example.org", "bubblewrap", ["network"]) == ""
    assert sandbox_hint("Read-only file system", "bubblewrap", ["outside"]) == ""
