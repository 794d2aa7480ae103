from coderelay.surfaces.terminal.drawing.syntax_highlighting import CodeHighlighter, drawn_code
from tests.terminal.drawing.colour_marks import marked


def shown(text: str, language: str) -> list[str]:
    return [marked(line) for line in drawn_code(text, language)]


def test_a_string_of_several_lines_goes_on_in_the_next() -> None:
    assert shown('x = """a\ndef b\n""" + 1', "python") == ['x = ⟨32⟩"""a⟨⟩', "⟨32⟩def b⟨⟩", '⟨32⟩"""⟨⟩ + ⟨36⟩1⟨⟩']


def test_a_comment_of_several_lines_goes_on_in_the_next() -> None:
    assert shown("/* a\n int b;\n*/ int c;", "c") == ["⟨2⟩/* a⟨⟩", "⟨2⟩ int b;⟨⟩", "⟨2⟩*/⟨⟩ ⟨36⟩int⟨⟩ c;"]


def test_languages_without_such_a_state() -> None:
    assert shown('{"a": 1}', "json") == ['{⟨34⟩"a"⟨⟩: ⟨36⟩1⟨⟩}']
    assert shown("-old\n+new", "diff") == ["⟨31⟩-old⟨⟩", "⟨32⟩+new⟨⟩"]


def test_what_nobody_knows_has_one_colour() -> None:
    assert shown("x = 1", "") == shown("x = 1", "no such language") == ["⟨36⟩x = 1⟨⟩"]
    assert shown("x = 1", "{.python title=a.py}") == ["x = ⟨36⟩1⟨⟩"]


def test_a_look_at_half_a_line_changes_nothing() -> None:
    code = CodeHighlighter("python")
    code.draw('x = """')
    assert code.preview('a""') == code.preview('a""')
    assert marked(code.preview('a""" + 1')) == '⟨32⟩a"""⟨⟩ + ⟨36⟩1⟨⟩'
    assert marked(code.draw("b")) == "⟨32⟩b⟨⟩"


def test_code_cannot_act_on_the_terminal() -> None:
    assert shown("a\x1b[2J\u202e", "") == ["⟨36⟩a\\x1b[2J\\u202e⟨⟩"]
    assert shown('"\u202e"', "python") == ['⟨32⟩"\\u202e"⟨⟩']
