"""The tools that ask a person: what they want to know is found out and judged without running them (D-14)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import fields

from coderelay.policy.judge import Policy, judge
from coderelay.protocol.calls import Call, Failed, Need, Option, Question
from coderelay.protocol.ids import CallId
from coderelay.tools.ask_user import AskUser, AskUserArguments
from coderelay.tools.builtin_tools import SPECS
from coderelay.tools.plan_exit import PlanExit, PlanExitArguments
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.workspace import Workspace

pytestmark = pytest.mark.quick

BOX = Toolbox([AskUser(), PlanExit()])


def call(name: str, arguments: object) -> Call:
    return Call(CallId("c"), name, json.dumps(arguments))


def need(workspace: Workspace, name: str, arguments: object) -> Need:
    return BOX.need(call(name, arguments), workspace)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(str(tmp_path), Processes(), {})


def test_b58_questions_become_the_need_as_they_were_asked(workspace: Workspace) -> None:
    questions = [
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [{"label": "Red", "description": "like blood"}, {"label": "Blue"}],
            "multiSelect": True,
        },
        {"question": " Which name?\nA short one. "},
    ]
    assert need(workspace, "ask_user", {"questions": questions}) == Need(
        tool="ask_user",
        kind="ask",
        title="Which colour?",
        questions=(
            Question("Which colour?", "Colour", (Option("Red", "like blood"), Option("Blue")), multi_select=True),
            Question(" Which name?\nA short one. "),
        ),
    )


def test_b58_more_fields_are_tolerated_at_any_depth(workspace: Workspace) -> None:
    option = {"label": "Red", "icon": "🔴"}
    question = {"question": "Which?", "options": [option], "multiSelect": False, "required": True, "id": 7}
    found = need(workspace, "ask_user", {"questions": [question], "metadata": {"source": "x"}})
    assert (found.problem, found.questions) == (None, (Question("Which?", options=(Option("Red"),)),))


NONE_EMPTY = "there must be at least one question, and none may be empty"
PROBLEMS: list[tuple[str, object, str]] = [
    ("ask_user", {"questions": []}, NONE_EMPTY),
    ("ask_user", {"questions": [{"question": " \n"}]}, NONE_EMPTY),
    ("ask_user", {"questions": [{"question": "Why?"}, {"question": ""}]}, NONE_EMPTY),
    ("ask_user", {"questions": [{"question": "Why?"}, {"question": "Why?"}]}, "each question may be asked once"),
    ("ask_user", {"questions": [{"question": "Why?"}, {"question": " Why?\n"}]}, "each question may be asked once"),
    ("ask_user", {}, "bad arguments for ask_user: "),
    ("ask_user", {"questions": "Why?"}, "bad arguments for ask_user: "),
    ("ask_user", {"questions": [{"header": "Why"}]}, "bad arguments for ask_user: "),
    ("ask_user", {"questions": [{"question": "Why?", "options": ["so"]}]}, "bad arguments for ask_user: "),
    ("plan_exit", {"plan": ""}, "the plan is empty"),
    ("plan_exit", {"plan": " \n\t"}, "the plan is empty"),
    ("plan_exit", {}, "bad arguments for plan_exit: "),
    ("plan_exit", {"plan": ["think"]}, "bad arguments for plan_exit: "),
    ("plan_exit", {"plan": "think", "mode": "yolo"}, "bad arguments for plan_exit: "),
]


@pytest.mark.parametrize(("tool", "arguments", "problem"), PROBLEMS)
def test_b58_what_cannot_be_asked_is_a_result_for_the_model_and_no_ask(
    workspace: Workspace, tool: str, arguments: object, problem: str
) -> None:
    found = need(workspace, tool, arguments)
    assert found.problem is not None
    assert found.problem.startswith(problem)
    assert [each.verdict for each in judge([found], Policy("plan", SPECS))] == ["deny"]


def test_questions_that_differ_are_all_asked(workspace: Workspace) -> None:
    found = need(workspace, "ask_user", {"questions": [{"question": "Why?"}, {"question": "why?"}]})
    assert [each.question for each in found.questions] == ["Why?", "why?"]


def test_a62_a_plan_is_kept_whole_and_named_by_its_first_line(workspace: Workspace) -> None:
    plan = "\n# The plan\n\n1. think\n2. build\n"
    assert need(workspace, "plan_exit", {"plan": plan}) == Need(
        tool="plan_exit", kind="ask", title="# The plan", plan=plan
    )


@pytest.mark.parametrize("name", ["ask_user", "plan_exit"])
def test_x37_question_and_plan_tools_never_run(workspace: Workspace, name: str) -> None:
    arguments = {"ask_user": {"questions": [{"question": "Why?"}]}, "plan_exit": {"plan": "think"}}[name]
    assert asyncio.run(BOX.run(call(name, arguments), workspace)) == Failed(
        "the question was not shown to anybody", "the question was not shown to anybody"
    )


def agrees(schema: dict[str, Any], struct: type[Struct]) -> None:
    """The same names, in the same order, required where there is no default, and as open as the type is."""
    known = fields(struct)
    assert list(schema["properties"]) == [each.encode_name for each in known]
    assert schema["required"] == [each.encode_name for each in known if each.required]
    assert (schema.get("additionalProperties") is False) == struct.__struct_config__.forbid_unknown_fields


def test_b58_the_schemas_say_what_the_arguments_are() -> None:
    agrees(PlanExit.spec.parameters, PlanExitArguments)
    agrees(AskUser.spec.parameters, AskUserArguments)
    question = AskUser.spec.parameters["properties"]["questions"]["items"]
    agrees(question, Question)
    agrees(question["properties"]["options"]["items"], Option)
    assert {name: each["type"] for name, each in question["properties"].items()} == {
        "question": "string",
        "header": "string",
        "options": "array",
        "multiSelect": "boolean",
    }
