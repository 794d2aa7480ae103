"""What the guide does about a prompt: a table of patterns (`INTENTS`), and the next step of the script that it names.

Loaded with the first turn of the guide: most processes have a model and never need it.
"""

import re
from collections.abc import Callable
from functools import partial

from coderelay.agents.guide import tool_call_scripts
from coderelay.agents.guide.replies import GuideReplies
from coderelay.agents.guide.tool_call_scripts import (
    ToolCallScript,
    create_file,
    find_files,
    list_files,
    read_file,
    search_text,
)

_PATH = r"(?P<path>[^\s，。：]+)"
_FILE = r"(?P<path>[\w`'\"~./-]*[./][\w`'\"~./-]*)"  # a dot or a slash distinguishes a file from other words
_IN = rf"(?: (?:in|under|of)(?: the)?(?: folder)? {_PATH})?"
_NEW = r"(?:create|make|add|write)(?: an?| the)?(?: new| empty)* file(?: called| named)?"
_NEW_ZH = r"(?:创建|新建|写)(?:一个)?[新空]?的?文件\s*(?P<path>[^\s，,：:]+?)"
_SHOW = r"(?:show(?: me)? )?(?:the |my )?"
_SHOW_ZH = r"(?:列出|显示|查看|看看|看一下)(?:一下)?"
Begin = Callable[..., ToolCallScript]
_STATUS: Begin = partial(tool_call_scripts.run, command="git status --short --branch")
_DIFF: Begin = partial(tool_call_scripts.run, command="git diff HEAD --stat --patch")
_CONNECT: Begin = partial(tool_call_scripts.tell, topic="connect")
_COMMANDS: Begin = partial(tool_call_scripts.tell, topic="commands")
_HELP: Begin = partial(tool_call_scripts.tell, topic="help")
INTENTS: tuple[tuple[Begin, str], ...] = (
    (create_file, rf"{_NEW} {_PATH}(?:,? (?:with|containing)(?: the)?(?: contents?| text)?:?|:)\s+(?P<content>.+)"),
    (create_file, rf"(?:write|put|save) (?P<content>.+) (?:in)?to (?:an? |the )?(?:new )?(?:file )?{_FILE}"),
    (create_file, rf"{_NEW} {_PATH}"),
    (create_file, rf"{_NEW_ZH}\s*[，,：:]?\s*(?:内容(?:为|是)?|写入)[：:]?\s*(?P<content>.+)"),
    (create_file, rf"[把将]\s*(?P<content>.+?)\s*写[入到进](?:文件)?\s*{_FILE}[中里]?"),
    (create_file, _NEW_ZH),
    (
        tool_call_scripts.outline_readme,
        r"(?:outline|summari[sz]e|show(?: me)?)(?: the outline of)?(?: the)? readme(?:\.md)?",
    ),
    (
        tool_call_scripts.outline_readme,
        r"(?:概括|概述|总结|列出|显示|查看)(?:一下)?\s*readme(?:\.md)?\s*(?:的?(?:大纲|结构|目录))?",
    ),
    (tool_call_scripts.run_tests, r"(?:run|execute)(?: all)?(?: of)?(?: the| my| our)?(?: unit)? tests?(?: suite)?"),
    (tool_call_scripts.run_tests, r"(?:运行|跑|执行)(?:一下|一遍)?(?:所有|全部)?的?(?:单元)?测试"),
    (_DIFF, rf"{_SHOW}(?:git )?(?:diff|changes)|what (?:has |was |did i )?changed?"),
    (_DIFF, rf"(?:{_SHOW_ZH})?\s*(?:git\s*)?(?:diff|差异|改动|修改)|改了些?什么"),
    (_STATUS, rf"{_SHOW}(?:git )?status|(?:{_SHOW_ZH})?\s*(?:git|仓库)\s*的?(?:状态|status)"),
    (search_text, rf"(?:grep|look for|search(?: the (?:code|files))?(?: for)?) (?P<text>.+?){_IN}"),
    (search_text, r"where is (?P<text>\S+) (?:used|mentioned|defined)"),
    (search_text, rf"在\s*{_PATH}\s*[中里下]\s*(?:搜索|检索)\s*(?P<text>.+)"),
    (search_text, r"(?:搜索|检索)(?:一下)?\s*(?P<text>.+)"),
    (find_files, rf"find (?:all )?(?:the )?files? (?:named |called |matching )?(?P<name>\S+){_IN}"),
    (find_files, rf"find (?:all )?(?:the )?(?P<name>\S*[.*?]\S*)(?: files?)?{_IN}"),
    (find_files, r"where is (?:the )?(?:file )?(?P<name>\S+)"),
    (
        find_files,
        r"(?:查找|寻找|找到?)(?:一下)?(?:名为|叫)?(?:文件)?\s*(?P<name>[^\s，。]*[.*?][^\s，。]*?)\s*(?:文件)?",
    ),
    (list_files, rf"(?:list|show)(?: me)?(?: all)?(?: the)? (?:files|folders?|directory|contents?)(?: here|{_IN})"),
    (list_files, rf"(?:ls|dir)(?: {_PATH})?|what(?:'s| is) (?:here|in (?:the|this) (?:folder|directory))"),
    (list_files, rf"list(?: {_FILE})?"),
    (list_files, rf"{_SHOW_ZH}(?:当前|这个)?(?:目录|文件夹)?[下中里]?的?(?:所有|全部)?的?(?:文件|内容|目录)"),
    (list_files, rf"{_SHOW_ZH}\s*{_PATH}\s*(?:目录|文件夹)?[下中里]的?(?:所有|全部)?的?(?:文件|内容)"),
    (read_file, rf"(?:read|cat)(?: the)?(?: file)? {_PATH}"),
    (read_file, rf"(?:open|show|print|display|view)(?: me)?(?: the)?(?: file)? {_FILE}"),
    (read_file, rf"(?:读取?|打开|{_SHOW_ZH})(?:文件)?\s*(?P<path>[a-z0-9_~./-]+)\s*(?:文件)?(?:的内容)?"),
    (_CONNECT, r".*\b(?:set ?up|connect|configure|add|choose|use)\b.*\b(?:models?|providers?|api|keys?)\b.*"),
    (_CONNECT, r".*(?:连接|配置|设置|接入|添加|选择|使用).*(?:模型|密钥|供应商|提供商|key).*"),
    (_COMMANDS, r".*\b(?:start|open|launch|run|use)\b.*\b(?:web|browser|chat|feishu|lark|editor)\b.*"),
    (_COMMANDS, r".*(?:启动|打开|开启|使用).*(?:网页|浏览器|web|聊天|飞书|编辑器).*|.*\bcommands?\b.*|.*命令.*"),
    (_HELP, r"help|\?|hi|hello|hey|what can you do|who are you|帮助|[你您]好|你能做什么|你是谁|怎么用"),
)
_LONGEST = 4000  # characters; a longer prompt is not matched, because that could take long
_POLITE = re.compile(r"^(?:(?:please|can you|could you|请你?|帮我|麻烦你?)[\s,，]*)+", re.IGNORECASE)
_END = re.compile(r"(?:[\s!?！？。]|(?<=\w)\.)+$")


def script_for(text: str, words: GuideReplies) -> ToolCallScript:
    return _find_script(text, words) or _ask_what(words)


def _find_script(text: str, words: GuideReplies) -> ToolCallScript | None:
    if len(text) > _LONGEST:
        return None
    asked = _POLITE.sub("", text.strip())
    for script, pattern in INTENTS:
        said = asked if "<content>" in pattern else _END.sub("", asked) or asked
        if found := re.fullmatch(pattern, said, re.IGNORECASE | re.DOTALL):
            return script(words, **{name: value for name, value in found.groupdict().items() if value})
    return None


def _ask_what(words: GuideReplies) -> ToolCallScript:
    chosen = yield from tool_call_scripts.ask(words.say("unclear"), *words.say("choices").split("|"))
    script = _find_script(chosen, words) if chosen else None
    return words.say("help") if script is None else (yield from script)
