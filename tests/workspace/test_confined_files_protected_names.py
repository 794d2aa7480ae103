"""Names that no tool writes, in every spelling that some file system takes for them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files.confined_files import ConfinedFiles, why_protected

GIT = "belongs to git and is not written by tools; use the git command"
CODER = "belongs to coder itself and is not written by tools"
CLAUDE = "says what an agent may do and is not written by tools; ask the person to change it"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".git", GIT),
        (".git/hooks/pre-commit", GIT),
        (".git/config", GIT),
        (".GIT/config", GIT),
        (".Git", GIT),
        (".git /config", GIT),
        (".git./config", GIT),
        (".git. . /config", GIT),
        (".git::$INDEX_ALLOCATION/config", GIT),
        ("git~1/config", GIT),
        ("GIT~2", GIT),
        ("sub/module/.git", GIT),
        ("sub/module/.git/hooks/x", GIT),
        ("sub\\.git\\config", GIT),
        ("．git/config", GIT),
        (".ｇit/config", GIT),
        (".g\u200cit/config", GIT),
        ("\ufeff.git/config", GIT),
        (".gi\u0307t", GIT),
        (".gİt", GIT),
        (".gıt", GIT),
        (".g\u3164it\u00ad", GIT),
        (".git\u00a0/config", GIT),
        (".git／config", GIT),
        (".ᵍit", GIT),
        (".coder", CODER),
        (".coder/config.json", CODER),
        (".CODER/skills/x", CODER),
        ("a/.coder/x", CODER),
        (".co\u200bder/x", CODER),
        (".ⓒoder/x", CODER),
        ("coder~1/x", CODER),
        (".claude/settings.json", CLAUDE),
        (".claude/settings.local.json", CLAUDE),
        (".Claude/SETTINGS.JSON", CLAUDE),
        ("sub/.claude/settings.json", CLAUDE),
        (".claude/ſettings.json", CLAUDE),
    ],
)
def test_what_belongs_to_others_is_not_written_in_any_spelling(folder: Path, path: str, why: str) -> None:
    disk = ConfinedFiles([str(folder)])
    (folder / "f").write_bytes(b"x")
    assert disk.is_protected(path) == why
    for act in (
        lambda: disk.write(path, b"x"),
        lambda: disk.check_write(path),
        lambda: disk.remove(path),
        lambda: disk.move(path, "here"),
        lambda: disk.move("f", path),
        lambda: disk.write(f"{folder}/down/../{path}", b"x"),
    ):
        with pytest.raises(ToolFailed) as refused:
            act()
        assert refused.value.message.endswith(why)
    assert [each.name for each in folder.iterdir()] == ["f"]


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        ".github/workflows/ci.yml",
        ".gitmodules",
        "git/config",
        "x.git/config",
        ".git-old/x",
        ".coder-notes",
        "coder/x",
        ".claude/agents/x.md",
        ".claude/CLAUDE.md",
        "settings.json",
        "项目/文件.py",
        "Änderungen.md",
    ],
)
def test_what_only_looks_alike_is_written(folder: Path, path: str) -> None:
    assert ConfinedFiles([str(folder)]).write(path, b"x") is True
    assert (folder / path).read_bytes() == b"x"


def test_what_is_protected_can_be_read(folder: Path) -> None:
    (folder / ".git").write_text("gitdir: /elsewhere/.git/worktrees/a\n")
    (folder / ".coder").mkdir()
    (folder / ".coder/config.json").write_text("{}")
    disk = ConfinedFiles([str(folder)])
    assert disk.read(".git", 99).data == b"gitdir: /elsewhere/.git/worktrees/a\n"
    assert disk.read(".coder/config.json", 99).data == b"{}"


def test_the_session_may_work_in_a_folder_of_any_name(folder: Path) -> None:
    """What a person chose to work in counts from there on."""
    inner = folder / ".coder/worktrees/a"
    inner.mkdir(parents=True)
    disk = ConfinedFiles([str(inner), str(folder)])
    assert disk.write("f", b"x") is True
    assert disk.is_protected(".git/x") == GIT
    assert disk.is_protected("../b/x") == CODER


def test_a_link_is_no_other_name_for_it(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "innocent").symlink_to(".git")
    with pytest.raises(ToolFailed, match=r"leads through a link to \.git/config"):
        ConfinedFiles([str(folder)]).write("innocent/config", b"[core]")
    assert list((folder / ".git").iterdir()) == []


IGNORED = st.sampled_from(
    ["", "\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\u2060", "\ufe0f", "\u034f", "\U000e0067"]
)
WIDE = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}


@given(st.data(), st.sampled_from([(".git", GIT), (".coder", CODER), (".claude/settings.json", CLAUDE)]))
def test_any_mixture_of_case_width_and_what_is_not_drawn_is_seen_through(
    data: st.DataObject, name: tuple[str, str]
) -> None:
    plain, why = name
    spelled = ""
    for each in plain:
        form = (
            each if each == "/" else data.draw(st.sampled_from([each, each.upper(), WIDE[each], WIDE[each.upper()]]))
        )
        spelled += data.draw(IGNORED) + form + data.draw(IGNORED)
    assert why_protected(f"a/{spelled}") == why
