"""`/export`: the conversation as a file for people, or for programs."""

import os

import msgspec

from coderelay.client.commands.command import CONVERSATION, Context, SlashCommand
from coderelay.client.language import t
from coderelay.client.views.markdown import markdown
from coderelay.protocol.errors import BadInput
from coderelay.protocol.localized import Localized
from coderelay.protocol.queries import ExportSession, ReadMessages, ShowSession
from coderelay.protocol.summary import Summary
from coderelay.workspace.files.atomic_write import write_whole

_REPLACE = "!"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


async def export(here: Context, rest: str) -> str:
    """Never over a file that is there, unless `!` stands behind its name; nobody else may read it."""
    replaces = rest.split()[-1:] == [_REPLACE]
    name = rest.removesuffix(_REPLACE).strip() if replaces else rest
    row = await here.client.get(ShowSession(here.session))
    path = os.path.join(row.cwd, os.path.expanduser(name or f"session-{row.id[:8]}.md"))
    content = await _content(here, row, path)
    try:
        if replaces:
            write_whole(path, content, 0o600)
        else:
            with os.fdopen(os.open(path, _NEW, 0o600), "wb") as file:
                file.write(content)
    except FileExistsError as error:
        again = f"/export {name} {_REPLACE}" if name else f"/export {_REPLACE}"
        raise BadInput(t("{path} is there already; {again} replaces it", path=path, again=again)) from error
    except OSError as error:
        raise BadInput(t("{path} cannot be written: {why}", path=path, why=error.strerror)) from error
    return t("written: {path}", path=path)


async def _content(here: Context, row: Summary, path: str) -> bytes:
    if path.endswith(".json"):
        exported = await here.client.get(ExportSession(here.session))
        return msgspec.json.format(msgspec.json.encode(exported), indent=1) + b"\n"
    messages = [msgspec.json.decode(each.data) for each in await here.client.get(ReadMessages(here.session))]
    return markdown(row, messages).encode("utf-8", "replace")


COMMANDS = (
    SlashCommand(
        name="export",
        group=CONVERSATION,
        text=Localized(
            "write the conversation to a file: Markdown, or JSON if it ends in .json",
            "将对话写入文件：Markdown，若以 .json 结尾则为 JSON",
        ),
        run=export,
        hint="[FILE] [!]",
        detail=Localized(
            "Writes one file that only you can read; one that is there is replaced only if ! stands behind its name.",
            "写入一个只有你能读取的文件；已存在的文件只有在名称后加 ! 时才会被替换。",
        ),
        example="/export talk.md !",
        completes="export file",
    ),
)
