"""What people and the model are told of a check, in English and Chinese."""

from typing import Literal

from coderelay.agents.native.workflow.failure import Trouble

Language = Literal["en", "zh"]
Reason = Literal["no command", "refused"]

NOT_RUN: dict[Language, str] = {"en": "automatic verification was not run", "zh": "未执行自动验证"}
REPAIR: dict[Language, str] = {"en": "Please repair this and verify again", "zh": "请修复并再次验证"}

_REASONS: dict[Reason, dict[Language, str]] = {
    "no command": {
        "en": "no listed command fits this project; `workflow.verify_commands` can name one",
        "zh": "没有适合本项目的白名单命令，可在 `workflow.verify_commands` 中指定",
    },
    "refused": {"en": "you asked for that", "zh": "按你的要求"},
}
_TROUBLES: dict[Trouble, dict[Language, str]] = {
    "tool missing": {"en": "a program it needs is missing", "zh": "缺少所需的程序"},
    "module missing": {"en": "a module it needs is not installed", "zh": "缺少所需的依赖模块"},
    "no network": {"en": "it needs the network", "zh": "需要网络"},
    "no tests": {"en": "there are no tests", "zh": "没有可运行的测试"},
    "not permitted": {"en": "it was not permitted", "zh": "权限不足"},
    "wrong use": {"en": "the command does not fit this project", "zh": "该命令不适用于本项目"},
    "no room": {"en": "there is no room left", "zh": "磁盘或内存不足"},
    "too slow": {"en": "it did not end in time", "zh": "执行超时"},
    "killed": {"en": "it was killed", "zh": "进程被终止"},
    "not run": {"en": "it did not run", "zh": "命令没有执行"},
}
_COLON: dict[Language, str] = {"en": ": ", "zh": "："}
_OUTPUT_CHARS = 6000  # the end of the output, where test runners sum up


def not_run(reason: Reason, language: Language) -> str:
    return f"{NOT_RUN[language]}{_COLON[language]}{_REASONS[reason][language]}"


def best_effort(command: str, trouble: Trouble, language: Language) -> str:
    why = _TROUBLES[trouble][language]
    if language == "zh":
        return f"best-effort 警告：`{command}` 未能验证改动（{why}），自动验证结束"
    return f"best-effort warning: `{command}` could not verify the changes ({why}); verification ends here"


def still_failing(command: str, runs: int, language: Language) -> str:
    if language == "zh":
        return f"`{command}` 运行 {runs} 次后仍未通过，自动验证结束"
    times = "time" if runs == 1 else "times"
    return f"`{command}` still fails after it ran {runs} {times}; verification ends here"


def repair_prompt(command: str, output: str, language: Language) -> str:
    """For the model. The output is material, so it stands in a tag of its own."""
    failed = f"`{command}` 未通过。" if language == "zh" else f"`{command}` failed. "
    stop = "。" if language == "zh" else "."
    cut = output[-_OUTPUT_CHARS:].strip()
    shown = f"\n<output>\n{'…' if len(output) > _OUTPUT_CHARS else ''}{cut}\n</output>" if cut else ""
    return f"{failed}{REPAIR[language]}{stop}{shown}"
