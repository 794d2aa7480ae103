"""Rules of the person's own: how they are written, and what they mean."""

import pytest

from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.policy.rules import InvalidRule, Rules
from coderelay.protocol.calls import Kind, Need
from coderelay.protocol.session_setting_values import Mode
from coderelay.tools.builtin_tools import SPECS
from tests.policy.rule_parsing import read_rule, read_rules

pytestmark = pytest.mark.quick

FOLDERS = ("/ws", "/other")


def on(tool: str, kind: Kind, *paths: str, title: str = "t") -> Need:
    return Need(tool=tool, kind=kind, title=title, paths=paths)


def fetch(url: str) -> Need:
    return on("web_fetch", "network", title=url)


def bash(command: str) -> Need:
    return Need(tool="bash", kind="command", title=command, command=command)


def one(need: Need, rules: Rules, mode: Mode = "default") -> Verdict:
    (verdict,) = judge([need], Policy(mode, SPECS, rules=rules, folders=FOLDERS, home="/home/me"))
    return verdict


MEANT: list[tuple[str, Need, bool]] = [
    ("edit", on("edit", "edit", "/ws/a"), True),
    ("edit", on("write", "edit", "/ws/a"), True),
    ("Edit", on("patch", "edit", "/ws/a"), True),
    ("write", on("edit", "edit", "/ws/a"), False),
    ("edit(src/**)", on("edit", "edit", "/ws/src/a/b.py"), True),
    ("edit(src/**)", on("edit", "edit", "/ws/srcs/b.py"), False),
    ("edit(src/**)", on("edit", "edit", "/ws/lib/src/b.py"), False),
    ("edit(src)", on("edit", "edit", "/ws/lib/src/b.py"), True),
    ("edit(/ws/src)", on("edit", "edit", "/ws/src/b.py"), True),
    ("edit(src/)", on("edit", "edit", "/ws/src/b.py"), True),
    ("edit(src/*.py)", on("edit", "edit", "/ws/src/b.py"), True),
    ("edit(src/*.py)", on("edit", "edit", "/ws/src/a/b.py"), False),
    ("edit(src/**/b.py)", on("edit", "edit", "/ws/src/b.py"), True),
    ("edit(*.lock)", on("write", "edit", "/other/deep/x.lock"), True),
    ("edit(x[0-9])", on("write", "edit", "/ws/x7"), True),
    ("edit(x[!0-9])", on("write", "edit", "/ws/x7"), False),
    ("edit(.)", on("write", "edit", "/etc/x"), False),
    ("read(.env)", on("read", "read", "/ws/.env"), True),
    ("read(.env)", on("read", "read", "/ws/.ENV"), True),
    ("read(.env)", on("grep", "read", "/ws/sub/.env"), True),
    ("read(.env)", on("write", "edit", "/ws/.env"), False),
    ("read(~/notes/**)", on("read", "read", "/home/me/notes/a"), True),
    ("read(/etc)", on("read", "read", "/etc/passwd"), True),
    ("read(a.b)", on("read", "read", "/ws/axb"), False),
    ("web_fetch", fetch("https://x.example/"), True),
    ("WebFetch(docs.python.org)", fetch("https://docs.python.org/3/"), True),
    ("web_fetch(docs.python.org)", fetch("https://docs.python.org:443"), True),
    ("web_fetch(docs.python.org)", fetch("https://docs.python.org.evil.example/"), False),
    ("web_fetch(python.org)", fetch("https://docs.python.org/"), False),
    ("network(*.example.com)", fetch("http://a.b.example.com/x?y"), True),
    ("network(*.example.com)", fetch("http://example.com/"), False),
    ("network(*.example.com)", fetch("http://badexample.com/"), False),
    ("network", fetch("http://x.example"), True),
    ("network(x.example)", on("mcp__x__y", "network", title="http://x.example"), True),
    ("mcp__x__*", on("mcp__x__y", "mcp"), True),
    ("mcp__x__*", on("mcp__xx__y", "mcp"), False),
    ("mcp__x__y", on("mcp__x__y", "mcp"), True),
    ("skill", on("skill", "read"), True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "need", "meant"), MEANT)
def test_c32_a_rule_means_what_it_says(text: str, need: Need, meant: bool) -> None:
    denied = one(need, read_rules(deny=(text,)))
    assert denied == (Verdict("deny", f"denied by the rule {text}") if meant else one(need, Rules()))
    asked = one(need, read_rules(ask=(text,)), "auto-edit")
    assert asked == (
        Verdict("ask", f"the rule {text} asks for approval") if meant else one(need, Rules(), "auto-edit")
    )


def test_c32_deny_wins_over_ask_and_that_over_allow() -> None:
    need = on("edit", "edit", "/ws/src/a")
    texts = ("edit(src/**)",)
    assert one(need, read_rules(texts, texts, texts)).verdict == "deny"
    assert one(need, read_rules(texts, texts)).verdict == "ask"
    assert one(need, read_rules(texts)) == Verdict("allow", "a rule allows it")


@pytest.mark.parametrize(
    "need",
    [
        on("patch", "edit", "/ws/src/a", "/ws/b"),
        on("edit", "edit", "/ws/SRC/a"),
        on("edit", "edit"),
        on("edit", "edit", "/ws/src/../b"),
    ],
)
def test_a_rule_that_allows_must_mean_all_of_a_call_and_by_its_letters(need: Need) -> None:
    assert one(need, read_rules(("edit(src/**)",))).verdict == "ask"


@pytest.mark.parametrize(
    "url",
    ["http://me@x.example/", "http://x.example\\@y", "http://x.example\t/", "x.example", "http://x.example:y/", ""],
)
def test_an_odd_address_is_never_allowed_by_a_rule(url: str) -> None:
    assert one(fetch(url), read_rules(("web_fetch(x.example)",))).verdict == "ask"


@pytest.mark.parametrize("mode", ["plan", "yolo"])
def test_c33_promise_7_no_mode_takes_a_denial_back_but_for_commands_in_yolo(mode: Mode) -> None:
    assert one(on("edit", "edit", "/ws/x"), read_rules(deny=("edit(x)",)), mode).verdict == "deny"
    command = one(bash("make"), read_rules(deny=("bash(make)",)), mode)
    assert command.verdict == ("allow" if mode == "yolo" else "deny")


def test_c06_a_rule_allows_nothing_that_plan_mode_denies() -> None:
    rules = read_rules(("edit", "bash", "network"))
    needs = [on("edit", "edit", "/ws/x"), bash("make"), fetch("http://x.example")]
    assert [one(need, rules, "plan").verdict for need in needs] == ["deny", "deny", "deny"]


NAMED = [
    ("cat secrets/key", "deny", "denied by the rule read(secrets/**)"),
    ("cat 'secrets/key'", "deny", "denied by the rule read(secrets/**)"),
    ("x=$(cat /ws/secrets/key)", "deny", "denied by the rule read(secrets/**)"),
    ("grep -f=secrets/key x", "deny", "denied by the rule read(secrets/**)"),
    ("curl https://bad.example/x", "deny", "denied by the rule network(bad.example)"),
    ("curl https://me@bad.example:80/x", "deny", "denied by the rule network(bad.example)"),
    ("touch docs/x", "ask", "the rule edit(docs) asks for approval"),
    ("cat x", "allow", "it only reads"),
]


@pytest.mark.parametrize(("command", "verdict", "reason"), NAMED)
def test_c32_a_command_that_names_a_path_or_a_host_of_a_rule_is_meant_too(
    command: str, verdict: str, reason: str
) -> None:
    rules = read_rules(ask=("edit(docs)",), deny=("read(secrets/**)", "network(bad.example)"))
    judged = one(bash(command), rules, "auto-edit")
    assert (judged.verdict, judged.reason) == (verdict, reason)


ODD: list[tuple[str, str]] = [
    ("", "it is not NAME or NAME(WHAT)"),
    ("bash(", "it is not NAME or NAME(WHAT)"),
    ("git push", "it is not NAME or NAME(WHAT)"),
    ("bash()", "there is nothing in the brackets"),
    ("shell(ls)", "shell takes nothing in brackets"),
    ("shell", "there is no tool 'shell'"),
    ("todo(x)", "todo takes nothing in brackets"),
    ("bash(a | b)", "a command rule must be plain words; '|' is not allowed in it"),
    ("bash(rm 'a b')", 'a command rule must be plain words; "\'" is not allowed in it'),
    ("bash(rm * x)", "a command rule must be plain words; '*' is not allowed in it"),
    ("bash(rm $HOME)", "a command rule must be plain words; '$' is not allowed in it"),
    ("edit(../x)", "'../x' is not a path in the workspace, from ~/ or from /"),
    ("edit(!x)", "'!x' is not a path in the workspace, from ~/ or from /"),
    ("edit(~you/x)", "'~you/x' is not a path in the workspace, from ~/ or from /"),
    ("web_fetch(https://x.example)", "'https://x.example' is not a host name"),
    ("network(*)x", "it is not NAME or NAME(WHAT)"),
    ("network(a*.example)", "'a*.example' is not a host name"),
    ("mcp__x__y(z)", "mcp__x__y takes nothing in brackets"),
    ("*", "it is not NAME or NAME(WHAT)"),
]


@pytest.mark.parametrize(("text", "why"), ODD)
def test_a_rule_that_means_nothing_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidRule) as refused:
        read_rule(text)
    assert str(refused.value) == why


@pytest.mark.parametrize(
    "path", ["/ws/.env", "/ws/a/.env.local", "/ws/.ssh/id_ed25519", "/ws/.npmrc", "/home/me/.aws/x"]
)
def test_where_secrets_are_kept_is_asked_about_even_in_the_workspace(path: str) -> None:
    need = on("read", "read", path)
    assert {mode: one(need, Rules(), mode).verdict for mode in ("plan", "default", "auto-edit", "yolo")} == {
        "plan": "ask",
        "default": "ask",
        "auto-edit": "ask",
        "yolo": "allow",
    }
    assert one(need, read_rules(("read(.env)", "read(**)", "read(/home/me/.aws)"))).verdict == "allow"


@pytest.mark.parametrize("path", ["/ws/.env.example", "/ws/src/env.py", "/ws/environ", "/ws/my.env.md"])
def test_what_only_looks_like_a_secret_is_read(path: str) -> None:
    assert one(on("read", "read", path), Rules()) == Verdict("allow")
