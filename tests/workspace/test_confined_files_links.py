"""No link, however it is made, leads a tool out of the session's folders; none is written through."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files import openat
from coderelay.workspace.files.confined_files import ConfinedFiles

SECRET = b"secret"


@pytest.fixture(params=["walk", "openat2"], autouse=True)
def way_of_opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openat, "WALKS", 1 << 30 if request.param == "walk" else 0)


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(ToolFailed) as refused:
        act()
    return refused.value.message


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    path.mkdir()
    (path / "secret").write_bytes(SECRET)
    return path


@pytest.fixture
def disk(folder: Path) -> ConfinedFiles:
    return ConfinedFiles([str(folder)])


@pytest.mark.parametrize(
    ("link", "leads_to", "path"),
    [
        ("l", "{outside}/secret", "l"),
        ("l", "../outside/secret", "l"),
        ("l", "{outside}", "l/secret"),
        ("l", "..", "l/outside/secret"),
        ("l", "/", "l/{outside}/secret"),
        ("l", "/proc/self/root", "l/{outside}/secret"),
        ("l", "/proc/self/cwd", "l/README.md"),
        ("l", "/proc/self/environ", "l"),
        ("l", "/dev/stdin", "l"),
        ("l", "/dev/fd/0", "l"),
        ("l", "chain1", "l"),
        ("l", "sub/../../outside/secret", "l"),
        ("l", "{outside}/missing", "l"),
        ("sub/l", "../../outside", "sub/l/secret"),
        ("sub/l", "../up/outside", "sub/l/secret"),
    ],
)
def test_c10_x17_a_link_that_leads_out_is_neither_read_nor_written(
    disk: ConfinedFiles, folder: Path, outside: Path, link: str, leads_to: str, path: str
) -> None:
    (folder / "sub").mkdir()
    (folder / "up").symlink_to("..")
    (folder / "chain1").symlink_to("chain2")
    (folder / "chain2").symlink_to(outside / "secret")
    (folder / link).symlink_to(leads_to.format(outside=outside))
    path = path.format(outside=str(outside).lstrip("/"))
    before = _all(folder.parent)
    (folder / "f").write_bytes(b"x")
    for act in (
        lambda: disk.read(path, 99),
        lambda: disk.write(path, b"overwritten"),
        lambda: disk.write(f"{path}/new", b"made"),
        lambda: disk.remove(path),
        lambda: disk.move(path, "here"),
        lambda: disk.move("f", f"{path}/there"),
        lambda: disk.list(os.path.dirname(path) if path != link else path),
        lambda: disk.check_write(path),
        lambda: disk.target(path),
    ):
        assert f"is outside the workspace {folder}: it leads to " in refusal(act)
    (folder / "f").unlink()
    assert _all(folder.parent) == before


def test_links_that_stay_inside_are_read_but_not_written_through(
    tmp_path: Path, folder: Path, disk: ConfinedFiles
) -> None:
    (folder / "real").mkdir()
    (folder / "real/f").write_bytes(b"in")
    (folder / "relative").symlink_to("real")
    (folder / "absolute").symlink_to(folder / "real")
    (folder / "file").symlink_to("absolute/f")
    (folder / "winding").symlink_to(f"../{folder.name}/relative/../real")
    assert {disk.read(f"{each}/f", 9).data for each in ("real", "relative", "absolute", "winding")} == {b"in"}
    assert disk.read("file", 9) == disk.read("real/f", 9)
    assert disk.fingerprint("file") == disk.fingerprint("real/f")
    assert disk.list("winding") == disk.list("real")
    for path in ("file", "relative/f", "absolute/f", "winding/f"):
        told = f"{path} leads through a link to real/f; use that path if you mean it"
        assert refusal(lambda path=path: disk.write(path, b"x")) == told
        assert refusal(lambda path=path: disk.remove(path)) == told
        assert refusal(lambda path=path: disk.move(path, "x")) == told
    new = "relative/a/b leads through a link to real/a/b; use that path if you mean it"
    assert refusal(lambda: disk.write("relative/a/b", b"x")) == new
    assert refusal(lambda: disk.move("real/f", "relative/a/b")) == new
    assert (folder / "real/f").read_bytes() == b"in"
    assert sorted(os.listdir(folder)) == ["absolute", "file", "real", "relative", "winding"]


def test_links_lead_from_one_folder_of_the_session_to_another(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (second / "f").write_bytes(b"second")
    (first / "l").symlink_to("../second")
    disk = ConfinedFiles([str(first), str(second)])
    assert disk.read("l/f", 9).data == b"second"
    assert (
        refusal(lambda: disk.write("l/f", b""))
        == f"l/f leads through a link to {second}/f; use that path if you mean it"
    )


def test_a_folder_of_the_session_in_another_is_not_left_when_it_becomes_a_link(tmp_path: Path, outside: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "outer/a/inner"
    inner.mkdir(parents=True)
    disk = ConfinedFiles([str(inner), str(outer)])
    disk.write("f", b"x")
    os.rename(outer / "a", outer / "b")
    (outer / "a").symlink_to(tmp_path)
    os.rename(outside, tmp_path / "inner")
    message = f"secret is outside the workspace {inner}, {outer}: it leads to {tmp_path}/inner/secret"
    assert refusal(lambda: disk.read("secret", 9)) == message
    assert refusal(lambda: disk.write("secret", b"x")) == message
    assert (tmp_path / "inner/secret").read_bytes() == SECRET


def test_the_folder_itself_becomes_a_link(disk: ConfinedFiles, folder: Path, outside: Path) -> None:
    folder.rmdir()
    folder.symlink_to(outside)
    for act in (lambda: disk.read("secret", 9), lambda: disk.write("secret", b"x"), lambda: disk.list(".")):
        assert "is outside the workspace" in refusal(act)
    assert (outside / "secret").read_bytes() == SECRET


def test_links_in_a_circle_are_refused(disk: ConfinedFiles, folder: Path) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    for path in ("a", "a/f"):
        for act in (lambda path=path: disk.read(path, 9), lambda path=path: disk.write(path, b"x")):
            refusal(act)
    assert sorted(os.listdir(folder)) == ["a", "b"]


@pytest.mark.quick
def test_a_file_with_several_names_is_read_but_not_replaced(disk: ConfinedFiles, folder: Path, outside: Path) -> None:
    os.link(outside / "secret", folder / "one")
    assert disk.read("one", 9).data == SECRET
    assert refusal(lambda: disk.write("one", b"x")) == (
        "one is one of 2 hard links to a file, and the others would keep the old content; "
        "remove it first if it is to become a file of its own"
    )
    disk.remove("one")
    assert disk.write("one", b"x") is True
    assert ((outside / "secret").read_bytes(), (folder / "one").read_bytes()) == (SECRET, b"x")


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("maze")
    folder, outside = top / "work", top / "outside"
    for each in (folder, outside, folder / "d", folder / "d/d"):
        each.mkdir()
    (outside / "secret").write_bytes(SECRET)
    for place in (folder, folder / "d", folder / "d/d"):
        (place / "f").write_bytes(str(place).encode())
        (place / "in").symlink_to(folder / "d")
        (place / "out").symlink_to(outside)
        (place / "up").symlink_to("..")
        (place / "root").symlink_to("/")
        (place / "loop").symlink_to("loop")
        (place / "proc").symlink_to(f"/proc/self/root{folder}")
        (place / "dangling").symlink_to("nowhere")
    return folder


NAMES = ["f", "d", "in", "out", "up", "root", "loop", "proc", "dangling", ".", "..", "secret", "outside", "work"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=7), st.booleans())
def test_a_read_gives_what_is_beneath_and_nothing_else(maze: Path, parts: list[str], full: bool) -> None:
    """Beside a reference: the name without `..`, with links followed by the system."""
    path = os.path.join(maze if full else "", *parts)
    real = os.path.realpath(os.path.normpath(os.path.join(maze, path)))
    is_expected = real.startswith(f"{maze}/") and os.path.isfile(real)
    expected = Path(real).read_bytes() if is_expected else None
    try:
        found = ConfinedFiles([str(maze)]).read(path, 99).data
    except ToolFailed:
        found = None
    assert found == expected


def _all(folder: Path) -> list[tuple[str, int, bytes]]:
    files = [each for each in folder.rglob("*") if not each.is_dir()]
    return sorted((str(each), each.lstat().st_ino, b"" if each.is_symlink() else each.read_bytes()) for each in files)
