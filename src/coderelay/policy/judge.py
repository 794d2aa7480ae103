"""The permission check for tool calls: allow, ask or deny, by one judge for all agents.

The judge looks at what calls would touch, never at who proposes them. The order for each call: whether the tool is
enabled in this session; what the rules, the table of the mode and earlier approvals say; and for a command, whether
it is dangerous. In an `unchecked` mode (yolo), all but the first are skipped for shell commands.
"""

from collections.abc import Sequence

from msgspec import Struct

from coderelay.policy.preset_tables import ModeAnswer, autorun_permission, table_name, table_of
from coderelay.policy.remembered_approvals import SANDBOXES, covers, rights_wanted
from coderelay.policy.rules import PathBase, Rule, Rules, find_rule
from coderelay.policy.shell.disk_fact_types import NO_FACTS, DiskFacts
from coderelay.protocol.asks import Approval
from coderelay.protocol.autorun_files import PACKAGE_JSON, autorun_entry, is_package_json
from coderelay.protocol.calls import Kind, Need
from coderelay.protocol.modes import mode_spec
from coderelay.protocol.secret_paths import find_secret
from coderelay.protocol.session_setting_values import Mode, Preset
from coderelay.protocol.tool_specs import ToolSpecs
from coderelay.protocol.translatable import say, with_template


class Policy(Struct, frozen=True):
    """The permission settings of a session. Empty `allowed_tools` mean that all tools are allowed. `home` is the
    folder that `~/` in rules stands for. If `network` is true, every command has the network and none must ask for
    it. `tools` knows which tools the names in `allowed_tools` stand for."""

    mode: Mode
    tools: ToolSpecs
    allowed_tools: tuple[str, ...] = ()
    approvals: tuple[Approval, ...] = ()
    preset: Preset = "balanced"
    rules: Rules = Rules()
    folders: tuple[str, ...] = ()
    home: str = ""
    network: bool = False

    @property
    def path_base(self) -> PathBase:
        return PathBase(self.folders, self.home)


class Verdict(Struct, frozen=True):
    """The judge's verdict on one call. If a command is asked about, `words` are those that an approval may remember;
    with `prefix`, more words may follow them."""

    verdict: ModeAnswer
    reason: str = ""
    words: tuple[str, ...] = ()
    prefix: bool = False


_DOES: dict[Kind, str] = {
    "read": "{tool} only reads ({reason})",
    "edit": "{tool} changes files ({reason})",
    "command": "{tool} runs a command ({reason})",
    "network": "{tool} uses the network ({reason})",
    "mcp": "{tool} is a tool of an MCP server ({reason})",
    "ask": "{tool} needs your answer ({reason})",
}


def judge(batch: Sequence[Need], policy: Policy, facts: Sequence[DiskFacts] = ()) -> list[Verdict]:
    """A verdict for every call of a batch, before any of them runs. `facts` has one entry per call, in order."""
    found = facts or [NO_FACTS] * len(batch)
    return [_judge_one(need, policy, about) for need, about in zip(batch, found, strict=True)]


def _judge_one(need: Need, policy: Policy, facts: DiskFacts) -> Verdict:
    if need.problem is not None:
        return Verdict("deny", with_template(need.problem, need.said))
    if not policy.tools.is_allowed(need.tool, policy.allowed_tools):
        return Verdict("deny", say("{tool} is not allowed in this session", tool=need.tool))
    if need.plan is not None and policy.mode != "plan":
        return Verdict("deny", "plans can be approved in plan mode only")
    if need.kind == "ask":
        return Verdict(
            "ask",
            say("{tool} needs your answer ({reason})", tool=need.tool, reason=table_name(policy.mode, policy.preset)),
        )
    if need.kind == "command":
        return _judge_command(need, policy, facts)
    return _judge_call(need, policy)


def _judge_call(need: Need, policy: Policy) -> Verdict:
    reason: str = say(_DOES[need.kind], tool=need.tool, reason=table_name(policy.mode, policy.preset))
    if rule := find_rule(policy.rules.deny, need, policy.path_base):
        return Verdict("deny", say("denied by the rule {rule}", rule=rule.text))
    table = table_of(policy.mode, policy.preset)
    cell = table.calls[need.kind]
    if cell == "deny":
        return Verdict("deny", reason)
    if rule := find_rule(policy.rules.ask, need, policy.path_base):
        return Verdict("ask", say("the rule {rule} asks for approval", rule=rule.text))
    if secret := _secret(need, policy):
        cell, reason = "ask", say("{path} may hold secrets", path=secret)
    allowing = policy.rules.allow
    if autorun_permission(table) == "ask" and (why := _why_autorun(need, policy)):
        cell, reason = "ask", why
        allowing = tuple(rule for rule in allowing if _names_autorun_file(rule))
    if cell == "allow":
        return Verdict("allow")
    if find_rule(allowing, need, policy.path_base, whole=True):
        return Verdict("allow", "a rule allows it")
    if any(covers(each, need) for each in policy.approvals):
        return Verdict("allow", "approved before")
    return Verdict("ask", reason)


def _secret(need: Need, policy: Policy) -> str | None:
    if need.kind != "read" or mode_spec(policy.mode).unchecked:
        return None
    found = (find_secret(path, policy.folders, policy.home) for path in need.paths)
    return next((place for place in found if place), None)


def _why_autorun(need: Need, policy: Policy) -> str | None:
    """The reason to ask if this call edits an autorun file, which another program acts on although nobody runs it."""
    if need.kind != "edit":
        return None
    for path in need.paths:
        inside = _inside(path, policy.folders).lstrip("/")
        if found := autorun_entry(inside):
            return say(found.why, path=inside)
    scripts = next(iter(need.scripts), None)
    return scripts and say(PACKAGE_JSON, path=_inside(scripts, policy.folders).lstrip("/"))


def _names_autorun_file(rule: Rule) -> bool:
    """Whether an allow rule names an autorun file itself. A rule that allows all changes, or all changes in a folder,
    does not cover an autorun file that happens to be there."""
    return rule.about == "path" and (autorun_entry(rule.target) is not None or is_package_json(rule.target))


def _inside(path: str, folders: tuple[str, ...]) -> str:
    """The path relative to the session's folder, whose own name must not count as an autorun file."""
    folder = max((each for each in folders if path.startswith(f"{each}/")), key=len, default="")
    return path[len(folder) :]


def _judge_command(need: Need, policy: Policy, facts: DiskFacts) -> Verdict:
    if mode_spec(policy.mode).unchecked:
        return Verdict("allow")
    if need.command is None:
        denied = table_of(policy.mode, policy.preset).commands["run"] == "deny"
        return Verdict(
            "deny" if denied else "ask",
            say("{tool} runs a command ({reason})", tool=need.tool, reason=table_name(policy.mode, policy.preset)),
        )
    from coderelay.policy.shell.command_verdict import judge_command  # imported late: most turns have no command

    found = judge_command(
        need.command,
        policy.mode,
        policy.folders,
        policy.rules,
        preset=policy.preset,
        sandboxed=need.sandbox in SANDBOXES,
        rights=tuple(right for right in rights_wanted(need) if right != "network" or not policy.network),
        home=policy.home,
        facts=facts,
    )
    if found.verdict != "ask":
        return Verdict(found.verdict, found.reason)
    if not found.by_user_rule and any(covers(each, need, policy.folders) for each in policy.approvals):
        return Verdict("allow", "approved before")
    kept = found.signature
    return Verdict("ask", found.reason, kept.words, kept.prefix) if kept else Verdict("ask", found.reason)
