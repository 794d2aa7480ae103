"""The `/` commands of a session, shared by all surfaces where people type: by their names in `built_in`."""

from collections.abc import Callable

from msgspec.structs import replace

from coderelay.client.built_in import find_built_in, usage_of
from coderelay.client.client import Client
from coderelay.client.commands import exports, files, looks, models, modes, prompts, sessions, turns
from coderelay.client.commands.command import Command, Context, RememberModel, misused
from coderelay.client.language import t
from coderelay.client.slash import Changes, Moved, Prompted, Slash, Told
from coderelay.client.typed_commands import resolve
from coderelay.client.visible import visible
from coderelay.protocol.asks import By
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import PromptId, SessionId

__all__ = ["RememberModel", "SessionCommands"]

_COMMANDS: dict[str, Command] = {
    "model": models.model,
    "mode": modes.mode,
    "plan": modes.plan,
    "default": modes.default,
    "auto-edit": modes.auto_edit,
    "yolo": modes.yolo,
    "permissions": modes.permissions,
    "think": modes.think,
    "steer": turns.steer,
    "queue": turns.queue,
    "compact": turns.compact,
    "title": sessions.title,
    "export": exports.export,
    "new": sessions.new,
    "clear": sessions.new,
    "resume": sessions.resume,
    "sessions": sessions.sessions,
    "exit": sessions.leave,
    "quit": sessions.leave,
    "fork": sessions.fork,
    "add-dir": files.add_folder,
    "diff": files.diff,
    "undo": files.undo,
    "rewind": files.rewind,
    "status": looks.status,
    "agents": looks.agents,
    "tools": looks.tools,
    "skills": looks.skills,
    "mcp": looks.mcp,
    "context": looks.context,
    "todos": looks.todos,
    "tasks": looks.tasks,
    "ps": looks.background,
    "cost": looks.cost,
    "help": looks.show_help,
    "init": prompts.init,
    "review": prompts.review,
}


class SessionCommands:
    """`on_prompt` is told of every prompt that is sent on the way, before it is. `keys` is for `/help`: what this
    surface does with which key. After a Moved, the commands are about the session moved to."""

    def __init__(
        self,
        client: Client,
        session: SessionId,
        by: By,
        remember_model: RememberModel,
        on_prompt: Callable[[PromptId], None],
        keys: str = "",
    ) -> None:
        self._here = Context(client, session, by, remember_model, on_prompt, keys, {})

    @property
    def names(self) -> list[str]:
        return list(_COMMANDS)

    async def run(self, slash: Slash) -> Told:
        """What is not built in is looked for among the agent's commands, people's own, and skills. Raises BadInput,
        or another refusal of what the session is asked for."""
        told = await self._run(slash)
        if isinstance(told, Prompted) and not told.text.strip():
            raise BadInput(t("/{name} without arguments says nothing", name=slash.name))
        match told:
            case Moved():
                self._here.session = told.session
                return replace(told, told=visible(told.told))
            case Changes():
                return Changes(visible(told.text), visible(told.diff))
            case str():
                return visible(told)  # titles, prompts and files may have been written by anyone
            case _:
                return told

    async def _run(self, slash: Slash) -> Told:
        built_in = find_built_in(slash.name)
        if built_in is None:
            return await resolve(self._here.client, self._here.session, slash)
        rest = slash.rest.strip()
        if rest and not built_in.hint:
            raise BadInput(t("/{name} takes nothing more", name=slash.name), usage_of(slash.name))
        if not rest and built_in.needs_more:
            raise misused(slash.name)
        return await _COMMANDS[slash.name](self._here, rest)
