"""Names of models, and what a person is told when one cannot be used here."""

import asyncio

import pytest

from coderelay.models.openai_chat import OpenAIChat
from coderelay.models.providers import Providers
from coderelay.protocol.content import Text
from coderelay.protocol.errors import CannotRun
from coderelay.testing.model_server import says, script
from tests.models.chat import HEAD, STOP, complete, delta, events, scripted
from tests.models.raw import Visit, in_loop, raw_server

ENV = {"OPENAI_API_KEY": "sk-1"}


@pytest.mark.parametrize(
    ("model", "env", "why"),
    [
        ("gpt-5.5", ENV, "model 'gpt-5.5' must be written provider:name, like openai:gpt-5.5"),
        ("", ENV, "model '' must be written provider:name, like openai:gpt-5.5"),
        ("openai:", ENV, "model 'openai:' must be written provider:name, like openai:gpt-5.5"),
        (":gpt-5.5", ENV, "model ':gpt-5.5' must be written provider:name, like openai:gpt-5.5"),
        ("openai: ", ENV, "model 'openai: ' must be written provider:name, like openai:gpt-5.5"),
        (
            "nobody:m",
            ENV,
            "there is no provider 'nobody'; there are anthropic, openai, gemini, iflow, openrouter, deepseek, "
            "ollama, lmstudio, llamacpp, vllm\nSet providers.nobody.base_url in ~/.coder/config.json to add it.",
        ),
        (
            "openai:m",
            {},
            "no key for openai:m: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server; "
            "if that needs no key, any text will do)",
        ),
        (
            "openai:m",
            {"OPENAI_API_KEY": " \n"},
            "no key for openai:m: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server; "
            "if that needs no key, any text will do)",
        ),
        (
            "openai:m",
            {"OPENAI_API_KEY": "“sk-1”"},
            "OPENAI_API_KEY holds a character that no key has (a line break, a space, a curly quote?); "
            "copy the key again",
        ),
        (
            "openai:m",
            ENV | {"OPENAI_BASE_URL": "localhost:8080"},
            "OPENAI_BASE_URL is not a usable address: 'localhost:8080'; write https://host/v1",
        ),
        (
            "openai:m",
            ENV | {"OPENAI_BASE_URL": "ftp://me:secret@host/v1"},
            "OPENAI_BASE_URL is not a usable address: 'ftp://host/v1'; write https://host/v1",
        ),
        (
            "openai:m",
            ENV | {"HTTPS_PROXY": "socks5://me:secret@p.test"},
            "HTTPS_PROXY names a proxy that cannot be used: socks5://p.test\n"
            "It must look like http://host:port; SOCKS is not spoken here.",
        ),
    ],
)
def test_a_model_that_cannot_be_used_says_what_to_do(model: str, env: dict[str, str], why: str) -> None:
    providers = Providers(env)
    assert providers.why_not(model) == why
    with pytest.raises(CannotRun) as refused:
        providers.open(model)
    assert str(refused.value) == why


@pytest.mark.parametrize("base_url", ["", "https://host/v1", " http://localhost:11434/v1/ "])
def test_a_model_with_a_key_can_be_used(base_url: str) -> None:
    providers = Providers(ENV | {"OPENAI_BASE_URL": base_url})
    assert providers.why_not("openai:org/model:tag") is None
    assert providers.open("openai:org/model:tag").id == "openai:org/model:tag"


@pytest.mark.quick
@in_loop
async def test_the_key_and_the_address_come_from_the_environment() -> None:
    async with scripted(script(says("hi"))) as (server, _):
        env = {"OPENAI_API_KEY": "sk-1\n", "OPENAI_BASE_URL": server.base_url}
        providers = Providers(env)
        model = providers.open("openai:gpt-5.5")
        assert isinstance(model, OpenAIChat)
        assert (await complete(model)).blocks == (Text("hi"),)
        await providers.close()
        assert server.requests[0]["model"] == "gpt-5.5"
        assert server.received[0].headers["authorization"] == "Bearer sk-1"


@in_loop
async def test_the_proxy_comes_from_the_environment_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(visit: Visit) -> None:
        server.requests.append(await visit.request())
        await visit.send(HEAD + events(delta(content="hi"), STOP))

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # of this process, and none of its business
    async with raw_server(talk) as server:
        proxy = {"HTTP_PROXY": f"http://127.0.0.1:{server.port}", "OPENAI_BASE_URL": "http://model.test/v1"}
        providers = Providers(ENV | proxy)
        model = providers.open("openai:m")
        assert isinstance(model, OpenAIChat)
        await complete(model)
        await providers.close()
        assert server.requests[0].startswith(b"POST http://model.test/v1/chat/completions HTTP/1.1\r\n")


def test_opening_a_model_needs_no_event_loop() -> None:
    providers = Providers(ENV)
    providers.open("openai:m")
    asyncio.run(providers.close())
