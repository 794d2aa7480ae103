"""Every key: a value that is taken, and what is said about one that is not."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import Struct

from coderelay.config.folder_override_rules import RULES
from coderelay.config.parse_config import read_document
from coderelay.config.settings import TO_COME, Settings
from coderelay.protocol.errors import BadInput
from coderelay.protocol.modes import MODE_NAMES
from coderelay.protocol.translation_files import LANGUAGES
from tests.config.config_files import Places


def one_of(names: Iterable[str]) -> str:
    *first, last = sorted(names)
    return f"{', '.join(first)} or {last}"


MODES = one_of(MODE_NAMES)
COUNT = "a whole number between 0 and 1000000000"
AT_LEAST_ONE = "a whole number between 1 and 1000000000"
SWITCH = "true or false"
VARIABLE = "the name of an environment variable"
TEXT = "text that is not empty"

# A right value, then wrong ones, then what is said of each of them.
KEYS: list[tuple[str, Any, list[Any], str]] = [
    ("model", "openai:gpt-5.5", [3, "", ["a"]], TEXT),
    ("mode", "plan", ["smart", True], MODES),
    ("lang", "zh", ["xx", 1], one_of(LANGUAGES)),
    ("max_steps", 1, [0, -1, 1.5, "9", True, 10**9 + 1], AT_LEAST_ONE),
    ("auto_approve_ask", True, ["yes", 1], SWITCH),
    ("approval.interactive", False, ["no", 0], SWITCH),
    ("approval.unattended", "park", ["wait", False], "allow, deny or park"),
    ("permissions.preset", "strict", ["lax"], "auto-edit, balanced, strict or yolo"),
    ("permissions.allow", ["bash(ls *)"], ["bash", 3, {"a": 1}], "a list"),
    ("permissions.ask", [], [False], "a list"),
    ("permissions.deny", ["bash(rm *)"], ["bash"], "a list"),
    ("sandbox.enabled", False, [1], SWITCH),
    ("sandbox.network", True, ["on"], SWITCH),
    ("sandbox.yolo", True, [0], SWITCH),
    ("workflow.require_todo_for_complex", False, ["no"], SWITCH),
    ("workflow.auto_verify_after_edit", False, [2], SWITCH),
    ("workflow.max_verify_attempts", 0, [-1, 0.5, "2"], COUNT),
    ("workflow.verify_commands", ["pytest -q"], ["pytest -q"], "a list"),
    ("compaction.threshold", 1, [0, 1.01, -0.5, "high", True], "a number between 0 and 1"),
    ("compaction.keep", 0, [-1, 1.5], COUNT),
    ("tools.disabled", ["bash"], ["bash"], "a list"),
    ("skills.auto_approve", "run", ["always"], "load or run"),
    ("display.output_lines", 12, [-1, 1.5, "full"], COUNT),
    ("input_while_running", "steer", ["drop"], "ignore, queue, steer or stop"),
    ("persist_partials", "always", [True], "always or until_final"),
    ("editor.vim", True, ["on", 1], SWITCH),
    ("batch.release", "each", ["one"], "each or together"),
    ("bash.timeout_s", 0.5, [0, -1, "120"], "a number above 0"),
    ("bash.output_bytes", 1, [0, 1.5], AT_LEAST_ONE),
    ("bash.free_bytes", 1, [0, 1.5], AT_LEAST_ONE),
    ("budget.session", 2.5, [0, "2 USD"], "a number above 0"),
    ("budget.day", 20, [-3], "a number above 0"),
    ("web.profile", "cowork", ["home"], "cowork"),
    ("web.port", 65535, [0, 65536, "8787"], "a whole number between 1 and 65535"),
    ("web.roots", ["~/work"], ["~/work"], "a list"),
    ("acp.max_mode", "yolo", ["any"], MODES),
    ("feishu.app_id", "cli_1", [""], TEXT),
    ("feishu.app_secret_env", "FEISHU_SECRET", ["a-b", "1A", "A\n"], VARIABLE),
    ("feishu.encrypt_key_env", "FEISHU_KEY", ["a b"], VARIABLE),
    ("feishu.verification_token_env", "FEISHU_TOKEN", ["ä"], VARIABLE),
    ("feishu.domain", "https://open.feishu.cn", [""], TEXT),
    ("feishu.tenant", "tenant_1", [""], TEXT),
    ("feishu.cwd", "/srv/work", [""], TEXT),
    ("feishu.roots", ["/srv"], ["/srv"], "a list"),
    ("feishu.users", ["ou_1"], ["ou_1"], "a list"),
    ("feishu.chats", ["oc_1"], ["oc_1"], "a list"),
    ("feishu.approvers", ["ou_1"], ["ou_1"], "a list"),
    ("feishu.groups", "shared", ["all"], "own or shared"),
    ("feishu.input_timeout_s", 60, [0, "60"], "a number above 0"),
    ("feishu.lang", "en", ["xx", 1], one_of(LANGUAGES)),
    ("feishu.card_schema", "1.0", ["3.0", 2], "1.0 or 2.0"),
    ("feishu.web_url", "https://coder.example.com", ["https://me:pw@host"], "an address without a login in it"),
    ("providers.mine.kind", "openai-chat", ["chat"], "anthropic, openai-chat or openai-responses"),
    ("providers.mine.base_url", "https://127.0.0.1/v1", [3], "text"),
    ("providers.mine.api_key_env", "MY_KEY", ["my-key"], VARIABLE),
    ("providers.mine.models", ["a", "b"], [3, "a"], "a list or an object"),
    ("agents.mine.command", ["prog", "--acp"], ["prog --acp"], "a list"),
    (
        "agents.mine.url",
        "ws://127.0.0.1:8090/acp",
        ["me:pw@host", "ws://me:pw@host"],
        "an address without a login in it",
    ),
    ("agents.mine.env", {"A": "b"}, ["A=b", ["A"]], "an object"),
    ("agents.mine.mode", "plan", ["fast"], MODES),
    ("agents.mine.tools.disabled", ["bash"], ["bash"], "a list"),
    ("mcp_servers.mine", {"command": "prog", "args": ["-x"], "env": {"A": "b"}}, ["prog", []], "an object"),
    ("hooks.Stop", ["make"], ["make", 3], "a list"),
]
CASES = [(key, value, words) for key, _, wrong, words in KEYS for value in wrong]


def test_x23_every_key_is_in_both_tables() -> None:
    starred = {re.sub(r"\.(mine|Stop)\b", ".*", key) for key, *_ in KEYS}
    assert starred == set(RULES) == set(_leaves(Settings))


def test_every_key_is_documented_and_the_examples_are_right() -> None:
    text = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    documented: set[str] = set()
    of_keys = text.partition("AGENTS.md`")[0] + text.partition("## Keys")[2]
    for cell in re.findall(r"^\| (`.*?) \|", of_keys, re.MULTILINE):
        first, *others = re.findall(r"`(.+?)`", cell)
        group = first.rpartition(".")[0]
        documented |= {first} | {f"{group}{each}" if each.startswith(".") else each for each in others}
    assert {re.sub("<.*?>", "*", key) for key in documented} == set(RULES)
    examples = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert [_read(json.loads(each)) for each in examples] != []


def test_the_settings_of_a_codex_user_are_right() -> None:
    text = (Path(__file__).parents[2] / "docs" / "codex.md").read_text()
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    _, settings = _read(json.loads(example))
    assert (settings.model, settings.mode, sorted(settings.mcp_servers)) == (
        "proxy:gpt-5.5",
        "auto-edit",
        ["memory", "search"],
    )


def test_every_language_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    (row,) = re.findall(r"^\| `lang` \|.*$", text, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)` \(", row)) == LANGUAGES


@pytest.mark.parametrize(("key", "value"), [(key, right) for key, right, *_ in KEYS])
def test_x23_a_right_value_is_taken_nested_or_dotted(key: str, value: Any) -> None:
    nested = value
    for name in reversed(key.split(".")):
        nested = {name: nested}
    dotted_tree, dotted = _read({key: value})
    assert (dotted_tree, dotted) == _read(nested)
    assert dotted_tree == nested
    assert dotted != Settings() or value == []


@pytest.mark.parametrize(("key", "value"), [(key, right) for key, right, *_ in KEYS])
def test_a_key_that_does_nothing_was_taken(places: Places, key: str, value: Any) -> None:
    """The keys of parts that are not there yet are known, but neither the person nor a folder can set them."""
    is_to_come = key.split(".")[0] in TO_COME
    for person, folder in (({key: value}, {}), ({}, {key: value})):
        places.write(person=person, folder=folder)
        if not is_to_come:
            places.load()
            continue
        with pytest.raises(BadInput) as refused:
            places.load()
        assert str(refused.value).endswith(f"config.json: {key} is not available yet\nRemove it for now.")


@pytest.mark.parametrize(("key", "value", "words"), CASES)
def test_x23_a_wrong_value_is_refused_with_what_is_right(key: str, value: Any, words: str) -> None:
    private = key.split(".")[0] in ("providers", "agents", "mcp_servers", "hooks", "feishu")
    said = _refusal({key: value})
    assert said.startswith(f"config.json: {key} must be {words}")
    assert private or said == f"config.json: {key} must be {words}, not {json.dumps(value)}"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"permissions": {"allow": ["a", 3]}}, "permissions.allow[1] must be text that is not empty, not 3"),
        ({"mcp_servers": {"x": {}}}, "mcp_servers.x needs either `command` or `url`"),
        (
            {"mcp_servers": {"x": {"command": "a", "url": "http://h"}}},
            "mcp_servers.x needs either `command` or `url`",
        ),
        ({"mcp_servers": {"x": {"command": "a", "env": {"A": 3}}}}, "mcp_servers.x.env.A must be text, not a number"),
        ({"providers": {"a b": {}}}, 'providers has the name "a b" that is not a name of letters, digits, . _ -'),
        ({"providers": {"a": {"models": {"m": 3}}}}, "providers.a.models must be a list or an object, not an object"),
        ({"compaction": 3}, "compaction must be an object, not 3"),
        ({"web.port.x": 3}, 'web.port must be a whole number between 1 and 65535, not {"x": 3}'),
        ({"model": None}, "model must be text that is not empty, not null"),
        (
            {"mcp_servers": {"x": {"command": "a", "url": None}}},
            "mcp_servers.x.url must be an address without a login in it",
        ),
    ],
)
def test_x23_what_is_wrong_inside_is_named(keys: dict[str, Any], said: str) -> None:
    assert _refusal(keys).startswith(f"config.json: {said}")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"modell": "a"}, "unknown key modell\nDid you mean model?"),
        ({"compaction": {"treshold": 1}}, "unknown key compaction.treshold\nDid you mean compaction.threshold?"),
        ({"threshold": 1}, "unknown key threshold\nDid you mean compaction.threshold?"),
        (
            {"workflow.verify_comands": []},
            "unknown key workflow.verify_comands\nDid you mean workflow.verify_commands?",
        ),
        ({"providers.a.knd": "x"}, "unknown key providers.a.knd\nDid you mean providers.a.kind?"),
        ({"bash.xyzzy": 1}, "unknown key bash.xyzzy\nChoose from timeout_s, output_bytes, free_bytes."),
        ({"m\u001b[31m\u202e": 1}, "unknown key m\\x1b[31m\\u202e\n"),
    ],
)
def test_x23_an_unknown_key_is_refused_with_the_nearest_one(keys: dict[str, Any], said: str) -> None:
    assert _refusal(keys).startswith(f"config.json: {said}")


def _read(keys: dict[str, Any]) -> tuple[dict[str, Any], Settings]:
    return read_document(msgspec.json.encode(keys), "config.json")


def _refusal(keys: dict[str, Any]) -> str:
    with pytest.raises(BadInput) as refused:
        _read(keys)
    return str(refused.value)


def _leaves(kind: Any, above: str = "") -> Iterator[str]:
    """The keys as the types have them."""
    for name, each in get_type_hints(kind, include_extras=True).items():
        key, inner = f"{above}{name}", each
        if get_origin(each) is dict and not above:
            key, inner = f"{key}.*", get_args(each)[1]
        if isinstance(inner, type) and issubclass(inner, Struct) and key != "mcp_servers.*":
            yield from _leaves(inner, f"{key}.")
        else:
            yield key
