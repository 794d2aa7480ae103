"""What a command wants beyond the sandbox, by its text."""

import pytest

from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.policy.remembered_approvals import approval_of, covers, in_force
from coderelay.policy.rules import Rules
from coderelay.policy.shell.requested_rights import rights_of, without_rights
from coderelay.protocol.asks import Approval, PermissionAsk, Scope
from coderelay.protocol.calls import Need, Right
from coderelay.protocol.ids import AskId, CallId
from coderelay.protocol.session_setting_values import Mode, Preset
from coderelay.tools.builtin_tools import SPECS
from tests.policy.rule_parsing import read_rules

pytestmark = pytest.mark.quick

NETWORK = [
    "curl https://x.example",
    "curl http://localhost:1 https://x.example",
    "curl http://localhost.x.example/",
    "curl http://127.0.0.1.x.example/",
    "curl http://localhost@x.example/",
    "/usr/bin/wget x",
    "git fetch",
    "git -C sub pull --rebase",
    "git clone https://x.example/y",
    "npm install",
    "npm ci && npm test",
    "pnpm add x",
    "yarn",
    "pip install -e .",
    "python -m pip install x",
    "uv pip install x",
    "uv sync",
    "cargo add serde",
    "go mod download",
    "gh pr list",
    "ssh host ls",
    "rsync -a src/ host:/tmp",
    "docker pull x",
    "sudo apt-get update",
    "cd x; timeout 5 curl x",
    "echo $(curl x)",
    "if true; then wget x; fi",
    "bash -c 'curl x'",
    "f() { curl x; }; f",
    "CODER_NETWORK=1 make",
    "not ( a command; curl x",
]
# Each of these was given no network, although `bash -c 'curl x'` was.
STARTED_BY = [
    "fish -c 'curl x'", "fish --command='curl x'", "fish --init-command 'curl x'", "dash -c 'curl x'",
    "mksh -c 'curl x'", "csh -c 'curl x'", "tcsh -c 'curl x'", "nu -c 'curl x'", "nu -e 'curl x'",
    "elvish -c 'curl x'",
    "xonsh -c 'curl x'", "bash -lc 'curl x'", "busybox sh -c 'curl x'", "toybox sh -c 'curl x'", "strace curl x",
    "strace -f -o log curl x", "ltrace curl x", "gdb --args curl x", "perf stat curl x", "perf record -- curl x",
    "catchsegv curl x", "unbuffer curl x", "script -c 'curl x'", "script -qc 'curl x' log", "flock x curl x",
    "flock x -c 'curl x'", "chrt 5 curl x", "taskset 1 curl x", "numactl -N 0 curl x", "unshare -n curl x",
    "nsenter -t 1 curl x", "firejail --quiet curl x", "valgrind curl x", "parallel 'curl {}' ::: x",
    "eatmydata curl x", "hyperfine 'curl x'", "find . -exec curl x {} ;", "uv run curl x", "npx curl x",
    "eval 'curl x'", "env -S 'curl x'", "bash <<< 'curl x'", "sh <<E\ncurl x\nE", "echo 'curl x' | sh",
    "su me -c 'curl x'",
    "strace fish -c 'timeout 5 curl x'", "python3.11 -m pip install x",
]  # fmt: skip

NOTHING = [
    "ls",
    "git status",
    "git log --grep=push",
    "git commit -m 'fetch and curl'",
    "npm test",
    "npm run build",
    "cargo build",
    "go test ./...",
    "rsync -a src/ copy/",
    "echo curl x",
    "timeout 5 grep curl x",
    "bash -c 'echo curl'",
    "strace -o log ls",
    "rg -l curl | xargs echo",
    "curl -s http://localhost:8000/health",
    "curl -sf 127.0.0.1:3000 -H 'Accept: text/html'",
    "curl -X POST -d '{}' http://[::1]:8080/api",
    "wget -qO- http://0.0.0.0:8000/",
    "nc -z localhost 5432",
    "grep -rn curl src",
    "cat curl.txt",
    "python curl.py",
    "echo CODER_NETWORK=1 ls",
    " CODER_NETWORK=1 ls",
    "CODER_NETWORK=0 ls",
    "CODER_NETWORK=1\nls",
    "ls \ud800 curl",
    "curl " + "x" * 70000,
    "",
]


def test_every_program_that_is_there_for_other_machines_wants_the_network() -> None:
    assert {command: rights_of(command) for command in NETWORK} == dict.fromkeys(NETWORK, ("network",))


@pytest.mark.parametrize("command", STARTED_BY)
def test_a_program_behind_another_shell_or_a_tracer_was_given_no_network(command: str) -> None:
    assert rights_of(command) == ("network",)


def test_other_commands_request_no_rights() -> None:
    assert {command: rights_of(command) for command in NOTHING} == dict.fromkeys(NOTHING, ())


ASKED: list[tuple[str, tuple[Right, ...], str]] = [
    ("CODER_SANDBOX=0 make", ("outside",), "make"),
    ("CODER_SANDBOX=0 CODER_NETWORK=1 make", ("network", "outside"), "make"),
    ("CODER_NETWORK=1 CODER_SANDBOX=0 make", ("network", "outside"), "make"),
    ("CODER_SANDBOX=0 curl x", ("network", "outside"), "curl x"),
    ("make CODER_SANDBOX=0 x", (), "make CODER_SANDBOX=0 x"),
]


@pytest.mark.parametrize(("command", "rights", "bare"), ASKED)
def test_rights_are_asked_for_in_front(command: str, rights: tuple[Right, ...], bare: str) -> None:
    assert (rights_of(command), without_rights(command)) == (rights, bare)


def bash(command: str, sandbox: str = "bubblewrap") -> Need:
    rights = rights_of(command)
    return Need(tool="bash", kind="command", title=command, command=command, sandbox=sandbox, rights=rights)


def one(
    need: Need, mode: Mode = "default", *approvals: Approval, preset: Preset = "balanced", rules: Rules | None = None
) -> Verdict:
    policy = Policy(mode, SPECS, approvals=approvals, preset=preset, rules=rules or Rules(), folders=("/ws",))
    (verdict,) = judge([need], policy)
    return verdict


def approved(need: Need, words: tuple[str, ...] = (), prefix: bool = False, scope: Scope = "session") -> Approval:
    kept = Need(
        tool="bash",
        kind="command",
        title=need.title,
        command=need.command,
        words=words,
        prefix=prefix,
        rights=need.rights,
    )
    return approval_of(PermissionAsk(AskId("a"), CallId("c"), kept, "why"), scope, "/ws", now=0)


def test_a_command_that_wants_more_always_asks_but_in_yolo() -> None:
    commands = ("CODER_NETWORK=1 ls", "CODER_SANDBOX=0 ls", "curl x", "CODER_NETWORK=1 pytest")
    said = {
        mode: [one(bash(each), mode).verdict for each in commands]
        for mode in ("plan", "default", "auto-edit", "yolo")
    }
    assert said == {
        "plan": ["deny"] * 4,
        "default": ["ask"] * 4,
        "auto-edit": ["ask"] * 4,
        "yolo": ["allow"] * 4,
    }
    assert one(bash("CODER_NETWORK=1 ls")).reason == "it asks for network access; it only reads"
    assert one(bash("CODER_SANDBOX=0 ls")).reason == "it asks to run outside the sandbox; it only reads"


def test_rights_are_read_from_the_text_whatever_the_need_says() -> None:
    silent = Need(tool="bash", kind="command", title="x", command="CODER_SANDBOX=0 pytest", sandbox="bubblewrap")
    assert one(silent, "auto-edit").verdict == "ask"


def test_a_rule_covers_the_network_but_never_the_way_out() -> None:
    rules = read_rules(("bash(npm install)", "bash(make)"))
    commands = ("npm install", "CODER_NETWORK=1 make", "CODER_SANDBOX=0 make", "npm install; rm x")
    assert [one(bash(each), rules=rules).verdict for each in commands] == ["allow", "allow", "ask", "ask"]


def test_an_approval_never_covers_more_rights() -> None:
    plain = approved(bash("pytest"), ("pytest",), prefix=True)
    online = approved(bash("CODER_NETWORK=1 pytest"), ("pytest",), prefix=True)
    out = approved(bash("CODER_SANDBOX=0 pytest"), ("pytest",), prefix=True)
    commands = (
        "pytest -q",
        "CODER_NETWORK=1 pytest -q",
        "CODER_NETWORK=1 pytest",
        "CODER_SANDBOX=0 pytest -q",
        "CODER_SANDBOX=0 pytest",
    )
    covered = {name: [covers(each, bash(command), ("/ws",)) for command in commands] for name, each in
               (("plain", plain), ("online", online), ("out", out))}  # fmt: skip
    assert covered == {
        "plain": [True, False, False, False, False],
        "online": [False, False, True, False, False],
        "out": [False, False, False, False, True],
    }


def test_what_a_person_is_asked_tells_what_always_would_mean() -> None:
    assert one(bash("pytest -q tests")) == Verdict("ask", "pytest may change things", ("pytest",), prefix=True)
    assert one(bash("rm x")) == Verdict("ask", "it removes files", ("rm", "x"))
    assert one(bash("make -j4 test")).words == ("make", "test")
    assert one(bash("CODER_NETWORK=1 pytest")).words == ()
    assert one(bash("CODER_SANDBOX=0 pytest")).words == ()
    assert one(bash("pytest > log")).words == ()


def test_a_rule_that_asks_wins_over_an_approval_and_what_nobody_means_too() -> None:
    need = bash("git push")
    remembered = approved(need, ("git", "push"))
    assert one(need, "default", remembered) == Verdict("allow", "approved before")
    assert one(need, "default", remembered, rules=read_rules(ask=("bash(git push)",))).verdict == "ask"
    assert one(need, "default", remembered, rules=read_rules(deny=("bash(git push)",))).verdict == "deny"
    whole = bash("rm -rf /")
    assert one(whole, "default", approved(whole)).verdict == "deny"


def test_c08_tests_and_builds_run_unasked_because_of_the_sandbox() -> None:
    commands = (
        "pytest -q 2>&1 | tail -5",
        "cd src && make -j 4",
        "cargo test",
        "npm run build",
        "python -m pytest x",
    )
    for backend, verdict in (("bubblewrap", "allow"), ("sandlock", "allow"), ("none", "ask"), ("", "ask")):
        assert [one(bash(each, backend), "auto-edit").verdict for each in commands] == [verdict] * 5
        assert [one(bash(each, backend), preset="auto-edit").verdict for each in commands] == [verdict] * 5
    assert one(bash("make", "none"), "auto-edit").reason == "make may change things; no sandbox"
    for command in ("pytest --basetemp=/home", "make -f /x", "npm run deploy", "python x.py", "pytest /etc"):
        assert one(bash(command), "auto-edit").verdict == "ask"


def test_c22_presets_say_what_default_means() -> None:
    commands = ("ls", "touch x", "pytest", "./x", "curl x", "CODER_SANDBOX=0 ls", "rm -rf /")
    presets: tuple[Preset, ...] = ("strict", "balanced", "auto-edit", "yolo")
    said = {preset: " ".join(one(bash(each), preset=preset).verdict for each in commands) for preset in presets}
    assert said == {
        "strict": "ask ask ask ask ask ask deny",
        "balanced": "allow ask ask ask ask ask deny",
        "auto-edit": "allow allow allow ask ask ask deny",
        "yolo": "allow allow allow allow allow ask deny",
    }
    assert one(bash("./x", "none"), preset="yolo").verdict == "ask"
    assert one(bash("ls"), preset="strict").reason == "it only reads; strict preset"
    for mode in ("plan", "auto-edit", "yolo"):
        assert one(bash("./x"), mode, preset="yolo") == one(bash("./x"), mode)


def test_an_approval_beyond_the_session_ends_after_thirty_days() -> None:
    days = 86_400_000
    need = bash("make")
    kept = {scope: approved(need, scope=scope) for scope in ("session", "project", "person")}
    assert {scope: each.expires for scope, each in kept.items()} == {
        "session": None,
        "project": 30 * days,
        "person": 30 * days,
    }
    everything = tuple(kept.values())
    assert in_force(everything, "/ws", 30 * days - 1) == everything
    assert in_force(everything, "/ws", 30 * days) == (kept["session"],)
