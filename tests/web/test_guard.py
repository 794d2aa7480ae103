"""Who gets an answer: requests from other sites, with other names, in other forms or without the token do not."""

from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from coderelay.surfaces.web.guard import addresses_of
from coderelay.surfaces.web.page_files import page_files
from tests.house import story
from tests.web.web_server import SECRET, Served, web_server

CALLS = ("/api/machine", "/api/recent-cwds", "/api/dirs", "/api/defaults", "/nothing", "/api/sessions/x/export")
PAGE = (*page_files(), "/healthz")


@story
async def test_b39_only_the_page_and_the_health_word_need_no_token(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        assert [(await web.get(path, token=None)).status for path in PAGE] == [200] * len(PAGE)
        for path in CALLS:
            refused = await web.get(path, token=None)
            assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert (await web.post("/api/title", {"prompt": "x"}, token=None)).status == 401
        assert (await web.post("/api/link", {}, token=None)).status == 401
        assert (await web.handshake()).status == 401


@story
async def test_a_name_that_leads_here_is_not_ours(tmp_path: Path) -> None:
    """DNS rebinding: the browser takes the page of another site for the owner of this address."""
    async with web_server(tmp_path) as web:
        port = web.port
        for host in (
            "attacker.example",
            f"attacker.example:{port}",
            "127.0.0.1",
            "localhost",
            f"127.0.0.1:{port + 1}",
            f"127.0.0.1.attacker.example:{port}",
            f"127.0.0.1:{port}.attacker.example",
            f"127.0.0.1:{port}, attacker.example",
            f"user@127.0.0.1:{port}",
            f"0.0.0.0:{port}",
            f"[::1]:{port}",  # it does not listen there
        ):
            for path in ("/", "/healthz", "/api/machine"):
                assert (await web.get(path, host=host)).status == 403, (host, path)
            assert (await web.handshake(token=SECRET, host=host)).status == 403
            assert (await web.post("/api/login", {"secret": web.token.new_secret()}, host=host)).status == 403
        assert (await web.get("/healthz", host=f"localhost:{port}")).status == 200
        two = web.head("GET", "/healthz", None, {"host": web.address}).replace(b"\r\n\r\n", b"\r\nHost: evil\r\n\r\n")
        assert (await web.send(two)).status == 400, "two hosts are no HTTP"
        old = await web.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert old.status == 403, "a request without a host names nobody"


@story
async def test_b39_pages_of_other_sites_are_refused_whatever_they_bring(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        own = f"http://{web.address}"
        for origin in (
            "https://attacker.example",
            "null",
            f"https://{web.address}",
            f"{own}.attacker.example",
            f"{own}/",
            f"http://127.0.0.1:{web.port + 1}",
            "http://127.0.0.1",
            f"http://LOCALHOST:{web.port}",
            f"{own} https://attacker.example",
            "http://localhost:10087",  # a development server, without --dev
        ):
            assert (await web.get("/api/machine", origin=origin)).status == 403, origin
            assert (await web.get("/", token=None, origin=origin)).status == 403
            assert (await web.handshake(token=SECRET, origin=origin)).status == 403
            login = await web.post("/api/login", {"secret": web.token.new_secret()}, origin=origin)
            assert login.status == 403
            assert b"token" not in login.body
        for site, status in (
            ("cross-site", 403),
            ("same-site", 403),
            ("same-origin", 200),
            ("none", 200),
            ("x", 403),
        ):
            assert (await web.get("/api/machine", sec_fetch_site=site)).status == status, site
        assert (await web.get("/api/machine", origin=own, sec_fetch_site="same-origin")).status == 200
        assert (await web.get("/api/machine", origin=f"http://localhost:{web.port}")).status == 200


@story
async def test_x43_a_development_server_is_accepted_only_if_it_is_named(tmp_path: Path) -> None:
    async with web_server(tmp_path, dev_port=10087) as web:
        dev = "http://localhost:10087"
        assert (await web.get("/api/machine", origin=dev, sec_fetch_site="same-site")).status == 200
        assert (await web.get("/api/machine", origin=dev, sec_fetch_site="cross-site")).status == 403
        assert (await web.get("/api/machine", sec_fetch_site="same-site")).status == 403
        assert (await web.get("/api/machine", origin="http://localhost:10088")).status == 403
        assert (await web.get("/api/machine", origin="http://127.0.0.1:10087")).status == 403
        assert (await web.get("/api/machine", origin=dev, host="localhost:10087")).status == 403


@story
async def test_what_a_form_of_another_site_can_send_is_no_write(tmp_path: Path) -> None:
    """A form sends these three types without asking the server first, and a script may send no other."""
    async with web_server(tmp_path) as web:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
            assert (await web.post("/api/link", {}, content_type=kind)).status == 415, kind
            assert (await web.post("/api/login", {}, content_type=kind)).status == 415, kind
        for kind in ("application/json; charset=utf-8", "Application/JSON"):
            assert (await web.post("/api/link", {}, content_type=kind)).status == 200, kind


@story
async def test_b08_other_methods_are_not_understood_and_nobody_may_ask_for_them(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        for method in ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "OPTIONS", "BREW"):
            refused = await web.get("/api/machine", method=method, access_control_request_method="POST")
            assert refused.status == 405, method
            assert not [name for name in refused.headers if name.startswith("access-control")]
        for path in ("/", "/healthz", "/api/machine"):
            head = await web.get(path, method="HEAD")
            whole = await web.get(path)
            assert (head.status, head.body) == (200, b"")
            assert head.headers["content-length"] == str(len(whole.body))
        assert (await web.get("/api/title")).status == 405
        assert (await web.post("/api/machine", {})).status == 405
        assert (await web.get("/", method="HEAD", host="evil")).body == b""
        with_body = web.head("GET", "/api/machine", SECRET, {"content-length": "5"}) + b"12345"
        assert (await web.send(with_body)).status == 400


@story
async def test_b39_every_answer_has_the_same_protection(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        answers = [
            *[await web.get(path) for path in (*PAGE, *CALLS)],
            *[await web.get(path, token=None) for path in CALLS],
            await web.get("/", host="evil"),
            await web.get("/", method="DELETE"),
            await web.handshake(),
            await web.send(b"nonsense\r\n\r\n"),
        ]
        for each in answers:
            policy = each.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';")
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert "require-trusted-types-for 'script'" in policy
            assert each.headers["x-content-type-options"] == "nosniff"
            assert each.headers["referrer-policy"] == "no-referrer"
            assert each.headers["cross-origin-opener-policy"] == "same-origin"
            assert each.headers["cross-origin-resource-policy"] == "same-origin"
            assert not {"set-cookie", "server", "access-control-allow-origin"} & each.headers.keys()
        for path in CALLS:
            assert (await web.get(path)).headers["cache-control"] == "no-store"


@story
async def test_a_token_is_compared_whole(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        wrong = (
            "",
            "x",
            SECRET[:-1],
            f"{SECRET}x",
            SECRET.upper(),
            f"{SECRET} {SECRET}",
            "é",
            f"{SECRET}\0"[:-1] + "é",
        )
        for each in wrong:
            assert (await web.get("/api/machine", token=each)).status in (400, 401), each
        for value in (SECRET, f"Basic {SECRET}", f"Bearer{SECRET}", "Bearer", f"Bearer {SECRET},Bearer {SECRET}"):
            assert (await web.get("/api/machine", authorization=value)).status == 401, value
        assert (await web.get(f"/api/machine?token={SECRET}", token=None)).status == 401
        assert (await web.get("/api/machine", token=None, cookie=f"token={SECRET}")).status == 401
        twice = web.head("GET", "/api/machine", SECRET).replace(
            b"\r\n\r\n", f"\r\nAuthorization: Bearer {SECRET}\r\n\r\n".encode()
        )
        assert (await web.send(twice)).status == 401, "which one is meant?"
        assert (await web.get("/api/machine", authorization=f"bearer {SECRET}")).status == 200


@story
async def test_guesses_are_slowed_down_and_the_person_is_not_locked_out(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        told = [(await web.get("/api/machine", token=f"guess-{number}")).status for number in range(40)]
        assert told[:20] == [401] * 20
        assert told[-1] == 429
        assert (await web.get("/api/machine", token="guess")).headers["retry-after"] == "10"
        assert (await web.handshake(offered="coder.v1, bearer.guess")).status == 429
        assert (await web.get("/api/machine")).status == 200
        assert (await web.post("/api/login", {"secret": web.token.new_secret()}, token=None)).status == 200


async def _spoken(web: Served, *offered: str, token: str = "") -> tuple[str | None, str | bytes]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    names = [Subprotocol(each) for each in offered]
    address = f"ws://{web.address}/events"
    async with connect(address, subprotocols=names or None, additional_headers=headers, compression=None) as socket:
        first = await socket.recv()
        await socket.send("ping")
        assert await socket.recv() == "ping"
        return socket.subprotocol, first


@story
async def test_a_websocket_brings_its_token_as_header_or_subprotocol(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        bearer = f"bearer.{SECRET}"
        assert await _spoken(web, "coder.v1", bearer) == ("coder.v1", "batched=False")
        assert await _spoken(web, bearer, "coder.v1", "coder.v1.batch") == ("coder.v1.batch", "batched=True")
        assert await _spoken(web, token=SECRET) == (None, "batched=False")
        assert await _spoken(web, "coder.v1.batch", token=SECRET) == ("coder.v1.batch", "batched=True")
        for offered in (
            ["coder.v1"],
            ["coder.v1", "bearer.x"],
            ["coder.v1", "bearer."],
            [bearer + "x"],
            [bearer, bearer],
        ):
            with pytest.raises((InvalidStatus, ValueError)) as refused:
                await _spoken(web, *offered)
            assert isinstance(refused.value, InvalidStatus)
            assert refused.value.response.status_code == 401
        with pytest.raises(InvalidStatus):
            await _spoken(web, "coder.v1", "bearer.wrong", token=SECRET)  # which one is meant?
        assert (await web.handshake("/other", token=SECRET)).status == 403


@story
async def test_nothing_that_a_client_names_becomes_a_file(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        for path in (
            "/../../../etc/passwd",
            "/..%2f..%2f..%2fetc/passwd",
            "/%2e%2e/page.js",
            "/page/index.html",
            "//page.js",
            "/page.js/",
            "/page.js%00",
            "/api/sessions/../../etc/passwd",
            "/api/sessions/..%2f..%2fsessions.db/export",
            "/api/sessions/%00/export",
            "http://attacker.example/page.js",
            "*",
        ):
            assert (await web.get(path)).status in (400, 404), path
            assert (await web.get(path, token=None)).status in (400, 401), path


def test_a_server_knows_its_own_names_only() -> None:
    assert addresses_of("127.0.0.1", 8787).hosts == {"127.0.0.1:8787", "localhost:8787"}
    assert addresses_of("::1", 8787).hosts == {"[::1]:8787", "localhost:8787"}
    assert addresses_of("127.0.0.1", 80).hosts == {"127.0.0.1:80", "127.0.0.1", "localhost:80", "localhost"}
    assert addresses_of("127.0.0.1", 1, 10087).dev_origins == {"http://localhost:10087"}
