"""The messages of the workflow to people and to the model, in English and Chinese."""

from collections.abc import Collection
from typing import Literal

from coderelay.agents.native.native_settings import Language
from coderelay.agents.native.workflow.verification_failure_cause import Trouble
from coderelay.protocol.calls import Call
from coderelay.protocol.events import MessageAdded, Verification
from coderelay.protocol.ids import MessageId, TurnId, new_id
from coderelay.protocol.message_content import Note, Text

Reason = Literal["no command", "refused", "not allowed"]
NOT_RUN: dict[Language, str] = {"en": "tests not run", "zh": "未执行自动验证"}
REPAIR: dict[Language, str] = {"en": "Please fix this and run it again", "zh": "请修复并再次验证"}
FIRST_LIST: dict[Language, str] = {
    "en": "<reminder>A todo list was begun from this request: you find it below. Work through it and keep it up to "
    "date with the todo tool; give a better list in its place as soon as you know more.</reminder>",
    "zh": "<reminder>已根据此请求自动初始化 todo 列表，见下文。请按列表推进，用 todo 工具保持更新；"
    "了解更多后可用更合适的列表替换它。</reminder>",
}
USUAL_STEPS: dict[Language, list[str]] = {
    "en": ["Understand the request and the code", "Make the changes", "Verify the result"],
    "zh": ["理解需求并查看代码", "实现改动", "验证结果"],
}
_REASONS: dict[Reason, dict[Language, str]] = {
    "no command": {
        "en": "no test command found for this project; name one in `workflow.verify_commands`",
        "zh": "没有适合本项目的白名单命令，可在 `workflow.verify_commands` 中指定",
    },
    "refused": {"en": "as you asked", "zh": "按你的要求"},
    "not allowed": {"en": "the command was not allowed", "zh": "命令未获许可"},
}
_TROUBLES: dict[Trouble, dict[Language, str]] = {
    "tool missing": {"en": "a program it needs is missing", "zh": "缺少所需的程序"},
    "module missing": {"en": "a module it needs is not installed", "zh": "缺少所需的依赖模块"},
    "no network": {"en": "it needs the network", "zh": "需要网络"},
    "no tests": {"en": "there are no tests", "zh": "没有可运行的测试"},
    "not permitted": {"en": "it was not permitted", "zh": "权限不足"},
    "wrong use": {"en": "the command does not fit this project", "zh": "该命令不适用于本项目"},
    "no room": {"en": "no disk space or memory is left", "zh": "磁盘或内存不足"},
    "too slow": {"en": "it did not end in time", "zh": "执行超时"},
    "killed": {"en": "it was killed", "zh": "进程被终止"},
    "not run": {"en": "it did not run", "zh": "命令没有执行"},
    "cut off": {"en": "it was interrupted and may have run", "zh": "执行被中断，可能已经运行"},
}
_NAMED = 5
_COLON: dict[Language, str] = {"en": ": ", "zh": "："}


def not_run(reason: Reason, language: Language) -> str:
    return f"{NOT_RUN[language]}{_COLON[language]}{_REASONS[reason][language]}"


def best_effort(command: str, trouble: Trouble, language: Language) -> str:
    why = _TROUBLES[trouble][language]
    if language == "zh":
        return f"best-effort 警告：`{command}` 未能验证改动（{why}），自动验证结束"
    return f"warning: could not check the changes with `{command}`: {why}"


def still_failing(command: str, runs: int, language: Language) -> str:
    if language == "zh":
        return f"`{command}` 运行 {runs} 次后仍未通过，自动验证结束"
    times = "1 run" if runs == 1 else f"{runs} runs"
    return f"`{command}` still fails after {times}; not trying again"


def passed(command: str, language: Language) -> str:
    return f"自动验证通过：`{command}`" if language == "zh" else f"`{command}` passed"


def repair_prompt(
    command: str, language: Language, broken: Collection[str] = (), before: Collection[str] = ()
) -> str:
    """The request to the model to repair the work. The model has the output of the check in its history. `broken` are
    the tests that failed only after the edits; they are named if others failed `before` them."""
    if language == "zh":
        which = f"本次改动导致失败：{_names(broken)}；改动前已失败：{_names(before)}。" if before else ""
        return f"`{command}` 未通过。{which}{REPAIR['zh']}。"
    which = f"Broken by these edits: {_names(broken)}. Failed before them: {_names(before)}. " if before else ""
    return f"`{command}` failed. {which}{REPAIR['en']}."


def failing_as_before(command: str, before: Collection[str], language: Language) -> str:
    if language == "zh":
        return f"`{command}` 未通过，但失败的测试在本次改动前已失败：{_names(before)}；自动验证结束"
    tests = "this test" if len(before) == 1 else "these tests"
    return f"`{command}` fails, but {tests} already failed before the edits: {_names(before)}"


def _names(tests: Collection[str]) -> str:
    named = sorted(tests)
    return ", ".join(named[:_NAMED]) + (", …" if len(named) > _NAMED else "")


def workflow_message(
    turn_id: TurnId,
    text: str = "",
    *,
    calls: tuple[Call, ...] = (),
    notes: tuple[Note, ...] = (),
    verification: Verification | None = None,
) -> MessageAdded:
    """A message of the workflow. People and the model get the text, only the model gets the notes."""
    return MessageAdded(
        message_id=MessageId(new_id()),
        turn_id=turn_id,
        model="workflow",
        blocks=(Text(text),) if text else (),
        calls=calls,
        notes=notes,
        author="workflow",
        verification=verification,
    )
