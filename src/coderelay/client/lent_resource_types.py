"""The files, MCP servers and folders that a client lends to a session, in memory. Nothing of it is stored."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

if TYPE_CHECKING:
    from coderelay.workspace.files.disk_or_editor_files import Editor


class LentServer(Struct, frozen=True):
    """An MCP server of a client: a program to start, or an address. Unlike in the configuration, `${NAME}` in its
    values stands for itself. The values may be secrets, and so may arguments."""

    literal: ClassVar[bool] = True

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str | None = None
    headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"LentServer({self.command or 'an address'}, env={[*self.env]}, headers={[*self.headers]})"


class Lent(Struct, frozen=True):
    """The `editor` has unsaved text. A person is asked before one of the `servers` is started or one of the `folders`
    is used."""

    editor: "Editor | None" = None
    servers: Mapping[str, LentServer] = {}
    folders: tuple[str, ...] = ()


NOTHING_LENT = Lent()
