"""A real `coder feishu` as a process, connected to the fake platform."""

import json
import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from coderelay.testing.feishu_server import ClickResult, FakeFeishu
from tests.coder_process import Coder, Ran, Started


class BotProcess:
    """`line` is the first that it has printed."""

    def __init__(self, started: Started, line: str) -> None:
        self._started = started
        self.line = line

    @property
    def pid(self) -> int:
        return self._started.pid

    def kill(self) -> Ran:
        return self._started.kill()

    def end(self) -> Ran:
        self._started.send(signal.SIGTERM)
        return self._started.wait()


def configure(coder: Coder, feishu: FakeFeishu, **more: Any) -> None:
    keys = {"app_id": feishu.app_id, "domain": feishu.url, "users": ["*"], "cwd": str(coder.cwd), **more}
    coder.home.mkdir(parents=True, exist_ok=True)
    (coder.home / "config.json").write_text(json.dumps({"feishu": keys}))


def secrets_of(feishu: FakeFeishu) -> dict[str, str]:
    return {
        "FEISHU_APP_SECRET": feishu.app_secret,
        "FEISHU_ENCRYPT_KEY": feishu.encrypt_key,
        "FEISHU_VERIFICATION_TOKEN": feishu.verification_token,
        "CODER_FEISHU_LEASE_SECONDS": "1",
        "CODER_FEISHU_PACE": "0.2",
    }


def start_bot(coder: Coder, feishu: FakeFeishu, *arguments: str, env: Mapping[str, str] | None = None) -> BotProcess:
    """Start one, and wait until it says that people can write."""
    started = coder.fork("coder", "feishu", *arguments, env={**secrets_of(feishu), **(env or {})})
    out = started.process.stdout
    assert out is not None
    line = out.readline()
    if not line.startswith(("Connected", "Waiting")):
        raise AssertionError(f"{line!r}\n{started.wait().err}")
    return BotProcess(started, line)


def was_taken(clicked: ClickResult) -> bool:
    """Whether the bot took the click. Where the machine is so busy that the bot did not get around to it in the time
    that the platform waits, it answers without words and the card tells later."""
    return clicked.code == 200 and clicked.toast_kind in ("success", "")


@contextmanager
def running_bot(
    coder: Coder, feishu: FakeFeishu, *arguments: str, env: Mapping[str, str] | None = None
) -> Generator[BotProcess]:
    bot = start_bot(coder, feishu, *arguments, env=env)
    try:
        yield bot
    finally:
        bot.end()
