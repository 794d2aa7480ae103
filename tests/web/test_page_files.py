"""What the server gives a browser as its page, and what the build of the app depends on."""

import json
import re
from pathlib import Path

from coderelay.cli.web import DEV_PORT
from coderelay.surfaces.web.page_files import BARE, page_files
from tools.web_types import FILE, typescript

WEB = Path(__file__).parents[2] / "web"


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


def test_b16_b74_the_page_the_server_and_make_agree_on_one_port_for_development():
    config = (WEB / "vite.config.ts").read_text(encoding="utf-8")
    makefile = (WEB.parent / "Makefile").read_text(encoding="utf-8")

    assert f'process.env.PORT ?? "{DEV_PORT}"' in config
    assert f"${{PORT:-{DEV_PORT}}}" in makefile
    assert DEV_PORT == 10087


def test_every_text_of_the_page_has_a_chinese_one():
    """In English code and `zh.ts` alike, a text stands in double quotes."""
    chinese = (WEB / "src" / "language" / "zh.ts").read_text(encoding="utf-8")
    known = set(re.findall(r'^  (?:"((?:[^"\\]|\\.)+)"|(\w+)):', chinese, re.MULTILINE))
    keys = {quoted or plain for quoted, plain in known}
    used = {
        text
        for path in (WEB / "src").rglob("*.ts*")
        for text in re.findall(r'\bt\(\s*"((?:[^"\\]|\\.)+)"', path.read_text(encoding="utf-8"))
    }

    assert used - keys == set()
    assert keys - used == set()
