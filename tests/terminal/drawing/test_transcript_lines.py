"""The short lines between the long texts; and what none of all this may load."""

import subprocess
import sys

import pytest

from coderelay.client.slash_command_help_and_completion import built_in_help
from coderelay.client.slash_commands import COMMANDS
from coderelay.protocol.events import TurnEnded
from coderelay.protocol.ids import SessionId, TurnId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.usage_and_cost import Usage
from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.diffs import drawn_diff
from coderelay.surfaces.terminal.drawing.prompt_and_note_lines import (
    error_line,
    greeting,
    note,
    plain,
    turn_end,
    user_line,
)
from tests.terminal.drawing.colour_marks import marked

_TURN = TurnId("t")


def test_what_a_person_said() -> None:
    assert marked(user_line("fix it\n\nplease \x1b[2J请", 60)) == "\n⟨36⟩❯ ⟨⟩⟨1⟩fix it⟨⟩\n\n  ⟨1⟩please 请⟨⟩\n"
    assert without_colours(user_line("a long line of words", 12)) == "\n❯ a long\n  line of\n  words\n"


def test_notes_errors_and_answers_of_commands() -> None:
    assert marked(note("queued\x1b[2J\nbehind two", 80)) == "⟨2⟩(queued⟨⟩\n⟨2⟩behind two)⟨⟩\n"
    assert marked(error_line("no such model\ntry /model", 80)) == "⟨31⟩✗ no such model⟨⟩\n⟨31⟩  try /model⟨⟩\n"
    assert plain("a\n  b\x1b[31m\n", 80) == "a\n  b\n"


def test_notes_errors_and_answers_do_not_break_in_the_middle_of_a_word() -> None:
    assert without_colours(note("the server is busy; trying again", 20)) == "(the server is busy;\ntrying again)\n"
    assert without_colours(error_line("there is no such model\nat all", 16)) == (
        "✗ there is no\n  such model\n  at all\n"
    )
    assert plain("one two three\n\n  four five six", 10) == "one two\nthree\n\n  four\n  five six\n"
    assert plain("说明文字很长。需要换行", 12) == "说明文字很\n长。需要换行\n"


def test_c30_the_descriptions_of_a_table_stay_in_their_column() -> None:
    told = "  /tools [A|B]  what the agent can do\n  /x            more\nread  edit  changes files and folders"
    assert plain(told, 30) == (
        "  /tools [A|B]  what the agent\n                can do\n  /x            more\n"
        "read  edit  changes files and\n            folders\n"
    )
    assert plain("a path that is long and  wide", 20) == "a path that is long\nand  wide\n", (
        "no column, but a blank too much"
    )


@pytest.mark.parametrize("width", [60, 80, 100])
def test_c30_help_is_broken_between_words_only(width: int) -> None:
    shown = plain(built_in_help(COMMANDS), width)
    assert shown.split() == built_in_help(COMMANDS).split()
    assert max(map(len, shown.splitlines())) <= width


def test_how_a_turn_ended() -> None:
    usage = Usage(input_tokens=12_672, output_tokens=1204)
    done = TurnEnded(turn_id=_TURN, ending="done", usage=usage, steps=3, ms=12_345, cost=0.0123)
    assert marked(turn_end(done, 80)) == ("\n⟨32⟩✓⟨⟩⟨2⟩ 12.3s · 3 steps · 12,672 tokens in, 1,204 out · $0.0123⟨⟩\n")
    failed = TurnEnded(turn_id=_TURN, ending="failed", error="the provider\x1b[2J said no", ms=45)
    assert marked(turn_end(failed, 80)) == "\n⟨31⟩✗ the provider said no⟨⟩\n⟨31⟩✗⟨⟩⟨2⟩ failed · 45ms⟨⟩\n"
    stopped = TurnEnded(turn_id=_TURN, ending="stopped", ms=450_000)
    assert marked(turn_end(stopped, 80)) == "\n⟨33⟩■⟨⟩⟨2⟩ stopped · 7m 30s⟨⟩\n"


def test_the_greeting() -> None:
    row = Summary(SessionId("s1"), "/w", "native", "scripted:one", "default", 0, 0)
    assert without_colours(greeting(row, "bubblewrap", 80, "1.0")) == (
        "coder 1.0 · scripted:one · default · sandbox: bubblewrap\n/w\nsession s1 · /help lists all commands\n"
    )


def test_c29_a_diff_of_several_files() -> None:
    diff = (
        "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n"
        "--- a/old.py\n+++ b/new.py\n@@ -9,2 +9 @@ def f():\n--- a line that looks like a heading\n \tx\u202e\n"
        "@@ -20,0 +20 @@\n+++ another\n"
        "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n\\ No newline at end of file\n"
        "Binary files a/p.png and b/p.png differ\n… (12 more lines)\n"
    )
    assert [without_colours(line) for line in drawn_diff(diff, 60)] == [
        "rename from old.py",
        "rename to new.py",
        "old.py → new.py  +1 −1",
        " 9 - -- a line that looks like a heading",
        " 9       x\\u202e",
        "   ⋮",
        "20 + ++ another",
        "gone.txt (deleted)  +0 −1",
        "1 - bye",
        "\\ No newline at end of file",
        "Binary files a/p.png and b/p.png differ",
        "… (12 more lines)",
    ]


def test_no_heavy_library_is_loaded_before_the_first_text() -> None:
    modules = [
        "coderelay.surfaces.terminal.drawing.asks",
        "coderelay.surfaces.terminal.drawing.calls",
        "coderelay.surfaces.terminal.drawing.markdown_stream",
        "coderelay.surfaces.terminal.drawing.prompt_and_note_lines",
        "coderelay.surfaces.terminal.drawing.sanitizing",
        "coderelay.surfaces.terminal.drawing.thinking_stream",
    ]
    imports = "".join(f"import {each}\n" for each in modules)
    script = f"import sys\n{imports}print({{'rich', 'pygments', 'markdown_it', 'prompt_toolkit'}} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "set()\n"
    )
