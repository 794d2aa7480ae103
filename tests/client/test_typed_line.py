"""What a line typed by a person is (C-01)."""

import pytest

from coderelay.client.typed_line import PromptToSend, ShellLine, Slash, classify

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("build it", PromptToSend("build it")),
        ("  build it\n", PromptToSend("build it")),
        ("", PromptToSend("")),
        (" \t\n", PromptToSend("")),
        ("what does ! do", PromptToSend("what does ! do")),
        ("a/b is wrong", PromptToSend("a/b is wrong")),
        ("first\n/second", PromptToSend("first\n/second")),
        ("!ls -l", ShellLine("ls -l")),
        ("  ! ls -l ", ShellLine("ls -l")),
        ("!", ShellLine("")),
        ("!/bin/ls", ShellLine("/bin/ls")),
        ("/help", Slash("help")),
        ("  /mode  plan ", Slash("mode", "plan")),
        ("/resume 1 2", Slash("resume", "1 2")),
        ("/mode\tplan", Slash("mode", "plan")),
        ("/compact\nkeep the plan\nand the names", Slash("compact", "keep the plan\nand the names")),
        ("/", Slash("")),
        ("//review now", Slash("/review", "now")),
        ("/!ls", Slash("!ls")),
    ],
)
def test_c01_the_first_sign_decides(line: str, what: ShellLine | Slash | PromptToSend) -> None:
    assert classify(line) == what
