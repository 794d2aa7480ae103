"""The contract of a slash command: one record, declared beside the function that it runs.

`/help`, completion, docs/commands.md and the list of commands for remote surfaces are made from these records.
`slash_commands.COMMANDS` joins the records of all files in this folder. A reply is `t("…")`, with its translations in
`languages/`, or `localize(Localized("…", "…"))`, which keeps the Chinese beside the function.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from coderelay.client.client import Client
from coderelay.client.i18n import localize, t
from coderelay.client.slash_results import SlashResult
from coderelay.protocol.asks import By
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import PromptId, SessionId

MODEL = Localized("Model and permissions", "模型与权限")
CONVERSATION = Localized("Conversation", "对话")
SESSIONS = Localized("Sessions", "会话")
FILES = Localized("Files", "文件")
SHOW = Localized("Status and information", "状态与信息")
WORK = Localized("Built-in prompts", "内置提示")
GROUPS = (MODEL, CONVERSATION, SESSIONS, FILES, SHOW, WORK)
"""The groups of commands, in the order of `/help`."""

ONLY_SHOWS = Localized("Only shows information; changes nothing.", "仅显示信息，不作任何改动。")

ArgumentKind = Literal["model", "session", "changed file", "command", "export file", "folder"]

RememberModel = Callable[[str, str], str | None]
"""Stores a model (second argument) for later sessions in a folder (first). Returns a warning if that failed."""


class SlashCommand(Struct, frozen=True, kw_only=True):
    """`text` is the command's line in `/help`; `/help NAME` adds `detail` (what the command changes) and `example`.

    A command without `hint` takes no arguments; a hint in brackets says that they may be left out. `choices` are the
    words that may be typed as they are; without a `hint`, they are the hint. Completion offers them, and names of the
    kind in `completes`. A command that is not `offered` only tells the person what to do instead. A `remote` command
    may also be typed where the person is not at this machine, in a browser or a chat. Editors have those, and what is
    for `in_editors`: they are programs of the person, here.
    """

    name: str
    group: Localized
    text: Localized
    run: "Callable[[Context, str], Awaitable[SlashResult]]"
    """Raises BadInput, or another refusal of what the command asks of the session."""
    hint: str = ""
    choices: tuple[str, ...] = ()
    detail: Localized | None = None
    example: str = ""
    completes: ArgumentKind | None = None
    offered: bool = True
    remote: bool = False
    in_editors: bool = False

    def __post_init__(self) -> None:
        if self.choices and not self.hint:
            force_setattr(self, "hint", f"[{'|'.join(self.choices)}]")

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.hint}".rstrip()

    @property
    def help(self) -> str:
        return f"{self.usage}: {localize(self.text)}"

    @property
    def needs_arguments(self) -> bool:
        return bool(self.hint) and not self.hint.startswith("[")


class Context(Struct):
    """What a command may use. `command` is the record of the command itself, `commands` are those of all commands.
    `on_prompt` gets the id of every prompt before the command sends it. `keys` describes the keys of this surface.
    `numbered` maps the name of a command to the entries of the list that it showed last, in order, so that a person
    can name one by its number."""

    client: Client
    session: SessionId
    by: By
    remember_model: RememberModel
    on_prompt: Callable[[PromptId], None]
    keys: str
    numbered: dict[str, list[str]]
    commands: tuple[SlashCommand, ...]
    command: SlashCommand

    def usage_error(self) -> BadInput:
        return BadInput(t("usage: {usage}", usage=self.command.help))
