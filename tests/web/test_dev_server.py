"""`make dev`: the page with live reload, and the server behind it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from coderelay.cli.web import DEV_PORT
from tests.coder_process import Coder
from tests.free_port import free_port
from tests.patience import PATIENCE
from tools.dev import ROOT, VITE, is_gone


def test_b16_b74_the_page_is_developed_on_one_port() -> None:
    config = (ROOT / "web" / "vite.config.ts").read_text(encoding="utf-8")
    assert f'process.env.PORT ?? "{DEV_PORT}"' in config
    assert DEV_PORT == 10087


@pytest.mark.skipif(not VITE.is_file(), reason="the tools of the web app are not installed; run `make web`")
@pytest.mark.timeout(180)
def test_b73_x43_a_second_start_ends_what_the_first_left_behind(tmp_path: Path) -> None:
    """The first is killed, so it cannot end what it has started."""
    coder = Coder(tmp_path / "home", tmp_path, None)
    ports = {"PORT": str(free_port()), "CODER_WEB_PORT": str(free_port())}
    first, link = _dev(coder, ports)
    left = psutil.Process(first.pid).children()
    first.kill()
    first.wait(PATIENCE)
    assert len(left) == 2
    assert not any(map(is_gone, left))

    second, again = _dev(coder, ports)
    try:
        assert all(map(is_gone, left))
        address = f"http://localhost:{ports['PORT']}"
        assert link.startswith(f"{address}/#link=")
        assert again != link
        assert "/src/main.tsx" in _read(f"{address}/")
        assert _read(f"{address}/healthz") == '{"status":"ok"}'
    finally:
        mine = psutil.Process(second.pid).children()
        second.terminate()
        second.communicate(timeout=PATIENCE)
        first.communicate(timeout=PATIENCE)
    assert all(map(is_gone, mine))


def _dev(coder: Coder, ports: dict[str, str]) -> tuple[subprocess.Popen[str], str]:
    """Its output stays open, because the page's server ends if it cannot write a warning."""
    env = {**os.environ, **coder.env, **ports}
    started = subprocess.Popen(
        [sys.executable, "-m", "tools.dev"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    link = started.stdout.readline().strip()
    assert re.fullmatch(r"http://localhost:\d+/#link=.+", link)
    return started, link


def _read(address: str) -> str:
    with urlopen(address, timeout=PATIENCE) as answer:
        return answer.read().decode()
