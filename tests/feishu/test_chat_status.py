"""The states of a chat are computed from the session."""

from pathlib import Path

import pytest

from coderelay.protocol.asks import Ask, BudgetAsk, PermissionAsk, PlanAsk, QuestionAsk
from coderelay.protocol.calls import Need, Question
from coderelay.protocol.ids import AskId, CallId, SessionId
from coderelay.protocol.projected_rows import Phase, Summary
from coderelay.surfaces.feishu.chat_status import ChatStatus, current_state, state_of
from tests.feishu.chat_house import chat_house
from tests.house import story
from tests.model_server import bash, call, proposes, says, script

NEED = Need("bash", "command", "rm x", command="rm x")
PERMISSION = PermissionAsk(AskId("a1"), CallId("c1"), NEED, "")
QUESTION = QuestionAsk(AskId("a2"), CallId("c2"), (Question("Which?"),))
PLAN = PlanAsk(AskId("a3"), "do it")
BUDGET = BudgetAsk(AskId("a4"), "session", 1.0, 1.0, 2.0)


def _summary(phase: Phase, *, is_open: bool, queued: int = 0) -> Summary:
    return Summary(
        id=SessionId("s"),
        cwd="/",
        agent="native",
        model="m",
        mode="default",
        created_at=0,
        updated_at=0,
        phase=phase,
        turn_open=is_open,
        queued=queued,
    )


@pytest.mark.quick
@pytest.mark.parametrize(
    ("phase", "is_open", "queued", "asks", "state"),
    [
        ("idle", False, 0, (), ChatStatus.IDLE),
        ("done", False, 0, (), ChatStatus.IDLE),
        ("failed", False, 0, (), ChatStatus.IDLE),
        ("stopped", False, 0, (), ChatStatus.IDLE),
        ("stopped", False, 1, (), ChatStatus.IDLE),
        ("idle", False, 1, (), ChatStatus.EXECUTING),
        ("running", True, 0, (), ChatStatus.EXECUTING),
        ("waiting", True, 0, (PERMISSION,), ChatStatus.WAITING_CONFIRM),
        ("waiting", True, 0, (PLAN,), ChatStatus.WAITING_CONFIRM),
        ("waiting", True, 0, (BUDGET,), ChatStatus.WAITING_CONFIRM),
        ("waiting", True, 0, (QUESTION,), ChatStatus.WAITING_INPUT),
        ("waiting", True, 0, (PERMISSION, QUESTION), ChatStatus.WAITING_INPUT),
        ("running", True, 0, (QUESTION,), ChatStatus.WAITING_INPUT),
    ],
)
def test_e03_x02_the_state_follows_from_the_session(
    phase: Phase, is_open: bool, queued: int, asks: tuple[Ask, ...], state: ChatStatus
) -> None:
    """The table of states (1.7). A child's ask is open while its parent's phase is `running`."""
    assert state_of(_summary(phase, is_open=is_open, queued=queued), asks) is state


@pytest.mark.quick
def test_e03_the_names_of_the_states() -> None:
    assert [str(each) for each in ChatStatus] == ["IDLE", "EXECUTING", "WAITING_INPUT", "WAITING_CONFIRM"]


@story
async def test_e06_a_session_goes_through_its_states(tmp_path: Path) -> None:
    """E-06: whoever wants the state gets it from the session; nobody has to set it."""
    ask = call("ask_user", questions=[{"question": "Which name?"}])
    model = script(proposes(bash("rm x")), proposes(ask), says("done"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("go")
        session = (await bot.sessions())[0]
        confirm = await bot.shown("请确认")
        assert await current_state(bot.client, session) is ChatStatus.WAITING_CONFIRM
        await bot.click(confirm, "取消")
        await bot.card("等待回复")
        assert await current_state(bot.client, session) is ChatStatus.WAITING_INPUT
        await bot.say("new")
        await bot.card("任务完成")
        assert await current_state(bot.client, session) is ChatStatus.IDLE
