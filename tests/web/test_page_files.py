"""What the server gives a browser as its page, and what the build of the app depends on."""

import gzip
import json
import re
from pathlib import Path

import pytest

from coderelay.protocol.translation_files import LANGUAGES
from coderelay.surfaces.web.page_files import APP, BARE, page_files
from tests.language.text_literals import PLACE
from tools.web_types import FILE, typescript

WEB = Path(__file__).parents[2] / "web"
PAGE_TEXTS = WEB / "src" / "language"


def test_without_a_build_the_bare_page_is_served_and_says_how_to_build_the_app(tmp_path: Path):
    files = page_files(tmp_path)

    assert set(files) == {"/", "/page.js", "/page.css"}
    assert files["/"].path == BARE / "index.html"
    assert "make web" in files["/"].path.read_text(encoding="utf-8")


def test_a_built_app_is_served_file_by_file_and_only_its_own_types(tmp_path: Path):
    (tmp_path / "assets").mkdir()
    for name in ("index.html", "icon.svg", "assets/index-1.js", "assets/index-1.js.map", ".env"):
        (tmp_path / name).write_text("x", encoding="utf-8")

    files = page_files(tmp_path)

    assert {name: each.is_fixed for name, each in files.items()} == {
        "/": False,
        "/icon.svg": False,
        "/assets/index-1.js": True,
    }


def test_the_types_of_the_page_are_those_of_the_server():
    """`python -m tools.web_types` writes them anew."""
    assert FILE.read_text(encoding="utf-8") == typescript()


def test_the_lock_file_names_no_registry_and_has_a_hash_for_every_package():
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: each for name, each in lock["packages"].items() if name}

    assert [name for name, each in packages.items() if "resolved" in each] == []
    assert [name for name, each in packages.items() if "integrity" not in each] == []
    assert "omit-lockfile-registry-resolved=true" in (WEB / ".npmrc").read_text(encoding="utf-8")


@pytest.mark.skipif(not (APP / "index.html").is_file(), reason="the web app is not built; run `make web`")
def test_what_the_page_loads_before_it_shows_anything_is_small():
    page = (APP / "index.html").read_text(encoding="utf-8")
    names = re.findall(r'<(?:script|link)[^>]*(?:src|href)="/(assets/[^"]+\.js)"', page)

    assert sum(len(gzip.compress((APP / name).read_bytes())) for name in names) < 200 * 1024
    assert names


def _texts_of_the_page() -> set[str]:
    """In the code, a text stands in double quotes."""
    return {
        text
        for path in (WEB / "src").rglob("*.ts*")
        for text in re.findall(r'\bt\(\s*"((?:[^"\\]|\\.)+)"', path.read_text(encoding="utf-8"))
    }


def test_every_text_of_the_page_has_a_chinese_one():
    assert _texts_of_the_page() - _read(PAGE_TEXTS / "zh.json").keys() == set()


@pytest.mark.parametrize("file", sorted(PAGE_TEXTS.glob("*.json")), ids=lambda file: file.stem)
def test_the_page_has_a_file_for_each_language_with_texts_of_its_own(file: Path):
    """A text that a language lacks is English."""
    texts = _read(file)

    assert file.stem in LANGUAGES
    assert texts.keys() - _texts_of_the_page() == set()
    assert [text for text, told in texts.items() if set(PLACE.findall(told)) != set(PLACE.findall(text))] == []


def _read(file: Path) -> dict[str, str]:
    return json.loads(file.read_text(encoding="utf-8"))
