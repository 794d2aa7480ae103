"""What a person is told when the server does not answer: short, useful, and without the key."""

import json

import pytest

from coderelay.protocol.errors import ModelFailed
from tests.model_server import http_error, says, script
from tests.models.chat_completions import HEAD, KEY, answered, chat, complete, delta, events, scripted
from tests.models.raw_server import RawConnection, in_loop, raw_server


def refused(status: int, body: bytes, *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 %d No" % status, b"content-length: %d" % len(body), *headers]
    return b"\r\n".join([*lines, b"", body])


def told(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("status", "hint", "retryable"),
    [
        (400, "", False),
        (401, "Check the API key.", False),
        (403, "Check the API key.", False),
        (404, "Check the model name and the server address.", False),
        (407, "Check the user name and password of the proxy.", False),
        (408, "", True),
        (409, "", True),
        (413, "", False),
        (422, "", False),
        (429, "", True),
        (500, "", True),
        (502, "", True),
        (503, "", True),
        (529, "", True),
    ],
)
@in_loop
async def test_the_status_decides_what_to_do(status: int, hint: str, retryable: bool) -> None:
    async with scripted(script(http_error(status, "because"), says("again"))) as (_, model):
        with pytest.raises(ModelFailed) as failure:
            await complete(model)
        assert failure.value.message == f"API error {status}: because"
        assert (failure.value.status, failure.value.hint, failure.value.retryable) == (status, hint, retryable)
        assert (await complete(model)).stop_reason == "end_turn"  # the connection is still good


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(told({"error": {"message": "too long", "type": "x"}}), "too long", id="OpenAI"),
        pytest.param(told({"error": "too long"}), "too long", id="a text"),
        pytest.param(told([{"error": {"code": 400, "message": "too long"}}]), "too long", id="Gemini: a list"),
        pytest.param(told({"object": "error", "message": "too long"}), "too long", id="vLLM"),
        pytest.param(told({"detail": "too long"}), "too long", id="FastAPI"),
        pytest.param(told({"detail": [{"loc": ["body"], "msg": "too long"}]}), "too long", id="FastAPI: a list"),
        pytest.param(told({"error": {"code": 5}}), "no reason given", id="only a code"),
        pytest.param(told({"error": None}), "no reason given", id="null"),
        pytest.param(told("too long"), "too long", id="a JSON text"),
        pytest.param(b"too\n  long\n", "too long", id="plain text"),
        pytest.param(b"", "no reason given", id="nothing"),
        pytest.param(b"null", "no reason given", id="JSON without words"),
        pytest.param(b"\xff\xfe", "��", id="not even text"),
        pytest.param(b"[" * 50_000, "[" * 299 + "…", id="too deep to be read"),
        pytest.param(
            b"<html>\n<head><title>\n502 Bad\nGateway</title></head><body>" + b"x" * 3000,
            "502 Bad Gateway",
            id="a page",
        ),
        pytest.param(b"<!doctype html><p>sorry", "an HTML page", id="a page without a title"),
        pytest.param(told({"error": {"message": "x" * 5000}}), "x" * 299 + "…", id="a long story"),
        pytest.param(told({"error": {"message": f"bad key {KEY}!"}}), "bad key …!", id="the key in JSON"),
        pytest.param(f"bad key {KEY}!".encode(), "bad key …!", id="the key in text"),
        pytest.param(f"<title>{KEY}</title>".encode(), "…", id="the key in a page"),
        pytest.param(("x" * 290 + KEY).encode(), "x" * 290 + "…", id="the key where the text is cut"),
    ],
)
@in_loop
async def test_the_reason_is_found_wherever_it_is_and_is_short(body: bytes, reason: str) -> None:
    with pytest.raises(ModelFailed) as failure:
        await answered(refused(400, body))
    assert failure.value.message == f"API error 400: {reason}"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(refused(401, b"\x1f\x8b", b"content-encoding: gzip"), id="compressed"),
        pytest.param(b"HTTP/1.1 401 No\r\ncontent-length: 500\r\n\r\n", id="cut off"),
        pytest.param(b"HTTP/1.1 401 No\r\ntransfer-encoding: chunked\r\n\r\nzz", id="broken"),
    ],
)
@in_loop
async def test_a_reason_that_cannot_be_read_does_not_hide_the_status(answer: bytes) -> None:
    with pytest.raises(ModelFailed) as failure:
        await answered(answer)
    assert failure.value.message == "API error 401: no reason given"
    assert (failure.value.status, failure.value.hint) == (401, "Check the API key.")


@in_loop
async def test_a_reason_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(b"HTTP/1.1 429 No\r\ncontent-length: 500\r\n\r\nslow")
        await connection.left()

    monkeypatch.setattr("coderelay.models.api_errors._READ_SECONDS", 0.02)
    async with raw_server(talk) as server, chat(server.url, idle_seconds=60.0) as model:
        with pytest.raises(ModelFailed, match="API error 429: no reason given") as failure:
            await complete(model)
        assert failure.value.retryable
        await server.all_left()


@pytest.mark.parametrize(
    ("location", "hint"),
    [
        (b"https://new.test/v2/chat", "It has moved to https://new.test/v2/chat; change the address."),
        (b"https://me:secret@new.test/v2?key=secret", "It has moved to https://new.test/v2; change the address."),
        (b"/login", ""),
        (b"http://[::1", ""),
    ],
)
@in_loop
async def test_a_redirect_is_told_and_not_followed(location: bytes, hint: str) -> None:
    with pytest.raises(ModelFailed, match="API error 307: no reason given") as failure:
        await answered(refused(307, b"", b"location: " + location))
    assert (failure.value.hint, failure.value.retryable) == (hint, False)


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (b"text/html; charset=utf-8", b"<title>Welcome</title>", "text/html and not with events: Welcome"),
        (b"application/json", b'{"error": "no such model"}', "application/json and not with events: no such model"),
        (b"application/json", b" {}", "application/json and not with events: no reason given"),
        (
            b"text/event-stream",
            b"[" + b" " * 100_000 + b"]",
            "text/event-stream and not with events: no reason given",
        ),
        (b"", b"<p>", "something and not with events: an HTML page"),
    ],
)
@in_loop
async def test_a_page_instead_of_events_is_told_apart(kind: bytes, body: bytes, reason: str) -> None:
    headers = [b"content-type: " + kind] if kind else []
    with pytest.raises(ModelFailed) as failure:
        await answered(refused(200, body, *headers))
    assert failure.value.message == f"the model server answered with {reason}"
    assert failure.value.hint == "Check the server address; it usually ends in /v1."


@pytest.mark.parametrize(
    ("error", "words", "status", "retryable"),
    [
        ({"message": "overloaded", "type": "server_error", "code": None}, "overloaded", None, True),
        ({"message": "no money", "code": 402}, "no money", 402, False),
        ({"message": "busy", "code": 529}, "busy", 529, True),
        ({"message": "busy", "code": "rate_limit_exceeded"}, "busy", None, True),
        ("overloaded", "overloaded", None, True),
        ({}, "no reason given", None, True),
        ({"message": f"bad key {KEY}\n" + "x" * 500}, "bad key … " + "x" * 289 + "…", None, True),
        ({"message": "pay", "code": "insufficient_quota"}, "pay", None, False),
        ({"message": "no", "type": "invalid_request_error", "code": None}, "no", None, False),
        ({"message": "odd", "code": ["x"], "type": {}}, "odd", None, True),
    ],
)
@in_loop
async def test_an_error_in_the_middle_of_an_answer_is_a_failure(
    error: object, words: str, status: int | None, retryable: bool
) -> None:
    with pytest.raises(ModelFailed) as failure:
        await answered(HEAD + events(delta(content="so far"), {"error": error}))
    assert failure.value.message == f"API error: {words}"
    assert (failure.value.status, failure.value.retryable) == (status, retryable)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ([b"retry-after: 7"], 7.0),
        ([b"retry-after: 0.5"], 0.5),
        ([b"retry-after: -3"], 0.0),
        ([b"retry-after: soon"], None),
        ([b"retry-after: nan"], None),
        ([b"retry-after: 9", b"retry-after-ms: 1500"], 1.5),
        ([b"retry-after: 9", b"retry-after-ms: ?"], 9.0),
        ([b"date: Fri, 01 May 2026 23:59:30 GMT", b"retry-after: Sat, 02 May 2026 00:00:00 GMT"], 30.0),
        ([b"date: Fri, 01 May 2026 23:59:30 GMT", b"retry-after: Fri, 01 May 2026 00:00:00 GMT"], 0.0),
        ([b"retry-after: Fri, 01 May 2020 00:00:00 GMT"], 0.0),
        ([], None),
    ],
)
@in_loop
async def test_the_headers_say_when_to_try_again(headers: list[bytes], seconds: float | None) -> None:
    with pytest.raises(ModelFailed) as failure:
        await answered(refused(429, told({"error": {"message": "slow down"}}), *headers))
    assert failure.value.retry_after == seconds


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 1.5s. Visit us.", 1.5),
        ("Please try again in 6m0s.", 360.0),
        ("please retry in 34.07s.", 34.07),
        ("Try again in 20ms", 0.02),
        ("Try again in a while", None),
    ],
)
@in_loop
async def test_the_words_say_when_to_try_again(words: str, seconds: float | None) -> None:
    with pytest.raises(ModelFailed) as failure:
        await answered(refused(429, told({"error": {"message": words}})))
    assert failure.value.retry_after == seconds


@pytest.mark.parametrize(
    ("status", "error", "too_long"),
    [
        (400, {"message": "x", "code": "context_length_exceeded"}, True),
        (400, {"message": "This model's maximum context length is 128000 tokens."}, True),
        (400, {"message": "prompt is too long: 208310 tokens > 200000 maximum"}, True),
        (400, {"message": "Your input exceeds the context window of this model."}, True),
        (400, {"message": "Input is too long for requested model."}, True),
        (400, {"message": "x", "type": "exceed_context_size_error", "n_ctx": 4096}, True),
        (400, {"message": "the request exceeds the available context size"}, True),
        (400, {"message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}, True),
        (413, {"message": "Prompt is too long"}, True),
        (400, {"message": "x" * 9000 + " maximum context length"}, True),
        (400, {"message": "unknown field"}, False),
        (500, {"message": "could not find out the maximum context length"}, False),
    ],
)
@in_loop
async def test_a_request_that_is_too_long_is_told_apart(status: int, error: object, too_long: bool) -> None:
    with pytest.raises(ModelFailed) as failure:
        await answered(refused(status, told({"error": error})))
    assert (failure.value.too_long, failure.value.retryable) == (too_long, status == 500)


@in_loop
async def test_to_be_out_of_money_is_not_worth_another_try() -> None:
    refusal = http_error(429, "You exceeded your current quota.", code="insufficient_quota")
    async with scripted(script(refusal)) as (_, model):
        with pytest.raises(ModelFailed, match="exceeded your current quota") as failure:
            await complete(model)
    assert (failure.value.status, failure.value.retryable) == (429, False)
