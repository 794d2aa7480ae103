"""What the guide understands, by table: the first step of each prompt, in both languages."""

import pytest

from coderelay.agents.guide.intents import script_for
from coderelay.agents.guide.replies import GuideReplies
from coderelay.agents.guide.tool_call_scripts import Proposal, replay


def _first(text: str) -> Proposal | str | None:
    return replay(script_for(text, GuideReplies(text, list)), [])


def _bash(command: str) -> Proposal:
    return Proposal("bash", {"command": command})


def _read(path: str) -> Proposal:
    return Proposal("read", {"path": path})


LIST, STATUS, DIFF = _bash("ls -Ap -- ."), _bash("git status --short --branch"), _bash("git diff HEAD --stat --patch")
FIND = "find {} -name .git -prune -o -iname {} -print | head -n 200"
GREP = "grep -rnIF --exclude-dir=.git -e {} -- {} | head -n 200"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("texts", "step"),
    [
        (
            ("list the files", "List files.", "ls", "show me all the files here", "what's in this folder?", "list"),
            LIST,
        ),
        (
            ("please, can you list the files", "请列出当前目录下的文件", "列出文件", "帮我看看目录", "显示所有文件"),
            LIST,
        ),
        (("list the files in src", "ls src", "列出 src 目录下的文件", "查看 src 里的文件"), _bash("ls -Ap -- src")),
        (("list files in ..",), _bash("ls -Ap -- ..")),
        (("find *.py", "find all *.py files", "查找 *.py 文件", "找 *.py"), _bash(FIND.format(".", "'*.py'"))),
        (("find the file setup", "find files named setup"), _bash(FIND.format(".", "'*setup*'"))),
        (("find *.py in src",), _bash(FIND.format("./src", "'*.py'"))),
        (
            ("search for TODO", "grep TODO", "look for TODO!", "搜索 TODO", "检索一下 TODO。"),
            _bash(GREP.format("TODO", ".")),
        ),
        (("search the code for 'a b' in src", "在 src 中搜索 “a b”"), _bash(GREP.format("'a b'", "src"))),
        (
            ("read a.py", "cat a.py", "show me the file a.py", "open `a.py`", "读取 a.py", "打开文件 a.py"),
            _read("a.py"),
        ),
        (("看看 a.py 的内容", "Read a.py."), _read("a.py")),
        (("outline the readme", "summarize the README", "概述 README", "总结一下readme.md"), _read("README.md")),
        (
            ("run the tests", "run all tests!", "execute the test suite", "运行测试", "跑一下所有测试"),
            _read("Makefile"),
        ),
        (("git status", "show me the git status", "status", "git 状态", "查看仓库状态"), STATUS),
        (("git diff", "show the diff", "what changed?", "show my changes", "查看改动", "改了什么？"), DIFF),
        (("create file a.txt with hello", "make a new file called a.txt: hello"), _read("a.txt")),
        (("write hello to a.txt", "新建文件 a.txt，内容为 hello", "把 hello 写入 a.txt"), _read("a.txt")),
    ],
)
def test_a_request_and_its_first_call(texts: tuple[str, ...], step: Proposal) -> None:
    assert [_first(text) for text in texts] == [step] * len(texts)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("help", "No model is connected. I am the built-in guide"),
        ("?", "No model is connected. I am the built-in guide"),
        ("Hello!", "No model is connected. I am the built-in guide"),
        ("how do I set up a provider", "No model is connected. Do one of these"),
        ("connect a model", "No model is connected. Do one of these"),
        ("start the web interface", "Commands:"),
        ("which commands are there?", "Commands:\n- `coder`: here, in a terminal\n- `coder web`"),
        ("你好", "尚未连接模型。我是向导"),
        ("怎么配置模型？", "尚未连接模型。请任选一种方式"),
        ("打开网页界面", "此版本的命令："),
    ],
)
def test_what_is_only_told(text: str, begins: str) -> None:
    said = _first(text)
    assert isinstance(said, str)
    assert said.startswith(begins)


@pytest.mark.parametrize(
    "text",
    [
        "fix the bug in parser.py",
        "find the bug in parser.py and fix it",
        "look at this",
        "refactor everything",
        "delete all files",
        "run rm -rf /",
        "read the documentation and then write a parser",
        "list the files; rm -rf /",
        "找到并修复这个错误",
        "写一个解析器",
        "把所有文件删除",
        "🤷",
        "\u202e\x1b[31m",
        "x" * 100_000,
        "use " * 100_000,
        "use " * 999,
        "write " + "a.to a./ to " * 330,
        "find " + "*.? " * 900,
    ],
)
def test_what_is_not_in_the_table_is_asked_about(text: str) -> None:
    """Nothing is done on a guess."""
    step = _first(text)
    assert isinstance(step, Proposal)
    assert step.tool == "ask_user"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("ls $(reboot)", "ls -Ap -- '$(reboot)'"),
        ("ls -la", "ls -Ap -- -la"),
        ("search for '; reboot #", GREP.format("''\"'\"'; reboot #'", ".")),
        ("search for -r", GREP.format("-r", ".")),
        ("find *.py in -delete", FIND.format("./-delete", "'*.py'")),
        ("find *`reboot`*", FIND.format(".", "'*`reboot`*'")),
    ],
)
def test_words_become_one_argument_and_never_a_command(text: str, command: str) -> None:
    assert _first(text) == _bash(command)


def test_what_it_offers_it_understands() -> None:
    """Every example of its help, and every choice of its question."""
    for words, there in ((GuideReplies("", list), "help"), (GuideReplies("帮助", list), "帮助")):
        offered = [line.removeprefix("- ") for line in words.say("help").splitlines()[1:]]
        for text in [*offered, *words.say("choices").split("|"), there]:
            for each in text.replace("，git", ", git").split(", "):
                step = _first(each)
                assert not (isinstance(step, Proposal) and step.tool == "ask_user"), each
