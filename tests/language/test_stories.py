"""People are spoken to in their language; programs and models are not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.modes import MODE_NAMES
from coderelay.protocol.translation_files import LANGUAGES
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, call, proposes, says, script, write
from tests.terminal.pty import at_terminal
from tests.terminal.repl import make_repository

CoderOn = Callable[[ModelServerThread], Coder]
ZH = {"CODER_LANG": "zh"}


@pytest.fixture
def coder(tmp_path: Path, folder: Path) -> Coder:
    return Coder(tmp_path / "home", folder, None)


@pytest.mark.parametrize(
    ("env", "first"),
    [
        (ZH, "用法：coder "),
        ({"LANG": "zh_CN.UTF-8"}, "用法：coder "),
        ({"LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "用法：coder "),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "usage: coder "),
        ({"CODER_LANG": "en", "LANG": "zh_CN.UTF-8"}, "usage: coder "),
        ({}, "usage: coder "),
    ],
)
def test_the_environment_says_in_which_language_help_is(coder: Coder, env: dict[str, str], first: str) -> None:
    for arguments in (["--help"], ["sessions", "--help"], ["model", "install", "--help"]):
        ran = coder.run(*arguments, env=env)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(first)


def test_chinese_help_is_chinese_throughout(coder: Coder) -> None:
    told = coder.run("--help", env=ZH).out
    assert "继续此会话；不带 ID 则从列表中选择\n" in told
    assert "  coder resume [ID] [PROMPT]   重新打开会话（不带 ID 则为当前目录中最新的），并继续其中的工作\n" in told
    left = [line for line in told.splitlines() if not any(each > "\u2e7f" for each in line)]
    assert [line for line in left if "  " in line.strip() and not line.lstrip().startswith(("[", "-"))] == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--mode", "x"],
            "coder：错误：参数 --mode/--permission-mode：无效的选择：'x'"
            f"（可选：{', '.join(map(repr, MODE_NAMES))}）\n",
        ),
        (["--fly"], "coder：错误：未知选项 --fly\n"),
        (["asks", "--fly"], "coder asks：错误：无法识别的参数：--fly\n"),
        (["--max-steps", "0"], "coder：错误：参数 --max-steps/--max-turns：必须不小于 1\n"),
        (["--cwd", "gone"], "coder：错误：目录 {folder}/gone 不存在\n"),
        (["answer", "7"], "coder answer：错误：缺少必需的参数：allow|deny|stop|TEXT\n"),
    ],
)
def test_wrong_usage_is_told_in_chinese(coder: Coder, arguments: list[str], told: str) -> None:
    ran = coder.run(*arguments, env=ZH)
    assert ran.code == 2
    told = told.format(folder=coder.cwd)
    if told.startswith("coder："):  # its usage is long, so that the help is named instead
        assert ran.err == f"{told}`coder --help` 列出所有选项。\n"
    else:
        assert ran.err.startswith("用法：coder ")
        assert ran.err.splitlines(keepends=True)[-1] == told


def test_a_language_that_is_not_spoken_is_refused(coder: Coder) -> None:
    ran = coder.run("sessions", env={"CODER_LANG": "xx"})
    assert (ran.code, ran.out, ran.err) == (
        1,
        "",
        f"coder: CODER_LANG must be one of {', '.join(LANGUAGES)}, not 'xx'\n",
    )
    assert coder.run("--help", env={"CODER_LANG": "xx"}).code == 0
    assert coder.run("-p", "hi", env={"CODER_LANG": "xx"}).code == 1


def test_a_refusal_is_told_in_the_language_of_the_settings(coder: Coder) -> None:
    coder.home.mkdir()
    (coder.home / "config.json").write_text('{"lang": "zh"}')
    told = "coder: 没有会话 'none'\n`coder sessions` 列出所有会话。\n"
    assert coder.run("sessions", "show", "none").err == told
    assert coder.run("sessions", "show", "none", env={"CODER_LANG": "en"}).err == (
        "coder: no session 'none'\n`coder sessions` lists all sessions.\n"
    )


def test_why_a_command_is_asked_about_is_told_in_chinese(coder: Coder) -> None:
    said = [
        coder.run("permissions", "check", command, env=ZH).out
        for command in ("rm -rf build", "rm -rf build; curl localhost", "cat /etc/shadow", "ls")
    ]
    assert [line.partition(":")[0] for line in said] == ["ask", "ask", "ask", "allow"]
    assert said[0] == "ask: 它会删除文件\n"
    assert said[3] == "allow: 它只读取\n"
    assert not any(word in line for line in said for word in ("it ", " is ", "where"))


def test_c35_an_ask_is_put_in_chinese_and_answered_in_chinese(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    calls = proposes(bash("touch a"), bash("touch b"), write("c", "x"))
    coder = coder_on(serve(script(calls, says("好了"))))
    with at_terminal(coder, env={"TERM": "dumb", **ZH}) as terminal:
        terminal.wait_until(lambda seen: "沙箱：" in seen.all_text and "\n会话 " in seen.all_text, "the greeting")
        terminal.enter("开始")
        for title, answer in (
            ("运行此命令？\n  $ touch a", "允许"),
            ("运行此命令？\n  $ touch b", "拒绝"),
            ("创建 c？", "是"),
        ):
            terminal.wait_until(
                lambda seen, title=title: title in seen.all_text and seen.cursor_row.startswith("允许吗？"), title
            )
            terminal.enter(answer)
        seen = terminal.wait_until(lambda seen: "好了" in seen.all_text, "the answer")
    assert "未获允许：用户没有允许" in seen.all_text
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["a", "c"]


def test_c14_c35_the_repl_speaks_chinese(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("touch a"), write("b", "x")), says("好了"))))
    with at_terminal(coder, env=ZH, rows=40) as terminal:
        terminal.wait_until(lambda seen: "沙箱：" in seen.text, "the first prompt and the session behind it")
        terminal.enter("/fly")
        terminal.wait_until(lambda seen: "未知命令 /fly；/help 列出所有命令" in seen.text, "a refusal")
        terminal.enter("/permissions")
        terminal.wait_until(lambda seen: "  改动文件                        审批\n" in seen.text, "the table")
        terminal.enter("开始")
        terminal.wait_until(lambda seen: "运行此命令？" in seen.text and "❯ y  允许" in seen.text, "an ask")
        terminal.enter("允许")
        terminal.wait_until(lambda seen: "✓ 已允许" in seen.text and "创建 b？" in seen.text, "another")
        terminal.enter("拒绝")
        seen = terminal.wait_until(lambda seen: "好了" in seen.all_text and " 2 步 " in seen.all_text, "the end")
    assert "⊘ 未获允许：用户没有允许" in seen.all_text
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["a"]


def test_c24_c29_c36_nothing_of_tools_changes_and_calls_is_left_in_english(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    make_repository(folder, {"a.txt": "one\n"})
    (folder / "a.txt").write_text("two\n")
    (folder / "文.txt").write_text("new\n")
    items = [{"content": "看", "status": "completed"}, {"content": "写", "status": "in_progress"}]
    calls = proposes(call("todo", items=items), call("edit", path="a.txt", old="zzz", new="y"), write("a.txt", "x"))
    coder = coder_on(serve(script(calls, says("好了"))))
    with at_terminal(coder, env=ZH, rows=60) as terminal:
        terminal.wait_until(lambda seen: "沙箱：" in seen.text, "the first prompt and the session behind it")
        for line, told in (
            ("/diff", "已修改       +1 -1  a.txt\n已新增       +1 -0  文.txt\n/diff full 显示改动内容\n"),
            ("/diff full", "\n文.txt（新增）  +1 −0\n"),
            ("/tools", "\nread         读取  读取文本文件、notebook 或图片。\n"),
            ("/help resume", "\n/resume [ID|TITLE|N]: "),
            ("开始", "✓ "),
        ):
            terminal.enter(line)
            terminal.wait_until(lambda seen, told=told: told in seen.all_text, told)
        seen = terminal.wait_until(lambda seen: "好了" in seen.all_text, "the answer")
    assert "● todo  已完成 1 / 2，正在进行：写  ✓\n" in seen.all_text
    assert "● edit  a.txt  ✗\n│ a.txt 中没有 old；" in seen.all_text
    assert "● write  a.txt  ✗\n│ a.txt 已存在但尚未读过；" in seen.all_text


def test_c41_what_nobody_could_answer_is_told_in_chinese(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("touch a")), says("未完成"))))
    parked = coder.run("-p", "开始", "--unattended", "park", env=ZH)
    first, _, answer, last = parked.err.splitlines()
    assert (parked.code, first, last[:3]) == (5, "coder: 已挂起：有尚未处理的提问或审批", "会话 ")
    assert answer.startswith("应答请运行：coder answer ")
    (ask,) = [json.loads(line)["ask"]["id"] for line in coder.run("asks", "--json", env=ZH).out.splitlines()]
    answered = coder.run("answer", ask, "拒绝", env=ZH)
    assert (answered.code, answered.out) == (0, "已应答：bash: touch a\n未完成\n")


def test_what_programs_and_models_read_is_the_same_in_every_language(
    serve: Serve, tmp_path: Path, folder: Path
) -> None:
    ran: list[Any] = []
    for language in ("en", "zh"):
        server = serve(script(proposes(bash("touch a"), write("b", "x")), says("done")))
        coder = Coder(tmp_path / language, folder, server.base_url)
        done = coder.run("-p", "go", "--output", "stream-json", env={"CODER_LANG": language})
        messages = [json.loads(line) for line in done.out.splitlines()]
        results = [m["message"]["content"][0]["content"] for m in messages if m["type"] == "user"]
        asked = [each["content"] for each in server.requests[-1]["messages"] if each["role"] == "tool"]
        ran.append((done.code, [m["type"] for m in messages], results, asked, server.requests[0]["messages"]))
    assert ran[0] == ran[1]


def test_json_is_the_same_in_every_language(coder: Coder) -> None:
    for arguments in (["doctor", "--json"], ["sessions", "list", "--json"], ["asks", "--json"]):
        assert coder.run(*arguments, env=ZH).out == coder.run(*arguments).out
    checked = coder.run("permissions", "check", "--stdin", text='{"command": "rm -rf build"}\n', env=ZH).out
    assert json.loads(checked) == {"verdict": "ask", "reason": "it removes files"}


def test_the_doctor_speaks_chinese(coder: Coder) -> None:
    lines = coder.run("doctor", env=ZH).out.splitlines()
    assert [line for line in lines if line.startswith("– 模型 ")] == ["– 模型      无（没有找到）"]
    assert "✓ 配置      没有配置文件（可选）" in lines
