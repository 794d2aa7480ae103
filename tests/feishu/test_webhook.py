"""The webhook over real HTTP, as the platform calls it, and as others might."""

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.surfaces.feishu.incoming_event_types import CardClick
from coderelay.surfaces.feishu.webhook import MOST_BODY_BYTES
from coderelay.testing.feishu_server import FakeFeishu, ShownMessage, SignedCall
from coderelay.testing.feishu_server.webhook_signing import encrypt, sign, signed_call
from tests.coder_process import Coder
from tests.feishu.bot_process import configure, secrets_of
from tests.feishu.platform_bot import aside, platform_bot
from tests.house import story

DAY = 24 * 3600


@story
async def test_messages_and_clicks_arrive_over_the_webhook(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path, webhook=True) as bot:
        chat = feishu.person("ou_1").chat
        await aside(chat.say, "hello")
        clicked = await aside(chat.click_with, ShownMessage("om_1", chat.chat_id, ""), "confirm")
        assert (clicked.toast_kind, clicked.toast) == ("success", "done")
        _, click = await bot.chats.until(2)
        assert isinstance(click, CardClick)
        assert (bot.chats.texts, click.value) == (["hello"], {"action": "confirm"})


@story
async def test_e20_the_address_is_verified_with_the_token_signed_or_not_encrypted_or_not(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    test = {"type": "url_verification", "challenge": "c-1", "token": feishu.verification_token}
    plain = {"Content-Type": "application/json"}
    encrypted = json.dumps({"encrypt": encrypt(json.dumps(test).encode(), feishu.encrypt_key)}).encode()
    wrong = json.dumps({**test, "token": "guessed"}).encode()
    other = json.dumps({"encrypt": encrypt(json.dumps(test).encode(), "another key")}).encode()
    async with platform_bot(feishu, tmp_path, webhook=True):
        for call in (
            SignedCall(json.dumps(test).encode(), plain),
            SignedCall(encrypted, plain),
            signed_call(test, feishu.encrypt_key),
        ):
            status, body = await aside(feishu.call_webhook, call)
            assert (status, json.loads(body)) == (200, {"challenge": "c-1"})
        for refused in (SignedCall(wrong, plain), SignedCall(other, plain)):
            status, body = await aside(feishu.call_webhook, refused)
            assert (status, b"c-1" in body) == (403, False)


def unsigned(call: SignedCall, feishu: FakeFeishu) -> None:
    for name in [each for each in call.headers if each.startswith("X-Lark")]:
        del call.headers[name]


def without_signature(call: SignedCall, feishu: FakeFeishu) -> None:
    del call.headers["X-Lark-Signature"]


def without_nonce(call: SignedCall, feishu: FakeFeishu) -> None:
    del call.headers["X-Lark-Request-Nonce"]


def forged(call: SignedCall, feishu: FakeFeishu) -> None:
    call.headers["X-Lark-Signature"] = hashlib.sha256(b"guess").hexdigest()


def changed_body(call: SignedCall, feishu: FakeFeishu) -> None:
    call.body = call.body + b" "


def changed_time(call: SignedCall, feishu: FakeFeishu) -> None:
    call.headers["X-Lark-Request-Timestamp"] = str(int(time.time()) + 1)


def _signed_at(call: SignedCall, feishu: FakeFeishu, at: str) -> None:
    nonce = call.headers["X-Lark-Request-Nonce"]
    call.headers["X-Lark-Request-Timestamp"] = at
    call.headers["X-Lark-Signature"] = sign(call.body, at, nonce, feishu.encrypt_key)


def stale(call: SignedCall, feishu: FakeFeishu) -> None:
    _signed_at(call, feishu, str(int(time.time()) - DAY - 60))


def from_the_future(call: SignedCall, feishu: FakeFeishu) -> None:
    _signed_at(call, feishu, str(int(time.time()) + 3600))


def timeless(call: SignedCall, feishu: FakeFeishu) -> None:
    _signed_at(call, feishu, "now")


def not_encrypted(call: SignedCall, feishu: FakeFeishu) -> None:
    call.body = json.dumps(feishu.person("ou_1").chat.said("plain")).encode()
    _signed_at(call, feishu, call.headers["X-Lark-Request-Timestamp"])


def garbled(call: SignedCall, feishu: FakeFeishu) -> None:
    call.body = b'{"encrypt": "AAAA"}'
    _signed_at(call, feishu, call.headers["X-Lark-Request-Timestamp"])


def _with_header(call: SignedCall, feishu: FakeFeishu, **header: Any) -> None:
    event = feishu.person("ou_1").chat.said("text")
    event["header"] |= header
    made = signed_call(event, feishu.encrypt_key)
    call.body, call.headers = made.body, made.headers


def wrong_token(call: SignedCall, feishu: FakeFeishu) -> None:
    _with_header(call, feishu, token="guessed")


def wrong_app(call: SignedCall, feishu: FakeFeishu) -> None:
    _with_header(call, feishu, app_id="cli_other")


def wrong_tenant(call: SignedCall, feishu: FakeFeishu) -> None:
    _with_header(call, feishu, tenant_key="another")


def old_event_signed_anew(call: SignedCall, feishu: FakeFeishu) -> None:
    _with_header(call, feishu, create_time=str(int((time.time() - DAY - 60) * 1000)))


def malformed(call: SignedCall, feishu: FakeFeishu) -> None:
    _with_header(call, feishu, event_id="")


def too_large(call: SignedCall, feishu: FakeFeishu) -> None:
    call.body = b" " * (MOST_BODY_BYTES + 1)


REFUSED: list[tuple[Callable[[SignedCall, FakeFeishu], None], int]] = [
    *((each, 403) for each in (unsigned, without_signature, without_nonce, forged, changed_body, changed_time)),
    *((each, 403) for each in (stale, from_the_future, wrong_token, wrong_app, wrong_tenant, old_event_signed_anew)),
    *((each, 400) for each in (timeless, not_encrypted, garbled, malformed)),
    (too_large, 413),
]


@story
async def test_x07_calls_that_are_not_the_platforms_are_refused_and_do_nothing(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    """FE: forged, stale, unsigned, wrong token, app and tenant, malformed."""
    chat = feishu.person("ou_1").chat
    async with platform_bot(feishu, tmp_path, webhook=True) as bot:
        await aside(chat.say, "first")
        for number, (spoil, status) in enumerate(REFUSED):
            call = signed_call(chat.said(f"evil {number}"), feishu.encrypt_key)
            spoil(call, feishu)
            told, body = await aside(feishu.call_webhook, call)
            assert (spoil.__name__, told, body) == (spoil.__name__, status, b"{}")
        await aside(chat.say, "last")
        await bot.chats.until(2)
        assert bot.chats.texts == ["first", "last"]


@story
async def test_a_replayed_call_does_nothing_again_whatever_its_headers_are_spelled_like(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    """It may be the platform's own repetition, so it is answered as before."""
    chat = feishu.person("ou_1").chat
    async with platform_bot(feishu, tmp_path, webhook=True) as bot:
        click = signed_call(chat.clicked(ShownMessage("om_1", chat.chat_id, ""), {"a": 1}), feishu.encrypt_key)
        lower = SignedCall(click.body, {name.lower(): value for name, value in click.headers.items()})
        answers = [await aside(feishu.call_webhook, each) for each in (click, lower, click)]
        assert answers == [answers[0]] * 3
        assert json.loads(answers[0][1])["toast"]["content"] == "done"
        assert len(bot.chats.taken) == 1


@pytest.mark.parametrize("missing", ["FEISHU_ENCRYPT_KEY", "FEISHU_VERIFICATION_TOKEN", "FEISHU_APP_SECRET"])
def test_fe_no_webhook_is_started_without_its_secrets(
    feishu: FakeFeishu, tmp_path: Path, folder: Path, missing: str
) -> None:
    coder = Coder(tmp_path / "home", folder, None)
    configure(coder, feishu)
    ran = coder.run("feishu", "--webhook", "--port", "0", env={**secrets_of(feishu), missing: ""})
    assert (ran.code, ran.out) == (1, "")
    assert f"the environment variable {missing} is not set" in ran.err
