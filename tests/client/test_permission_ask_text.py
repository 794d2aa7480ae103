"""What people and outside programs are told of an ask, and of what needs none."""

import pytest

from coderelay.client.commands.modes_permissions_trust import permissions_in_words
from coderelay.client.permission_ask_text import approval_in_words, permission_in_words, shortened
from coderelay.client.views.permission_request_json import permission_payload, permission_payload_of_batch
from coderelay.protocol.asks import Approval, PermissionAsk
from coderelay.protocol.calls import Need
from coderelay.protocol.ids import AskId, CallId
from coderelay.protocol.query_results import PermissionsShown

pytestmark = pytest.mark.quick

TESTS = Need(
    tool="bash",
    kind="command",
    title="pytest -q",
    command="pytest -q",
    words=("pytest",),
    prefix=True,
    sandbox="bubblewrap",
)
SERVER = Need(
    tool="bash",
    kind="command",
    title="CODER_NETWORK=1 ./serve",
    command="CODER_NETWORK=1 ./serve",
    rights=("network",),
    sandbox="none",
    background=True,
)
WRITE = Need(tool="write", kind="edit", title="a", paths=("/w/a",), diff="+x\n")
PATCH = Need(tool="patch", kind="edit", title="2 files", paths=("/w/a", "/w/b"))
FETCH = Need(tool="web_fetch", kind="network", title="https://x.example/")
QUERY = Need(tool="mcp__db__run__query", kind="mcp", title="run query")


def asked(need: Need) -> str:
    return permission_in_words(PermissionAsk(AskId("a"), CallId("c"), need, "why"))


def test_an_ask_shows_the_command_where_it_runs_and_what_always_means() -> None:
    assert asked(TESTS) == (
        "Run this command?\n  $ pytest -q\n  why\n  runs in a sandbox (bubblewrap)\n"
        "  always: pytest with any files here and safe options"
    )
    assert asked(SERVER) == (
        "Run this command?\n  $ CODER_NETWORK=1 ./serve\n  why\n"
        "  runs without a sandbox, runs with network access, keeps running in the background\n"
        "  always: exactly this command, with network access"
    )


def test_c35_always_says_what_it_covers_for_files_the_network_and_other_programs() -> None:
    secret = Need(tool="grep", kind="read", title="KEY", paths=("/w/.env",))
    served = Need(tool="mcp__db__query", kind="mcp", title="query", server="mark")
    always = {need.tool: asked(need).splitlines()[-1].strip() for need in (WRITE, PATCH, secret, FETCH, served)}
    assert always == {
        "write": "always: any edit to this file",
        "patch": "always: patch on exactly these 2 files",
        "grep": "always: grep on /w/.env",
        "web_fetch": "always: web_fetch https://x.example/",
        "mcp__db__query": "always: mcp__db__query with any arguments",
    }


def test_of_a_long_command_the_first_and_last_lines_are_always_seen() -> None:
    lines = [f"echo {number}" for number in range(1000)]
    shown = shortened("\n".join(lines)).splitlines()
    assert shown == [*lines[:25], "… 965 lines left out …", *lines[-10:], "(1,000 lines, 8,889 bytes)"]
    wide = shortened("a" * 10000 + "; rm x")
    assert wide.startswith("aaa")
    assert wide.endswith("a; rm x\n(1 line, 10,006 bytes)")
    assert "… 6,506 characters left out …" in wide
    assert shortened("ls\npwd\n") == "ls\npwd\n"


def test_an_approval_in_a_line() -> None:
    day = 1_800_000_000_000
    kept = Approval(AskId("a"), "project", "bash", "pytest -q", "/w", "pytest -q", (), ("pytest",), True, (), day)
    assert approval_in_words(kept) == ("bash: pytest with any files here and safe options  (/w, until 2027-01-15)")
    exact = Approval(AskId("a"), "session", "bash", "a\nb", command="a\nb", rights=("network", "outside"))
    assert approval_in_words(exact) == "bash: a ⏎ b, with network access, outside the sandbox  (this session)"
    old = Approval(
        AskId("a"), "session", "bash", "CODER_NETWORK=1 make test", words=("make",), prefix=True, rights=("network",)
    )
    assert approval_in_words(old) == "bash: CODER_NETWORK=1 make test, with network access  (this session)"
    words = Approval(AskId("a"), "person", "bash", "rm 'a b'", command="rm 'a b'", words=("rm", "a b"))
    assert approval_in_words(words) == "bash: rm 'a b'  (everywhere)"


def test_c22_the_matrix_in_words() -> None:
    shown = PermissionsShown(
        mode="yolo",
        preset="strict",
        matrix=(("read files", "allow"), ("tests", "sandboxed")),
        rules=(("deny", "bash(x)"), ("ask", "edit")),
        approvals=(Approval(AskId("a1"), "person", "write", "a", paths=("/w/a",)),),
        allowed_tools=("Read", "Bash"),
        sandbox="bubblewrap",
        confined=False,
    )
    assert permissions_in_words(shown).splitlines() == [
        "mode: yolo",
        "preset: strict (applies in default mode, not in yolo mode)",
        "  read files  allow",
        "  tests       allow in the sandbox, else ask",
        "tools: Read, Bash",
        "rules:",
        "  deny   bash(x)",
        "  ask    edit",
        "approved:",
        "  a1  write: a  (everywhere)",
        "sandbox: off (yolo mode: commands run without a sandbox)",
    ]


def test_d15_a_payload_carries_paths_or_the_command_and_its_signature() -> None:
    assert permission_payload(WRITE, "/w") == {"permissionType": "write", "paths": ["/w/a"], "diff": "+x\n"}
    assert permission_payload(TESTS, "/w") == {
        "permissionType": "command",
        "commandInfo": {
            "command": "pytest -q",
            "cwd": "/w",
            "background": False,
            "rights": [],
            "sandbox": "bubblewrap",
        },
        "commandSignature": {"words": ["pytest"], "prefix": True},
    }
    assert permission_payload(FETCH, "/w") == {"permissionType": "all", "url": "https://x.example/"}
    assert permission_payload(QUERY, "/w") == {"permissionType": "all", "server": "db", "tool": "run__query"}


def test_d16_a_batch_keeps_every_field_of_every_call() -> None:
    merged = permission_payload_of_batch([WRITE, TESTS, PATCH, SERVER], "/w")
    each = [permission_payload(need, "/w") for need in (TESTS, SERVER)]
    assert merged == {
        "permissionType": "all",
        "paths": ["/w/a", "/w/b"],
        "diff": ["+x\n"],
        "commandInfo": [payload["commandInfo"] for payload in each],
        "commandSignature": [{"words": ["pytest"], "prefix": True}, {"text": "CODER_NETWORK=1 ./serve"}],
    }
    assert permission_payload_of_batch([TESTS], "/w") == permission_payload(TESTS, "/w")
