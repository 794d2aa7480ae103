"""Stories with real bots in processes of their own: killed, two at once, with many chats."""

import json
import threading
from collections.abc import Callable

import pytest

from coderelay.testing.feishu_server import FakeChat, FakeFeishu
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.feishu.bot_process import configure, running_bot, start_bot, was_taken
from tests.feishu.card_reader import read_card
from tests.model_server import (
    Answer,
    History,
    ModelServerThread,
    bash,
    by_history,
    call,
    hangs,
    proposes,
    says,
    script,
)

pytest_plugins = ["tests.postgres"]

CoderOn = Callable[[ModelServerThread], Coder]


def _titles(chat: FakeChat) -> list[str]:
    return [read_card(each.card).title for each in chat.messages]


def test_messages_arrive_in_the_order_in_which_they_were_shown(
    feishu: FakeFeishu, coder_on: CoderOn, serve: Serve
) -> None:
    """The card that streams takes two calls, the card of the result one."""
    coder = coder_on(serve(by_history(lambda _: says("quick"))))
    configure(coder, feishu)
    chat = feishu.person("ou_1").chat
    feishu.fail("POST .*/cardkit/v1/cards$", delay=0.2, times=100, after=True)
    with running_bot(coder, feishu):
        for turn in range(1, 4):
            chat.say(f"prompt {turn}")
            chat.wait(lambda turn=turn: _titles(chat).count("任务完成") == turn)
        assert _titles(chat) == ["正在执行任务...", "任务完成"] * 3


def _clean(history: History) -> Answer:
    if any(said.role == "assistant" for said in history):
        return says("all clean")
    return proposes(bash("rm -f a; echo once >> effects"))


def test_e02_e19_a_card_is_clicked_after_kill_9(feishu: FakeFeishu, coder_on: CoderOn, serve: Serve) -> None:
    """The card of the killed bot works with the next one: nothing is lost, and nothing happens twice."""
    coder = coder_on(serve(by_history(_clean)))
    configure(coder, feishu)
    chat = feishu.person("ou_1").chat
    bot = start_bot(coder, feishu)
    chat.say("clean up")
    confirm = chat.wait_for("请确认")
    bot.kill()
    with running_bot(coder, feishu):
        assert was_taken(chat.click(confirm, "确认"))
        chat.wait_for("任务完成")
        again = chat.click_with(confirm, _value(confirm.history[0], "确认"))
        assert again.toast_kind == "info"
        assert again.toast.startswith("已确认，feishu:ou_1")
        done = ["正在执行任务...", "已确认", "继续执行...", "任务完成"]
        chat.wait(lambda: _titles(chat) == done)
    assert (coder.cwd / "effects").read_text() == "once\n"


def _value(card: dict[str, object], label: str) -> object:
    return read_card(card).button(label).value


def test_a_click_after_an_answer_at_the_command_line_is_told_so(
    feishu: FakeFeishu, coder_on: CoderOn, serve: Serve
) -> None:
    coder = coder_on(serve(by_history(_clean)))
    configure(coder, feishu)
    chat = feishu.person("ou_1").chat
    with running_bot(coder, feishu):
        chat.say("clean up")
        confirm = chat.wait_for("请确认")
        (asked,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
        assert coder.run("answer", asked["ask"]["id"], "deny").code == 0
        told = chat.click_with(confirm, _value(confirm.history[0], "确认"))
        assert told.toast_kind == "info"
        assert told.toast.startswith("已取消，")
        chat.wait_for("任务完成")
        chat.wait(lambda: read_card(confirm.card).title == "已取消")
    assert not (coder.cwd / "effects").exists()


def _slow_or_clean(history: History) -> Answer:
    """The turn of `slow` never ends by itself."""
    if any("slow" in str(said.text) for said in history):
        return hangs(says("one two three four five"), 4)
    return _clean(history)


def test_a_click_is_answered_while_a_turn_runs(feishu: FakeFeishu, coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(by_history(_slow_or_clean)))
    configure(coder, feishu)
    slow, quick = feishu.person("ou_1").chat, feishu.person("ou_2").chat
    with running_bot(coder, feishu):
        slow.say("slow")
        slow.wait_for("one")
        quick.say("clean up")
        confirm = quick.wait_for("请确认")
        assert was_taken(quick.click(confirm, "确认"))
        quick.wait_for("任务完成")
        assert "任务完成" not in slow.text  # it still runs
        slow.say("/stop")
        slow.wait(lambda: "已停止" in _titles(slow))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_bots_on_one_log(
    feishu: FakeFeishu, coder_on: CoderOn, serve: Serve, kind: str, request: pytest.FixtureRequest
) -> None:
    """Each event reaches one of them at random; each thing happens and is shown once. One is killed in between."""
    env = {"CODER_DATABASE_URL": request.getfixturevalue("database")} if kind == "postgres" else {}
    coder = coder_on(serve(by_history(_clean)))
    configure(coder, feishu)
    chats = [feishu.person(f"ou_{number}").chat for number in range(6)]
    one = start_bot(coder, feishu, env=env)
    with running_bot(coder, feishu, env=env):
        for chat in chats:
            chat.say("clean up")
        cards = [chat.wait_for("请确认") for chat in chats]
        one.kill()
        for chat, card in zip(chats, cards, strict=True):
            assert was_taken(chat.click(card, "确认"))
        for chat in chats:
            chat.wait(lambda chat=chat: _titles(chat) == ["正在执行任务...", "已确认", "继续执行...", "任务完成"])
    assert (coder.cwd / "effects").read_text() == "once\n" * len(chats)


def test_a_chat_session_is_in_the_list_of_the_terminal(feishu: FakeFeishu, coder_on: CoderOn, serve: Serve) -> None:
    """And an ask of a session that began there arrives in the chat that its person has linked."""
    asked = proposes(call("ask_user", questions=[{"question": "Which name?"}]))
    coder = coder_on(serve(script(says("hello"), asked, says("done"))))
    configure(coder, feishu, users=[])
    chat = feishu.person("ou_1").chat
    with running_bot(coder, feishu):
        linking = coder.start("feishu", "link")
        out = linking.process.stdout
        assert out is not None
        code = next(line.split()[1] for line in out if line.strip().startswith("/link "))
        chat.say(f"/link {code}")
        chat.wait_for("已绑定")
        assert linking.wait().code == 0
        chat.say("hi there")
        chat.wait_for("任务完成")
        assert "hi there" in coder.run("sessions").out
        parked = coder.run("-p", "ask me", "--unattended", "park")
        assert parked.code == 5
        card = chat.wait_for("Which name?")
        assert "ask me" in card.text
        assert was_taken(chat.click(card, "提交", form={"q0_other": "Anne"}))
        chat.wait(lambda: read_card(card.card).title == "已回复")
        (session,) = [line for line in coder.run("sessions").out.splitlines() if "ask me" in line]
        assert session


def _echo_or_clean(history: History) -> Answer:
    said = history[-1].text
    return says(f"echo {said}") if "hello" in str(said) else _clean(history)


def test_two_hundred_chats_at_once(feishu: FakeFeishu, coder_on: CoderOn, serve: Serve) -> None:
    """Each gets its answer, each turn ends, and nothing is shown twice or in the wrong chat. Somebody who clicks
    meanwhile is answered while the platform waits."""
    coder = coder_on(serve(by_history(_echo_or_clean)))
    configure(coder, feishu)
    chats = [feishu.person(f"ou_{number}").chat for number in range(200)]
    clicking = feishu.person("ou_clicks").chat
    with running_bot(coder, feishu):
        clicking.say("clean up")
        confirm = clicking.wait_for("请确认")
        threads = [threading.Thread(target=chat.say, args=(f"hello {number}",)) for number, chat in enumerate(chats)]
        for thread in threads:
            thread.start()
        assert was_taken(clicking.click(confirm, "确认"))
        for thread in threads:
            thread.join()
        for number, chat in enumerate(chats):
            chat.wait(lambda chat=chat: _titles(chat) == ["正在执行任务...", "任务完成"])
            chat.wait(lambda chat=chat, number=number: f"hello {number}" in chat.messages[0].text)
        clicking.wait_for("任务完成")
