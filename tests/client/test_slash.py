"""What a line typed by a person is (C-01)."""

import pytest

from coderelay.client.slash_line import Prompted, ShellLine, Slash, classify

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("build it", Prompted("build it")),
        ("  build it\n", Prompted("build it")),
        ("", Prompted("")),
        (" \t\n", Prompted("")),
        ("what does ! do", Prompted("what does ! do")),
        ("a/b is wrong", Prompted("a/b is wrong")),
        ("first\n/second", Prompted("first\n/second")),
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
def test_c01_the_first_sign_decides(line: str, what: ShellLine | Slash | Prompted) -> None:
    assert classify(line) == what
