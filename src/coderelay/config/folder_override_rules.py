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


def theirs(mine: Any, theirs: Any) -> Any:
    return theirs


def mine(mine: Any, theirs: Any) -> Any:
    return mine


def person_value_if_set(mine: Any, theirs: Any) -> Any:
    return mine or theirs


def lower(mine: Any, theirs: Any) -> Any:
    return theirs if mine is None else min(mine, theirs)


def lower_to(floor: float) -> Rule:
    """The folder may lower the value, but an untrusted folder not so far that nothing works."""
    return lambda mine, theirs: max(min(mine, theirs), min(mine, floor))


def at_least(floor: float) -> Rule:
    return lambda mine, theirs: max(theirs, min(mine, floor))


def both(mine: Any, theirs: Any) -> Any:
    return (*(mine or ()), *(each for each in theirs if each not in (mine or ())))


def stricter(*order: Any) -> Rule:
    """The stricter of the two values. `order` begins with the strictest."""
    return lambda mine, theirs: min(mine, theirs, key=order.index)


stricter_mode = stricter(*MODE_NAMES)
stricter_preset = stricter(*get_args(Preset))
only_on = stricter(True, False)
only_off = stricter(False, True)

# A `*` stands for a name the person chose.
RULES: dict[str, tuple[Rule, Rule]] = {
    "model": (theirs, theirs),
    "lang": (theirs, theirs),
    "mode": (stricter_mode, theirs),
    "max_steps": (lower, theirs),
    "auto_approve_ask": (only_off, theirs),
    "approval.interactive": (only_on, theirs),
    "approval.unattended": (stricter("deny", None, "park", "allow"), theirs),  # None is never looser than park
    "permissions.preset": (stricter_preset, theirs),
    "permissions.allow": (mine, both),
    "permissions.ask": (both, both),
    "permissions.deny": (both, both),
    "sandbox.enabled": (only_on, theirs),
    "sandbox.network": (only_off, theirs),
    "sandbox.yolo": (only_on, theirs),
    "workflow.require_todo_for_complex": (only_on, theirs),
    "workflow.auto_verify_after_edit": (only_off, theirs),
    "workflow.max_verify_attempts": (lower, theirs),
    "workflow.verify_commands": (person_value_if_set, theirs),  # commands not on the list of known ones never run
    "compaction.threshold": (at_least(0.5), theirs),
    "compaction.keep": (at_least(2), theirs),
    "tools.disabled": (both, both),
    "skills.auto_approve": (stricter("load", "run"), stricter("load", "run")),  # only the person may say run
    "display.output_lines": (mine, theirs),
    "input_while_running": (mine, theirs),
    "persist_partials": (mine, theirs),
    "editor.vim": (mine, theirs),
    "batch.release": (stricter("together", "each"), theirs),
    "bash.timeout_s": (lower_to(5), theirs),
    "bash.output_bytes": (lower, theirs),
    "bash.free_bytes": (mine, theirs),
    "budget.session": (lower, theirs),
    "budget.day": (lower, theirs),
    "web.profile": (mine, mine),  # the server is the person's, not the folder's
    "web.port": (mine, mine),
    "web.roots": (mine, mine),
    "acp.max_mode": (stricter_mode, theirs),
    "feishu.app_id": (mine, mine),  # the bot is the person's too
    "feishu.app_secret_env": (mine, mine),
    "feishu.encrypt_key_env": (mine, mine),
    "feishu.verification_token_env": (mine, mine),
    "feishu.domain": (mine, mine),
    "feishu.tenant": (mine, mine),
    "feishu.cwd": (mine, mine),
    "feishu.roots": (mine, mine),
    "feishu.users": (mine, mine),
    "feishu.chats": (mine, mine),
    "feishu.approvers": (mine, mine),
    "feishu.groups": (mine, mine),
    "feishu.input_timeout_s": (mine, mine),
    "feishu.lang": (mine, mine),
    "feishu.card_schema": (mine, mine),
    "feishu.web_url": (mine, mine),
    "providers.*.kind": (mine, theirs),
    "providers.*.base_url": (mine, theirs),
    "providers.*.api_key_env": (mine, theirs),
    "providers.*.models": (mine, theirs),
    "agents.*.command": (mine, theirs),
    "agents.*.url": (mine, theirs),
    "agents.*.env": (mine, theirs),
    "agents.*.mode": (mine, theirs),
    "agents.*.tools.disabled": (both, both),
    "mcp_servers.*": (mine, theirs),
    "hooks.*": (mine, both),  # the person's own hooks always stay
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
