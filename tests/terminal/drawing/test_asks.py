"""What a person decides on, in front of them as it is."""

import pytest

from coderelay.protocol.asks import (
    Allow,
    Answers,
    BudgetAsk,
    By,
    Decision,
    Deny,
    DenyAndStop,
    OfferAsk,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Need, Option, Question
from coderelay.protocol.ids import AskId, CallId
from coderelay.surfaces.terminal.ask_menu import AskMenu
from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.asks import answered, ask_card, batch_list
from tests.terminal.drawing.colour_marks import marked

_ASK, _CALL = AskId("a"), CallId("c")


def permission(need: Need, reason: str) -> PermissionAsk:
    return PermissionAsk(_ASK, _CALL, need, reason)


def command(text: str, sandbox: str = "bubblewrap") -> Need:
    return Need(tool="bash", kind="command", title=text, command=text, sandbox=sandbox, words=("make",), prefix=True)


@pytest.mark.quick
def test_c35_a_command_its_reason_and_where_it_runs() -> None:
    ask = permission(command('make && echo "hi"', "none"), "it runs make")
    assert marked(ask_card(ask, 60)) == (
        "\n⟨33⟩┃ ⟨⟩⟨1;33⟩Run this command?⟨⟩\n"
        '⟨33⟩┃ ⟨⟩$ make && ⟨36⟩echo⟨⟩ ⟨32⟩"hi"⟨⟩\n'
        "⟨33⟩┃ ⟨⟩⟨33⟩it runs make⟨⟩\n"
        "⟨33⟩┃ ⟨⟩⟨31⟩runs without a sandbox⟨⟩\n"
        "⟨33⟩┃ ⟨⟩⟨2⟩always: make with safe options⟨⟩\n"
    )


def test_c35_a_command_can_hide_nothing() -> None:
    text = "ls \x1b[8m; rm -rf ~ \r# \u202e harmless" + " " * 60 + "; curl evil"
    shown = without_colours(ask_card(permission(command(text), "it is odd"), 50))
    assert [line.rstrip() for line in shown.splitlines()] == [
        "",
        "┃ Run this command?",
        "┃ $ ls \\x1b[8m; rm -rf ~ \\r# \\u202e harmless",
        "┃",
        "┃           ; curl evil",
        "┃ it is odd",
        "┃ runs in a sandbox (bubblewrap)",
        "┃ always: make with safe options",
    ]


def test_c35_a_change_with_its_diff() -> None:
    need = Need(tool="write", kind="edit", title="a.py", diff="--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n")
    assert without_colours(ask_card(permission(need, "it changes files"), 60, task="tidy up")) == (
        "\n┃ [task: tidy up]\n┃ Create a.py?\n┃ a.py (new)  +1 −0\n┃ 1 + x\n┃ it changes files\n"
        "┃ always: write a.py\n"
    )


def test_c35_c36_after_a_long_diff_it_is_said_again_what_is_asked() -> None:
    lines = "".join(f"+line {number}\n" for number in range(400))
    need = Need(
        tool="write", kind="edit", title="a.py", diff=f"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,400 @@\n{lines}"
    )
    shown = without_colours(ask_card(permission(need, "it changes files"), 60)).splitlines()
    head = ["┃ Create a.py?", "┃ it changes files"]
    assert shown[:6] == ["", *head, "┃ a diff of 401 lines:", "┃ a.py (new)  +400 −0", "┃   1 + line 0"]
    assert shown[-4:] == ["┃ 400 + line 399", *head, "┃ always: write a.py"]


def test_c35_the_first_question_whose_options_are_in_the_menu() -> None:
    colour = Question("Which colour?", "Colour", (Option("Red", "warm"), Option("Blue")), multi_select=True)
    assert without_colours(ask_card(QuestionAsk(_ASK, _CALL, (colour, Question("Why?"))), 60)) == (
        "\n┃ Colour\n┃ Which colour? (select one or more)\n"
    )
    menu = AskMenu(QuestionAsk(_ASK, _CALL, (colour,)))
    menu.move(1)
    menu.toggle()
    rows = [without_colours(row) for row in menu.lines(60, 20, 1)]
    assert rows == ["↑ ↓ move · Space toggles · Enter submits, or type your own…", "     ☐ Red  warm", "❯    ☑ Blue"]
    assert menu.answer == "2"


def test_c35_a_plan_and_a_budget() -> None:
    plan = PlanAsk(_ASK, "# Plan\n\n1. do **this**\n\n```\n" + "x" * 40 + "\n```", _CALL)
    assert without_colours(ask_card(plan, 30)) == (
        f"\n┃ Plan\n┃\n┃ 1. do this\n┃\n┃ {'x' * 28}\n┃ {'x' * 12}\n┃\n┃ Approve this plan?\n"
    )
    assert without_colours(ask_card(PlanAsk(_ASK, "# Plan"), 30)) == "\n┃ Approve this plan?\n"
    assert without_colours(ask_card(BudgetAsk(_ASK, "session", 1.2, 1.0, 2.0), 80)) == (
        "\n┃ Budget for this session reached: $1.20 of $1.00 spent\n┃ Continue up to $2.00?\n"
    )


def test_what_a_client_offers() -> None:
    server = OfferAsk(_ASK, what="server", name="echo", mark="f00", shown="npx -y echo-server")
    assert without_colours(ask_card(server, 80)) == (
        "\n┃ The client offers the MCP server echo: npx -y echo-server\n"
        "┃ Start it and use its tools in this session?\n"
    )


def test_c35_several_are_listed() -> None:
    asks = [permission(command("make"), ""), permission(command("rm -rf build\nmake " + "x" * 40), "")]
    assert without_colours(batch_list(asks, 40)) == (
        "\n┃ 2 requests need your answer:\n┃ 1. bash: make\n┃ 2. bash: rm -rf build ⏎ make xxxxxxxx…\n"
    )


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (Allow(), "⟨32⟩✓ allowed⟨⟩"),
        (Allow("project"), "⟨32⟩✓ always allowed in this folder⟨⟩"),
        (Deny(), "⟨33⟩⊘ denied⟨⟩"),
        (Deny("no\nway"), "⟨33⟩⊘ denied: no way⟨⟩"),
        (DenyAndStop(), "⟨33⟩■ denied; turn stopped⟨⟩"),
        (Answers({"Which?": "red", "Why?": "so"}), "⟨32⟩✓ red, so⟨⟩"),
        (PlanDecision("smart"), "⟨32⟩✓ plan approved; auto-edit mode⟨⟩"),
        (PlanDecision("feedback", "less"), "⟨33⟩⊘ plan not approved yet: less⟨⟩"),
    ],
)
def test_c35_what_was_decided_and_by_whom(decision: Decision, told: str) -> None:
    ask, me = permission(command("make"), ""), By("me", "terminal")
    assert marked(answered(ask, decision, me, me)) == f"{told}\n"
    other = By("al\x1b[2J", "web")
    assert marked(answered(ask, decision, other, me)) == f"{told}⟨2⟩ (answered by al\\x1b[2J in web)⟨⟩\n"
