"""Which asks a person has before them, as events come and go."""

from coderelay.protocol.asks import Allow, Ask, By, DenyAndStop, PermissionAsk
from coderelay.protocol.calls import Need
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchOpened,
    Judged,
    Recorded,
    SessionCreated,
    StopRequested,
    TurnEnded,
)
from coderelay.protocol.ids import AskId, CallId, MessageId, SessionId, TurnId
from coderelay.protocol.projected_rows import AskRow
from coderelay.surfaces.terminal.ask_and_prompt_queues import AskQueue, ClosedAsk, DroppedAsks, OpenAsk, OpenedAsk

HERE, CHILD = SessionId("here"), SessionId("child")
ME, OTHER = By("ada", "terminal"), By("bob", "web")


def ask(name: str) -> PermissionAsk:
    return PermissionAsk(AskId(name), CallId(name), Need("bash", "command", name, command=name), "it runs")


def at(event: AnyEvent, session: SessionId = HERE) -> Recorded:
    return Recorded(session, 1, 1, 0, event)


def batch(*asks: Ask) -> BatchOpened:
    judged = tuple(Judged(each.call_id or CallId(""), "ask", ask("x").need, ask=each) for each in asks)
    return BatchOpened(batch_id=MessageId("m"), turn_id=TurnId("t"), judged=judged)


def test_a_batch_is_asked_in_its_order_and_closed_one_by_one() -> None:
    open_asks = AskQueue(HERE)
    one, two = OpenAsk(ask("one"), HERE), OpenAsk(ask("two"), HERE)
    assert open_asks.take(at(batch(one.ask, two.ask))) == OpenedAsk((one, two))
    assert (open_asks.first, open_asks.batch, len(open_asks)) == (one, [one, two], 2)
    answered = AskAnswered(ask_id=AskId("two"), decision=Allow(), by=OTHER)
    assert open_asks.take(at(answered)) == ClosedAsk(two, Allow(), OTHER, was_first=False)
    answered = AskAnswered(ask_id=AskId("one"), decision=Allow(), by=ME)
    assert open_asks.take(at(answered)) == ClosedAsk(one, Allow(), ME, was_first=True)
    assert (open_asks.first, len(open_asks)) == (None, 0)


def test_deny_and_stop_leaves_nothing_of_its_session_to_decide() -> None:
    open_asks = AskQueue(HERE)
    open_asks.take(at(batch(ask("one"), ask("two"))))
    stop = AskAnswered(ask_id=AskId("one"), decision=DenyAndStop(), by=ME)
    assert open_asks.take(at(stop)) == ClosedAsk(OpenAsk(ask("one"), HERE), DenyAndStop(), ME, was_first=True)
    assert len(open_asks) == 0


def test_what_a_stopped_turn_has_asked_is_void() -> None:
    open_asks = AskQueue(HERE)
    open_asks.take(at(batch(ask("one"))))
    assert open_asks.take(at(StopRequested(by=OTHER))) == DroppedAsks((OpenAsk(ask("one"), HERE),))
    assert open_asks.take(at(TurnEnded(turn_id=TurnId("t"), ending="stopped"))) is None


def test_asks_of_a_child_say_what_it_works_on_and_end_with_it() -> None:
    open_asks = AskQueue(HERE)
    born = SessionCreated(cwd="/", agent="native", model="m", mode="default", by=ME, title="look around")
    open_asks.take(at(born, CHILD))
    mine, theirs = OpenAsk(ask("mine"), HERE), OpenAsk(ask("theirs"), CHILD, "look around")
    open_asks.take(at(batch(mine.ask)))
    assert open_asks.take(at(batch(theirs.ask), CHILD)) == OpenedAsk((theirs,))
    assert open_asks.batch == [mine]
    ended = TurnEnded(turn_id=TurnId("t"), ending="done")
    assert open_asks.take(at(ended, CHILD)) == DroppedAsks((theirs,), was_first=False)
    assert open_asks.first == mine


def test_an_ask_that_was_open_before_is_not_asked_twice() -> None:
    open_asks = AskQueue(HERE)
    open_asks.put(AskRow(CHILD, "look around", "/", ask("one"), parent=HERE))
    assert open_asks.first == OpenAsk(ask("one"), CHILD, "look around")
    assert open_asks.take(at(batch(ask("one")), CHILD)) is None
    assert len(open_asks) == 1
