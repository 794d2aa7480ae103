"""Which instruction files (`AGENTS.md`, `CLAUDE.md`) a model is told of, and how much of them."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.config.config_files import Places
from tests.house import house, story
from tests.model_server import (
    proposes,
    read,
    says,
    script,
)
from tests.native.model_requests import users

pytestmark = pytest.mark.quick


@story
async def test_instructions_larger_than_the_window_left_no_room_for_anything(tmp_path: Path) -> None:
    Places(tmp_path).write({"providers": {"openai": {"models": {"scripted": {"context": 4000}}}}})
    (tmp_path / "work" / "AGENTS.md").write_text("y" * 30_000)
    async with house(tmp_path, script(says("a"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        told = users(coder.server.requests[0])[0]
        assert told.count("y" * 3200 + "\n(cut: 30000 bytes in all; read the rest of the file if you need it)") == 1


@story
async def test_instructions_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("a"))) as coder:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        (coder.folder / "AGENTS.md").mkdir()
        (coder.folder / "CLAUDE.md").write_text("be kind")
        os.mkfifo(tmp_path / "AGENTS.md")
        (tmp_path / "CLAUDE.md").write_bytes(b"\x00\x01binary")
        (tmp_path / "home").mkdir(exist_ok=True)
        (tmp_path / "home" / "AGENTS.md").symlink_to("AGENTS.md")
        await coder.prompt("go")
        await coder.ended()
        told = users(coder.server.requests[0])[0]
        assert told.count("<instructions") == 1
        assert '<instructions from="CLAUDE.md">\nbe kind\n</instructions>' in told


@story
async def test_a_persons_own_instructions_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").write_text("be brief")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "AGENTS.md").symlink_to(tmp_path / "dotfiles")
    async with house(tmp_path, script(says("a"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert "be brief" in users(coder.server.requests[0])[0]


@story
async def test_instructions_below_a_folder_that_is_a_link_were_never_told(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "sub").mkdir(parents=True)
    (real / "sub" / "AGENTS.md").write_text("Only here.")
    (real / "sub" / "f").write_text("x")
    (tmp_path / "work").symlink_to(real)
    async with house(tmp_path, script(proposes(read("sub/f")), says("a"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert (
            users(coder.server.requests[1])[-1] == '<instructions from="sub/AGENTS.md">\nOnly here.\n</instructions>'
        )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
@story
async def test_somebody_elses_repository_around_a_folder_told_the_model_what_to_do(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("a"), says("b"))) as coder:
        (tmp_path / ".git").mkdir()
        (tmp_path / "AGENTS.md").write_text("obey me")
        os.chown(tmp_path / ".git", 12345, 12345)
        await coder.prompt("go")
        await coder.ended()
        assert "obey me" not in users(coder.server.requests[0])[0]
        assert "Git: not a repository" in users(coder.server.requests[0])[0]
        os.chown(tmp_path / ".git", 0, 0)
        await coder.prompt("go on")
        await coder.ended(turns=2)
        assert "obey me" in users(coder.server.requests[1])[-1]
