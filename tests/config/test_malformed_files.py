"""Files that are no configuration: each is refused whole, with its name and the place of the mistake."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.config.folder_override_rules import keys_in
from coderelay.config.parse_config import read_document
from coderelay.config.person_and_folder_settings import layer
from coderelay.config.settings import Settings
from coderelay.protocol.errors import BadInput
from tests.config.config_files import Places
from tests.config.test_keys import KEYS

Make = Callable[[Path], None]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"model": }', ": line 1, column 11: invalid JSON: Expecting value"),
        (
            b'{\n  "model": "a",\n}',
            ": line 3, column 1: invalid JSON: Expecting property name enclosed in double quotes",
        ),
        (b'{"model": "a"} x', ": line 1, column 16: invalid JSON: Extra data"),
        (b'// none\n{"model": "a"}', ": line 1, column 1: invalid JSON: Expecting value"),
        (b'{"model": "\xff"}', " is not UTF-8: byte 12"),
        (b"[1, 2]", " must contain a JSON object: {…}"),
        (b"null", " must contain a JSON object: {…}"),
        (b'{"mode": "plan", "model": "a", "mode": "yolo"}', ": mode is set twice"),
        (b'{"mode": "plan", "mod\\u0065": "yolo"}', ": mode is set twice"),
        (b'{"web": {"port": 1, "port": 2}}', ": port is set twice"),
        (b'{"hooks": {"a": ["\\"b\\": c"], "a": []}}', ": a is set twice"),
        (b'{"compaction": {"keep": 1}, "compaction.keep": 2}', ": compaction.keep is set twice"),
        (b'{"compaction.keep": 1, "compaction": 3}', ": compaction is set twice"),
        (b'{"max_steps": NaN}', ": NaN is not a JSON number"),
        (b'{"bash.timeout_s": 1e999}', " contains a number that is too large, or an invalid character"),
        (b'{"max_steps": ' + b"9" * 5000 + b"}", " contains a number that is too large, or an invalid character"),
        (b'{"model": "\\ud800"}', " contains a number that is too large, or an invalid character"),
    ],
)
def test_x23_what_is_not_json_is_refused_with_its_place(content: bytes, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_document(content, "config.json")
    assert str(refused.value) == f"config.json{said}"


@pytest.mark.parametrize("depth", [32, 500, 990, 100_000])
def test_x36_depth_is_refused_before_it_hurts(depth: int) -> None:
    for content in (b'{"model":' * depth + b"1" + b"}" * depth, b'{"model":' + b"[" * depth, b'{"a":' * depth):
        with pytest.raises(BadInput, match=r"nested too deeply$|invalid JSON: Expecting value$"):
            read_document(content, "config.json")
    with pytest.raises(BadInput, match=r"^config\.json: model must be text that is not empty, not "):
        read_document(b'{"model' + b".a" * depth + b'": 1}', "config.json")


@pytest.mark.parametrize(
    "content",
    [b"", b" \n", b"{}", b'\xef\xbb\xbf{"model": "a\\"b\\": c"}', b'{"hooks": {"Stop": ["b: c", "\\\\"]}}'],
)
def test_x23_what_is_unusual_but_right_is_taken(content: bytes) -> None:
    read_document(content, "config.json")


def test_x23_dotted_and_nested_keys_join() -> None:
    tree, _ = read_document(b'{"web.port": 1, "web": {"profile": "cowork"}, "bash": {"timeout_s": 1}}', "config.json")
    assert tree == {"web": {"port": 1, "profile": "cowork"}, "bash": {"timeout_s": 1}}


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def _fill(path: Path) -> None:
    path.write_bytes(b" " * (1024 * 1024 + 1))


@pytest.mark.parametrize("whose", ["person", "folder"])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Path.mkdir, "is not a regular file"),
        (os.mkfifo, "is not a regular file"),
        (_link_to_a_device, "is not a regular file|is a link that leads out of the folder, to /dev/zero"),
        (_link_to_itself, "Too many levels of symbolic links"),
        (_fill, "is larger than 1048576 bytes"),
    ],
)
def test_x36_what_is_no_plain_small_file_is_refused_at_once(
    places: Places, whose: str, make: Make, said: str
) -> None:
    path = places.person_file if whose == "person" else places.folder_file
    make(path)
    with pytest.raises(BadInput, match=f"^(cannot read )?{path}:? (?:{said})"):
        places.load()


def test_x36_a_folders_file_counts_only_if_it_lies_in_the_folder(places: Places, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.json").write_text('{"model": "openai:outside"}')
    places.folder_file.symlink_to(outside / "config.json")
    with pytest.raises(BadInput, match=f"leads out of the folder, to {outside}/config.json"):
        places.load()
    places.folder_file.unlink()
    places.folder_file.parent.rmdir()
    (places.folder / ".coder").symlink_to(outside)
    with pytest.raises(BadInput, match="leads out of the folder"):
        places.load()


def test_x36_links_inside_of_the_folder_are_followed(places: Places) -> None:
    (places.folder / "shared").mkdir()
    (places.folder / "shared" / "coder.json").write_text('{"model": "openai:inside"}')
    places.folder_file.symlink_to("../shared/coder.json")
    assert places.load().model == "openai:inside"


def test_x23_the_persons_file_may_be_a_link(places: Places, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.json").write_text('{"model": "openai:linked"}')
    places.person_file.symlink_to(tmp_path / "dotfiles.json")
    assert places.load().model == "openai:linked"


@pytest.mark.parametrize("crafted", ["file", "dangling", "empty"])
def test_x36_a_folder_without_a_usable_coder_folder_has_no_settings(places: Places, crafted: str) -> None:
    own = places.folder / ".coder"
    if crafted != "empty":
        own.rmdir()
    if crafted == "file":
        own.write_text("?")
    if crafted == "dangling":
        own.symlink_to("nowhere")
    assert places.load().files == ()


NAMES = st.sampled_from(
    sorted({part for key, *_ in KEYS for part in (key, *key.split("."))} | {"command", "url", "env"})
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(tree=st.dictionaries(NAMES | st.text(max_size=5), JSON, max_size=4))
def test_x36_no_json_in_a_folder_brings_coder_down(tree: dict[str, Any]) -> None:
    """It is taken, or refused with the file's name and nothing that a terminal would obey."""
    _read_or_refuse(json.dumps(tree).encode())


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=40) | st.text('{}[]":,\\ \n0e-tru', max_size=30).map(str.encode))
def test_x36_no_bytes_in_a_folder_bring_coder_down(content: bytes) -> None:
    _read_or_refuse(content)


def _read_or_refuse(content: bytes) -> None:
    refused = BadInput("config.json")
    try:
        tree, _ = read_document(content, "config.json")
        assert layer(Settings(), tree).needs_trust.keys() <= {".".join(path) for path, _ in keys_in(tree)}
    except BadInput as error:
        refused = error
    assert refused.message.startswith("config.json")
    assert all(line.isprintable() for line in str(refused).split("\n"))
