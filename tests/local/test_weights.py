"""The list of installed weights."""

from pathlib import Path

import pytest

from coderelay.models.local.installed_weights_registry import (
    Weights,
    WeightsFolder,
    check_gguf,
    check_name,
    models_folder,
)
from coderelay.protocol.errors import BadInput, CoderError

OURS = Weights("a", "a.gguf", 4, "tiny 1.0", "0" * 64)


@pytest.fixture
def folder(tmp_path: Path) -> WeightsFolder:
    return WeightsFolder(str(tmp_path / "models"))


def test_weights_are_listed_in_the_order_they_came(folder: WeightsFolder, tmp_path: Path) -> None:
    assert folder.all() == {}
    kept = Weights("b", str(tmp_path / "b.gguf"), 4, "there")
    folder.add(OURS)
    folder.add(kept)
    assert list(folder.all().items()) == [("a", OURS), ("b", kept)]
    assert folder.path_of(OURS) == f"{folder.path}/a.gguf"
    assert folder.path_of(kept) == f"{tmp_path}/b.gguf"


def test_our_file_is_removed_and_a_persons_own_is_not(folder: WeightsFolder, tmp_path: Path) -> None:
    kept = Weights("b", str(tmp_path / "b.gguf"), 4, "there")
    for weights in (OURS, kept):
        folder.add(weights)
        Path(folder.path_of(weights)).write_bytes(b"GGUF")
    assert (folder.remove("a"), folder.remove("b")) == (OURS, kept)
    assert folder.all() == {}
    assert (Path(folder.path_of(OURS)).exists(), Path(folder.path_of(kept)).exists()) == (False, True)
    with pytest.raises(BadInput, match="no local model 'a'; available: none"):
        folder.remove("a")


def test_a_damaged_list_is_told_and_not_written_over(folder: WeightsFolder) -> None:
    folder.add(OURS)
    damaged = Path(folder.path) / "models.json"
    damaged.write_text("{")
    for attempt in (folder.all, lambda: folder.add(OURS)):
        with pytest.raises(CoderError, match=r"models\.json is damaged"):
            attempt()
    assert damaged.read_text() == "{"


@pytest.mark.parametrize(("content", "wrong"), [(b"GGML....", "is not a GGUF file"), (b"", "is not a GGUF file")])
def test_only_weights_that_can_be_run_are_taken(tmp_path: Path, content: bytes, wrong: str) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=wrong):
        check_gguf(str(path))
    with pytest.raises(BadInput, match=r"cannot read .*: No such file"):
        check_gguf(str(tmp_path / "b.gguf"))
    with pytest.raises(BadInput, match=r"cannot read .*: Is a directory"):
        check_gguf(str(tmp_path))


@pytest.mark.parametrize("name", ["", "../a", "A", "a b", "a:b", "-a", "a" * 65, "a\n"])
def test_a_name_must_be_one_that_can_be_typed_and_is_a_file(name: str) -> None:
    with pytest.raises(BadInput, match="is not a valid name for a model"):
        check_name(name)


def test_the_folder_is_below_the_home() -> None:
    assert models_folder({"CODER_HOME": "/there/"}) == "/there/models"
    assert models_folder({}).endswith("/.coder/models")
