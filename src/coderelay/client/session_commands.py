"""The `/` commands about a session that need nothing but a client: shared by all surfaces where people type."""

import os
from collections.abc import Awaitable, Callable

from coderelay.client.background import background_line
from coderelay.client.client import Client
from coderelay.client.mcp_commands import chosen_text, servers_in_words
from coderelay.client.model_names import agent_for, with_provider
from coderelay.client.overview import context_in_words, skills_in_words, tools_in_words
from coderelay.client.permissions import permissions_in_words
from coderelay.client.slash import Prompted, Slash
from coderelay.client.standing_prompts import init_prompt, review_prompt
from coderelay.client.tasks import list_or_stop
from coderelay.client.todos import todo_lines
from coderelay.client.typed_commands import help_text, resolve
from coderelay.protocol.asks import By
from coderelay.protocol.commands import (
    Accepted,
    CompactHistory,
    ConfigureSession,
    EditPrompt,
    RecallPrompt,
    SendPrompt,
    StopBackground,
    Undone,
    UndoTurn,
)
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import Mode, Preset, PromptAdmitted, Think
from coderelay.protocol.ids import BackgroundId, PromptId, SessionId, new_id
from coderelay.protocol.queries import (
    ListBackground,
    ListPrompts,
    ListSkills,
    ListTodos,
    ListTools,
    ShowContext,
    ShowDiff,
    ShowPermissions,
    ShowSession,
    SuggestTitle,
    WhyNotRun,
)

_MODES: dict[str, Mode] = {
    "plan": "plan",
    "default": "default",
    "auto-edit": "auto-edit",
    "autoEdit": "auto-edit",
    "smart": "auto-edit",
    "yolo": "yolo",
}
_PRESETS: dict[str, Preset] = {each: each for each in ("strict", "balanced", "auto-edit", "yolo")}
_THINK: dict[str, Think] = {"auto": "auto", "off": "off", "low": "low", "medium": "medium", "high": "high"}

RememberModel = Callable[[str], str | None]
"""Keep a model for later sessions. Returns a warning if that failed."""


class SessionCommands:
    """`on_prompt` is told of every prompt that is sent on the way, before it is."""

    def __init__(
        self,
        client: Client,
        session: SessionId,
        by: By,
        remember_model: RememberModel,
        on_prompt: Callable[[PromptId], None],
    ) -> None:
        self._client = client
        self._session = session
        self._by = by
        self._remember_model = remember_model
        self._on_prompt = on_prompt
        self._commands: dict[str, Callable[[str], Awaitable[str | Prompted]]] = {
            "help": self._help,
            "tools": self._tools,
            "skills": self._skills,
            "context": self._context,
            "init": self._init,
            "review": self._review,
            "model": self._model,
            "mode": self._mode,
            "permissions": self._permissions,
            "think": self._think,
            "steer": self._steer,
            "queue": self._queue,
            "compact": self._compact,
            "add-dir": self._add_folder,
            "undo": self._undo,
            "diff": self._diff,
            "title": self._title,
            "tasks": self._tasks,
            "ps": self._background,
            "mcp": self._mcp,
            "todos": self._todos,
            "cost": self._cost,
        }

    @property
    def names(self) -> list[str]:
        return list(self._commands)

    async def run(self, slash: Slash) -> str | Prompted:
        """What to tell the person, or the prompt that it stands for, which is for the surface to send. What is not
        built in is looked for among the agent's commands, people's own, and skills. Raises BadInput."""
        command = self._commands.get(slash.name)
        if command is None:
            told = await resolve(self._client, self._session, slash)
        else:
            told = await command(slash.rest.strip())
        if isinstance(told, Prompted) and not told.text.strip():
            raise BadInput(f"/{slash.name} without arguments says nothing")
        return told

    async def _help(self, _: str) -> str:
        return await help_text(self._client, self._session)

    async def _tools(self, _: str) -> str:
        return tools_in_words(await self._client.get(ListTools(self._session)))

    async def _skills(self, _: str) -> str:
        return skills_in_words(await self._client.get(ListSkills(self._session)))

    async def _context(self, _: str) -> str:
        return context_in_words(await self._client.get(ShowContext(self._session)))

    async def _init(self, wish: str) -> Prompted:
        return Prompted(init_prompt(wish))

    async def _review(self, of: str) -> Prompted:
        return Prompted(review_prompt(of))

    async def _model(self, name: str) -> str:
        current = (await self._client.get(ShowSession(self._session))).model
        if not name:
            return f"{current}\n`coder model list` shows which there are; /model provider:name changes it"
        wanted = with_provider(name, current)
        agent = agent_for(wanted)
        problem = await self._client.get(WhyNotRun(self._session, model=wanted, agent=agent))
        if problem is not None:
            raise BadInput(problem)
        await self._client.send(ConfigureSession(session=self._session, model=wanted, agent=agent, by=self._by))
        warning = self._remember_model(wanted)
        return f"model: {wanted}" + (f"\n{warning}" if warning else "")

    async def _mode(self, name: str) -> str:
        if not name:
            return f"mode: {(await self._client.get(ShowSession(self._session))).mode}"
        mode = _MODES.get(name)
        if mode is None:
            raise BadInput(f"there is no mode {name!r}; there are plan, default, auto-edit, yolo")
        await self._client.send(ConfigureSession(session=self._session, mode=mode, by=self._by))
        return f"mode: {mode}"

    async def _permissions(self, name: str) -> str:
        if name:
            preset = _PRESETS.get(name)
            if preset is None:
                raise BadInput(f"there is no preset {name!r}; there are {', '.join(_PRESETS)}")
            await self._client.send(ConfigureSession(session=self._session, preset=preset, by=self._by))
        return permissions_in_words(await self._client.get(ShowPermissions(self._session)))

    async def _think(self, level: str) -> str:
        if not level:
            return f"think: {(await self._client.get(ShowSession(self._session))).think}"
        think = _THINK.get(level)
        if think is None:
            raise BadInput(f"there is no level {level!r}; there are {', '.join(_THINK)}")
        await self._client.send(ConfigureSession(session=self._session, think=think, by=self._by))
        return f"think: {think}"

    async def _steer(self, text: str) -> str:
        if not text:
            raise BadInput("/steer needs a text: what the turn is to hear")
        prompt_id = PromptId(new_id())
        self._on_prompt(prompt_id)
        command = SendPrompt(session=self._session, prompt_id=prompt_id, text=text, steer=True, by=self._by)
        await self._client.send(command)
        return "(the turn hears it at its next step)"

    async def _queue(self, rest: str) -> str:
        waiting = await self._client.get(ListPrompts(self._session))
        action, _, more = rest.partition(" ")
        if not action:
            return "\n".join(_listed(waiting)) or "nothing is queued"
        number, _, text = more.strip().partition(" ")
        prompt = _numbered(waiting, number)
        match action:
            case "drop":
                recall = RecallPrompt(session=self._session, prompt_id=prompt.prompt_id, by=self._by)
                done = isinstance(await self._client.send(recall), Accepted)
                return "(taken back)" if done else "its turn has begun already"
            case "edit":
                edit = EditPrompt(session=self._session, prompt_id=prompt.prompt_id, text=text, by=self._by)
                done = isinstance(await self._client.send(edit), Accepted)
                return "(changed)" if done else "nothing to change, or its turn has begun already"
            case _:
                raise BadInput(f"/queue knows edit and drop, not {action!r}")

    async def _compact(self, _: str) -> str:
        prompt_id = PromptId(new_id())
        self._on_prompt(prompt_id)
        await self._client.send(CompactHistory(session=self._session, prompt_id=prompt_id, by=self._by))
        return ""

    async def _add_folder(self, path: str) -> str:
        row = await self._client.get(ShowSession(self._session))
        if not path:
            return "\n".join((row.cwd, *row.folders))
        folder = os.path.realpath(os.path.join(row.cwd, os.path.expanduser(path)))
        folders = tuple(dict.fromkeys((*row.folders, folder)))
        await self._client.send(ConfigureSession(session=self._session, folders=folders, by=self._by))
        return f"added {folder}; undo covers {row.cwd} only"

    async def _undo(self, _: str) -> str:
        outcome = await self._client.send(UndoTurn(session=self._session, by=self._by))
        assert isinstance(outcome, Undone)
        lines = [f"restored  {path}" for path in outcome.restored] + [f"removed   {path}" for path in outcome.removed]
        lines += [f"kept      {text}" for text in outcome.conflicts]
        return "\n".join([*lines, "(the last turn is undone, and the conversation goes on before it)"])

    async def _diff(self, how: str) -> str:
        if how not in ("", "full"):
            raise BadInput(f"/diff knows full, not {how!r}")
        found = await self._client.get(ShowDiff(self._session))
        lines = "\n".join(found.files) or "nothing has changed since the last commit"
        return f"{lines}\n{found.diff}" if how else lines

    async def _title(self, text: str) -> str:
        title = text or await self._client.get(SuggestTitle(self._session))
        await self._client.send(ConfigureSession(session=self._session, title=title, by=self._by))
        return f"title: {title}"

    async def _tasks(self, rest: str) -> str:
        return await list_or_stop(self._client, self._session, rest, self._by)

    async def _background(self, rest: str) -> str:
        action, _, number = rest.partition(" ")
        if not action:
            rows = await self._client.get(ListBackground(self._session))
            return "\n".join(map(background_line, rows)) or "no command was left running in the background"
        if action != "stop" or not number.strip():
            raise BadInput("/ps shows the commands in the background, /ps stop N ends one")
        wanted = BackgroundId(number.strip())
        stop = StopBackground(session=self._session, background=wanted, by=self._by)
        done = isinstance(await self._client.send(stop), Accepted)
        return f"(background command {wanted} is asked to stop)" if done else "it is over, or was asked already"

    async def _mcp(self, chosen: str) -> str | Prompted:
        if not chosen:
            return await servers_in_words(self._client, self._session)
        return Prompted(await chosen_text(self._client, self._session, chosen))

    async def _todos(self, rest: str) -> str:
        if rest:
            raise BadInput("/todos only shows the list; the agent changes it")
        return "\n".join(todo_lines(await self._client.get(ListTodos(self._session)))) or "there is no todo list"

    async def _cost(self, _: str) -> str:
        row = await self._client.get(ShowSession(self._session))
        used = row.usage
        cached = f", {used.cache_read_tokens:,} of them cached" if used.cache_read_tokens else ""
        price = "price unknown" if row.cost is None else f"${row.cost:.4f}"
        return (
            f"{used.input_tokens:,} tokens in{cached}, {used.output_tokens:,} out: {price}\n"
            f"the conversation fills {row.context_tokens:,} tokens of the model's window"
        )


def _listed(waiting: list[PromptAdmitted]) -> list[str]:
    return [
        f"{number}. {'(steers) ' if each.steer else ''}{each.said.strip().partition(chr(10))[0]}  · {each.by}"
        for number, each in enumerate(waiting, 1)
    ]


def _numbered(waiting: list[PromptAdmitted], number: str) -> PromptAdmitted:
    if not number.isdecimal() or not 1 <= int(number) <= len(waiting):
        raise BadInput(f"there is no prompt {number!r} in the queue; /queue shows what there is")
    return waiting[int(number) - 1]
