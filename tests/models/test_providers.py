"""Names of models, and what a person is told when one cannot be used here."""

import asyncio

import pytest
from msgspec import structs

from coderelay.models.model_card import Card, Price
from coderelay.models.model_registry import ModelRegistry
from coderelay.models.openai_chat.model import OpenAIChat
from coderelay.models.providers import KNOWN, ProviderSettings
from coderelay.protocol.errors import CannotRun, ModelFailed
from coderelay.protocol.message_content import Text
from tests.model_server import says, script
from tests.models.chat_completions import HEAD, STOP, asking, complete, delta, events, scripted
from tests.models.raw_server import RawConnection, in_loop, raw_server

ENV = {"OPENAI_API_KEY": "sk-1"}


@pytest.mark.parametrize(
    ("model", "env", "why"),
    [
        ("gpt-5.5", ENV, "model 'gpt-5.5' must be provider:name, like openai:gpt-5.5"),
        ("", ENV, "model '' must be provider:name, like openai:gpt-5.5"),
        ("openai:", ENV, "model 'openai:' must be provider:name, like openai:gpt-5.5"),
        (":gpt-5.5", ENV, "model ':gpt-5.5' must be provider:name, like openai:gpt-5.5"),
        ("openai: ", ENV, "model 'openai: ' must be provider:name, like openai:gpt-5.5"),
        ("iflow/kimi-k2", ENV, "model 'iflow/kimi-k2' must be provider:name, like iflow:kimi-k2"),
        ("who/m", ENV, "model 'who/m' must be provider:name, like openai:who/m"),
        (
            "nobody:m",
            ENV,
            f"unknown provider 'nobody'; choose one of {', '.join(KNOWN)}\n"
            "Set providers.nobody.base_url in ~/.coder/config.json to add it.",
        ),
        (
            "openai:m",
            {},
            "no API key for openai:m; set OPENAI_API_KEY (and OPENAI_BASE_URL for another server; "
            "any value works if no key is needed)",
        ),
        (
            "openai:m",
            {"OPENAI_API_KEY": " \n"},
            "no API key for openai:m; set OPENAI_API_KEY (and OPENAI_BASE_URL for another server; "
            "any value works if no key is needed)",
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
    providers = ModelRegistry(env)
    assert providers.why_not(model) == why
    with pytest.raises(CannotRun) as refused:
        providers.open(model)
    assert str(refused.value) == why


@pytest.mark.parametrize("base_url", ["", "https://host/v1", " http://localhost:11434/v1/ "])
def test_a_model_with_a_key_can_be_used(base_url: str) -> None:
    providers = ModelRegistry(ENV | {"OPENAI_BASE_URL": base_url})
    assert providers.why_not("openai:org/model:tag") is None
    assert providers.open("openai:org/model:tag").id == "openai:org/model:tag"


@pytest.mark.quick
@in_loop
async def test_the_key_and_the_address_come_from_the_environment() -> None:
    async with scripted(script(says("hi"))) as (server, _):
        env = {"OPENAI_API_KEY": "sk-1\n", "OPENAI_BASE_URL": server.base_url}
        providers = ModelRegistry(env)
        model = providers.open("openai:gpt-5.5")
        assert isinstance(model, OpenAIChat)
        assert (await complete(model)).blocks == (Text("hi"),)
        await providers.close()
        assert server.requests[0]["model"] == "gpt-5.5"
        assert server.received[0].headers["authorization"] == "Bearer sk-1"


@in_loop
async def test_the_proxy_comes_from_the_environment_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(connection: RawConnection) -> None:
        server.requests.append(await connection.request())
        await connection.send(HEAD + events(delta(content="hi"), STOP))

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # of this process, and none of its business
    async with raw_server(talk) as server:
        proxy = {"HTTP_PROXY": f"http://127.0.0.1:{server.port}", "OPENAI_BASE_URL": "http://model.test/v1"}
        providers = ModelRegistry(ENV | proxy)
        model = providers.open("openai:m")
        assert isinstance(model, OpenAIChat)
        await complete(model)
        await providers.close()
        assert server.requests[0].startswith(b"POST http://model.test/v1/chat/completions HTTP/1.1\r\n")


def test_opening_a_model_needs_no_event_loop() -> None:
    providers = ModelRegistry(ENV)
    providers.open("openai:m")
    asyncio.run(providers.close())


KEY, TOKEN = "sk-ant-key-0123456789", "gateway-token-0123456789"


async def sent_and_told(model: str, env: dict[str, str], own: ProviderSettings | None = None) -> tuple[bytes, str]:
    """What a server gets whose address is `{server}` in the environment, or that of the person's `own` provider, and
    what a person is told when it refuses and repeats all of it."""

    async def talk(connection: RawConnection) -> None:
        server.requests.append(await connection.request())
        body = b"you said " + server.requests[-1].partition(b"\r\n\r\n")[0]
        await connection.send(b"HTTP/1.1 401 No\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))

    async with raw_server(talk) as server:
        here = f"127.0.0.1:{server.port}"
        settings = {model.partition(":")[0]: structs.replace(own, base_url=f"http://{here}/v1")} if own else {}
        providers = ModelRegistry({name: value.replace("{server}", here) for name, value in env.items()}, settings)
        with pytest.raises(ModelFailed) as refused:
            await anext(providers.open(model).stream(asking()))
        await providers.close()
        return server.requests[0], str(refused.value)


def fields_of(request: bytes, *names: str) -> dict[str, str]:
    """The first line, and those of these fields that were sent."""
    first, *lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return {"": first} | {name: fields[name] for name in names if name in fields}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ({"ANTHROPIC_API_KEY": KEY}, {"x-api-key": KEY}),
        ({"ANTHROPIC_AUTH_TOKEN": TOKEN}, {"authorization": f"Bearer {TOKEN}"}),
        # A token is for the gateway at the address that is set; the key of one's own account is not for it.
        ({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": TOKEN}, {"authorization": f"Bearer {TOKEN}"}),
        ({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": " "}, {"x-api-key": KEY}),
    ],
)
@in_loop
async def test_anthropic_takes_a_key_or_the_token_of_a_gateway(keys: dict[str, str], sent: dict[str, str]) -> None:
    env = {"ANTHROPIC_BASE_URL": "http://{server}/gateway/"} | keys
    request, told = await sent_and_told("anthropic:claude-sonnet-4-5", env)
    assert fields_of(request, "x-api-key", "authorization", "anthropic-version") == {
        "": "POST /gateway/v1/messages HTTP/1.1",
        "anthropic-version": "2023-06-01",
        **sent,
    }
    assert KEY not in told
    assert TOKEN not in told


@pytest.mark.parametrize(
    "address", ["http://{server}/v1", "http://{server}/v1/", "http://{server}", "http://{server}/"]
)
@in_loop
async def test_the_address_of_anthropic_may_be_written_with_and_without_its_version(address: str) -> None:
    env = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": KEY}
    request, _ = await sent_and_told("anthropic:claude-sonnet-4-5", env)
    assert fields_of(request) == {"": "POST /v1/messages HTTP/1.1"}


def test_a_model_of_anthropic_without_a_key_names_the_usual_variable() -> None:
    assert ModelRegistry({}).why_not("anthropic:claude-sonnet-4-5") == (
        "no API key for anthropic:claude-sonnet-4-5; set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for another "
        "server; any value works if no key is needed)"
    )


@pytest.mark.quick
@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("gpu.test", "http://gpu.test:11434/v1"),
        ("gpu.test:8080", "http://gpu.test:8080/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434/v1"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434/v1"),
        ("[::]:11434", "http://[::1]:11434/v1"),
        ("::1", "http://[::1]:11434/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("'gpu.test'", "http://gpu.test:11434/v1"),
        ("http://gpu.test", "http://gpu.test/v1"),
        ("https://gpu.test/ollama/", "https://gpu.test/ollama/v1"),
        ("http://gpu.test:11434/v1/", "http://gpu.test:11434/v1"),
        ("http://me:secret@gpu.test:11434", "http://gpu.test:11434/v1"),
    ],
)
def test_the_host_of_ollama_is_read_as_ollama_reads_it(written: str, address: str) -> None:
    providers = ModelRegistry({"OLLAMA_HOST": written})
    assert providers.address("ollama:qwen3-coder:30b") == address
    assert providers.why_not("ollama:qwen3-coder:30b") is None


@pytest.mark.parametrize("written", ["gpu.test:many", "ftp://gpu.test", "gpu test"])
def test_a_host_of_ollama_that_is_none_is_named(written: str) -> None:
    why = ModelRegistry({"OLLAMA_HOST": written}).why_not("ollama:m")
    assert why is not None
    assert why.startswith("OLLAMA_HOST is not a usable address: ")


@in_loop
async def test_ollama_is_asked_without_a_key() -> None:
    request, told = await sent_and_told("ollama:qwen3-coder:30b", {"OLLAMA_HOST": "{server}"} | ENV)
    assert fields_of(request, "authorization", "x-api-key") == {"": "POST /v1/chat/completions HTTP/1.1"}
    assert b'"model":"qwen3-coder:30b"' in request
    assert "401" in told


@pytest.mark.quick
@pytest.mark.parametrize(
    ("own", "sent"),
    [
        (ProviderSettings(), {"": "POST /v1/chat/completions HTTP/1.1"}),
        (
            ProviderSettings(api_key_env="MINE"),
            {"": "POST /v1/chat/completions HTTP/1.1", "authorization": f"Bearer {KEY}"},
        ),
        (
            ProviderSettings("openai-responses", api_key_env="MINE"),
            {"": "POST /v1/responses HTTP/1.1", "authorization": f"Bearer {KEY}"},
        ),
        (ProviderSettings("anthropic", api_key_env="MINE"), {"": "POST /v1/messages HTTP/1.1", "x-api-key": KEY}),
    ],
)
@in_loop
async def test_a_provider_of_ones_own_is_spoken_to_as_set(own: ProviderSettings, sent: dict[str, str]) -> None:
    request, told = await sent_and_told("mine:m", ENV | {"MINE": KEY, "MINE_BASE_URL": "http://127.0.0.1:9"}, own)
    assert fields_of(request, "authorization", "x-api-key") == sent
    assert KEY not in told


@in_loop
async def test_settings_of_a_known_provider_come_before_its_variables() -> None:
    own = ProviderSettings("openai-chat", api_key_env="MINE")
    request, told = await sent_and_told("anthropic:m", {"ANTHROPIC_API_KEY": "sk-1", "MINE": KEY}, own)
    assert fields_of(request, "authorization", "x-api-key") == {
        "": "POST /v1/chat/completions HTTP/1.1",
        "authorization": f"Bearer {KEY}",
    }
    assert KEY not in told


def test_a_key_that_is_set_under_another_name_is_asked_for_under_it() -> None:
    settings = {"mine": ProviderSettings(base_url="http://127.0.0.1:9/v1", api_key_env="MINE")}
    assert ModelRegistry({}, settings).why_not("mine:m") == (
        "no API key for mine:m; set MINE (any value works if no key is needed)"
    )
    assert ModelRegistry({}, {"mine": ProviderSettings(base_url="host:9")}).why_not("mine:m") == (
        "providers.mine.base_url is not a usable address: 'host:9'; write https://host/v1"
    )


def test_what_a_person_says_of_a_model_comes_before_what_is_known() -> None:
    mine = Card(context=8_000, output=1_000, price=Price(1, 2))
    settings = {"openai": ProviderSettings(models={"gpt-5.5": mine}), "ollama": ProviderSettings(models=("a", "b"))}
    providers = ModelRegistry(ENV, settings)
    assert providers.open("openai:gpt-5.5").card == mine
    assert providers.open("openai:gpt-5.4").card == ModelRegistry(ENV).open("openai:gpt-5.4").card != Card()
    assert providers.open("ollama:a").card == Card(price=Price(0, 0))


@pytest.mark.parametrize("provider", KNOWN)
def test_every_known_provider_can_be_used_with_its_key_alone(provider: str) -> None:
    known = KNOWN[provider]
    model = f"{provider}:{known.example or 'm'}"
    for env in [{key: KEY} for key in known.keys] or [{}]:
        providers = ModelRegistry(env)
        assert providers.why_not(model) is None
        assert providers.address(model) == known.base_url
    assert (ModelRegistry({}).why_not(model) is None) == (not known.keys)
