"""`/model` lists what the server of the model in use offers, beside the models that are known anyway."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.coder_process import Coder
from tests.plain_terminal import terminal
from tests.skills.test_slash_lines import told


@contextmanager
def listing(status: int, body: bytes) -> Generator[tuple[str, list[tuple[str, str | None]]]]:
    """A server that has this list of models; its address, and the path and key of each request."""
    asked: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["authorization"]))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def models(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": each, "object": "model"} for each in names]}).encode()


def typed(tmp_path: Path, folder: Path, base_url: str, *lines: str) -> list[str]:
    coder = Coder(tmp_path / "home", folder, base_url)
    with terminal(coder) as screen:
        screen.wait_for("> ")
        return [told(screen, line) for line in lines]


def test_c21_the_models_of_the_server_are_listed_and_chosen_without_doubt(tmp_path: Path, folder: Path) -> None:
    names = ("scripted", "zeta", "alpha-chat", "text-embedding-3", "bad\u202ename", "")
    with listing(200, models(*names)) as (base_url, asked):
        shown, chosen, by_name = typed(tmp_path, folder, base_url, "/model", "/model 3", "/model alpha-chat")
    rows = [line.lstrip("* ").split() for line in shown.splitlines() if re.match(r"[* ] +\d+\. ", line)]
    assert [row[1] for row in rows] == ["openai:scripted", "openai:alpha-chat", "openai:zeta", "guide"]
    assert (chosen, by_name) == ("model: openai:zeta", "model: openai:alpha-chat")
    assert set(asked) == {("/v1/models", "Bearer scripted")}


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (500, b'{"error": {"message": "out of order"}}', "out of order"),
        (200, b"<html>", "does not list its models"),
        (404, b"", "404"),
    ],
)
def test_c21_a_server_that_lists_nothing_leaves_the_known_models_and_says_why(
    tmp_path: Path, folder: Path, status: int, body: bytes, why: str
) -> None:
    with listing(status, body) as (base_url, _):
        (shown,) = typed(tmp_path, folder, base_url, "/model")
    last = shown.splitlines()[-1]
    assert last.startswith("(without the models that the server lists: ")
    assert why in last
    assert "openai:scripted" in shown


def test_c21_an_unreachable_server_leaves_the_known_models_and_says_why(tmp_path: Path, folder: Path) -> None:
    with listing(200, b"") as (base_url, _):
        pass
    (shown,) = typed(tmp_path, folder, base_url, "/model")
    host = base_url.removeprefix("http://").removesuffix("/v1")
    assert shown.splitlines()[-1].startswith(
        f"(without the models that the server lists: the model server at {host} "
    )
