"""What goes on is told as it is: subagents, compaction, commands in the background, leaving."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.protocol.asks import By
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import MessageId, TurnId
from coderelay.protocol.live_updates import TextDelta
from coderelay.protocol.message_content import Text
from coderelay.surfaces.terminal.plain_renderer import PlainRenderer
from tests.children.conversations import conversations, task
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, by_history, call, proposes, read, says, script
from tests.patience import PATIENCE
from tests.terminal.pty import at_terminal
from tests.terminal.repl import asked, repl, settle, status_of, works

CoderOn = Callable[[ModelServerThread], Coder]


def test_c36_subagents_show_what_they_do(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    os.mkfifo(folder / "held")
    (folder / "a.txt").write_text("hello\n")
    child = [
        proposes(read("a.txt"), text="I read *it* first."),
        proposes(bash("cat held")),
        says("It says hello."),
    ]
    answers = conversations([proposes(task("look at a.txt", "look at it")), says("all done")], {"look at it": child})
    with repl(coder_on(serve(by_history(answers)))) as terminal:
        terminal.enter("go")
        seen = terminal.wait_until(lambda seen: re.search(r"(?m)^  ↳ bash  cat held \d+s$", seen.text), "at work")
        assert "  ↳ look at a.txt  I read *it* first." in seen.everything
        assert re.search(r"(?m)^  ↳ look at a\.txt  read  a\.txt  ✓ .*1 line$", seen.all_text)
        (folder / "held").write_text("go on\n")
        seen = settle(terminal, "all done")
        assert re.search(r"(?m)^  ↳ look at a\.txt  bash  cat held  ✓ ", seen.all_text)
        assert "│ It says hello." in seen.everything


def test_c11_compact_says_what_it_freed_and_sums_up_what_is_long(serve: Serve, coder_on: CoderOn) -> None:
    long = proposes(bash("seq 100000 105000"))
    server = serve(script(says("hi"), long, says("counted"), says("They counted to 105000."), says("so what")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("hello")
        settle(terminal, "hi")
        terminal.enter("count")
        settle(terminal, "counted")
        terminal.enter("/compact")
        seen = settle(terminal, "freed")
        found = re.search(r"context compacted: ([\d,]+) → about ([\d,]+) tokens, ([\d,]+) freed", seen.all_text)
        assert found is not None
        before, after, freed = (int(each.replace(",", "")) for each in found.groups())
        assert before - after == freed
        assert freed > 5_000
        assert "the conversation is long" not in seen.all_text
        terminal.enter("and?")
        settle(terminal, "so what")
    assert asked(server)[-1] == "and?"
    sent = str(server.requests[-1])
    assert "They counted to 105000." in sent
    assert "102500" not in sent, "the long output is no part of the context any more"


def test_what_was_left_running_is_not_counted_after_it_was_stopped(serve: Serve, coder_on: CoderOn) -> None:
    left = call("bash", command="sleep 1000", background=True)
    with repl(coder_on(serve(script(proposes(left), says("it runs")))), "--mode", "yolo") as terminal:
        terminal.enter("go")
        settle(terminal, "it runs")
        terminal.wait_until(lambda seen: "background commands: 1" in status_of(seen), "the count")
        terminal.enter("/ps stop 1")
        terminal.wait_until(lambda seen: "background commands" not in status_of(seen), "no count")


def test_quit_that_is_typed_ahead_leaves_at_once(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    work = proposes(bash("touch began; sleep 1000"))
    coder = coder_on(serve(script(work, work, says("never"))))  # the first process may or may not get to ask
    with at_terminal(coder, "--mode", "yolo") as terminal:
        terminal.enter("go")
        terminal.enter("/quit")
        assert terminal.wait(PATIENCE) == 0
    with repl(coder, "--mode", "yolo") as terminal:
        terminal.enter("go")
        works(terminal, "touch began")
        terminal.enter("/quit")
        assert terminal.wait(PATIENCE) == 0


def test_the_output_of_a_command_waits_for_the_end_of_a_streamed_line(capsys: pytest.CaptureFixture[str]) -> None:
    renderer, message = PlainRenderer(By("anne", "test")), MessageId("m")
    renderer.tell_live(TextDelta(message, "one "))
    renderer.write_between("told\n")
    assert capsys.readouterr().out == "one "
    renderer.tell_live(TextDelta(message, "two\nthree "))
    assert capsys.readouterr().out == "two\ntold\nthree "
    renderer.write_between("told again\n")
    whole = MessageAdded(message_id=message, turn_id=TurnId("t"), model="m", blocks=(Text("one two\nthree "),))
    renderer.tell(whole)
    renderer.write_between("told at once\n")
    assert capsys.readouterr().out == "\ntold again\ntold at once\n"
