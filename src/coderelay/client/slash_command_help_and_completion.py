"""All slash commands of a session, also the agent's, custom commands and skills: lookup, help and completion."""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import groupby

from coderelay.client.client import Client
from coderelay.client.commands.slash_command import SlashCommand
from coderelay.client.i18n import localize, retell, t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListCommands
from coderelay.protocol.query_results import CommandShown, CommandsShown
from coderelay.protocol.text_escaping_and_width import padded

_HEADINGS = {
    "agent": "Agent commands",
    "command": "Custom commands",
    "skill": "Skills",
}
_LOGIN = Localized(
    "There is no login: set ANTHROPIC_API_KEY or OPENAI_API_KEY; `coder doctor` shows what was found.",
    "不需要登录：请设置 ANTHROPIC_API_KEY 或 OPENAI_API_KEY；`coder doctor` 显示找到了什么。",
)
_INSTRUCTIONS = Localized(
    "Write what the agent should know into AGENTS.md, or ~/.coder/AGENTS.md for all projects; /init writes one.",
    "请把 agent 应知道的内容写入 AGENTS.md；~/.coder/AGENTS.md 用于所有项目；/init 可生成。",
)
_ELSEWHERE = {  # what other tools call something that has another name here
    **dict.fromkeys(("login", "logout"), _LOGIN),
    **dict.fromkeys(("memory", "memories", "personality"), _INSTRUCTIONS),
    "stop": Localized(
        "Esc stops the turn; /ps stop N stops a background command.",
        "Esc 停止回合；/ps stop N 停止后台命令。",
    ),
    "theme": Localized(
        "The colours are those of your terminal; NO_COLOR=1 turns them off.",
        "颜色取自终端；NO_COLOR=1 关闭颜色。",
    ),
    "side": Localized("Use /fork, and /resume to come back.", "请用 /fork；用 /resume 回到原会话。"),
    "fast": Localized("Use /model or /think.", "请用 /model 或 /think。"),
    "hooks": Localized(
        "Hooks are in the setting hooks of ~/.coder/config.json; /config shows the settings.",
        "hook 在 ~/.coder/config.json 的 hooks 设置中；/config 显示设置。",
    ),
    "doctor": Localized(
        "Use `coder doctor` in a shell, or !coder doctor.", "请在 shell 中用 `coder doctor`，或 !coder doctor。"
    ),
    "approvals": Localized("Use /permissions or /mode.", "请用 /permissions 或 /mode。"),
    "usage": Localized("Use /cost or /context.", "请用 /cost 或 /context。"),
    "bashes": Localized("Use /ps.", "请用 /ps。"),
    "effort": Localized("Use /think.", "请用 /think。"),
    "rename": Localized("Use /title.", "请用 /title。"),
    "mention": Localized("Type @ and the name of the file.", "请输入 @ 和文件名。"),
    **dict.fromkeys(("settings", "experimental"), Localized("Use /config.", "请用 /config。")),
    **dict.fromkeys(("keybindings", "keymap"), Localized("? and Enter lists the keys.", "? 加 Enter 列出所有按键。")),
    "terminal-setup": Localized(
        "Not needed: Alt+Enter or Ctrl+J starts a new line.", "不需要：Alt+Enter 或 Ctrl+J 换行。"
    ),
    "statusline": Localized("The status line is fixed; /status shows more.", "状态行是固定的；/status 显示更多。"),
}
_NEAREST = 3
_WIDTH = 28


def unknown_command(name: str, built_in: Sequence[SlashCommand], known: CommandsShown, forced: bool) -> BadInput:
    if forced:
        theirs = ", ".join(f"//{each.name}" for each in known.found if each.origin == "agent")
        return BadInput(
            t("the agent has no command {name}; its commands: {names}", name=name, names=theirs or t("none"))
        )
    if name in _ELSEWHERE:
        return BadInput(t("unknown command /{name}", name=name), localize(_ELSEWHERE[name]))
    names = [*sorted(each.name for each in built_in), *(each.name for each in known.found)]
    near = get_close_matches(name, names, _NEAREST) or sorted(
        each for each in names if name and each.startswith(name)
    )
    if not near:
        return BadInput(t("unknown command /{name}; /help lists all commands", name=name))
    meant = t(" or ").join(f"/{each}" for each in near[:_NEAREST])
    return BadInput(
        t("unknown command /{name}; did you mean {names}? /help lists all commands", name=name, names=meant)
    )


async def help_text(client: Client, session: SessionId, built_in: Sequence[SlashCommand]) -> str:
    known = await client.get(ListCommands(session))
    parts = [built_in_help(built_in)]
    for origin, heading in _HEADINGS.items():
        lines = [_line(each) for each in known.found if each.origin == origin]
        parts += ["\n".join([t(heading), *lines])] if lines else []
    parts += ["\n".join(f"({retell(note)})" for note in known.notes)] if known.notes else []
    return "\n\n".join(parts)


def built_in_help(built_in: Sequence[SlashCommand]) -> str:
    groups = groupby((each for each in built_in if each.offered), lambda each: each.group)
    return "\n\n".join(
        "\n".join([localize(group), *(_help_line(each.usage, localize(each.text)) for each in members)])
        for group, members in groups
    )


def _help_line(usage: str, text: str) -> str:
    return f"  {padded(usage, _WIDTH)}  {text}".rstrip()


async def help_of(client: Client, session: SessionId, built_in: Sequence[SlashCommand], name: str) -> str:
    """The help of one command, built in or not. Raises BadInput if there is none."""
    wanted = name.removeprefix("/")
    command = next((each for each in built_in if each.name == wanted), None)
    if command is not None:
        detail = [localize(command.detail)] if command.detail is not None else []
        example = [t("for example: {line}", line=command.example)] if command.example else []
        return "\n".join([command.help, *detail, *example])
    known = await client.get(ListCommands(session))
    found = next((each for each in known.found if each.name == wanted), None)
    if found is None:
        raise unknown_command(wanted, built_in, known, forced=False)
    return "\n".join([t(_HEADINGS[found.origin]), _line(found)])


def _line(command: CommandShown) -> str:
    return _help_line(f"/{command.name} {command.hint}".rstrip(), command.description)


async def completions(client: Client, session: SessionId, built_in: Sequence[SlashCommand]) -> list[CommandShown]:
    """Everything that can be typed after a `/`; of two commands with one name, only the one that would run."""
    known = await client.get(ListCommands(session))
    first = {
        each.name: CommandShown(each.name, "built-in", localize(each.text), each.hint)
        for each in built_in
        if each.offered
    }
    for each in known.found:
        first.setdefault(each.name, each)
    return list(first.values())
