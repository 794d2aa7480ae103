"""`/trust`: show what the folder brings that is not trusted yet, and trust exactly what was shown."""

from itertools import groupby

from coderelay.client.commands.slash_command import MODEL, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import TrustFolder
from coderelay.protocol.queries import ShowTrust
from coderelay.protocol.query_results import TrustShown, UntrustedText

_CODE_LENGTH = 6


async def trust(here: Context, code: str) -> str:
    """The short code only names what was shown. The whole digest of it is compared, because an agent could construct
    files that have the same short code."""
    shown = await here.client.get(ShowTrust(here.session))
    seen = here.numbered.get("trust", [])
    if not code:
        return _review(here, shown)
    if seen != [shown.digest]:
        told = t("this has changed since it was shown, or was not shown yet; nothing was trusted")
        return f"{told}\n\n{_review(here, shown)}"
    if code != _code(shown):
        return t("{code} is not the code; nothing was trusted. /trust shows the code", code=code)
    await here.client.send(TrustFolder(session=here.session, digest=shown.digest, by=here.by))
    return t("trusted {folder}", folder=shown.folder)


def _review(here: Context, shown: TrustShown) -> str:
    here.numbered["trust"] = [shown.digest]
    if not shown.settings and not shown.texts:
        return t("nothing to trust: everything in {folder} that counts is in use", folder=shown.folder)
    how = t(
        "If you trust it, its commands and rules apply like your own. To trust exactly this: /trust {code}",
        code=_code(shown),
    )
    return f"{_in_full(shown)}\n\n{how}"


def _code(shown: TrustShown) -> str:
    return shown.digest[:_CODE_LENGTH]


def _in_full(shown: TrustShown) -> str:
    """Everything that would be trusted: settings by file, then the text of each file."""
    by_file = groupby(shown.settings, lambda each: each.file)
    settings = [
        "\n".join([t("{file} sets:", file=file), *(f"  {each.key} = {each.value}" for each in group)])
        for file, group in by_file
    ]
    return "\n\n".join([*settings, *map(_whole, shown.texts)])


def _whole(text: UntrustedText) -> str:
    what = t("changed") if text.changed else t("new")
    lines = text.text.rstrip().splitlines() or [t("(empty)")]
    return "\n".join([f"{text.path}  ({what})", *(f"  │ {line}".rstrip() for line in lines)])


COMMANDS = (
    SlashCommand(
        name="trust",
        group=MODEL,
        text=Localized(
            "review this folder's settings, MCP servers, commands, skills and agents, and trust them",
            "查看本目录的设置、MCP 服务器、命令、技能和 agent，并信任它们",
        ),
        run=trust,
        hint="[CODE]",
        detail=Localized(
            "Without CODE, it shows everything that would be trusted, and the code for it. With the code, exactly "
            "what was shown is trusted. `coder permissions untrust` takes it back.",
            "不带 CODE 时显示将被信任的全部内容及其代码；带上代码则信任所显示的内容。"
            "用 `coder permissions untrust` 撤销。",
        ),
        example="/trust 3f9a1c",
    ),
)
