"""`coder web` as a person starts and ends it."""

import json
import os
import signal
import socket
import stat
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran, Started
from tests.free_port import free_port
from tests.patience import PATIENCE


@pytest.fixture
def coder(tmp_path: Path, folder: Path) -> Coder:
    return Coder(tmp_path / "home", folder, None)


class Web:
    def __init__(self, started: Started, link: str) -> None:
        self.started = started
        self.link = link
        self.url, _, self.secret = link.partition("/#link=")

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def call(self, path: str, token: str = "", body: object = None) -> tuple[int, dict[str, str]]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def end(self, number: signal.Signals = signal.SIGINT) -> Ran:
        self.started.send(number)
        return self.started.wait()


@contextmanager
def running(coder: Coder, *arguments: str, env: dict[str, str] | None = None) -> Generator[Web]:
    started = coder.start("web", *arguments, env=env)
    try:
        assert started.process.stdout is not None
        link, told = (started.process.stdout.readline() for _ in range(2))
        assert told == "This link works once, within ten minutes. Ctrl-C ends the server.\n"
        yield Web(started, link.rstrip("\n"))
    finally:
        if started.process.poll() is None:
            started.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_link_logs_in_once_and_a_signal_ends_the_server(coder: Coder, number: signal.Signals) -> None:
    with running(coder, "--no-open", "--port", "0") as web:
        token = (coder.home / "web.token").read_text().strip()
        assert web.call("/healthz") == (200, {"status": "ok"})
        assert web.call("/api/login", body={"secret": web.secret}) == (200, {"token": token})
        assert web.call("/api/login", body={"secret": web.secret})[0] == 403
        assert web.call("/api/machine", token)[0] == 200
        ended = web.end(number)
    assert ended == Ran(0, "", "")


def test_the_token_stays_when_the_server_starts_again(coder: Coder) -> None:
    with running(coder, "--no-open", "--port", "0") as web:
        token = web.call("/api/login", body={"secret": web.secret})[1]["token"]
        web.started.kill()
    with running(coder, "--no-open", "--port", "0") as web:
        assert web.call("/api/machine", token)[0] == 200
    assert stat.S_IMODE((coder.home / "web.token").stat().st_mode) == 0o600


def test_a_token_of_the_persons_own_counts_and_is_not_written(coder: Coder) -> None:
    mine = "0123456789abcdef0123456789abcdef"
    with running(coder, "--no-open", "--port", "0", env={"CODER_TOKEN": mine}) as web:
        assert web.call("/api/machine", mine)[0] == 200
        assert web.call("/api/login", body={"secret": web.secret}) == (200, {"token": mine})
        assert web.end().err == ""
    assert not (coder.home / "web.token").exists()
    with running(coder, "--no-open", "--port", "0", env={"CODER_TOKEN": "short"}) as web:
        assert web.call("/api/machine", "short")[0] == 200
        assert "CODER_TOKEN is short and can be guessed" in web.end().err
    refused = coder.run("web", env={"CODER_TOKEN": "a b"})
    assert (refused.code, refused.err.splitlines()[0]) == (
        1,
        "coder: CODER_TOKEN may have up to 512 letters, digits and - . _ ~ and nothing else",
    )


def test_a_taken_port_is_an_error_only_if_it_was_asked_for(coder: Coder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = coder.run("web", "--no-open", "--port", str(port))
        assert refused.code == 1
        assert f"cannot listen at 127.0.0.1 port {port}: Address already in use" in refused.err
        coder.home.mkdir(exist_ok=True)
        (coder.home / "config.json").write_text(json.dumps({"web.port": port}))
        with running(coder, "--no-open") as web:
            assert web.port != port
            assert web.call("/healthz")[0] == 200


def test_the_port_of_the_configuration_is_taken(coder: Coder) -> None:
    port = free_port()
    coder.home.mkdir(exist_ok=True)
    (coder.home / "config.json").write_text(json.dumps({"web": {"port": port}}))
    (coder.cwd / ".coder").mkdir()
    (coder.cwd / ".coder" / "config.json").write_text(json.dumps({"web.port": 1, "web.roots": ["/"]}))
    coder.run("permissions", "trust", "--yes")
    with running(coder, "--no-open", env={"CODER_TOKEN": "t"}) as web:
        assert web.port == port, "a folder's file cannot choose it"
        assert web.call("/api/dirs?path=/", "t")[0] == 403


def test_web_roots_are_what_may_be_browsed(coder: Coder, tmp_path: Path) -> None:
    (tmp_path / "one" / "inside").mkdir(parents=True)
    coder.home.mkdir(exist_ok=True)
    (coder.home / "config.json").write_text(json.dumps({"web.roots": [str(tmp_path / "one")]}))
    with running(coder, "--no-open", "--port", "0", env={"CODER_TOKEN": "t"}) as web:
        assert web.call("/api/dirs", "t")[1]["folders"] == ["inside"]
        assert web.call(f"/api/dirs?path={tmp_path}", "t")[0] == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "example.org", "127.0.0.1.nip.io", ""])
def test_it_listens_on_this_machine_only(coder: Coder, host: str) -> None:
    refused = coder.run("web", "--no-open", "--host", host)
    assert refused.code == 1
    assert "this machine" in refused.err
    assert refused.out == ""


def test_localhost_is_a_name_of_this_machine(coder: Coder) -> None:
    with running(coder, "--no-open", "--port", "0", "--host", "localhost") as web:
        assert web.url.startswith("http://127.0.0.1:")
        assert web.call("/healthz")[0] == 200


def test_the_browser_gets_the_link_and_may_be_missing(coder: Coder, tmp_path: Path) -> None:
    pipe = tmp_path / "opened"
    os.mkfifo(pipe)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {pipe}\n')
    browser.chmod(0o700)
    with running(coder, "--port", "0", env={"BROWSER": str(browser)}) as web:
        assert pipe.read_text() == f"{web.link}\n"
    with running(coder, "--port", "0", env={"BROWSER": "/no/such/browser", "PATH": ""}) as web:
        assert web.call("/healthz")[0] == 200
        assert web.end().code == 0


def test_wrong_options_are_told(coder: Coder) -> None:
    assert coder.run("web", "--port", "http").code == 2
    assert coder.run("web", "--port", "65536").code == 2
    assert coder.run("web", "here").code == 2
    refused = coder.run("web", "--dev", "--no-open", "--port", "0", env={"PORT": "x"})
    assert (refused.code, refused.err) == (1, "coder: PORT must be a port number, not 'x'\n")


def test_help_names_it_in_both_languages(coder: Coder) -> None:
    assert "open sessions in a browser on this machine" in coder.run("--help").out
    assert "在本机的浏览器中打开会话" in coder.run("--help", env={"CODER_LANG": "zh"}).out
    assert "--no-open" in coder.run("web", "--help").out


@pytest.mark.timeout(60)
def test_x43_coder_app_opens_a_window_of_its_own_and_ends_with_it(coder: Coder, tmp_path: Path) -> None:
    """The browser here is a script that notes how it was started, and is closed when told to."""
    os.mkfifo(tmp_path / "told")
    os.mkfifo(tmp_path / "close")
    browser = tmp_path / "bin" / "chromium"
    browser.parent.mkdir()
    browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/told\nread line < {tmp_path}/close\n')
    browser.chmod(0o755)
    started = coder.start("app", "--port", "0", env={"PATH": f"{browser.parent}:/usr/bin:/bin"})
    try:
        arguments = (tmp_path / "told").read_text().split()
        link = arguments[0].removeprefix("--app=")
        web = Web(started, link)
        assert web.call("/api/login", body={"secret": web.secret})[0] == 200
        assert arguments[1] == f"--user-data-dir={coder.home}/app-window/{web.port}"
        (tmp_path / "close").write_text("now\n")
        assert started.wait() == Ran(0, "", "")
    finally:
        if started.process.poll() is None:
            started.kill()
