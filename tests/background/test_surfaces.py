"""Commands in the background where people are: at the terminal, and from another one."""

import re
from collections.abc import Callable

from tests.background.background_commands import in_background
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.crash.journey import wait_until
from tests.model_server import ModelServerThread, proposes, says, script
from tests.plain_terminal import terminal

CoderOn = Callable[[ModelServerThread], Coder]


def test_d17_ps_lists_and_stops_them_and_sessions_show_lists_them_too(serve: Serve, coder_on: CoderOn) -> None:
    steps = [proposes(in_background("sleep 600"), in_background("sleep 601")), says("started")]
    coder = coder_on(serve(script(*steps)))
    with terminal(coder, "--mode", "yolo") as screen:
        screen.wait_for("> ")
        screen.type("/ps\n")
        screen.wait_for("no background commands\n> ")
        screen.type("go\n")
        screen.wait_for("started\n> ")
        screen.type("/ps\n")
        told = screen.wait_for("601  · running since ")
        assert re.search(r"1\. sleep 600  · running since \d\d:\d\d:\d\d\n2\. sleep 601", told)
        screen.wait_for("\n> ")
        session = coder.run("sessions").out.split()[0]
        shown = coder.run("sessions", "show", session).out
        assert re.findall(r"^background  (\d)\. (sleep \d+)  · running since", shown, re.MULTILINE) == [
            ("1", "sleep 600"),
            ("2", "sleep 601"),
        ]
        screen.type("/ps stop 1\n")
        screen.wait_for("(stopping background command 1)\n> ")
        screen.type("/ps stop 3\n")
        screen.wait_for("no background command 3; ")
        screen.wait_for("\n> ")
        screen.type("/ps now\n")
        screen.wait_for("usage: /ps [stop N]: list the background commands, or stop one\n> ")
        shows = lambda: "was stopped by" in coder.run("sessions", "show", session).out  # noqa: E731
        assert wait_until(shows, else_return=lambda: ["it is not stopped"]) == []
    shown = coder.run("sessions", "show", session).out
    ends = re.findall(r"^background  (\d)\. sleep \d+  · (.*)$", shown, re.MULTILINE)
    assert [(number, re.sub(r"by \w+", "by somebody", how)) for number, how in ends] == [
        ("1", "was stopped by somebody (terminal)"),
        ("2", "ended because the process that ran it ended"),
    ]
