"""Hints for people who type options and commands of Claude Code or Codex that `coder` calls otherwise."""

from coderelay.client.i18n import localize, t
from coderelay.protocol.bilingual_text import Localized

_MODE = Localized(
    "Use --mode: plan only reads, default asks, auto-edit edits without asking, yolo asks nothing.",
    "请用 --mode：plan 只读，default 会询问，auto-edit 编辑时不询问，yolo 什么都不问。",
)
_SANDBOX = Localized(
    "Leave it out: commands run in a sandbox. --mode plan only reads; --mode yolo uses no sandbox.",
    "不需要：命令本来就在沙箱中运行。--mode plan 只读；--mode yolo 不用沙箱。",
)
_CONFIG = Localized(
    "Settings are in ~/.coder/config.json; /config in a session shows and changes them.",
    "设置在 ~/.coder/config.json 中；在会话里用 /config 查看和修改。",
)
_TOOLS = Localized(
    "--allowed-tools A,B allows only these tools; rules are in the settings permissions.allow and permissions.deny.",
    "--allowed-tools A,B 只允许这些工具；规则在设置 permissions.allow 和 permissions.deny 中。",
)
_MCP = Localized(
    "Add servers with `coder mcp add NAME -- COMMAND`; .mcp.json is read too.",
    "用 `coder mcp add NAME -- COMMAND` 添加服务器；也会读取 .mcp.json。",
)
_REDIRECT = Localized("Redirect the output: coder -p PROMPT > FILE", "请重定向输出：coder -p PROMPT > FILE")
_IMAGE = Localized("Name the image in the prompt: @FILE", "请在提示中写出图片：@FILE")
_VERBOSE = Localized("Use --verbose.", "请用 --verbose。")
_LOCAL = Localized(
    "Use --model ollama:NAME, or `coder model install` for a small offline model.",
    "请用 --model ollama:NAME，或用 `coder model install` 安装小型离线模型。",
)
_PRINT = Localized('Use: coder -p "PROMPT"', '请用：coder -p "PROMPT"')
_EXEC = Localized(
    'Use: coder -p "PROMPT". For --json: --output stream-json; for resume --last: --continue.',
    '请用：coder -p "PROMPT"。--json 对应 --output stream-json；resume --last 对应 --continue。',
)
_SERVER = Localized(
    "Use: coder acp, for editors; or coder web, whose WebSocket other programs can use.",
    "编辑器请用：coder acp；其他程序可用 coder web 的 WebSocket。",
)
_LOGIN = Localized(
    "There is no login. Set ANTHROPIC_API_KEY or OPENAI_API_KEY; `coder doctor` shows what was found.",
    "不需要登录。请设置 ANTHROPIC_API_KEY 或 OPENAI_API_KEY；`coder doctor` 显示找到了什么。",
)
_UPDATE = Localized(
    "Install the new version as you installed this one, for example: uv tool install --reinstall .",
    "请像安装本版本一样安装新版本，例如：uv tool install --reinstall .",
)
_CONTINUE = Localized("Use: coder --continue, or coder resume", "请用：coder --continue 或 coder resume")

_OPTIONS = {
    **dict.fromkeys(("--sandbox", "-s"), _SANDBOX),
    **dict.fromkeys(("--ask-for-approval", "-a", "--approval-mode"), _MODE),
    **dict.fromkeys(("--profile", "--config", "--settings", "--enable", "--disable"), _CONFIG),
    **dict.fromkeys(("--allowedTools", "--disallowedTools", "--disallowed-tools", "--tools"), _TOOLS),
    **dict.fromkeys(("-o", "--output-last-message"), _REDIRECT),
    **dict.fromkeys(("-i", "--image"), _IMAGE),
    **dict.fromkeys(("-d", "--debug"), _VERBOSE),
    **dict.fromkeys(("--oss", "--local-provider"), _LOCAL),
    "--mcp-config": _MCP,
    "--last": _CONTINUE,
    "--json": Localized(
        "Use --output stream-json, or --output json for the result alone.",
        "请用 --output stream-json；只要结果则用 --output json。",
    ),
    "--color": Localized(
        "Leave it out: -p prints no colours, and NO_COLOR=1 turns them off in the terminal.",
        "不需要：-p 不输出颜色；在终端中可用 NO_COLOR=1 关闭颜色。",
    ),
    "--no-alt-screen": Localized(
        "Leave it out: coder writes into your terminal's own scrollback.",
        "不需要：coder 直接写入终端自身的回滚区。",
    ),
    "--search": Localized(
        "There is no web search; the agent can fetch the pages that you name.",
        "没有网页搜索；agent 可以读取你给出的网页。",
    ),
    "--output-schema": Localized("Describe the form of the answer in the prompt.", "请在提示中说明答案的格式。"),
    "--ephemeral": Localized(
        "Sessions are always kept; `coder sessions delete ID` deletes one.",
        "会话总会保留；用 `coder sessions delete ID` 删除。",
    ),
    "--skip-git-repo-check": Localized(
        "Leave it out: coder works outside of git too.", "不需要：coder 在 git 之外也能工作。"
    ),
    "--system-prompt": Localized(
        "Use --append-system-prompt, or write AGENTS.md.", "请用 --append-system-prompt，或编写 AGENTS.md。"
    ),
    "--fork-session": Localized("Use /fork in the session.", "请在会话里用 /fork。"),
    "--session-id": Localized(
        "Each session gets an id of its own; --resume ID continues one.",
        "每个会话有自己的编号；--resume ID 继续会话。",
    ),
    "--agents": Localized(
        "Subagents are files in ~/.coder/agents or .claude/agents.",
        "子 agent 是 ~/.coder/agents 或 .claude/agents 中的文件。",
    ),
    "--max-budget-usd": Localized(
        "Set budget.session in ~/.coder/config.json.", "请在 ~/.coder/config.json 中设置 budget.session。"
    ),
}
_COMMANDS = {
    **dict.fromkeys(("exec", "e"), _EXEC),
    "run": _PRINT,
    **dict.fromkeys(("mcp-server", "app-server"), _SERVER),
    "apply": Localized(
        "Leave it out: the agent edits the files in your folder itself; /diff in a session shows what has changed.",
        "不需要：agent 直接编辑你目录中的文件；在会话里用 /diff 查看改动。",
    ),
    "cloud": Localized(
        "Sessions run on this machine; coder web shows them in a browser.",
        "会话在本机运行；coder web 在浏览器中显示它们。",
    ),
    "sandbox": Localized(
        "The agent's commands run in a sandbox; `coder permissions check COMMAND` says what would happen to one.",
        "agent 的命令本来就在沙箱中运行；`coder permissions check COMMAND` 说明某条命令会怎样。",
    ),
    **dict.fromkeys(("login", "logout", "auth", "setup-token"), _LOGIN),
    **dict.fromkeys(("update", "upgrade"), _UPDATE),
    **dict.fromkeys(("config", "features"), _CONFIG),
    "continue": _CONTINUE,
    "completion": Localized("Use: coder completions bash|zsh|fish", "请用：coder completions bash|zsh|fish"),
    "review": Localized("Use /review in a session.", "请在会话里用 /review。"),
    "init": Localized("Use /init in a session.", "请在会话里用 /init。"),
    "fork": Localized("Use /fork in a session.", "请在会话里用 /fork。"),
    "agents": Localized("Use /agents in a session.", "请在会话里用 /agents。"),
    "plugin": Localized(
        "Skills, commands and subagents are files in ~/.coder or .claude; /skills in a session lists skills.",
        "技能、命令和子 agent 是 ~/.coder 或 .claude 中的文件；在会话里用 /skills 列出技能。",
    ),
    "version": Localized("Use: coder --version", "请用：coder --version"),
}

_SKIPS_PERMISSIONS = ("--yolo", "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox")
"""Never proposed for a misspelt option: nobody should copy one of these by accident."""


def unknown_arguments(words: list[str], first: str, known: list[str]) -> str:
    """Why these words cannot be used, and what to use instead. `first` is the word that was taken as the folder or
    the prompt, and `known` are the options that there are."""
    if told := command_of_others(first):
        return told
    options = [each for each in words if each.startswith("-") and len(each) > 1]
    if not options:
        told = t("unexpected argument: {words}", words=" ".join(words))
        whole = " ".join([first, *words])
        quoted = t('Put a prompt in quotes: coder "{prompt}"', prompt=whole)
        return f"{told}\n{quoted}" if first else told
    told = t("unknown option {option}", option=options[0])
    hint = _option_hint(options[0].partition("=")[0], known)
    return f"{told}\n{hint}" if hint else told


def command_of_others(word: str) -> str:
    """What to use instead of a subcommand of another tool; empty if it is none."""
    if word not in _COMMANDS:
        return ""
    return f"{t('coder has no command {name}', name=repr(word))}\n{localize(_COMMANDS[word])}"


def codex_setting(word: str) -> str:
    """What to do instead of `-c key=value`."""
    told = t("-c continues the newest session and takes no setting such as {setting}", setting=repr(word))
    key = word.partition("=")[0]
    return f"{told}\n{t('Use --model NAME.') if key == 'model' else localize(_CONFIG)}"


def _option_hint(name: str, known: list[str]) -> str:
    if name in _OPTIONS:
        return localize(_OPTIONS[name])
    from difflib import get_close_matches

    safe = [each for each in known if each not in _SKIPS_PERMISSIONS]
    near = get_close_matches(name, safe, 2, 0.75) if name.startswith("--") else []
    return t("Did you mean {option}?", option=t(" or ").join(near)) if near else ""
