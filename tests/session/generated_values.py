"""The values that Hypothesis draws for what persons and models may come up with, sensible or not.

What should happen often is listed more than once and at both ends, which Hypothesis likes best.
"""

from collections.abc import Callable
from functools import partial

from coderelay.protocol.asks import (
    Allow,
    Answers,
    Approval,
    Ask,
    Decision,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Failed, Finished, Outcome, Seen, Stopped, Unknown
from coderelay.protocol.ids import AskId
from coderelay.protocol.message_content import Block, Note, Text, Thinking
from coderelay.protocol.session_setting_values import Mode
from tests.session.played_session import FOLDER
from tests.session.proposed_calls import (
    COLOUR,
    NAME,
    Proposed,
    broken,
    peeks,
    plan,
    questions,
    reads,
    ruled,
    runs,
    writes,
)

BLOCKS: list[tuple[Block, ...]] = [
    (Text("well"),),
    (),
    (Thinking("hm"),),
    (Thinking("hm"), Text("well")),
    (Text("well"),),
]
OUTCOMES: list[Outcome] = [
    Finished("ok"),
    Unknown(),
    Stopped(started=True),
    Failed("no such file"),
    Finished("text", seen=(Seen("a.py", "1"), Seen("b.py", "1"))),
    Finished("other text", seen=(Seen("a.py", "2"),)),
    Finished("ok"),
]
NOTES: list[tuple[Note, ...]] = [
    (),
    (Note("mode", "<mode>plan</mode>"),),
    (Note("environment", "<environment>Monday</environment>"), Note("mode", "<mode>yolo</mode>")),
    (Note("environment", "<environment>Tuesday</environment>"),),
    (Note("file:a.py", "<file-changed>a.py</file-changed>"), Note("file:c.py", "<file-changed>c.py</file-changed>")),
    (),
]
COSTS = [0.25, None, 0.5, 0.25]  # dollars that add up without rounding
BUDGETS = [0.75, None, 0.5]
MODES: list[Mode] = ["plan", "plan", "plan", "auto-edit", "yolo", "default", "default", "default"]
TOOLS: list[tuple[str, ...]] = [(), (), (), ("read", "write")]
CALLS: list[Callable[[str], Proposed]] = [
    *[partial(runs, command="make a"), partial(runs, command="make b")] * 3,
    *[reads, reads, partial(runs, command="make c"), writes, partial(writes, path="b.py"), broken],
    *[partial(ruled, verdict="allow"), partial(ruled, verdict="deny"), *[partial(ruled, verdict="ask")] * 2],
    *[lambda name: questions(name, NAME, COLOUR), questions, plan, plan],
]
IN_PLAN_MODE = [plan, partial(runs, command="make c"), *CALLS, plan, plan, plan]
READING: list[Callable[[str], Proposed]] = [
    *[reads, reads, reads, partial(ruled, verdict="allow"), peeks, peeks, writes, broken],
    *[partial(ruled, verdict=verdict, kind="read") for verdict in ("deny", "ask", "deny", "allow")],
    *[partial(ruled, verdict="allow"), reads],
]
BEYOND = [
    Approval(AskId("this-folder"), "project", "bash", "make c", project=FOLDER, command="make c"),
    Approval(AskId("other-folder"), "project", "bash", "make a", project="/elsewhere", command="make a"),
    Approval(AskId("other-command"), "person", "bash", "make", command="make"),
    Approval(AskId("other-paths"), "person", "write", "c.py", paths=("c.py", "a.py")),
]

REFUSALS: list[Decision] = [Deny(), Deny("not now"), DenyAndStop()]


def fitting(ask: Ask) -> list[Decision]:
    match ask:
        case PermissionAsk():
            return [Allow(), Allow("project"), *REFUSALS, Allow("person"), Allow("session"), Allow("session")]
        case QuestionAsk():
            answers = {each.question: f"my answer to {each.question}" for each in ask.questions}
            return [Answers(answers), *REFUSALS, Answers(dict(reversed(answers.items())))]
        case PlanAsk():
            stay = [PlanDecision("keep"), PlanDecision("feedback", "use tabs")]
            return [*stay, PlanDecision("smart"), *REFUSALS, PlanDecision("default")]
        case _:
            assert ask.answered_by is Allow
            return [Allow(), Allow("session"), *REFUSALS, Allow(), Allow()]


def unfitting(ask: Ask) -> list[Decision]:
    match ask:
        case QuestionAsk():
            first, *others = [each.question for each in ask.questions]
            complete = dict.fromkeys([first, *others], "Red")
            return [
                Allow(),
                Allow("session"),
                PlanDecision("default"),
                Answers({}),
                Answers(complete | {first: " \n"}),
                Answers(complete | {"Which day?": "today"}),
                Answers({first.lower(): "Red", **dict.fromkeys(others, "Red")}),
            ]
        case PlanAsk():
            return [Allow(), Allow("person"), Answers({}), PlanDecision("feedback"), PlanDecision("feedback", " \t")]
        case _:
            assert ask.answered_by is Allow
            return [Answers({"Which colour?": "Red"}), Answers({}), PlanDecision("smart"), PlanDecision("keep")]
