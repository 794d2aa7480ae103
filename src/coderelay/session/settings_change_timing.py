"""Changes of a session's settings: which part of a change counts at once, and which from the next turn on."""

from collections.abc import Callable
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AnyEvent, SessionConfigured, SessionCreated
from coderelay.protocol.modes import MODE_NAMES, MODES, mode_spec
from coderelay.protocol.session_setting_values import Mode, Preset
from coderelay.session.decide import require
from coderelay.session.state import SessionSettings, State

NAMES = (
    "cwd",
    "title",
    "model",
    "mode",
    "allowed_tools",
    "think",
    "folders",
    "agent",
    "preset",
    "instructions",
    "profile",
)
_PRESETS: tuple[Preset, ...] = get_args(Preset)


class Facts(Struct, frozen=True):
    """What the rules of settings need from outside. `preset` counts in a session that has none of its own.
    `tools_in_both` gives the tools that two lists of allowed tools have in common; an empty list allows all.
    `has_own_session_ids`: the agent that is chosen has sessions of its own."""

    preset: Preset
    tools_in_both: Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...]]
    has_own_session_ids: bool = False


def first_settings(event: SessionCreated) -> SessionSettings:
    return SessionSettings(
        cwd=event.cwd,
        agent=event.agent,
        model=event.model,
        mode=event.mode,
        title=event.title,
        allowed_tools=event.allowed_tools,
        agent_session_id=event.agent_session_id,
        think=event.think,
        folders=event.folders,
        parent=event.parent,
        parent_call=event.parent_call,
        person=event.by.who,
        machine=event.machine,
        instructions=event.instructions,
        profile=event.profile,
    )


def configure(state: State, command: ConfigureSession, facts: Facts) -> list[AnyEvent]:
    """While a turn is open, a change for the next turn is written in two events: what tightens counts at once, the
    rest waits. Raises BadInput for a folder that cannot change now."""
    settings = require(state)
    wanted = {name: value for name in NAMES if (value := getattr(command, name)) is not None}
    _check_folder(state, settings, command)
    agent_session_id = _id_of_agent(state, command.agent, facts)
    if state.turn is None or command.when == "now":
        changes = _changed_values(wanted, settings, None if state.pending is None else values(state.pending))
        return _written(command, changes, agent_session_id)
    at_once = _tightened(settings, wanted, facts)
    waiting = values(state.pending) if state.pending is not None else {}
    later = {
        name: value
        for name, value in wanted.items()
        if name != "title" and value != at_once.get(name, waiting.get(name, getattr(settings, name)))
    }
    return [*_written(command, at_once), *_written(command, later, agent_session_id, next_turn=True)]


def values(event: SessionConfigured) -> dict[str, Any]:
    """The settings that the event changes."""
    return {name: value for name in (*NAMES, "agent_session_id") if (value := getattr(event, name)) is not None}


def new_values(event: SessionConfigured) -> dict[str, Any]:
    """The settings that the event changes, as they are from then on."""
    changes = values(event)
    return changes if changes.get("agent_session_id") != "" else {**changes, "agent_session_id": None}


def joined(earlier: SessionConfigured | None, later: SessionConfigured) -> SessionConfigured:
    """Both changes in one; the later one counts where they differ."""
    return later if earlier is None else replace(later, **(values(earlier) | values(later)))


def remaining_pending(pending: SessionConfigured | None, done: SessionConfigured) -> SessionConfigured | None:
    """The pending settings that remain after a change that counts at once: it replaces the pending value of the same
    setting."""
    if pending is None:
        return None
    left = {name: value for name, value in values(pending).items() if name not in values(done)}
    return SessionConfigured(by=pending.by, next_turn=True, **left) if left else None


def _check_folder(state: State, settings: SessionSettings, command: ConfigureSession) -> None:
    if command.cwd is None or command.cwd == settings.cwd:
        return
    if settings.parent is not None:
        raise BadInput("a subagent works in the folder of its parent session")
    if state.turn is not None and command.when == "now":
        raise BadInput("a turn is running in this folder; the folder can change from the next turn on")


def _changed_values(
    wanted: dict[str, Any], settings: SessionSettings, waiting: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        name: value
        for name, value in wanted.items()
        if value != getattr(settings, name) or (waiting is not None and name in waiting)
    }


def _tightened(settings: SessionSettings, wanted: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """The part of a change that takes something away. The title, which no turn depends on, is part of it."""
    found: dict[str, Any] = {name: wanted[name] for name in ("title", "profile") if name in wanted}
    preset: Preset = settings.preset or facts.preset
    if "preset" in wanted and _PRESETS.index(wanted["preset"]) < _PRESETS.index(preset):
        found["preset"] = preset = wanted["preset"]
    if "mode" in wanted and _freedom(wanted["mode"], preset) < _freedom(settings.mode, preset):
        found["mode"] = wanted["mode"]
    if wanted.get("allowed_tools"):
        found["allowed_tools"] = facts.tools_in_both(settings.allowed_tools, wanted["allowed_tools"])
    if "folders" in wanted:
        found["folders"] = tuple(each for each in settings.folders if each in wanted["folders"])
    return {name: value for name, value in found.items() if value != getattr(settings, name)}


def _freedom(mode: Mode, preset: Preset) -> int:
    """How much a mode allows, as a number that grows with it. Mode default is as free as its preset, and a preset
    with the name of a mode is as free as that mode."""
    others = [each for each in _PRESETS if each not in MODE_NAMES]
    order = [name for each in MODES for name in (others if each.table is None else [each.name])]
    return order.index(preset if mode_spec(mode).table is None else mode)


def _id_of_agent(state: State, agent: str | None, facts: Facts) -> str:
    """The id of the own session of the agent that is chosen; empty if it has none yet."""
    attached = state.attached.get(agent or "")
    if attached is not None:
        return attached.agent_session_id
    return "" if facts.has_own_session_ids else state.session


def _written(
    command: ConfigureSession, changes: dict[str, Any], agent_session_id: str = "", *, next_turn: bool = False
) -> list[AnyEvent]:
    if "agent" in changes:
        changes = {**changes, "agent_session_id": agent_session_id}
    return [SessionConfigured(by=command.by, next_turn=next_turn, **changes)] if changes else []
