"""Detects whether the person's prompt asks to verify the work, asks not to, or says nothing about it.

Only clear requests count, because `验证` and `verify` are also what programs do with passwords and addresses.
"""

import re
from collections.abc import Sequence
from typing import Literal

from coderelay.agents.native.workflow.verification_command_choice import COMMANDS

VerifyIntent = Literal["verify", "leave out"]

_PASTED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TESTS = "\x1a"  # a placeholder for any command that runs tests
_RUNNERS = re.compile(
    r"""[`'"]?(?:"""
    + "|".join(map(re.escape, COMMANDS))
    + r"|\b(?:pytest|(?:npm|pnpm|yarn|bun|go|cargo|mvn|gradle|make)(?: run)? test)\b)"
    + r"""[`'"]?"""
)

# "Do not forget to verify" and "do not skip it" are requests to verify.
_REMINDERS = (
    (re.compile(r"(?:不要|不可|不能|别|勿)(?:忘记?了?|跳过|省略|略过)"), " 执行"),
    (re.compile(r"\b(?:do not|don['’]?t|never) (?:forget to(?: run)?|skip)\b"), " run"),
)

_LOOKED_AT = 4000  # characters at each end; a longer prompt contains pasted text
# Repetitions are bounded, or a text that is full of such words would take for ever to match.
_END = r"(?=\s*(?:\Z|[，。；！？、!?,.;\n)）]))"
_NO_ZH = (
    r"(?:不要|不用|不必|无需|无须|不需要?|没必要|(?<![分区特个类级辨识鉴性])别|勿|先不|暂不|禁止|跳过|省略|略过)"
    r"(?:你|再|去|先|自动|帮我|给我|进行|任何|所有|单元|集成|回归|急着|[ \t]){0,8}"
)
_RUN_ZH = r"(?:执行|运行|重跑|跑|做|用|使用)"
_ALL_ZH = (
    r"(?:了|通|过|一下|一遍|一次|下|任何|所有|全部|完整|全量|单元|集成|回归|相关|自动化?|现有|已有"
    r"|的|项目|[ \t]){0,8}"
)
_NO = r"\b(?:do not|don['’]?t|never|no need to|needn['’]?t|without|avoid|instead of)(?: \w+){0,2}?"
_ALL = (
    r"(?: (?:the|any|all|of|your|my|our|its|these|those|every|unit|integration|full|whole|existing|relevant|automatic"
    r"|project['’]?s|test)){0,8}"
)
_LEAVE_OUT = re.compile(
    rf"{_NO_ZH}{_RUN_ZH}{_ALL_ZH}(?:验证|测试|用例|{_TESTS})"
    rf"|{_NO_ZH}(?:验证|测试)(?=一下|了|步骤|[ \t]|{_END})"
    rf"|{_NO} (?:re-?)?(?:run|running|execute|executing|do|doing|start|starting){_ALL} "
    rf"?(?:tests?|testing|suite|checks?|verification|{_TESTS})"
    rf"|{_NO} (?:verify|verifying|verification|test|testing)"
    rf"(?: (?:it|this|that|anything|(?:your|the) changes?))?{_END}"
    rf"|\b(?:skip|skipping|omit){_ALL}(?: running)?{_ALL} ?(?:tests?|testing|verification|verifying|checks?|{_TESTS})"
    rf"|\bno(?: automatic)? (?:verification|testing){_END}"
)
# A statement that something does not run is no request.
_DENIAL = re.compile(
    rf"[不没未](?:会|能|再|有|自动){{0,8}}{_RUN_ZH}"
    r"|\b(?:does not|doesn['’]?t|did not|didn['’]?t|cannot|can['’]?t|won['’]?t|not) (?:\w+ )?(?:run|execute|verify)\b"
)
_THEN_ZH = (
    r"(?:请|并|然后|最后|再|之后|以后|后|完|记得|麻烦|帮我|务必|重新)[ \t]*(?:你|自己|也|自动|进行|做|执行){0,8}"
)
_VERIFY = re.compile(
    rf"{_RUN_ZH}{_ALL_ZH}(?:验证|测试|用例|{_TESTS})(?!的(?:脚本|命令|按钮|代码|功能|逻辑|工具)|{_TESTS}|框架|数据|账号|环境)"
    rf"|{_THEN_ZH}{_ALL_ZH}(?:验证|测试)(?:一下|一遍|一次|改动|修改|更改|是否|能否|它|{_END})"
    rf"|(?:验证|测试)(?:一下|一遍)(?:改动|修改|结果|是否|{_END})"
    r"|(?:确保|保证|确认|让)(?:所有|全部|现有|已有|单元|的|这些){0,8}测试(?:用例|都|能|可以|全部|仍然|依然|均){0,8}通过"
    rf"|\b(?:re-?)?(?:run|execute){_ALL} ?(?:tests?|suite|checks|verification|{_TESTS})"
    r"(?! (?:script|command|button|file|runner)|\w)"
    rf"|\b(?:with|using|via) {_TESTS}"
    rf"|\b(?:make sure|ensure|check|confirm|verify)(?: that)?{_ALL} tests?(?: still| all)? pass"
    rf"|\bverify{_ALL} (?:changes?|fix|fixes|edits?|results?|work|everything|afterwards|again)\b"
    rf"|\bverify (?:it|this|that|that it)(?:{_END}| works?\b| builds?\b| passes\b| compiles\b| again\b| afterwards\b)"
    rf"|(?:\band|\bthen|\bplease|\brun|,) verify{_END}"
    r"|\btest (?:it|your changes?|the changes?|the fix)\b"
)


def verify_intent(prompts: Sequence[str]) -> VerifyIntent | None:
    """The request in the last prompt that contains one."""
    return next((wish for prompt in reversed(prompts) if (wish := _intent_in(prompt))), None)


def _intent_in(prompt: str) -> VerifyIntent | None:
    own = _PASTED.sub("\n", prompt).lower()
    if len(own) > 2 * _LOOKED_AT:
        own = f"{own[:_LOOKED_AT]}\n{own[-_LOOKED_AT:]}"
    text = re.sub(r"[ \t]+", " ", own)
    text = _RUNNERS.sub(_TESTS, text)
    for reminder, request in _REMINDERS:
        text = reminder.sub(request, text)
    rest = _LEAVE_OUT.sub("\n", text)
    if _VERIFY.search(_DENIAL.sub("\n", rest)):
        return "verify"
    return "leave out" if rest != text else None
