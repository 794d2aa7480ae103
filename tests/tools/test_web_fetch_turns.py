"""web_fetch in whole turns: when it runs without asking, when it is asked about, and when it does not run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.app import App
from coderelay.http.web_page_client import PageClient
from coderelay.protocol.asks import Allow, Ask, Deny, PermissionAsk
from coderelay.protocol.calls import Need
from coderelay.protocol.events import BatchOpened
from coderelay.tools.web.page_fetch import PageFetch
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import house
from tests.mcp.mcp_scene import in_loop
from tests.model_server import ModelServerThread, call, proposes, says, script
from tests.models.raw_server import answers, raw_server
from tests.native.model_requests import results
from tests.tools.test_web_fetch import Names, loopback_too, page

CoderOn = Callable[[ModelServerThread], Coder]

PAGE = page(b"<h1>Hello</h1>")


def house_that_reaches(port: int) -> type[App]:
    class Reaching(App):
        def page_fetch(self) -> PageFetch:
            ports = (80, 443, port)
            return PageFetch(PageClient({}, idle_seconds=60.0), resolve=Names(), may_reach=loopback_too, ports=ports)

    return Reaching


def configure(root: Path, **settings: Any) -> None:
    (root / "home").mkdir()
    (root / "home" / "config.json").write_text(json.dumps(settings))


def asks(batch: BatchOpened) -> list[Ask]:
    return [each.ask for each in batch.judged if each.ask is not None]


@pytest.mark.quick
@in_loop
async def test_a_page_is_asked_about_and_an_approval_is_for_that_page(tmp_path: Path) -> None:
    async with raw_server(answers(PAGE)) as site:
        one, other = (f"http://site.example:{site.port}/{name}" for name in ("one", "other"))
        fetch = [proposes(call("web_fetch", url=url)) for url in (one, one, other)]
        async with house(tmp_path, script(*fetch, says("done")), build=house_that_reaches(site.port)) as coder:
            await coder.create("default")
            await coder.prompt("read them")
            [first] = await coder.asks()
            answered = await coder.answer(first, Allow("session"))
            after = answered.head
            opened = (
                await coder.until(lambda event: isinstance(event, BatchOpened) and asks(event) != [], after)
            ).event
            assert isinstance(opened, BatchOpened)
            [second] = asks(opened)
            await coder.answer(second, Deny())
            await coder.ended()
            lines = await coder.story()

    assert isinstance(first, PermissionAsk)
    assert isinstance(second, PermissionAsk)
    assert [each.need for each in (first, second)] == [
        Need(tool="web_fetch", kind="network", title=url) for url in (one, other)
    ]
    assert lines == ["user: read them", "web_fetch: ok", "web_fetch: ok", "web_fetch: denied", "agent: done"]


@in_loop
async def test_a_rule_for_a_machine_allows_its_pages(tmp_path: Path) -> None:
    configure(tmp_path, permissions={"allow": ["web_fetch(*.site.example)"], "deny": ["network(evil.site.example)"]})
    async with raw_server(answers(PAGE)) as site:
        urls = [f"http://{host}.site.example:{site.port}/" for host in ("docs", "evil")]
        asked = script(proposes(*(call("web_fetch", url=url) for url in urls)), says("done"))
        async with house(tmp_path, asked, build=house_that_reaches(site.port)) as coder:
            await coder.create("default")
            await coder.prompt("read them")
            await coder.ended()
            told = results(coder.server.requests[1])

    assert told[0] == f"{urls[0]}\n\n# Hello"
    assert "denied by the rule network(evil.site.example)" in told[1]


@pytest.mark.parametrize(
    ("mode", "code", "told"),
    [("default", 3, "nobody"), ("plan", 0, "web_fetch uses the network (plan mode)")],
)
def test_without_a_rule_or_a_yes_no_page_is_fetched(
    serve: Serve, coder_on: CoderOn, mode: str, code: int, told: str
) -> None:
    server = serve(script(proposes(call("web_fetch", url="https://site.example/")), says("done")))

    ran = coder_on(server).run("-p", "read it", "--mode", mode)

    [said] = results(server.requests[1])
    assert ran.code == code
    assert told in said


def test_nothing_of_this_machine_is_fetched_not_even_in_yolo(serve: Serve, coder_on: CoderOn) -> None:
    urls = ("http://127.0.0.1/", "http://[::1]/", "http://2130706433/", "http://169.254.169.254/latest/meta-data/")
    server = serve(script(proposes(*(call("web_fetch", url=url) for url in urls)), says("done")))

    ran = coder_on(server).run("-p", "read them", "--mode", "yolo")

    assert ran.code == 0
    assert results(server.requests[1]) == [
        "Error: 127.0.0.1 resolves to 127.0.0.1, which is not on the public network",
        "Error: '::1' is not a plain host name",
        "Error: '2130706433' is not a plain host name",
        "Error: 169.254.169.254 resolves to 169.254.169.254, which is not on the public network",
    ]


def test_disabled_it_is_not_even_offered(tmp_path: Path, serve: Serve, coder_on: CoderOn) -> None:
    configure(tmp_path, tools={"disabled": ["web_fetch"]})
    server = serve(script(says("done"), says("done")))
    coder_on(server).run("-p", "go")
    (tmp_path / "home" / "config.json").unlink()
    coder_on(server).run("-p", "go")

    assert ["web_fetch" in str(request["tools"]) for request in server.requests] == [False, True]
