"""The summary row and the state of a session, each as a dictionary, so that the two can be compared."""

from collections.abc import Sequence

from coderelay.host.ask_queries import open_asks
from coderelay.protocol.events import Recorded
from coderelay.protocol.projected_rows import Summary
from coderelay.session.state import State


def of_row(row: Summary, log: Sequence[Recorded]) -> dict[str, object]:
    return {
        "phase": row.phase,
        "owner": row.owner,
        "open_asks": list(row.asks),
        "asks_in_the_log": [each.id for each in open_asks(log[row.asks_after :])] if row.open_asks else [],
        "asks": row.open_asks,
        "queued": row.queued,
        "head": row.head,
        "epoch": row.epoch,
        "turn_open": row.turn_open,
        "error": row.error,
        "cost": row.cost,
        "background": row.background,
        "context_tokens": row.context_tokens,
        "settings": (row.cwd, row.agent, row.model, row.mode, row.allowed_tools, row.agent_session_id, row.think),
        "pending": row.pending,
    }


def of_state(state: State) -> dict[str, object]:
    settings, ended = state.settings, state.last_ending
    assert settings is not None
    return {
        "phase": state.phase,
        "owner": state.owner,
        "open_asks": state.open_asks(),
        "asks_in_the_log": [each.id for each in state.open_asks()],
        "asks": len(state.open_asks()),
        "queued": len(state.queue),
        "head": state.head,
        "epoch": state.epoch,
        "turn_open": state.turn is not None,
        "cost": state.cost,
        "background": sum(1 for each in state.background.values() if each.end is None),
        "context_tokens": state.context_tokens,
        "error": ended.error if ended is not None and state.turn is None else None,
        "pending": state.pending,
        "settings": (
            settings.cwd,
            settings.agent,
            settings.model,
            settings.mode,
            settings.allowed_tools,
            settings.agent_session_id,
            settings.think,
        ),
    }
