"""C-12: a complex prompt begins with a todo list, unless one is open."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.agents.native.turn_steps import may_be_complex
from coderelay.agents.native.workflow.prompt_complexity import why_complex
from coderelay.agents.native.workflow.todos_from_prompt import first_list
from coderelay.protocol.commands import UndoTurn
from coderelay.protocol.queries import ListTodos
from coderelay.protocol.query_results import Item
from tests.conftest import Serve
from tests.house import ME, house, story
from tests.model_server import call, proposes, says, script
from tests.workflow.project import Project

PROMPT = "1. add a flag 2. test it 3. document it"
LIST = [Item("add a flag", "pending"), Item("test it", "pending"), Item("document it", "pending")]
USUAL = ["Understand the request and the code", "Make the changes", "Verify the result"]
DONE = call("todo", items=[{"content": "all of it", "status": "completed"}])


def todo(*contents: str, status: str = "pending") -> Any:
    return call("todo", items=[{"content": each, "status": status} for each in contents])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("prompt", "contents"),
    [
        ("say hi", []),
        (PROMPT, ["add a flag", "test it", "document it"]),
        ("1) a\n2) b\n3) c\n4) d\n5) e", ["a", "b", "c", "d", "e"]),
        ("Do this:\n- one\n- two\n- three\nand be quick", ["one", "two", "three"]),
        ("1.fix it 2.add one 3.test all 4.go", ["fix it", "add one", "test all", "go"]),
        ("Ａ/Ｂ/Ｃ", ["Ａ", "Ｂ", "Ｃ"]),
        ("①读取 ②解析 ③输出 ④保存", ["读取", "解析", "输出", "保存"]),
        ("一、登录；二、注册；三、支付", ["登录", "注册", "支付"]),
        ("A. parse B. check C. print D. save", ["parse", "check", "print", "save"]),
        ("分别测试登录/注册/支付", ["分别测试登录", "注册", "支付"]),
        ("读文件，改代码，跑测试", ["读文件", "改代码", "跑测试"]),
        (
            "请重构登录模块并且迁移数据库，同时优化查询的速度和缓存，最后更新一下项目里的文档说明",
            ["请重构登录模块并且迁移数据库", "同时优化查询的速度和缓存", "最后更新一下项目里的文档说明"],
        ),
        (
            "Add a --json flag to the list command. Then write a test for v1.2 of it.",
            ["Add a --json flag to the list command", "Then write a test for v1.2 of it"],
        ),
        ("Why is this so slow that it takes\n```\n1. a\n2. b\n3. c\n```", USUAL),
        ("x" * 300, USUAL),
        ("优" * 40, ["理解需求并查看代码", "实现改动", "验证结果"]),
        ("1. a 2. b 3. " + "x" * 300, ["a", "b", "x" * 199 + "…"]),
        (
            "\n".join(["a line of a log that somebody has pasted here"] * 50),
            USUAL,
        ),
    ],
)
def test_c12_the_list_is_what_the_person_told_apart(prompt: str, contents: list[str]) -> None:
    assert first_list(prompt) == contents


@given(
    st.text() | st.text("abc123,./) \n-", max_size=25) | st.text(min_size=1).map(lambda text: f"{text} step migrate")
)
def test_c44_what_is_passed_over_without_a_look_is_simple(prompt: str) -> None:
    if why_complex(prompt):
        assert may_be_complex(prompt)
        assert first_list(prompt)
    else:
        assert first_list(prompt) == []


@pytest.mark.quick
@story
async def test_c12_the_list_is_in_the_log_and_the_model_hears_of_it(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("fine"))) as coder:
        await coder.prompt(PROMPT)
        await coder.ended()
        assert await coder.story() == [f"user: {PROMPT}", "todo: ok", "agent: fine"]
        assert await coder.host.get(ListTodos(coder.session)) == LIST
        (user,) = [each for each in coder.server.requests[0]["messages"] if each["role"] == "user"]
        told = user["content"]
        items = json.dumps([{"content": each.content, "status": "pending"} for each in LIST], separators=(",", ":"))
        assert "<reminder>A todo list was begun from this request" in told
        assert told.endswith(f'{PROMPT}\n\n<workflow>\ntodo {{"items":{items}}}\nThe list is kept.\n</workflow>')


@story
async def test_c12_only_a_session_without_an_open_item_gets_one(tmp_path: Path) -> None:
    answers = script(
        proposes(todo("mine", status="in_progress")), says("1"), says("2"), proposes(DONE), says("3"), says("4")
    )
    async with house(tmp_path, answers) as coder:
        for turns, prompt in enumerate(["go", PROMPT, "end it", PROMPT], 1):
            await coder.prompt(prompt)
            await coder.ended(turns)
        lists = [line for line in await coder.story() if not line.startswith("agent")]
        assert lists == [
            "user: go",
            "todo: ok",
            f"user: {PROMPT}",
            "user: end it",
            "todo: ok",
            f"user: {PROMPT}",
            "todo: ok",
        ]
        assert await coder.host.get(ListTodos(coder.session)) == LIST


@story
async def test_c12_the_list_of_a_turn_that_was_undone_is_none(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("1"), says("2"))) as coder:
        await coder.prompt(PROMPT)
        await coder.ended()
        await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert await coder.host.get(ListTodos(coder.session)) == []
        await coder.prompt("①读 ②写 ③测")
        await coder.ended(2)
        assert [each.content for each in await coder.host.get(ListTodos(coder.session))] == ["读", "写", "测"]


@pytest.mark.parametrize(
    "settings", [{"workflow": {"require_todo_for_complex": False}}, {"tools": {"disabled": ["todo"]}}]
)
def test_c12_it_can_be_switched_off(tmp_path: Path, serve: Serve, settings: dict[str, Any]) -> None:
    project = Project(tmp_path, serve(script(says("fine"))), {})
    project.configure(**settings)
    project.ask(PROMPT)
    assert project.story() == ["model: fine"]


@pytest.mark.parametrize("mode", ["plan", "default", "auto-edit", "yolo"])
def test_c12_todo_list_starts_in_every_mode(tmp_path: Path, serve: Serve, mode: str) -> None:
    project = Project(tmp_path, serve(script(says("fine"))), {})
    project.ask(PROMPT, mode=mode)
    assert project.story() == ["workflow: todo → finished", "model: fine"]


def test_c25_todos_are_shown_in_the_conversation_and_only_shown_by_the_command(tmp_path: Path, serve: Serve) -> None:
    project = Project(tmp_path, serve(script(says("fine"))), {})
    ran = project.coder.run(text=f"/todos\n{PROMPT}\n")
    assert "no todo list yet\n" in ran.out
    assert "(todo list with 3 items; /todos shows it)\n" in ran.out
    ran = project.coder.run("--continue", text="/todos\n/todos clear\n/todos\n")
    assert ran.out.count("[ ] add a flag\n[ ] test it\n[ ] document it\n") == 2
    assert (
        "/todos takes no arguments\n/todos: show the todo list of this session; only the agent changes it\n"
        in ran.out
    )
