"""web_fetch against real servers on this machine, which only these tests let it reach."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

from coderelay.http.web_page_client import PageClient
from coderelay.policy.judge import Policy, judge
from coderelay.policy.path_and_host_patterns import host_of
from coderelay.protocol.calls import Need
from coderelay.tools.builtin_tools import SPECS
from coderelay.tools.web.page_address_check import IPAddress, is_public
from coderelay.tools.web.page_fetch import PageFetch
from coderelay.tools.web_fetch import WebFetch
from tests.models.certificates import Certificate
from tests.models.raw_server import RawConnection, RawServer, Talk, answers, in_loop, raw_server
from tests.policy.rule_parsing import read_rules
from tests.tools.toolbox_scene import Scene, scene


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return Certificate(tmp_path_factory.mktemp("certificate"))


LOOPBACK = ip_address("127.0.0.1")


def loopback_too(place: IPAddress) -> bool:
    return place == LOOPBACK or is_public(place)


class Names:
    """Where names lead, as a test says, each time they are asked for anew."""

    def __init__(self, places: Mapping[str, Sequence[str]] | None = None) -> None:
        self._places = places or {}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        places = self._places.get(host, ("127.0.0.1",))
        return [places[min(self.asked.count(host), len(places)) - 1]]


@asynccontextmanager
async def fetching(
    root: Path,
    talk: Talk,
    *,
    names: Names | None = None,
    certificate: Certificate | None = None,
    seconds: float = 60.0,
    env: Mapping[str, str] | None = None,
) -> AsyncGenerator[tuple[Scene, RawServer]]:
    async with raw_server(talk, tls=certificate.server if certificate else None) as server:
        fetch = PageFetch(
            PageClient((certificate.trusted if certificate else {}) | dict(env or {}), idle_seconds=60.0),
            resolve=names or Names(),
            may_reach=loopback_too,
            ports=(80, 443, server.port),
            seconds=seconds,
        )
        async with scene(root, tools=[WebFetch(lambda: fetch)]) as tools:
            yield tools, server


def page(body: bytes, content_type: str = "text/html; charset=utf-8", *headers: str, status: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {status} Yes", f"content-type: {content_type}", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def leads_to(location: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Go\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n".encode()


def by_path(pages: Mapping[str, bytes]) -> Talk:
    async def talk(connection: RawConnection) -> None:
        if request := await connection.request():
            await connection.send(pages[request.split()[1].decode()])

    return talk


async def read(root: Path, answer: bytes) -> str:
    """The text that is made of one answer."""
    async with fetching(root, answers(answer)) as (tools, server):
        url = f"http://site.example:{server.port}/"
        said = await tools.run("web_fetch", url=url)
    assert said.startswith(f"{url}\n\n")
    return said.removeprefix(f"{url}\n\n")


async def refused(root: Path, answer: bytes) -> str:
    async with fetching(root, answers(answer)) as (tools, server):
        said = await tools.refused("web_fetch", url=f"http://site.example:{server.port}/")
        return said.replace(str(server.port), "PORT")


@pytest.mark.quick
@in_loop
async def test_a_page_is_its_text(tmp_path: Path) -> None:
    async def talk(connection: RawConnection) -> None:
        requests.append((await connection.request()).decode())
        await connection.send(page(b"<title>Hello</title><h2>You</h2><p>there</p>"))

    requests: list[str] = []
    async with fetching(tmp_path, talk) as (tools, server):
        url = f"http://Site.Example:{server.port}/docs/?q=1#part"
        need = tools.need("web_fetch", url=url)
        said = await tools.run("web_fetch", url=url)
        port = server.port

    assert need == Need(tool="web_fetch", kind="network", title=f"http://site.example:{port}/docs/?q=1")
    assert said == f"http://site.example:{port}/docs/?q=1\n\n# Hello\n\n## You\n\nthere"
    assert requests[0].split("\r\n")[:3] == [
        "GET /docs/?q=1 HTTP/1.1", f"host: site.example:{port}", "connection: close",
    ]  # fmt: skip


@in_loop
async def test_rules_about_machines_mean_it(tmp_path: Path) -> None:
    rules = read_rules(allow=("web_fetch(docs.python.org)",), deny=("network(*.evil.example)",))
    policy = Policy("default", SPECS, rules=rules)
    async with fetching(tmp_path, answers()) as (tools, _):
        urls = ("https://docs.python.org/3/", "https://www.evil.example", "https://else.example")
        needs = [tools.need("web_fetch", url=url) for url in urls]

    assert [host_of(need.title) for need in needs] == ["docs.python.org", "www.evil.example", "else.example"]
    assert [each.verdict for each in judge(needs, policy)] == ["allow", "deny", "ask"]


@in_loop
async def test_an_address_that_is_refused_is_never_asked_about(tmp_path: Path) -> None:
    async with fetching(tmp_path, answers()) as (tools, _):
        need = tools.need("web_fetch", url="http://user:pass@site.example/")

    assert need.problem == "an address with a login in it is not fetched"


@in_loop
async def test_private_places_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    names = Names({"inside.example": ["192.168.1.1"], "mapped.example": ["::ffff:10.0.0.1"]})
    async with fetching(tmp_path, answers(page(b"secret")), names=names) as (tools, server):
        inside = await tools.refused("web_fetch", url="http://inside.example/")
        mapped = await tools.refused("web_fetch", url="http://mapped.example/")
        connections = server.connections

    assert inside == "inside.example resolves to 192.168.1.1, which is not on the public network"
    assert mapped == "mapped.example resolves to ::ffff:a00:1, which is not on the public network"
    assert connections == 0


@in_loop
async def test_without_a_word_from_us_this_machine_is_not_reached(tmp_path: Path) -> None:
    """As `app` makes it: nothing is injected but the client."""
    async with raw_server(answers(page(b"secret"))) as server:
        tool = WebFetch(lambda: PageFetch(PageClient({}), ports=(server.port,)))
        async with scene(tmp_path, tools=[tool]) as tools:
            for host in ("127.0.0.1", "localhost"):
                said = await tools.refused("web_fetch", url=f"http://{host}:{server.port}/")
                assert "which is not on the public network" in said
        assert server.connections == 0


@in_loop
async def test_a_name_is_resolved_once_and_that_place_is_used(tmp_path: Path) -> None:
    """Asked again, it would lead elsewhere: that is how a check is outwitted."""
    names = Names({"site.example": ["127.0.0.1", "10.0.0.1"]})
    async with fetching(tmp_path, answers(page(b"here", "text/plain")), names=names) as (tools, server):
        assert (await tools.run("web_fetch", url=f"http://site.example:{server.port}/")).endswith("here")
        assert names.asked == ["site.example"]


@in_loop
async def test_the_certificate_is_that_of_the_name_not_of_the_place(tmp_path: Path, certificate: Certificate) -> None:
    async with fetching(tmp_path, answers(page(b"safe")), certificate=certificate) as (tools, server):
        said = await tools.run("web_fetch", url=f"https://model.test:{server.port}/")
        other = await tools.refused("web_fetch", url=f"https://other.test:{server.port}/")

    assert said.endswith("\n\nsafe")
    assert "shows a certificate that cannot be trusted" in other


@in_loop
async def test_redirects_on_one_site_are_followed(tmp_path: Path) -> None:
    pages = {"/": leads_to("/a"), "/a": leads_to("b?x=1", 301), "/b?x=1": page(b"found", "text/plain")}
    names = Names()
    async with fetching(tmp_path, by_path(pages), names=names) as (tools, server):
        said = await tools.run("web_fetch", url=f"http://site.example:{server.port}/")
        port = server.port

    assert said == f"http://site.example:{port}/b?x=1\n\nfound"
    assert names.asked == ["site.example"] * 3  # looked at anew each time


@in_loop
async def test_a_redirect_to_a_private_place_is_refused(tmp_path: Path) -> None:
    names = Names({"site.example": ["127.0.0.1", "169.254.169.254"]})
    async with fetching(tmp_path, answers(leads_to("/latest/meta-data")), names=names) as (tools, server):
        said = await tools.refused("web_fetch", url=f"http://site.example:{server.port}/")

    assert said == "site.example resolves to 169.254.169.254, which is not on the public network"


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("https://evil.example/x", "the page leads to another site: https://evil.example/x\nFetch that address"),
        ("http://www.site.example/", "the page leads to another site: http://www.site.example/\nFetch that address"),
        ("https:other.example/x", "https:other.example/x is not a URL that can be fetched"),
        ("http://169.254.169.254/", "the page leads to another site: http://169.254.169.254/\nFetch"),
        ("http://site.example:22/", "port 22 is not one that pages are fetched from"),
        ("http://u:p@site.example/", "an address with a login in it is not fetched"),
        ("file:///etc/passwd", "file:///etc/passwd is not a URL that can be fetched"),
        ("//2130706433/", "'2130706433' is not a plain host name"),
    ],
)
@in_loop
async def test_redirects_that_are_not_followed(tmp_path: Path, location: str, reason: str) -> None:
    said = await refused(tmp_path, leads_to(location))
    assert said.startswith(reason)


@in_loop
async def test_https_does_not_become_http(tmp_path: Path, certificate: Certificate) -> None:
    async with fetching(tmp_path, answers(leads_to("http://model.test/")), certificate=certificate) as (
        tools,
        server,
    ):
        said = await tools.refused("web_fetch", url=f"https://model.test:{server.port}/")

    assert said == "the page leads from https to http, where it is not followed: http://model.test/"


@in_loop
async def test_redirects_without_an_end(tmp_path: Path) -> None:
    said = await refused_after(tmp_path, by_path({"/": leads_to("/")}))
    assert said == "http://site.example:PORT/ redirects more than 5 times"


async def refused_after(root: Path, talk: Talk, seconds: float = 60.0) -> str:
    async with fetching(root, talk, seconds=seconds) as (tools, server):
        said = await tools.refused("web_fetch", url=f"http://site.example:{server.port}/")
        await server.all_left()
        return said.replace(str(server.port), "PORT")


@in_loop
async def test_other_texts_come_as_they_are(tmp_path: Path) -> None:
    assert await read(tmp_path, page(b'{"a": "<b>"}', "application/json")) == '{"a": "<b>"}'
    assert await read(tmp_path, page(b"<p>no page</p>", "text/plain")) == "<p>no page</p>"
    assert await read(tmp_path, page(b"<a/>", "application/atom+xml")) == "<a/>"
    assert await read(tmp_path, page(b"<p>page</p>", "")) == "page"


@in_loop
async def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    site = "http://site.example:PORT/"
    assert await refused(tmp_path, page(b"%PDF", "application/pdf")) == f"{site} is application/pdf, not text"
    assert await refused(tmp_path, page(b"\x89PNG\0\0", "")) == f"{site} is not text"
    assert await refused(tmp_path, page(b"x", "text/plain", "content-encoding: br")) == (
        "the page has an unsupported encoding: br"
    )
    assert await refused(tmp_path, page(b"<h1>Gone</h1>", status=404)) == f"{site} answered 404\n# Gone"
    broken = page(b"no gzip at all", "text/plain", "content-encoding: gzip")
    assert (await refused(tmp_path, broken)).startswith("the page cannot be decompressed")


@in_loop
async def test_web_pages_in_other_encodings_are_decoded(tmp_path: Path) -> None:
    assert await read(tmp_path, page("中文".encode("gbk"), "text/plain; charset=GBK")) == "中文"
    meta = '<meta http-equiv="content-type" content="text/html; charset=shift_jis"><p>日本'
    assert await read(tmp_path, page(meta.encode("shift_jis"), "text/html")) == "日本"
    assert await read(tmp_path, page("café".encode("utf-16"), "text/plain; charset=latin-1")) == "café"
    assert await read(tmp_path, page("café".encode(), "text/plain; charset=punycode")) == "café"
    assert await read(tmp_path, page(b"caf\xe9", "text/plain; charset=no-such")) == "caf\ufffd"


@in_loop
async def test_compressed_pages_are_decompressed(tmp_path: Path) -> None:
    text = b"word " * 1000
    raw = zlib.compressobj(wbits=-15)
    for packed, coding in (
        (gzip.compress(text), "gzip"),
        (zlib.compress(text), "deflate"),
        (raw.compress(text) + raw.flush(), "deflate"),
    ):
        answer = page(packed, "text/plain", f"content-encoding: {coding}")
        assert await read(tmp_path, answer) == text.decode().strip()


@in_loop
async def test_a_page_packed_in_two_parts_is_one_page(tmp_path: Path) -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"and two") + b"\0\0"
    assert await read(tmp_path, page(packed, "text/plain", "content-encoding: gzip")) == "one and two"


@in_loop
async def test_a_packed_page_that_was_cut_off_is_not_called_whole(tmp_path: Path) -> None:
    packed = gzip.compress(b"all there is")[:-9]
    said = await read(tmp_path, page(packed, "text/plain", "content-encoding: gzip"))
    assert said.endswith("\n(the page is longer; only its beginning was read)")


@in_loop
async def test_a_small_page_that_becomes_a_huge_text(tmp_path: Path) -> None:
    bomb = gzip.compress(b"<ol><li>x" * 400_000)
    said = await read(tmp_path, page(bomb, "text/html", "content-encoding: gzip"))

    assert said.endswith("(the page is longer; only its beginning was read)")
    assert len(said) < 51_000


@in_loop
async def test_signs_that_nobody_sees_are_left_out(tmp_path: Path) -> None:
    hidden = "a\U000e0049\U000e0067\u200b\u202eb\x1b[8m &#27;[2J&#x202e;c"
    assert await read(tmp_path, page(f"<p>{hidden}</p>".encode())) == "ab[8m [2Jc"
    assert await read(tmp_path, page("x\x9b\ufeffy\tz\r\nमी\u200dक".encode(), "text/plain; charset=utf-8")) == (
        "xy\tz\r\nमी\u200dक"
    )
    assert "\x1b" not in await refused(tmp_path, page(b"", "app/\x1b[8m\x1b]0;pwned"))
    assert "\x1b" not in await refused(tmp_path, page(b"x", "text/plain", "content-encoding: \x1b[8m"))


@in_loop
async def test_a_small_answer_that_unpacks_to_a_huge_one(tmp_path: Path) -> None:
    bomb = gzip.compress(b"a" * (256 << 20))
    tracemalloc.start()
    said = await read(tmp_path, page(bomb, "text/plain", "content-encoding: gzip"))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert said.endswith("(the page is longer; only its beginning was read)")
    assert len(said) < 51_000
    assert most < 32 << 20


@in_loop
async def test_a_page_without_an_end(tmp_path: Path) -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        while True:
            await connection.send(b"more and more " * 10_000)

    async with fetching(tmp_path, talk) as (tools, server):
        said = await tools.run("web_fetch", url=f"http://site.example:{server.port}/")
        await server.all_left()

    assert said.endswith("(the page is longer; only its beginning was read)")


@in_loop
async def test_a_page_that_never_comes(tmp_path: Path) -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.left()

    assert await refused_after(tmp_path, talk, seconds=0.2) == "http://site.example:PORT/ took longer than 0.2 s"


@in_loop
async def test_a_stopped_fetch_leaves_no_connection(tmp_path: Path) -> None:
    async def talk(connection: RawConnection) -> None:
        asked.set()
        await connection.left()

    asked = asyncio.Event()
    async with fetching(tmp_path, talk) as (tools, server):
        call = asyncio.ensure_future(tools.run("web_fetch", url=f"http://site.example:{server.port}/"))
        await asked.wait()
        call.cancel()
        await server.all_left()
        assert (await asyncio.gather(call, return_exceptions=True))[0].__class__ is asyncio.CancelledError


@in_loop
async def test_a_proxy_is_asked_for_names_that_only_it_knows(tmp_path: Path) -> None:
    class Unknown(Names):
        async def __call__(self, host: str, port: int) -> list[str]:
            if host == "known.example":
                return ["10.0.0.1"]
            raise OSError(-2, "Name or service not known")

    async def proxy(connection: RawConnection) -> None:
        line = (await connection.request()).split(b"\r\n")[0]
        await connection.send(page(line, "text/plain"))

    async with raw_server(proxy) as listening:
        env = {"http_proxy": f"http://127.0.0.1:{listening.port}"}
        async with fetching(tmp_path, answers(), names=Unknown(), env=env) as (tools, _):
            said = await tools.run("web_fetch", url="http://far.example/x")
            private = await tools.refused("web_fetch", url="http://known.example/")

            odd = await tools.refused("web_fetch", url="http:169.254.169.254/latest/")

    assert odd.startswith("http:169.254.169.254/latest/ is not a URL that can be fetched")
    assert said == "http://far.example/x\n\nGET http://far.example/x HTTP/1.1"
    assert private == "known.example resolves to 10.0.0.1, which is not on the public network"
