"""Whose value counts: defaults, the person's file, the folder's file, the environment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from coderelay.config.folder_override_rules import RULES, folder_value
from coderelay.config.loaded_config import Config
from coderelay.config.parse_config import read_document
from coderelay.config.person_and_folder_settings import LayeredSettings, layer
from coderelay.config.settings import AgentConfig, Settings, ToolsConfig
from tests.config.config_files import Places
from tests.config.test_keys import KEYS


def test_x23_without_files_the_defaults_count(places: Places) -> None:
    config = places.load()
    assert config == Config(
        home=str(places.home), model=None, folder=str(places.folder), file_fingerprints=(None, None, None, None)
    )
    assert (config.settings.max_steps, config.settings.compaction.threshold, config.settings.compaction.keep) == (
        128,
        0.8,
        12,
    )
    assert (config.settings.bash.timeout_s, config.settings.bash.output_bytes) == (120, 1024 * 1024)
    assert config.unattended is None


@pytest.mark.quick
def test_x23_later_layers_count_more(places: Places) -> None:
    places.write(person={"model": "a:1", "lang": "zh", "compaction.keep": 3, "compaction.threshold": 0.5})
    assert (places.load().model, places.load().lang) == ("a:1", "zh")
    places.write(folder={"model": "b:2", "compaction": {"keep": 4}})
    config = places.load()
    assert (config.model, config.settings.compaction.keep, config.settings.compaction.threshold) == ("b:2", 4, 0.5)
    assert config.files == (str(places.person_file), str(places.folder_file))
    config = places.load(CODER_MODEL="c:3", CODER_LANG="en", OPENAI_API_KEY="sk-1")
    assert (config.model, config.lang) == ("c:3", "en")


@pytest.mark.parametrize(
    ("env", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN", "CODER_LANG": "en"}, "en"),
    ],
)
def test_the_language_comes_from_the_locale_if_nobody_says(places: Places, env: dict[str, str], lang: str) -> None:
    assert places.load(**env).lang == lang


@pytest.mark.quick
def test_x36_a_folder_tightens_at_once_and_loosens_nothing(places: Places) -> None:
    places.write(
        person={"permissions.deny": ["bash(rm *)"], "mode": "auto-edit", "max_steps": 50, "budget.day": 5},
        folder={
            "permissions": {"deny": ["bash(git push *)"], "allow": ["bash(*)"], "ask": ["write(*)"]},
            "mode": "yolo",
            "max_steps": 20,
            "budget": {"day": 9, "session": 1},
            "sandbox.enabled": False,
            "sandbox.yolo": True,
            "tools.disabled": ["web_fetch"],
            "auto_approve_ask": True,
            "agents": {"native": {"tools": {"disabled": ["bash"]}}},
            "mcp_servers": {"x": {"command": "evil", "env": {"MY_TOKEN": "t-secret"}}},
        },
    )
    config = places.load()
    now = config.settings
    assert now.permissions.deny == ("bash(rm *)", "bash(git push *)")
    assert (now.permissions.ask, now.permissions.allow) == (("write(*)",), ())
    assert (now.mode, now.max_steps, now.budget.day, now.budget.session) == ("auto-edit", 20, 5, 1)
    assert (now.sandbox.enabled, now.sandbox.yolo, now.tools.disabled) == (True, True, ("web_fetch",))
    assert now.agents["native"].tools.disabled == ("bash",)
    assert (now.mcp_servers, config.unattended) == ({}, None)
    assert config.untrusted == {
        "permissions.allow": ["bash(*)"],
        "mode": "yolo",
        "budget.day": 9,
        "sandbox.enabled": False,
        "auto_approve_ask": True,
        "mcp_servers.x": {"command": "evil", "env": {"MY_TOKEN": "***"}},
    }


def test_x36_c39_a_folder_names_its_checks_only_if_the_person_named_none(places: Places) -> None:
    key, person, folder = "workflow.verify_commands", ["pytest -q"], ["./gradlew test"]
    kept = places.write(person={key: person}, folder={key: folder}).load()
    assert (kept.settings.workflow.verify_commands, kept.untrusted) == (tuple(person), {key: folder})
    free = places.write(person={}, folder={key: folder}).load()
    assert (free.settings.workflow.verify_commands, free.untrusted) == (tuple(folder), {})


def test_x36_what_the_person_has_set_alike_is_nothing_to_trust(places: Places) -> None:
    same = {
        "mode": "yolo",
        "providers": {"x": {"base_url": "http://127.0.0.1/v1", "models": ["a"]}},
        "bash.free_bytes": 9000,
    }
    assert places.write(person=same, folder=same).load().untrusted == {}


@pytest.mark.parametrize("linked", [False, True])
def test_x23_in_the_persons_own_folder_the_file_is_the_persons(places: Places, tmp_path: Path, linked: bool) -> None:
    """`coder` started in `~`, where `./.coder` is the home, or a link to where that is kept."""
    places.write(folder={"mode": "yolo"})
    places.home = places.folder / ".coder"
    if linked:
        places.home.rename(tmp_path / "kept elsewhere")
        places.home.symlink_to(tmp_path / "kept elsewhere")
    config = places.load()
    assert (config.settings.mode, config.untrusted, config.files) == ("yolo", {}, (str(places.person_file),))


@pytest.mark.parametrize(
    ("keys", "unattended"),
    [
        ({}, None),
        ({"auto_approve_ask": True}, "allow"),
        ({"approval.interactive": False}, "allow"),
        ({"approval.unattended": "park"}, "park"),
        ({"approval.unattended": "deny", "auto_approve_ask": True}, "deny"),
        ({"approval.unattended": "allow"}, "allow"),
    ],
)
def test_c35_x04_the_literal_keys_allow_only_from_the_person(
    places: Places, keys: dict[str, Any], unattended: str | None
) -> None:
    assert places.write(person=keys, folder={}).load().unattended == unattended
    from_the_folder = places.write(person={}, folder=keys).load()
    assert from_the_folder.unattended == ("deny" if unattended == "deny" else None)


# How loose settings are, written down apart from the rules: numbers that may only fall, sets that may only grow,
# what may not become so little that nothing works, and what must stay as it is.
MODES = ["plan", "default", "auto-edit", "yolo"]
UNATTENDED = ["deny", None, "park", "allow"]
LOOSENESS: dict[str, Callable[[Settings], float]] = {
    "mode": lambda now: MODES.index(now.mode),
    "max_steps": lambda now: now.max_steps,
    "auto_approve_ask": lambda now: now.auto_approve_ask,
    "interactive": lambda now: not now.approval.interactive,
    "unattended": lambda now: UNATTENDED.index(now.unattended),
    "preset": lambda now: ["strict", "balanced", "auto-edit", "yolo"].index(now.permissions.preset),
    "sandbox.enabled": lambda now: not now.sandbox.enabled,
    "sandbox.network": lambda now: now.sandbox.network,
    "sandbox.yolo": lambda now: not now.sandbox.yolo,
    "todo": lambda now: not now.workflow.require_todo_for_complex,
    "verify": lambda now: now.workflow.auto_verify_after_edit,
    "attempts": lambda now: now.workflow.max_verify_attempts,
    "skills": lambda now: now.skills.auto_approve == "run",
    "release": lambda now: now.batch.release == "each",
    "timeout": lambda now: now.bash.timeout_s,
    "output": lambda now: now.bash.output_bytes,
    "budget.session": lambda now: now.budget.session or float("inf"),
    "budget.day": lambda now: now.budget.day or float("inf"),
    "acp": lambda now: MODES.index(now.acp.max_mode),
}
FLOORS: dict[str, tuple[Callable[[Settings], float], float]] = {
    "compaction.threshold": (lambda now: now.compaction.threshold, 0.5),
    "compaction.keep": (lambda now: now.compaction.keep, 2),
    "timeout": (lambda now: now.bash.timeout_s, 5),
}
RESTRICTIONS: dict[str, Callable[[Settings], set[str]]] = {
    "deny": lambda now: set(now.permissions.deny),
    "ask": lambda now: set(now.permissions.ask),
    "tools": lambda now: set(now.tools.disabled),
    "tools of agents": lambda now: {
        f"{name} {each}" for name, agent in now.agents.items() for each in agent.tools.disabled
    },
}
UNTOUCHED: dict[str, Callable[[Settings], Any]] = {
    "allow": lambda now: now.permissions.allow,
    "providers": lambda now: now.providers,
    "mcp_servers": lambda now: now.mcp_servers,
    "hooks": lambda now: now.hooks,
    "feishu": lambda now: now.feishu,
    "web": lambda now: now.web,
    "disk": lambda now: now.bash.free_bytes,
    "habits": lambda now: (now.input_while_running, now.persist_partials, now.display, now.editor),
    "agents": lambda now: {
        name: replace(agent, tools=ToolsConfig())
        for name, agent in now.agents.items()
        if agent != AgentConfig(tools=agent.tools)
    },
}
UNTOUCHED_IF_SET: dict[str, Callable[[Settings], Any]] = {"checks": lambda now: now.workflow.verify_commands}

NUMBERS = st.integers(1, 300)
SWITCHES = st.booleans()
TEXTS = st.lists(st.sampled_from(["bash", "write(*)", "read"]), max_size=3)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **{key: st.just(right) for key, right, *_ in KEYS},
    **dict.fromkeys(["mode", "acp.max_mode"], st.sampled_from(MODES)),
    **dict.fromkeys(["max_steps", "bash.timeout_s", "bash.output_bytes", "budget.day", "budget.session"], NUMBERS),
    "bash.free_bytes": NUMBERS,
    **dict.fromkeys(["auto_approve_ask", "approval.interactive"], SWITCHES),
    **dict.fromkeys(["sandbox.enabled", "sandbox.network", "sandbox.yolo"], SWITCHES),
    **dict.fromkeys(["workflow.require_todo_for_complex", "workflow.auto_verify_after_edit"], SWITCHES),
    **dict.fromkeys([f"permissions.{each}" for each in ("allow", "ask", "deny")], TEXTS),
    **dict.fromkeys(["tools.disabled", "agents.mine.tools.disabled", "hooks.Stop"], TEXTS),
    "compaction.threshold": st.sampled_from([0.01, 0.3, 0.5, 0.9]),
    "compaction.keep": st.integers(0, 20),
    "approval.unattended": st.sampled_from(["park", "deny", "allow"]),
    "permissions.preset": st.sampled_from(["strict", "balanced", "auto-edit", "yolo"]),
    "skills.auto_approve": st.sampled_from(["load", "run"]),
    "batch.release": st.sampled_from(["together", "each"]),
    "workflow.max_verify_attempts": st.integers(0, 5),
    "workflow.verify_commands": st.sampled_from([[], ["pytest -q"], ["./gradlew test"]]),
}
FILES = st.fixed_dictionaries({}, optional=VALUES)


@settings(max_examples=100, deadline=None)
@given(person=FILES, folder=FILES)
def test_x36_an_untrusted_folder_can_only_tighten(person: dict[str, Any], folder: dict[str, Any]) -> None:
    mine, layered = _layer(person, folder)
    assert _loosened(mine, layered.untrusted) == []


@pytest.mark.parametrize("key", [key for key, (untrusted, _) in RULES.items() if untrusted is not folder_value])
def test_x36_the_check_finds_each_key_that_a_folder_could_just_set(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, key, (folder_value, folder_value))
    written = "hooks.Stop" if key == "hooks.*" else key.replace("*", "mine")
    one = st.fixed_dictionaries({written: VALUES[written]})

    def is_found(files: tuple[dict[str, Any], dict[str, Any]]) -> bool:
        mine, layered = _layer(*files)
        return _loosened(mine, layered.untrusted) != []

    find(st.tuples(st.one_of(st.just(dict[str, Any]()), one), one), is_found)


@settings(max_examples=60, deadline=None)
@given(person=FILES, folder=FILES)
def test_x36_trust_makes_a_difference_exactly_if_something_loosens(
    person: dict[str, Any], folder: dict[str, Any]
) -> None:
    mine, layered = _layer(person, folder)
    assert (layered.untrusted != layered.trusted) == bool(layered.needs_trust)
    assert layered.needs_trust == {key: folder[key] for key in layered.needs_trust}
    assert all(forbidden(layered.trusted) >= forbidden(mine) for forbidden in RESTRICTIONS.values())


def _loosened(mine: Settings, now: Settings) -> list[str]:
    return [
        *(name for name, how in LOOSENESS.items() if how(now) > how(mine)),
        *(name for name, (how, floor) in FLOORS.items() if how(now) < min(how(mine), floor)),
        *(name for name, forbidden in RESTRICTIONS.items() if not forbidden(now) >= forbidden(mine)),
        *(name for name, look in UNTOUCHED.items() if look(now) != look(mine)),
        *(name for name, look in UNTOUCHED_IF_SET.items() if look(mine) and look(now) != look(mine)),
    ]


def _layer(person: dict[str, Any], folder: dict[str, Any]) -> tuple[Settings, LayeredSettings]:
    mine = read_document(msgspec.json.encode(person), "person")[1]
    return mine, layer(mine, read_document(msgspec.json.encode(folder), "folder")[0])
