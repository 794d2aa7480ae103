"""The calls beside the event contract: folders, titles, the machine, a session as a file."""

import json
import socket
from pathlib import Path

from coderelay.protocol.ids import new_id
from tests.house import story
from tests.model_server import http_error, says, script
from tests.web.web_server import Served, web_server


async def _cwds(web: Served, query: str = "") -> list[str]:
    answer = await web.get(f"/api/recent-cwds{query}")
    assert answer.status == 200
    return answer.json["cwds"]


@story
async def test_b26_b71_recent_folders_are_newest_first_and_one_to_twenty(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        assert await _cwds(web) == []
        for number in range(25):
            web.coder.folder = tmp_path / "work" / f"project-{number}"
            web.coder.folder.mkdir()
            await web.coder.create(agent="guide")
        newest = [str(tmp_path / "work" / f"project-{number}") for number in reversed(range(25))]
        assert await _cwds(web) == newest[:8]
        assert await _cwds(web, "?limit=") == newest[:8]
        assert await _cwds(web, "?limit=3") == newest[:3]
        assert await _cwds(web, "?limit=100") == newest[:20]
        assert await _cwds(web, "?limit=0") == newest[:1]
        assert await _cwds(web, "?limit=-5") == newest[:1]
        for wrong in ("many", "1.5", "٣", "9" * 30, "%00", "1e3", "--1"):
            assert (await web.get(f"/api/recent-cwds?limit={wrong}".encode().decode("latin-1"))).status == 400, wrong


@story
async def test_b10_a_model_names_a_session(tmp_path: Path) -> None:
    async with web_server(tmp_path, script(says('"Build the thing"'))) as web:
        answer = await web.post("/api/title", {"prompt": "please build it", "cwd": str(web.coder.folder)})
        assert (answer.status, answer.json) == (200, {"title": "Build the thing"})


@story
async def test_b33_a_title_comes_from_the_prompt_if_no_model_gives_one(tmp_path: Path) -> None:
    async with web_server(tmp_path, script(http_error(500, "broken"), http_error(401, "who are you"))) as web:
        folder = str(web.coder.folder)
        first = await web.post("/api/title", {"prompt": "\n  fix the   tests\nand more", "cwd": folder})
        assert (first.status, first.json) == (200, {"title": "fix the tests"})
        long = await web.post("/api/title", {"prompt": "x" * 500, "cwd": folder})
        assert long.json == {"title": "x" * 59 + "…"}
        nowhere = await web.post("/api/title", {"prompt": "fix it", "cwd": "/no/such/folder"})
        assert nowhere.json == {"title": "fix it"}
        assert (await web.post("/api/title", {"prompt": " \n "})).status == 400


@story
async def test_b26_x29_folders_are_browsed_within_the_roots_only(tmp_path: Path) -> None:
    outside = tmp_path / "private"
    outside.mkdir()
    async with web_server(tmp_path) as web:
        root = web.coder.folder
        for name in ("src", "docs", ".hidden"):
            (root / name).mkdir()
        (root / "file").write_text("x")
        (root / "link").symlink_to(outside)
        shown = await web.get("/api/dirs")
        assert shown.json == {"path": str(root), "folders": ["docs", "src"], "parent": None, "whole": True}
        hidden = await web.get("/api/dirs?hidden=1")
        assert hidden.json["folders"] == [".hidden", "docs", "src"]
        below = await web.get(f"/api/dirs?path={root}/src")
        assert below.json == {"path": f"{root}/src", "folders": [], "parent": str(root), "whole": True}
        for path in (
            outside,
            tmp_path,
            "/",
            "/etc",
            f"{root}/..",
            f"{root}/link",
            f"{root}/none",
            "src",
            "~",
            "../x",
        ):
            refused = await web.get(f"/api/dirs?path={path}")
            assert (refused.status, refused.json) == (
                403,
                {"error": "this folder cannot be shown: it is outside of web.roots, or cannot be read"},
            ), path
        assert (await web.get("/api/dirs?path=%00")).status == 400
        assert (await web.get(f"/api/dirs?path=/{'x/' * 4000}")).status == 400


@story
async def test_b35_what_the_machine_has(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        told = (await web.get("/api/machine")).json
        assert told["hostname"] == socket.gethostname()
        assert told["cpuModel"]
        assert told["cpuCount"] >= 1
        assert told["totalMemory"] > 100_000_000
        assert told["totalDisk"] > 100_000_000


@story
async def test_a_session_is_exported_by_its_whole_id(tmp_path: Path) -> None:
    async with web_server(tmp_path, script(says("hello"))) as web:
        session = await web.coder.create()
        await web.coder.prompt("hi")
        await web.coder.ended()
        answer = await web.get(f"/api/sessions/{session}/export")
        assert answer.status == 200
        assert "hello" in json.dumps(answer.json)
        for wrong in (
            new_id(),
            session[:8],
            session.upper(),
            f"{{{session}}}",
            session.replace("-", ""),
            "approvals",
        ):
            missing = await web.get(f"/api/sessions/{wrong}/export")
            assert missing.status == 404, wrong


@story
async def test_what_a_new_session_would_get(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        told = await web.get(f"/api/defaults?cwd={web.coder.folder}")
        assert told.status == 200
        assert told.json["defaults"]["mode"] == "default"
        assert {"native", "guide"} <= {each["name"] for each in told.json["agents"]}
        assert (await web.get("/api/defaults")).json["cwd"] == str(web.coder.folder)  # where the server was started
        assert (await web.get("/api/defaults?cwd=relative")).status == 400


@story
async def test_a_link_is_exchanged_once(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        made = await web.post("/api/link", {})
        address, _, secret = made.json["link"].partition("/#link=")
        assert (address, made.json["seconds"]) == (f"http://{web.address}", 600)
        first = await web.post("/api/login", {"secret": secret}, token=None)
        assert first.status == 200
        assert (await web.get("/api/machine", token=first.json["token"])).status == 200
        again = await web.post("/api/login", {"secret": secret}, token=None)
        assert again.status == 403
        assert "token" not in again.json
        told = await web.post("/api/login", {"secret": secret}, token=None, accept_language="zh-CN")
        assert told.json["error"].startswith("此链接")
        assert (await web.post("/api/login", {"secret": ""}, token=None)).status == 403
        assert (await web.post("/api/login", {"secret": secret, "more": 1}, token=None)).status == 400
