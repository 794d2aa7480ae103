"""What is beneath the session's folders: read, written, moved, listed, and refused in words a model can act on."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.protocol.calls import Seen
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files import openat
from coderelay.workspace.files.confined_files import ConfinedFiles, FileContent, FolderEntry

MANY = 1 << 20


@pytest.fixture(params=["walk", "openat2"], autouse=True)
def way_of_opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openat, "WALKS", 1 << 30 if request.param == "walk" else 0)


@pytest.fixture
def disk(folder: Path) -> ConfinedFiles:
    return ConfinedFiles([str(folder)])


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(ToolFailed) as refused:
        act()
    return refused.value.message


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


@pytest.mark.quick
def test_a_file_is_read_with_its_size_mark_and_mode(disk: ConfinedFiles, folder: Path) -> None:
    file = folder / "a" / "run.sh"
    file.parent.mkdir()
    file.write_bytes(b"one\r\ntwo\n")
    file.chmod(0o750)
    found = file.stat()
    mark = f"{found.st_mtime_ns}-9-{found.st_ino}"
    assert disk.read("a/run.sh", MANY) == FileContent(b"one\r\ntwo\n", 9, mark, 0o750)
    assert disk.read("a/run.sh", 4) == FileContent(b"one\r", 9, mark, 0o750)
    assert disk.fingerprint("a/run.sh") == mark
    assert disk.seen("a/run.sh") == Seen(str(file), mark)
    assert disk.fingerprint("missing") == ""


@pytest.mark.quick
def test_a_file_is_made_with_its_folders_and_replaced_whole(disk: ConfinedFiles, folder: Path) -> None:
    assert disk.write("a/b/c.txt", b"one") is True
    assert (folder / "a/b/c.txt").read_bytes() == b"one"
    (folder / "a/b/c.txt").chmod(0o640)
    assert disk.write("a/b/c.txt", b"") is False
    assert (folder / "a/b/c.txt").read_bytes() == b""
    assert mode(folder / "a/b/c.txt") == 0o640
    assert names(folder) == ["a", "a/b", "a/b/c.txt"]


def test_what_is_made_has_the_modes_that_the_umask_leaves(disk: ConfinedFiles, folder: Path) -> None:
    before = os.umask(0o027)
    try:
        disk.write("new/file", b"x")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (mode(folder / "new"), mode(folder / "new/file")) == (0o750, 0o640)


def test_a_replaced_program_is_no_longer_run_as_its_owner(disk: ConfinedFiles, folder: Path) -> None:
    file = folder / "program"
    file.write_bytes(b"old")
    file.chmod(0o4755)
    disk.write("program", b"new")
    assert mode(file) == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_replaced_file_keeps_its_owner(disk: ConfinedFiles, folder: Path) -> None:
    file = folder / "theirs"
    file.write_bytes(b"old")
    os.chown(file, 1234, 2345)
    disk.write("theirs", b"new")
    assert (file.stat().st_uid, file.stat().st_gid, file.read_bytes()) == (1234, 2345, b"new")


@pytest.mark.quick
def test_a_file_that_is_not_what_was_expected_stays_as_it_is(disk: ConfinedFiles, folder: Path) -> None:
    file = folder / "f"
    assert disk.write("f", b"1", expected="") is True
    mark = disk.fingerprint("f")
    assert refusal(lambda: disk.write("f", b"2", expected="")) == "f already exists; read it first"
    file.write_bytes(b"by a person")
    changed = "f has changed since you read it; read it again"
    assert refusal(lambda: disk.write("f", b"2", expected=mark)) == changed
    assert refusal(lambda: disk.remove("f", expected=mark)) == changed
    assert file.read_bytes() == b"by a person"
    assert disk.write("f", b"2", expected=disk.fingerprint("f")) is False
    file.unlink()
    assert refusal(lambda: disk.write("f", b"3", expected=mark)) == "f is gone; list its folder"
    assert refusal(lambda: disk.write("no/f", b"3", expected=mark)) == "no/f is gone; list its folder"
    assert names(folder) == []


def test_a_file_is_removed_if_it_is_the_one_expected(disk: ConfinedFiles, folder: Path) -> None:
    (folder / "f").write_bytes(b"x")
    disk.remove("f", expected=disk.fingerprint("f"))
    assert names(folder) == []
    assert refusal(lambda: disk.remove("f")) == "cannot remove f: No such file or directory"


def test_a_file_moves_to_a_free_name_and_to_no_other(disk: ConfinedFiles, folder: Path) -> None:
    (folder / "a").write_bytes(b"a")
    (folder / "a").chmod(0o755)
    disk.move("a", "new/b")
    assert ((folder / "new/b").read_bytes(), mode(folder / "new/b")) == (b"a", 0o755)
    (folder / "c").write_bytes(b"c")
    assert refusal(lambda: disk.move("c", "new/b")) == "cannot make new/b: File exists"
    assert refusal(lambda: disk.move("c", "new")) == "cannot make new: File exists"
    assert refusal(lambda: disk.move("missing", "x/y")) == "cannot move missing: No such file or directory"
    assert refusal(lambda: disk.move("new", "old")) == "new is a folder"
    assert names(folder) == ["c", "new", "new/b"]
    assert (folder / "new/b").read_bytes() == b"a"


def test_a_folder_is_listed_by_name_with_kinds_and_sizes(disk: ConfinedFiles, folder: Path) -> None:
    (folder / "b").write_bytes(b"123")
    (folder / "a").mkdir()
    (folder / "d").symlink_to("b")
    os.mkfifo(folder / "c")
    listed = [
        FolderEntry("a", "folder", 0),
        FolderEntry("b", "file", 3),
        FolderEntry("c", "other", 0),
        FolderEntry("d", "link", 0),
    ]
    assert disk.list(".") == disk.list("") == disk.list(str(folder)) == listed
    assert disk.list("a") == []
    assert refusal(lambda: disk.list("b")) == "cannot list b: Not a directory"
    assert refusal(lambda: disk.list("e")) == "cannot list e: No such file or directory"


def test_only_regular_files_are_read_and_written(disk: ConfinedFiles, folder: Path) -> None:
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "socket"))
        for path, kind in [
            ("folder", "a folder"),
            (".", "a folder"),
            ("fifo", "a FIFO, not a regular file"),
            ("socket", "a socket, not a regular file"),
        ]:
            for act in (
                lambda path=path: disk.read(path, 1),
                lambda path=path: disk.write(path, b"x"),
                lambda path=path: disk.remove(path),
                lambda path=path: disk.move(path, "x"),
            ):
                assert refusal(act) == f"{path} is {kind}"
    assert names(folder) == ["fifo", "folder", "socket"]


@pytest.mark.parametrize("root", ["/", "/proc", "/dev"])
def test_what_the_kernel_makes_up_is_not_read_even_where_it_is_in_the_workspace(root: str) -> None:
    disk = ConfinedFiles([root])
    for path in ("/proc/self/environ", "/proc/self/mem", "/proc/self/fd/0", "/dev/zero", "/dev/stdin"):
        if path.startswith(root):
            with pytest.raises(ToolFailed):
                disk.read(path, 10)


def test_long_names_and_names_that_are_no_text(disk: ConfinedFiles, folder: Path) -> None:
    long = "n" * 255
    assert disk.write(long, b"x") is True
    assert disk.write(long, b"y") is False
    assert refusal(lambda: disk.write("n" * 256, b"")) == f"cannot write {'n' * 256}: File name too long"
    assert refusal(lambda: disk.read("d/" * 3000 + "f", 1)).endswith(
        f"… is too long: {len(str(folder)) + 6002} bytes"
    )
    assert refusal(lambda: disk.write("m" * 256 + "/f", b"")).endswith(": File name too long")
    assert refusal(lambda: disk.read("a\0b", 1)) == "the path holds a NUL character"
    assert refusal(lambda: disk.read("a\ud800", 1)) == "the path holds a character that no file name can have"
    raw = os.fsdecode(b"caf\xe9")
    (folder / raw).write_bytes(b"z")
    assert disk.list(".")[0] == FolderEntry(raw, "file", 1)
    assert disk.read(raw, MANY).data == b"z"
    assert disk.relative(disk.locate(raw)) == "caf\\xe9"
    assert refusal(lambda: disk.read(raw + "x", 1)) == "cannot read caf\\xe9x: No such file or directory"


def test_a_file_may_be_large_and_is_read_only_as_far_as_wanted(disk: ConfinedFiles, folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(1 << 40)  # a hole
    content = disk.read("huge", 10)
    assert (content.data, content.size) == (b"\0" * 10, 1 << 40)
    blob = os.urandom(3 << 20)
    disk.write("blob", blob)
    assert disk.read("blob", 1 << 30).data == blob


@pytest.mark.quick
def test_a64_a_path_is_looked_up_in_the_first_folder_a_full_one_in_whichever_has_it(tmp_path: Path) -> None:
    first, second, link = tmp_path / "first", tmp_path / "second", tmp_path / "link"
    first.mkdir()
    second.mkdir()
    link.symlink_to(second)
    (second / "f").write_bytes(b"second")
    disk = ConfinedFiles([str(first), str(link), str(second)])
    assert disk.roots == (str(first), str(second))
    assert refusal(lambda: disk.read("f", 9)) == "cannot read f: No such file or directory"
    assert disk.read("../second/f", 9).data == disk.read(f"{second}/f", 9).data == b"second"
    assert disk.read(f"{link}/f", 9).data == b"second"  # the folder by the name it was given by
    assert disk.locate(f"{link}/f") == f"{second}/f"
    assert (disk.relative(f"{first}/a/b"), disk.relative(str(first))) == ("a/b", ".")
    assert disk.relative(f"{second}/f") == f"{second}/f"
    outside = f"{tmp_path} is outside the workspace {first}, {second}"
    assert refusal(lambda: disk.list(str(tmp_path))) == outside
    disk.move(f"{second}/f", "g")
    assert (names(first), names(second)) == (["g"], [])


def test_a29_a_name_may_begin_like_that_of_an_allowed_folder(disk: ConfinedFiles, folder: Path) -> None:
    beside = folder.with_name(folder.name + "2")
    beside.mkdir()
    (beside / "f").write_bytes(b"x")
    for path in (f"{beside}/f", f"../{beside.name}/f", f"/{folder}/../{beside.name}/f", f"~/../../..{beside}/f"):
        assert refusal(lambda path=path: disk.read(path, 1)) == f"{path} is outside the workspace {folder}"
    assert disk.locate(f"//{folder}/x//./y/../z/") == f"{folder}/x/z"


def test_what_cannot_be_written_leaves_no_folder_behind(disk: ConfinedFiles, folder: Path) -> None:
    name = "n" * 256
    assert refusal(lambda: disk.write(f"a/b/{name}", b"x")) == f"cannot write a/b/{name}: File name too long"
    assert names(folder) == []
    (folder / "file").write_bytes(b"x")
    assert refusal(lambda: disk.write("file/below", b"x")) == "cannot write file/below: Not a directory"
    assert refusal(lambda: disk.move("file", f"c/{name}")) == f"cannot make c/{name}: File name too long"
    assert names(folder) == ["file"]


def test_the_folder_itself_is_not_made_again(disk: ConfinedFiles, folder: Path) -> None:
    folder.rmdir()
    assert refusal(lambda: disk.write("f", b"x")) == "cannot write f: No such file or directory"
    assert not folder.exists()


def test_what_write_would_refuse_can_be_known_before(disk: ConfinedFiles, folder: Path) -> None:
    (folder / "f").write_bytes(b"x")
    (folder / "link").symlink_to("f")
    assert disk.check_write("new/g") is True
    assert disk.check_write("f", expected=disk.fingerprint("f")) is False
    assert refusal(lambda: disk.check_write("f", expected="")) == "f already exists; read it first"
    assert refusal(lambda: disk.check_write("link")) == "link leads through a link to f; use that path if you mean it"
    assert names(folder) == ["f", "link"]
