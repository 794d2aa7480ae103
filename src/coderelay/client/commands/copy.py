"""`/copy`: copy the last answer to the clipboard."""

from typing import Any

import msgspec

from coderelay.client.commands.slash_command import CONVERSATION, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.client.slash_results import TextToCopy
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.errors import BadInput
from coderelay.protocol.queries import ReadMessages


async def copy(here: Context, _: str) -> TextToCopy:
    rows = (await here.client.get(ReadMessages(here.session))).rows
    answer = next((text for row in reversed(rows) if (text := _answer(msgspec.json.decode(row.data)))), "")
    if not answer:
        raise BadInput(t("there is no answer to copy yet"))
    return TextToCopy(answer)


def _answer(message: dict[str, Any]) -> str:
    """The text of a message, if the model wrote it."""
    if message.get("type") != "assistant":
        return ""
    blocks = message["message"]["content"]
    return "\n\n".join(each["text"].strip() for each in blocks if each["type"] == "text").strip()


COMMANDS = (
    SlashCommand(
        name="copy",
        group=CONVERSATION,
        text=Localized("copy the last answer to the clipboard", "将最近一次回答复制到剪贴板"),
        run=copy,
        detail=Localized(
            "Uses wl-copy, xclip or pbcopy if there is one, and asks the terminal (OSC 52), as over SSH.",
            "若有 wl-copy、xclip 或 pbcopy 则使用它们，并请求终端复制（OSC 52，通过 SSH 也可用）。",
        ),
    ),
)
