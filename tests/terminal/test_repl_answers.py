"""Saying something and reading the answer, at a terminal."""

import re
from collections.abc import Callable

from wcwidth import wcswidth

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, call, hangs, proposes, says, script
from tests.terminal.pty import Seen, at_terminal
from tests.terminal.repl import BUSY, asked, check_looks, is_idle, repl, settle, status_of, works

CoderOn = Callable[[ModelServerThread], Coder]

_OTHER_SCREEN = (b"\x1b[?1049h", b"\x1b[?47h", b"\x1b[?1047h")


def test_c04_c14_two_lines_of_prompt_and_a_conversation_in_the_scrollback(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("Hello **you**.\n\n- one\n- two"), says("bye")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        first = terminal.seen
        assert re.match(r"[\d,]+ tokens · openai:scripted\b", status_of(first)), first.text
        assert re.fullmatch(r"\S*work default ❯", first.cursor_row), first.text
        terminal.enter("hi")
        settle(terminal, "two")
        terminal.enter("see you")
        settle(terminal, "bye")
        check_looks("conversation", terminal, coder, turns=2)
        terminal.press("c-d")
        assert terminal.wait() == 0
        after = terminal.everything
    assert after.count("Hello you.") == 1, "what was said stays when the program has gone"
    assert not any(each in terminal.raw for each in _OTHER_SCREEN)
    assert asked(server) == ["hi", "see you"]


def test_c36_thinking_is_shown_in_full(serve: Serve, coder_on: CoderOn) -> None:
    thought = " ".join(f"reason{number}" for number in range(300))
    with repl(coder_on(serve(script(says("done", thinking=thought))))) as terminal:
        terminal.enter("think")
        seen = settle(terminal, "done")
    assert re.findall(r"reason\d+", seen.all_text) == thought.split()


def test_what_is_written_is_seen_while_it_is_written(serve: Serve, coder_on: CoderOn) -> None:
    text = "A first paragraph.\n\nAnd a second one that does not"
    with repl(coder_on(serve(script(hangs(says(text + " end"), 1 + len(text.split())))))) as terminal:
        terminal.enter("go")
        seen = works(terminal, "And a second one that does not")
        assert seen.all_text.count("A first paragraph.") == 1
        assert seen.all_text.count("And a second one") == 1


def test_what_was_seen_does_not_vanish_on_its_way_to_the_scrollback(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script(hangs(says("one two three"), 3))))) as terminal:
        terminal.enter("go")
        works(terminal, "one two")
        terminal.press("escape")
        frames = list[bool]()
        terminal.wait_until(
            lambda seen: frames.append("one two" in seen.all_text) or "stopped" in seen.text, "the end"
        )
    assert all(frames), "each time something was drawn"


def test_c04_each_line_of_20000_tokens_once_and_in_order(serve: Serve, coder_on: CoderOn) -> None:
    lines = [f"line {number} of it" for number in range(5000)]
    with repl(coder_on(serve(script(says("\n\n".join(lines)))))) as terminal:
        terminal.enter("go")
        seen = settle(terminal, lines[-1])
    assert [line.strip() for line in seen.everything if re.search(r"line \d+ of it", line)] == lines


def test_each_line_of_long_code_once_and_in_order(serve: Serve, coder_on: CoderOn) -> None:
    code = [f"print({number})" for number in range(2000)]
    with repl(coder_on(serve(script(says("```python\n" + "\n".join(code) + "\n```\n\nthere"))))) as terminal:
        terminal.enter("go")
        seen = settle(terminal, "there")
    assert [line.strip() for line in seen.everything if "print(" in line] == code


def test_wide_characters_stand_in_columns(serve: Serve, coder_on: CoderOn) -> None:
    table = "| 名称 | 值 |\n| --- | --- |\n| 模式 | 默认 |\n| mode | default |\n\n完成了 ✅"
    server = serve(script(says(table)))
    with repl(coder_on(server), columns=60) as terminal:
        terminal.type("请改成中文")
        seen = terminal.wait_until(lambda seen: "❯ 请改成中文" in seen.cursor_row, "what was typed")
        assert seen.cursor[0] == len(seen.cursor_row) + 5, "the cursor stands behind it"
        terminal.press("left", "backspace")
        terminal.wait_until(lambda seen: "❯ 请改成文" in seen.cursor_row, "one character less")
        terminal.press("enter")
        seen = settle(terminal, "完成了 ✅")
    rows = [row for row in seen.rows if any(word in row for word in ("名称", "模式", "mode "))]
    values = ("值", "默认", "default")
    columns = [_column(row, value) for row, value in zip(rows[-3:], values, strict=True)]
    assert len(set(columns)) == 1, seen.text
    assert asked(server) == ["请改成文"]


def test_another_size_in_mid_stream_leaves_nothing_behind(serve: Serve, coder_on: CoderOn) -> None:
    lines = [
        f"This is line {number:03} of an answer that is somewhat longer than the window." for number in range(60)
    ]
    text = "\n\n".join(lines)
    with repl(coder_on(serve(script(hangs(says(text), 14 * 40), says("again"))))) as terminal:
        terminal.enter("go")
        works(terminal, "line 039 of an answer that is somewhat longer than the")
        for columns, rows in ((60, 20), (110, 35), (41, 12), (100, 30)):
            terminal.resize(columns, rows)
            seen = terminal.wait_until(_drawn_for(columns), f"a prompt in {columns} columns")
            assert seen.all_text.count("This is line 039") == 1, seen.text
        terminal.press("escape")
        terminal.wait_until(is_idle, "the end of the turn")
        terminal.enter("more")
        seen = settle(terminal, "again")
    whole = " ".join(line.strip() for line in seen.everything)
    assert re.findall(r"This is line (\d+)", whole) == [f"{number:03}" for number in range(40)], seen.all_text
    assert sum("tokens ·" in line for line in seen.everything) == 1, seen.all_text
    assert sum("Esc stops" in line for line in seen.everything) == 0, seen.all_text


def test_c14_todos_appear_in_the_flow(serve: Serve, coder_on: CoderOn) -> None:
    items = [
        {"content": "read the file", "status": "completed"},
        {"content": "change it", "status": "in_progress"},
        {"content": "tell", "status": "pending"},
    ]
    coder = coder_on(serve(script(proposes(call("todo", items=items)), says("on my way"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        seen = settle(terminal, "on my way")
        check_looks("todos", terminal, coder)
    for each in items:
        assert str(each["content"]) in seen.all_text


def test_chinese_by_locale(serve: Serve, coder_on: CoderOn) -> None:
    env = {"CODER_LANG": "", "LANG": "zh_CN.UTF-8"}
    with at_terminal(coder_on(serve(script(says("好")))), env=env) as terminal:
        terminal.wait_until(lambda seen: "openai:scripted" in status_of(seen), "the prompt")
        terminal.enter("/frobnicate")
        terminal.wait_until(
            lambda seen: re.search(r"/frobnicate", seen.text) and "未知命令" in seen.text, "in Chinese"
        )


def _column(row: str, text: str) -> int:
    return wcswidth(row[: row.index(text)])


def _drawn_for(columns: int) -> Callable[[Seen], bool]:
    """The status is cut where there is little room, and whole where there is much."""
    return lambda seen: BUSY in status_of(seen) and ("…" in status_of(seen)) == (columns < 80)
