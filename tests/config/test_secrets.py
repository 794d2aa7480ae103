"""No secret is taken from a file, and none that is known appears anywhere."""

from typing import Any

import pytest

from coderelay.config.loaded_config import load
from coderelay.config.secrets_in_settings import hide_secrets
from coderelay.config.settings import AgentConfig
from coderelay.protocol.errors import BadInput
from tests.config.config_files import Places

SECRET = "sk-hush-hush"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"providers": {"openai": {"api_key": SECRET}}}, "providers.openai.api_key_env"),
        ({"providers.openai.apiKey": SECRET}, "providers.openai.api_key_env"),
        ({"providers": {"openai": {"token": SECRET}}}, "providers.openai.api_key_env"),
        ({"providers": {"openai": {"api_key_env": SECRET}}}, "the name of an environment variable"),
        ({"providers": {"openai": {"base_url": f"https://me:{SECRET}@host/v1"}}}, "an address without a login"),
        ({"providers": {"openai": {"kind": SECRET}}}, "anthropic, openai-chat or openai-responses"),
        ({"providers": {"openai": {"models": SECRET}}}, "a list or an object"),
        ({"providers": {"openai": SECRET}}, "an object"),
        ({"providers": SECRET}, "an object"),
        ({"feishu": {"app_secret": SECRET}}, "feishu.app_secret_env"),
        ({"feishu": {"encrypt_key": SECRET}}, "feishu.encrypt_key_env"),
        ({"feishu.app_secret_env": SECRET}, "the name of an environment variable"),
        ({"agents": {"a": {"url": f"ws://me:{SECRET}@host"}}}, "an address without a login"),
        ({"agents": {"a": {"env": [f"KEY={SECRET}"]}}}, "an object"),
        ({"agents": {"a": {"env": {SECRET: "KEY"}}}}, "a name that is not the name of an environment variable"),
        ({"mcp_servers": {"a": {"url": f"https://{SECRET}@host/mcp"}}}, "an address without a login"),
        ({"mcp_servers": {"a": {"command": "x", "headers": {"Authorization": [SECRET]}}}}, "text"),
    ],
)
@pytest.mark.parametrize("whose", ["person", "folder"])
def test_x41_a_secret_in_a_file_is_refused_and_not_shown(
    places: Places, whose: str, keys: dict[str, Any], said: str
) -> None:
    places.write(**{whose: keys})
    with pytest.raises(BadInput) as refused:
        places.load()
    assert said in str(refused.value)
    assert SECRET not in str(refused.value) + repr(refused.value)


def test_x41_no_secret_in_what_is_shown_of_a_configuration(places: Places) -> None:
    keys = {
        "mcp_servers": {
            "b": {"command": "prog", "env": {"B_KEY": SECRET}},
            "c": {"url": "https://host/mcp", "headers": {"Authorization": SECRET}},
        },
    }
    places.write(person=keys)
    config = places.load(CODER_DATABASE_URL=f"postgresql://me:{SECRET}@host/db")
    assert config.settings.mcp_servers["b"].env == {"B_KEY": SECRET}
    agent = AgentConfig(command=("prog",), env={"A_TOKEN": SECRET})
    assert SECRET not in repr(agent)
    assert SECRET not in repr(config) + str(config) + repr(config.settings) + repr(config.settings.mcp_servers)
    untrusted = places.write(person={}, folder=keys).load().untrusted
    assert SECRET not in repr(untrusted)
    assert untrusted["mcp_servers.b"] == {"command": "prog", "env": {"B_KEY": "***"}}


def test_x41_what_is_hidden_and_what_is_not() -> None:
    shown = {
        "api_key_env": "OPENAI_API_KEY",
        "PATH": "/evil",
        "GITHUB_TOKEN": "t",
        "Authorization": "Bearer t",
        "url": "https://me:pw@host/x",
        "args": ["--a", "https://me@host"],
        "Cookie": "c",
    }
    assert hide_secrets(shown) == {
        "api_key_env": "OPENAI_API_KEY",
        "PATH": "/evil",
        "GITHUB_TOKEN": "***",
        "Authorization": "***",
        "url": "https://***@host/x",
        "args": ["--a", "https://***@host"],
        "Cookie": "***",
    }


def test_x41_a_bad_variable_is_named_with_its_value_only_where_that_is_no_secret(places: Places) -> None:
    with pytest.raises(BadInput, match=r"CODER_LANG must be one of en, .*, not 'xx'"):
        load({"CODER_HOME": str(places.home), "CODER_LANG": "xx"})
