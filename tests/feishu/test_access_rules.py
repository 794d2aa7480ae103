"""Who may talk to the bot, and who may decide what."""

from functools import partial
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow
from coderelay.protocol.events import AskAnswered
from coderelay.protocol.queries import ListApprovals, ListAsks, ShowSession
from coderelay.surfaces.feishu.access_rules import AccessRules, person
from coderelay.surfaces.feishu.incoming_event_types import ChatKind
from tests.feishu.chat_house import ANNE, BOB, CHAT, EVE, PEOPLE, chat_house
from tests.feishu.test_chat_status import PERMISSION, QUESTION
from tests.feishu.test_message_routing import ask
from tests.house import story
from tests.model_server import bash, proposes, says, script

GROUP = "oc_group"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("access", "who", "chat", "kind", "is_linked", "may"),
    [
        (AccessRules(), ANNE, CHAT, "p2p", False, False),
        (AccessRules(), ANNE, CHAT, "p2p", True, True),
        (AccessRules(users=(ANNE,)), ANNE, CHAT, "p2p", False, True),
        (AccessRules(users=(ANNE,)), EVE, CHAT, "p2p", False, False),
        (AccessRules(users=("*",)), EVE, CHAT, "p2p", False, True),
        (AccessRules(users=(ANNE,)), ANNE, GROUP, "group", False, True),
        (AccessRules(users=(ANNE,), chats=("oc_other",)), ANNE, GROUP, "group", False, False),
        (AccessRules(users=(ANNE,), chats=(GROUP,)), ANNE, GROUP, "group", False, True),
        (AccessRules(users=(ANNE,), chats=(GROUP,)), EVE, GROUP, "group", False, False),
        (AccessRules(users=(ANNE,), chats=(GROUP,)), ANNE, CHAT, "p2p", False, True),
        (AccessRules(chats=(GROUP,)), ANNE, "oc_other", "group", True, False),
    ],
)
def test_who_may_talk(access: AccessRules, who: str, chat: str, kind: ChatKind, is_linked: bool, may: bool) -> None:
    assert access.may_talk(who, chat, kind, is_linked=is_linked) is may


@pytest.mark.quick
def test_who_may_answer() -> None:
    own, other = person(ANNE).who, person(BOB).who
    assert AccessRules().may_answer(ANNE, PERMISSION, own, is_owner=False)
    assert not AccessRules().may_answer(ANNE, PERMISSION, other, is_owner=False)
    assert not AccessRules().may_answer(ANNE, QUESTION, other, is_owner=False)
    assert AccessRules().may_answer(ANNE, PERMISSION, "anne", is_owner=True)
    approved = AccessRules(approvers=(BOB,))
    assert not approved.may_answer(ANNE, PERMISSION, own, is_owner=False)
    assert approved.may_answer(ANNE, QUESTION, own, is_owner=False)
    assert approved.may_answer(BOB, PERMISSION, own, is_owner=False)


@story
async def test_an_unknown_person_gets_one_polite_refusal(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script()) as bot:
        await bot.say("hi", sender=EVE, chat="oc_eve")
        await bot.say("/status", sender=EVE, chat="oc_eve")
        await bot.say("hello?", sender=EVE, chat="oc_eve")
        (refusal,) = bot.outbox.in_chat("oc_eve")
        assert refusal.card.title == "暂无使用权限"
        assert EVE in refusal.card.text
        assert await bot.sessions() == []


@story
async def test_a_group_needs_a_mention(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("here"))) as bot:
        await bot.say("hi all", chat=GROUP, kind="group")
        await bot.say("hi", sender=EVE, chat=GROUP, kind="group")
        assert bot.outbox.messages == {}
        await bot.say("hi", chat=GROUP, kind="group", mentions_bot=True)
        await bot.card("任务完成", chat=GROUP)


@story
async def test_nobody_answers_another_persons_ask(tmp_path: Path) -> None:
    model = script(proposes(bash("rm x")), ask("Name?"), says("done"), says("bob's"))
    async with chat_house(tmp_path, model, shares_groups=True) as bot:
        await bot.say("go", chat=GROUP, kind="group", mentions_bot=True)
        confirm = await bot.shown("请确认", chat=GROUP)
        for who in (BOB, EVE):
            refused = await bot.click(confirm, "确认", by=who)
            assert (refused.toast_kind, refused.card) == ("error", None)
        (session,) = await bot.sessions()
        assert len(await bot.client.get(ListAsks(session))) == 1
        await bot.click(confirm, "取消")
        await bot.card("等待回复", chat=GROUP)
        await bot.say("Bobby", sender=BOB, chat=GROUP, kind="group", mentions_bot=True)
        assert len(await bot.client.get(ListAsks(session))) == 1  # it waits in the queue
        await bot.say("Anne", chat=GROUP, kind="group", mentions_bot=True)
        await bot.card("任务完成", chat=GROUP, nth=2)
        bot.coder.session = session
        assert await bot.coder.story() == [
            "user: go",
            "bash: denied",
            "ask_user: ok",
            "agent: done",
            "user: Bobby",
            "agent: bob's",
        ]


@story
async def test_approvers_decide_and_are_named_everywhere(tmp_path: Path) -> None:
    people = AccessRules(users=(ANNE,), approvers=(BOB,))
    async with chat_house(tmp_path, script(proposes(bash("rm -f x")), says("done")), access=people) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        assert (await bot.click(confirm, "确认")).toast_kind == "error"
        assert (await bot.click(confirm, "确认", by=BOB)).toast_kind == "success"
        await bot.card("任务完成")
        assert f"feishu:{BOB}" in confirm.card.text
        (bot.coder.session,) = await bot.sessions()
        answers = [each.event for each in await bot.coder.events() if isinstance(each.event, AskAnswered)]
        assert [(each.decision, str(each.by)) for each in answers] == [(Allow(), f"feishu:{BOB} (feishu)")]


@story
async def test_x44_more_than_a_session_is_allowed_only_by_the_linked_owner(tmp_path: Path) -> None:
    model = script(proposes(bash("rm -f x")), says("one"), proposes(bash("rm -f y")), says("two"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        assert confirm.card.labels == ["确认", "取消", "本次会话允许", "停止"]
        forged = {**confirm.card.button("确认").value, "action": "always"}
        assert (await bot.click_value(confirm, forged)).toast_kind == "error"
        assert (await bot.click(confirm, "本次会话允许")).toast_kind == "success"
        await bot.card("任务完成")
        (session,) = await bot.sessions()
        assert [each.scope for each in await bot.client.get(ListApprovals(session))] == ["session"]
        await bot.link(ANNE, CHAT)
        await bot.say("again")
        owners = await bot.shown("请确认")
        assert owners.card.labels == ["确认", "取消", "本次会话允许", "始终允许", "停止"]
        assert (await bot.click(owners, "始终允许")).toast_kind == "success"
        await bot.card("任务完成", nth=2)
        assert {each.scope for each in await bot.client.get(ListApprovals(session))} == {"session", "project"}


@story
async def test_x38_the_mode_can_only_be_tightened_and_only_by_the_owner(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("hi")), shares_groups=True) as bot:
        say = partial(bot.say, chat=GROUP, kind="group", mentions_bot=True)
        await say("hi")
        await bot.card("任务完成", chat=GROUP)
        (session,) = await bot.sessions()
        for mode in ("yolo", "auto-edit", "smart"):
            await say(f"/mode {mode}")
        await say("/mode plan", sender=BOB)
        assert (await bot.client.get(ShowSession(session))).mode == "default"
        await say("/mode plan")
        assert (await bot.client.get(ShowSession(session))).mode == "plan"
        await say("/mode default")
        assert (await bot.client.get(ShowSession(session))).mode == "plan"


@story
async def test_the_mode_of_a_strangers_session_is_never_freer_than_default(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text('{"mode": "yolo"}')
    async with chat_house(tmp_path, script(says("hi"), says("hi")), access=PEOPLE) as bot:
        await bot.link(BOB, "oc_bob")
        await bot.say("hi")
        await bot.card("任务完成")
        await bot.say("hi", sender=BOB, chat="oc_bob")
        await bot.card("任务完成", chat="oc_bob")
        modes = {each.person: each.mode for each in await bot.coder.host.store.sessions()}
        assert modes == {f"feishu:{ANNE}": "default", f"feishu:{BOB}": "yolo"}
