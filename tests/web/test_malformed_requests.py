"""Whatever is sent to a call, the answer is a short one: never a fault of the server, and never its insides."""

import http.client
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_from_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coder_process import Coder
from tests.patience import PATIENCE
from tests.web.web_server import SECRET

READS = ("/api/recent-cwds", "/api/dirs", "/api/machine", "/api/sessions/x/export", "/nothing", "/healthz")
WRITES = ("/api/login", "/api/link", "/api/title")

TEXTS = st.text(st.characters(codec=None), max_size=50)
NAMES = st.sampled_from(["limit", "path", "hidden", "prompt", "cwd", "secret", "x"])
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(NAMES | TEXTS, below, max_size=4),
    max_leaves=12,
)
BODIES = st.one_of(
    st.dictionaries(NAMES, JUNK, max_size=4).map(lambda tree: json.dumps(tree).encode()),
    JUNK.map(lambda tree: json.dumps(tree).encode()),
    st.binary(max_size=200),
    st.integers(1, 20_000).map(lambda depth: b"[" * depth),
    st.integers(1, 5_000).map(lambda depth: b'{"prompt":' * depth),
)
PLACES = st.one_of(
    st.sampled_from(["/etc/passwd", "..", "/", "~", "%00", "\0", "/proc/self/fd/0", "/dev/stdin", "file:///"]),
    st.binary(max_size=30),
    st.text(max_size=30),
    st.integers(),
)


class Wire:
    """A `coder web` process, and one connection to it after the other."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"Authorization": f"Bearer {SECRET}"}
            connection.request(method, path, body, headers | ({"Content-Type": "application/json"} if body else {}))
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Generator[Wire]:
    root = tmp_path_factory.mktemp("web")
    (root / "work").mkdir()
    coder = Coder(root / "home", Path(root / "work"), None)
    started = coder.start("web", "--no-open", "--port", "0", env={"CODER_TOKEN": SECRET})
    assert started.process.stdout is not None
    yield Wire(int(started.process.stdout.readline().split("/#")[0].rpartition(":")[2]))
    assert started.kill().err == "", "a fault would be told here"


def _is_short(answer: tuple[int, dict[str, str], bytes]) -> bool:
    status, headers, body = answer
    told: Any = json.loads(body)
    is_error = status < 400 or (told.keys() == {"error"} and len(body) < 2000)
    return status < 500 and headers["content-type"] == "application/json" and is_error and b"Traceback" not in body


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from(READS), query=st.lists(st.tuples(NAMES, PLACES), max_size=3))
def test_junk_in_a_query_is_answered(wire: Wire, path: str, query: list[tuple[str, Any]]) -> None:
    told = "&".join(f"{name}={_quoted(value)}" for name, value in query)
    assert _is_short(wire.ask("GET", f"{path}?{told}"))


@settings(max_examples=100, deadline=None)
@given(place=PLACES)
def test_junk_in_a_path_is_answered(wire: Wire, place: Any) -> None:
    status, _, body = answer = wire.ask("GET", f"/api/sessions/{_quoted(place)}/export")
    assert _is_short(answer)
    assert (status, json.loads(body)) == (404, {"error": json.loads(body)["error"]})


@settings(max_examples=200, deadline=None)
@given(path=st.sampled_from(WRITES), body=BODIES)
def test_junk_in_a_body_is_answered(wire: Wire, path: str, body: bytes) -> None:
    assert _is_short(wire.ask("POST", path, body or b" "))


def _quoted(value: object) -> str:
    return quote_from_bytes(value, safe="") if isinstance(value, bytes) else quote(str(value), safe="")
