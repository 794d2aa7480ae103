"""What was approved for more than one call: exactly that, where it was approved, and never against a denial."""

from typing import get_args

import pytest
from msgspec.structs import replace

from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.policy.remembered_approvals import approval_of, covers, in_force
from coderelay.protocol.asks import Approval, PermissionAsk, Scope
from coderelay.protocol.calls import Kind, Need, Question
from coderelay.protocol.ids import AskId, CallId, MachineId
from coderelay.protocol.session_setting_values import Mode
from coderelay.tools.builtin_tools import SPECS

pytestmark = pytest.mark.quick

MODES: tuple[Mode, ...] = get_args(Mode)
MAKE = Need(tool="bash", kind="command", title="make test", command="make test")
WRITE = Need(tool="write", kind="edit", title="a.py", paths=("a.py",))
MOVE = Need(tool="patch", kind="edit", title="2 files", paths=("a.py", "b.py"))
FETCH = Need(tool="web_fetch", kind="network", title="https://a.example/")


def approved(need: Need, scope: Scope = "session", cwd: str = "/w") -> Approval:
    return approval_of(PermissionAsk(AskId("a"), CallId("c"), need, "why"), scope, cwd)


def one(need: Need, mode: Mode, *approvals: Approval, allowed_tools: tuple[str, ...] = ()) -> Verdict:
    (verdict,) = judge([need], Policy(mode, SPECS, allowed_tools, approvals))
    return verdict


KEPT: list[tuple[Need, Scope, Approval]] = [
    (MAKE, "session", Approval(AskId("a"), "session", "bash", "make test", command="make test")),
    (MAKE, "person", Approval(AskId("a"), "person", "bash", "make test", command="make test")),
    (MAKE, "project", Approval(AskId("a"), "project", "bash", "make test", project="/w", command="make test")),
    (WRITE, "session", Approval(AskId("a"), "session", "write", "a.py", paths=("a.py",), edits=True)),
    (MOVE, "project", Approval(AskId("a"), "project", "patch", "2 files", project="/w", paths=("a.py", "b.py"))),
    (FETCH, "person", Approval(AskId("a"), "person", "web_fetch", "https://a.example/")),
]


@pytest.mark.parametrize(("need", "scope", "approval"), KEPT)
def test_an_approval_holds_what_was_asked_and_no_more(need: Need, scope: Scope, approval: Approval) -> None:
    assert approved(need, scope) == approval
    assert covers(approval, need)


OTHERS: list[tuple[Need, Need]] = [
    (MAKE, replace(MAKE, command="make test && rm -rf /")),
    (MAKE, replace(MAKE, command="make  test")),
    (MAKE, replace(MAKE, command="make test ")),
    (MAKE, replace(MAKE, command="make")),
    (MAKE, replace(MAKE, command="MAKE TEST")),
    (MAKE, replace(MAKE, command=None)),
    (MAKE, replace(MAKE, command="")),
    (MAKE, replace(MAKE, tool="mcp__shell__run")),
    (WRITE, replace(WRITE, paths=("b.py",))),
    (WRITE, replace(WRITE, paths=("a.py", "b.py"))),
    (WRITE, replace(WRITE, paths=())),
    (WRITE, replace(WRITE, tool="grep", kind="read")),
    (MOVE, replace(MOVE, tool="write")),
    (WRITE, replace(WRITE, command="make test")),
    (MOVE, replace(MOVE, paths=("b.py", "a.py"))),  # from and to are not the same the other way round
    (MOVE, replace(MOVE, paths=("a.py",))),
    (FETCH, replace(FETCH, title="https://b.example/")),
    (FETCH, replace(FETCH, paths=("a.py",))),
]


@pytest.mark.parametrize(("need", "other"), OTHERS)
def test_d20_an_approval_covers_nothing_else(need: Need, other: Need) -> None:
    assert not covers(approved(need), other)
    assert covers(approved(need), need)


def test_always_for_a_file_covers_any_edit_to_it_as_the_ask_says() -> None:
    """Symptom: "always: any edit to this file" was asked again when the model used `edit` after `write`."""
    assert covers(approved(WRITE), replace(WRITE, tool="edit"))
    old = replace(approved(WRITE), edits=False)  # of a log that was written when it covered one tool
    assert covers(old, WRITE)
    assert not covers(old, replace(WRITE, tool="edit"))


def test_the_words_for_people_do_not_make_a_command_another() -> None:
    assert covers(approved(MAKE), replace(MAKE, title="run the tests"))


IN_FORCE: list[tuple[Scope, str, bool]] = [
    ("session", "/w", True),
    ("session", "/elsewhere", True),  # its log is the session's own
    ("person", "/elsewhere", True),
    ("project", "/w", True),
    ("project", "/elsewhere", False),
    ("project", "/w/inside", False),
    ("project", "/", False),
    ("project", "/w/", False),
]


@pytest.mark.parametrize(("scope", "cwd", "counts"), IN_FORCE)
def test_an_approval_for_a_project_counts_in_its_folder_only(scope: Scope, cwd: str, counts: bool) -> None:
    approval = approved(MAKE, scope)
    assert in_force([approval], cwd) == ((approval,) if counts else ())


@pytest.mark.parametrize("mode", ["default", "auto-edit"])
def test_d20_what_was_approved_is_not_asked_again(mode: Mode) -> None:
    assert one(MAKE, mode, approved(FETCH), approved(MAKE)) == Verdict("allow", "approved before")
    assert one(MAKE, mode, approved(FETCH)).verdict == "ask"
    assert one(replace(MAKE, command="make all"), mode, approved(MAKE)).verdict == "ask"


def test_d20_an_approved_path_may_be_written_again_and_no_other() -> None:
    assert one(WRITE, "default", approved(WRITE)).verdict == "allow"
    assert one(replace(WRITE, paths=("b.py",)), "default", approved(WRITE)).verdict == "ask"


@pytest.mark.parametrize("need", [MAKE, WRITE, MOVE, FETCH], ids=lambda need: need.tool)
def test_promise_7_an_approval_never_loosens_a_denial(need: Need) -> None:
    approval = approved(need, "person")
    assert one(need, "plan", approval) == one(need, "plan")
    assert one(need, "plan", approval).verdict == "deny"
    for mode in MODES:
        assert one(need, mode, approval, allowed_tools=("Read",)).verdict == "deny"
        assert one(replace(need, problem="bad arguments"), mode, approval) == Verdict("deny", "bad arguments")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scope", get_args(Scope))
def test_questions_and_plans_are_asked_every_time(mode: Mode, scope: Scope) -> None:
    question = Need(tool="ask_user", kind="ask", title="Why?", questions=(Question("Why?"),))
    plan = Need(tool="plan_exit", kind="ask", title="think", plan="think")
    assert one(question, mode, approved(question, scope)).verdict == "ask"
    assert one(plan, mode, approved(plan, scope)).verdict == ("ask" if mode == "plan" else "deny")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_approval_changes_only_what_would_be_asked(kind: Kind) -> None:
    need = Need(tool="tool", kind=kind, title="t", command="x")
    for mode in MODES:
        without, with_it = one(need, mode), one(need, mode, approved(need))
        assert with_it == without or (without.verdict, kind != "ask") == ("ask", True)


FOR_WHOM = [  # the scope of Anne's approval, the people of the turn, whether it counts
    ("person", ("anne",), True),
    ("person", ("ben",), False),
    ("person", ("anne", "ben"), False),
    ("project", ("ben",), True),
    ("session", ("ben",), True),
]


@pytest.mark.parametrize(("scope", "people", "counts"), FOR_WHOM)
def test_an_approval_for_a_person_counts_for_that_person_only(
    scope: Scope, people: tuple[str, ...], counts: bool
) -> None:
    approval = replace(approved(MAKE, scope), person="anne")
    assert in_force([approval], "/w", people=people) == ((approval,) if counts else ())
    old = replace(approval, person="")
    assert in_force([old], "/w", people=people) == (old,)


def test_an_approval_for_a_project_counts_on_its_machine_only() -> None:
    ask = PermissionAsk(AskId("a"), CallId("c"), MAKE, "why")
    here, there = MachineId("m1"), MachineId("m2")
    approval = approval_of(ask, "project", "/w", person="anne", machine=here)
    assert in_force([approval], "/w", machine=here) == (approval,)
    assert in_force([approval], "/w", machine=there) == ()
    assert approval_of(ask, "person", "/w", person="anne", machine=here).machine == ""
