"""`/add-dir`: lets the tools of a session use another folder."""

import os

from coderelay.client.commands.slash_command import FILES, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.queries import ShowSession


async def add_folder(here: Context, path: str) -> str:
    row = await here.client.get(ShowSession(here.session))
    if not path:
        return "\n".join((row.cwd, *row.folders))
    folder = os.path.realpath(os.path.join(row.cwd, os.path.expanduser(path)))
    folders = tuple(dict.fromkeys((*row.folders, folder)))
    await here.client.send(ConfigureSession(session=here.session, folders=folders, by=here.by))
    return t("added {folder}; /undo restores files in {cwd} only", folder=folder, cwd=row.cwd)


COMMANDS = (
    SlashCommand(
        name="add-dir",
        group=FILES,
        text=Localized(
            "list the folders of this session, or allow the tools to use another one",
            "列出本会话的目录，或允许工具使用另一个目录",
        ),
        run=add_folder,
        hint="[PATH]",
        detail=Localized(
            "Applies to this session; /undo restores files in the session's own folder only.",
            "在本会话中生效；/undo 只恢复会话自己目录中的文件。",
        ),
        example="/add-dir ../shared",
        completes="folder",
    ),
)
