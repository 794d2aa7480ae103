"""read: text in any encoding, notebooks, images; and what is none of these."""

import json
import os
from base64 import b64encode
from pathlib import Path

import pytest

from coderelay.protocol.calls import Failed, Finished
from coderelay.protocol.message_content import Image
from coderelay.workspace.files.confined_files import ConfinedFiles
from tests.house import story
from tests.tools.toolbox_scene import lay_out, scene

pytestmark = pytest.mark.quick

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@story
async def test_c36_read_numbers_lines_and_says_how_to_go_on(tmp_path: Path) -> None:
    lay_out(tmp_path, {"f": "".join(f"line {n}\n" for n in range(1, 6))})
    async with scene(tmp_path) as here:
        seen = ConfinedFiles([str(tmp_path)]).seen("f")
        expected = Finished("4\tline 4\n5\tline 5", "2 lines", seen=(seen,))
        assert await here.outcome("read", path="f", offset=4) == expected
        assert await here.run("read", path="f", limit=2) == (
            "1\tline 1\n2\tline 2\n(lines 1-2 of 5; go on with offset=3)"
        )
        assert await here.outcome("read", path="f", offset=9) == Failed("f has only 5 lines", "f has only 5 lines")
        assert await here.refused("read", path="f", offset=0) == "offset and limit must be at least 1"


@story
async def test_read_cuts_long_files_and_lines(tmp_path: Path) -> None:
    lay_out(tmp_path, {"many": "x\n" * 3000, "long": "y" * 5000, "empty": "", "wide": ("z" * 1000 + "\n") * 100})
    async with scene(tmp_path) as here:
        assert (await here.run("read", path="many")).endswith("(lines 1-2000 of 3000; go on with offset=2001)")
        assert (await here.run("read", path="long")).endswith("… (5000 characters)")
        assert await here.run("read", path="empty") == "(empty file)"
        assert (await here.run("read", path="wide")).endswith("(lines 1-49 of 100; go on with offset=50)")


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"a\r\nb\r\n", "1\ta\n2\tb"),
        (b"a\nb", "1\ta\n2\tb"),
        (b"a\n\n", "1\ta\n2\t"),
        ("a\u2028b\x0cc\n".encode(), "1\ta\u2028b\x0cc"),
        (b"\xef\xbb\xbfa\n", "1\ta"),
        ("é\n".encode("utf-16"), "1\té\n(written in utf-16-le)"),
        (b"\xfe\xff" + "é\n".encode("utf-16-be"), "1\té\n(written in utf-16-be)"),
        ("hello\n".encode("utf-16-le"), "1\thello\n(written in utf-16-le)"),
        ("𝄞 é\n".encode("utf-32"), "1\t𝄞 é\n(written in utf-32-le)"),
        ("你好，世界。\n".encode("gb18030"), "1\t你好，世界。\n(written in gb18030)"),
        ("Müller café\n".encode("latin-1"), "1\tMüller café\n(written in cp1252)"),
        (b"caf\x81\xe9\n", "1\tcaf\x81é\n(written in latin-1)"),
        ("你好 é".encode() + b"\xff\n", "1\t你好 é\ufffd"),
    ],
)
@story
async def test_text_is_read_however_it_is_written(tmp_path: Path, data: bytes, shown: str) -> None:
    lay_out(tmp_path, {"f": data})
    async with scene(tmp_path) as here:
        assert await here.run("read", path="f") == shown


@story
async def test_read_refuses_what_is_not_text_or_not_a_file(tmp_path: Path) -> None:
    lay_out(tmp_path, {"binary": b"\x7fELF\0\0"})
    os.mkfifo(tmp_path / "fifo")
    async with scene(tmp_path) as here:
        assert await here.refused("read", path="binary") == "binary is a binary file of 6 bytes"
        assert "not a regular file" in await here.refused("read", path="fifo")
        assert "is a folder" in await here.refused("read", path=".")
        missing, folder = await here.outcome("read", path="missing"), await here.outcome("read", path=".")
        assert isinstance(missing, Failed)
        assert isinstance(folder, Failed)
        assert (missing.missing, folder.missing) == (True, False)
        assert await here.refused("read", path="missing") == "cannot read missing: No such file or directory"
        assert "NUL" in await here.refused("read", path="a\0b")


@story
async def test_an_image_is_shown_by_what_it_is(tmp_path: Path) -> None:
    lay_out(tmp_path, {"picture.txt": PNG, "big.png": PNG + b"\0" * 4_000_000})
    async with scene(tmp_path) as here:
        image = Image("image/png", b64encode(PNG).decode())
        said = "image/png, 28 bytes"
        assert await here.outcome("read", path="picture.txt") == Finished(said, said, images=(image,))
        assert await here.refused("read", path="big.png") == (
            "the image has 4000028 bytes; 3932160 at most can be shown"
        )


@story
async def test_a_notebook_is_shown_as_its_cells(tmp_path: Path) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": [f"{n}\n" for n in range(30)]},
        {"output_type": "execute_result", "data": {"text/plain": ["4"], "image/png": "aGk="}},
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["…"]},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "print(1)\n2 + 2", "outputs": outputs},
    ]
    lay_out(tmp_path, {"n.ipynb": json.dumps({"cells": cells, "nbformat": 4}), "broken.ipynb": "{nothing\n"})
    first_twenty = [f"{n + 8}\t{n}" for n in range(20)]
    async with scene(tmp_path) as here:
        assert (await here.run("read", path="n.ipynb")).split("\n") == [
            "1\t[cell 1, markdown]",
            "2\t# Title",
            "3\ttext",
            "4\t[cell 2, code]",
            "5\tprint(1)",
            "6\t2 + 2",
            "7\t[output of cell 2]",
            *first_twenty,
            "28\t… (30 lines in all)",
            "29\t4",
            "30\t(image/png)",
            "31\tValueError: no",
            "(a notebook, shown as text: edit and write see its JSON)",
        ]
        assert await here.run("read", path="broken.ipynb") == "1\t{nothing"
