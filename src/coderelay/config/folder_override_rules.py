"""Which settings a folder's file may change: it may tighten at once, and loosen only if the person trusts it.

Each key has two functions of the person's value and the folder's value. The first gives the value that
counts in an untrusted folder, the second the value in a trusted one.
"""

from collections.abc import Callable, Iterator
from typing import Any, get_args

from coderelay.protocol.modes import MODE_NAMES
from coderelay.protocol.session_setting_values import Preset

Rule = Callable[[Any, Any], Any]
Path = tuple[str, ...]


def folder_value(person: Any, folder: Any) -> Any:
    return folder


def person_value(person: Any, folder: Any) -> Any:
    return person


def person_value_if_set(person: Any, folder: Any) -> Any:
    return person or folder


def lower(person: Any, folder: Any) -> Any:
    return folder if person is None else min(person, folder)


def lower_to(floor: float) -> Rule:
    """The folder may lower the value, but an untrusted folder not so far that nothing works."""
    return lambda person, folder: max(min(person, folder), min(person, floor))


def at_least(floor: float) -> Rule:
    return lambda person, folder: max(folder, min(person, floor))


def joined_lists(person: Any, folder: Any) -> Any:
    return (*(person or ()), *(each for each in folder if each not in (person or ())))


def stricter(*order: Any) -> Rule:
    """The stricter of the two values. `order` begins with the strictest."""
    return lambda person, folder: min(person, folder, key=order.index)


stricter_mode = stricter(*MODE_NAMES)
stricter_preset = stricter(*get_args(Preset))
only_on = stricter(True, False)
only_off = stricter(False, True)

# A `*` stands for a name the person chose.
RULES: dict[str, tuple[Rule, Rule]] = {
    "model": (folder_value, folder_value),
    "lang": (folder_value, folder_value),
    "mode": (stricter_mode, folder_value),
    "max_steps": (lower, folder_value),
    "auto_approve_ask": (only_off, folder_value),
    "approval.interactive": (only_on, folder_value),
    "approval.unattended": (stricter("deny", None, "park", "allow"), folder_value),  # None is never looser than park
    "permissions.preset": (stricter_preset, folder_value),
    "permissions.allow": (person_value, joined_lists),
    "permissions.ask": (joined_lists, joined_lists),
    "permissions.deny": (joined_lists, joined_lists),
    "sandbox.enabled": (only_on, folder_value),
    "sandbox.network": (only_off, folder_value),
    "sandbox.yolo": (only_on, folder_value),
    "workflow.require_todo_for_complex": (only_on, folder_value),
    "workflow.auto_verify_after_edit": (only_off, folder_value),
    "workflow.max_verify_attempts": (lower, folder_value),
    "workflow.verify_commands": (
        person_value_if_set,
        folder_value,
    ),  # commands not on the list of known ones never run
    "compaction.threshold": (at_least(0.5), folder_value),
    "compaction.keep": (at_least(2), folder_value),
    "tools.disabled": (joined_lists, joined_lists),
    "skills.auto_approve": (stricter("load", "run"), stricter("load", "run")),  # only the person may say run
    "display.output_lines": (person_value, folder_value),
    "input_while_running": (person_value, folder_value),
    "persist_partials": (person_value, folder_value),
    "editor.vim": (person_value, folder_value),
    "batch.release": (stricter("together", "each"), folder_value),
    "bash.timeout_s": (lower_to(5), folder_value),
    "bash.output_bytes": (lower, folder_value),
    "bash.free_bytes": (person_value, folder_value),
    "budget.session": (lower, folder_value),
    "budget.day": (lower, folder_value),
    "web.profile": (person_value, person_value),  # the server is the person's, not the folder's
    "web.port": (person_value, person_value),
    "web.roots": (person_value, person_value),
    "acp.max_mode": (stricter_mode, folder_value),
    "feishu.app_id": (person_value, person_value),  # the bot is the person's too
    "feishu.app_secret_env": (person_value, person_value),
    "feishu.encrypt_key_env": (person_value, person_value),
    "feishu.verification_token_env": (person_value, person_value),
    "feishu.domain": (person_value, person_value),
    "feishu.tenant": (person_value, person_value),
    "feishu.cwd": (person_value, person_value),
    "feishu.roots": (person_value, person_value),
    "feishu.users": (person_value, person_value),
    "feishu.chats": (person_value, person_value),
    "feishu.approvers": (person_value, person_value),
    "feishu.groups": (person_value, person_value),
    "feishu.input_timeout_s": (person_value, person_value),
    "feishu.lang": (person_value, person_value),
    "feishu.card_schema": (person_value, person_value),
    "feishu.web_url": (person_value, person_value),
    "providers.*.kind": (person_value, folder_value),
    "providers.*.base_url": (person_value, folder_value),
    "providers.*.api_key_env": (person_value, folder_value),
    "providers.*.models": (person_value, folder_value),
    "agents.*.command": (person_value, folder_value),
    "agents.*.url": (person_value, folder_value),
    "agents.*.env": (person_value, folder_value),
    "agents.*.mode": (person_value, folder_value),
    "agents.*.tools.disabled": (joined_lists, joined_lists),
    "mcp_servers.*": (person_value, folder_value),
    "hooks.*": (person_value, joined_lists),  # the person's own hooks always stay
}
_NAMED = {"providers", "agents", "mcp_servers", "hooks"}


def rule_of(path: Path) -> tuple[Rule, Rule] | None:
    """The two functions for a key, or None for a path that leads to further keys."""
    if path[0] in _NAMED and len(path) > 1:
        path = (path[0], "*", *path[2:])
    return RULES.get(".".join(path))


def keys_in(tree: dict[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The keys of a checked tree with their values."""
    for name, value in tree.items():
        path = (*above, name)
        if rule_of(path) is not None:
            yield path, value
        else:
            yield from keys_in(value, path)
