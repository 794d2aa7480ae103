"""The texts of the guide, in English and Chinese. They never claim more understanding than the guide's table has."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from coderelay.models.providers import KNOWN
from coderelay.protocol.calls import Denied, Failed, Finished, Stopped, Unknown
from coderelay.session.state import CallState

Topic = Literal["help", "connect", "commands"]
_CHINESE = re.compile("[\u4e00-\u9fff]")
_SHOWN_LINES, _SHOWN_CHARS = 40, 4000
_COMMANDS = (
    ("coder", "here, in a terminal", "在终端中使用"),
    ("coder web", "in the browser", "在浏览器中使用"),
    ("coder feishu", "in Feishu chats", "在飞书聊天中使用"),
    ("coder acp", "in editors", "在编辑器中使用"),
    ("coder sessions", "list past sessions", "查看以前的会话"),
    ("coder resume ID", "continue a session", "继续一个会话"),
    ("coder asks", "list what is waiting for an answer", "查看等待回答的问题"),
    ("coder model", "models that run on this machine", "在本机运行的模型"),
    ("coder doctor", "check the setup", "检查找到了什么、缺少什么"),
)
_ENGLISH = {
    "end": "No model is connected; the built-in guide answered. Say `help` or `connect a model`.",
    "help": "No model is connected. I am the built-in guide and understand simple requests like these:\n"
    "- list the files in src\n- find *.py\n- search for TODO in src\n- read setup.cfg\n- outline the readme\n"
    "- run the tests\n- git status, git diff\n- create file notes.txt with some text\n- connect a model\n"
    "- which commands are there",
    "unclear": "No model is connected, and the guide does not understand this. What would you like to do?",
    "choices": "List the files|Git status|Run the tests|Outline the README|Connect a model|Help",
    "nothing_done": "Nothing was done.",
    "nothing_came": "No output.",
    "denied": "Not allowed: {why}. Nothing was done.",
    "unknown": "It was interrupted and may have run. Check before repeating it.",
    "which_tests": "Which command runs the tests?",
    "which_content": "What should {path} contain?",
    "exists": "{path} already exists. Replace it?",
    "keep": "Keep it",
    "replace": "Replace it",
    "no_readme": "No README found.",
    "one more": "… 1 more line",
    "more": "… {count} more lines",
    "connect": "No model is connected. Do one of these, then restart `coder`:",
    "key": "- set {key}, for {model}",
    "server": "- start Ollama, LM Studio, llama.cpp or vLLM on this machine, with a model\n"
    "- run `coder model install`, for a small offline model (1.1 GB)\n\n"
    "`--model provider:name` chooses another one; `coder doctor` shows what was found.",
    "programs": "Installed, but not supported by this version yet: {names}.",
    "commands": "Commands:",
    "another_version": "This request was started by another version of coder. Please send it again.",
    "nothing_to_compact": "Nothing to compact without a model.",
}
_TRANSLATED = {
    "end": "尚未连接模型；以上由向导按固定规则完成。可以说“帮助”或“连接模型”。",
    "help": "尚未连接模型。我是向导，只按固定规则工作，只能理解这样的请求：\n"
    "- 列出 src 目录下的文件\n- 查找 *.py\n- 在 src 中搜索 TODO\n- 读取 setup.cfg\n- 概述 README\n- 运行测试\n"
    "- git 状态，git diff\n- 创建文件 notes.txt，内容为一些文字\n- 连接模型\n- 有哪些命令",
    "unclear": "尚未连接模型，向导的规则也不包含这个请求。要做什么？",
    "choices": "列出文件|git 状态|运行测试|概述 README|连接模型|帮助",
    "nothing_done": "什么都没有做。",
    "nothing_came": "没有输出。",
    "denied": "未被允许：{why}。什么都没有做。",
    "unknown": "执行被中断，可能已经运行过。请先检查再重复。",
    "which_tests": "用哪个命令运行测试？",
    "which_content": "{path} 的内容是什么？",
    "exists": "{path} 已经存在。要替换吗？",
    "keep": "保留",
    "replace": "替换",
    "no_readme": "这里没有 README。",
    "one more": "……还有 1 行",
    "more": "……还有 {count} 行",
    "connect": "尚未连接模型。请任选一种方式，然后重新启动 `coder`：",
    "key": "- 设置 {key}，使用 {model}",
    "server": "- 在本机启动 Ollama、LM Studio、llama.cpp 或 vLLM，并装入一个模型\n"
    "- 运行 `coder model install`，安装小型离线模型（1.1 GB）\n\n"
    "用 `--model provider:name` 选择别的模型；`coder doctor` 显示找到了什么。",
    "programs": "已安装，但此版本还不能驱动：{names}。",
    "commands": "此版本的命令：",
    "another_version": "这是由另一版本的 coder 开始的，请重新提出。",
    "nothing_to_compact": "没有连接模型，没有可总结的内容。",
}


class GuideReplies:
    """The replies of the guide in the language of the prompt: Chinese if it contains Chinese characters, otherwise
    English."""

    def __init__(self, prompt: str, other_agents: Callable[[], Sequence[str]]) -> None:
        self._is_chinese = _CHINESE.search(prompt) is not None
        self._other_agents = other_agents

    def say(self, what: str, **values: object) -> str:
        return (_TRANSLATED if self._is_chinese else _ENGLISH)[what].format(**values)

    def tell(self, text: str) -> str:
        return f"{text}\n\n{self.say('end')}"

    def outcome_text(self, call: CallState) -> str:
        match call.outcome:
            case Finished(output=text) | Failed(message=text):
                return self.tell(self._shown(text) if text.strip() else self.say("nothing_came"))
            case Denied(message=why):
                return self.tell(self.say("denied", why=why))
            case Stopped() | Unknown() | None:
                return self.tell(self.say("unknown"))

    def about(self, topic: Topic) -> str:
        match topic:
            case "help":
                return self.say("help")
            case "connect":
                keyed = [(name, provider) for name, provider in KNOWN.items() if provider.keys and provider.example]
                lines = [self.say("key", key=each.keys[-1], model=f"{name}:{each.example}") for name, each in keyed]
                names = ", ".join(self._other_agents())
                return "\n".join(
                    [
                        self.say("connect"),
                        *lines,
                        self.say("server"),
                        *([self.say("programs", names=names)] * bool(names)),
                    ]
                )
            case "commands":
                lines = [
                    f"- `{command}`: {chinese if self._is_chinese else told}" for command, told, chinese in _COMMANDS
                ]
                return "\n".join([self.say("commands"), *lines])

    def _shown(self, text: str) -> str:
        lines = text.splitlines()
        shown = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARS]
        left = len(lines) - len(shown.splitlines())
        more = "one more" if left == 1 else "more"
        fence = "~~~~" if "```" in shown else "```"
        return f"{fence}\n{shown}\n{fence}" + (f"\n{self.say(more, count=left)}" if left else "")
