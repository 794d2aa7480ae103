"""The scripts of the guide: generators that yield tool calls one at a time and return the final answer.

A script is sent the state of each call after it has ended. It depends on nothing but its arguments and what it is
sent, so that it can be replayed from the log.
"""

import re
from collections.abc import Generator, Sequence
from shlex import quote

import msgspec
from msgspec import Struct

from coderelay.agents.guide.replies import GuideReplies, Topic
from coderelay.protocol.asks import Answers
from coderelay.protocol.calls import Failed, Finished
from coderelay.session.state import CallState

_READMES = ("README.md", "README.rst", "README.txt", "README")
_TESTS = (  # a file, a pattern that it must contain, and the command that runs the tests then
    ("Makefile", r"^test\s*:", "make test"),
    ("package.json", r'"test"\s*:', "npm test"),
    ("pyproject.toml", r"pytest", "python3 -m pytest -q"),
    ("Cargo.toml", r"", "cargo test"),
    ("go.mod", r"", "go test ./..."),
)
_HEADING = re.compile(r"(#{1,6}) +(.+)")
_QUOTED = re.compile(r"```[^\n]*\n(.*?)\n?```|`([^`]*)`|\"([^\"]*)\"|'([^']*)'|「([^」]*)」|“([^”]*)”", re.DOTALL)


class Proposal(Struct, frozen=True):
    tool: str
    arguments: dict[str, object]


ToolCallScript = Generator[Proposal, CallState, str]


def ask(question: str, *labels: str) -> Generator[Proposal, CallState, str | None]:
    """Ask the person a question. Returns the answer, or None if there was none."""
    asked: dict[str, object] = {"question": question, "options": [{"label": each} for each in labels]}
    call = yield Proposal("ask_user", {"questions": [asked]})
    return call.answer.answers.get(question) if isinstance(call.answer, Answers) else None


def list_files(words: GuideReplies, path: str = ".") -> ToolCallScript:
    return run(words, f"ls -Ap -- {quote(_plain(path))}")


def find_files(words: GuideReplies, name: str, path: str = ".") -> ToolCallScript:
    pattern = _plain(name) if set(name) & set("*?[") else f"*{_plain(name)}*"
    # The leading `./` keeps find from taking the path for an option.
    start = _plain(path) if path.startswith((".", "/")) else f"./{_plain(path)}"
    return run(words, f"find {quote(start)} -name .git -prune -o -iname {quote(pattern)} -print | head -n 200")


def search_text(words: GuideReplies, text: str, path: str = ".") -> ToolCallScript:
    search = f"grep -rnIF --exclude-dir=.git -e {quote(_plain(text))} -- {quote(_plain(path))}"
    return run(words, f"{search} | head -n 200")


def read_file(words: GuideReplies, path: str) -> ToolCallScript:
    return words.outcome_text((yield _read(_plain(path))))


def outline_readme(words: GuideReplies) -> ToolCallScript:
    for path in _READMES:
        call = yield _read(path)
        if not _is_missing(call):
            found = [_HEADING.fullmatch(line) for line in _lines(call)]
            headings = [f"{'  ' * (len(each[1]) - 1)}- {each[2]}" for each in found if each]
            return words.tell("\n".join(headings)) if headings else words.outcome_text(call)
    return words.tell(words.say("no_readme"))


def run_tests(words: GuideReplies) -> ToolCallScript:
    for path, holds, command in _TESTS:
        call = yield _read(path)
        if isinstance(call.outcome, Finished) and re.search(holds, "\n".join(_lines(call)), re.MULTILINE):
            return (yield from run(words, command))
    chosen = yield from ask(words.say("which_tests"), *(command for *_, command in _TESTS))
    return (yield from run(words, chosen)) if chosen else words.tell(words.say("nothing_done"))


def create_file(words: GuideReplies, path: str, content: str | None = None) -> ToolCallScript:
    path = _plain(path)
    content = content or (yield from ask(words.say("which_content", path=path)))
    if content is None:
        return words.tell(words.say("nothing_done"))
    there = yield _read(path)
    if not isinstance(there.outcome, Finished) and not _is_missing(there):
        return words.outcome_text(there)  # the path is a folder, no text file, or outside the workspace
    if not _is_missing(there):
        keep, replace = words.say("keep"), words.say("replace")
        if (yield from ask(words.say("exists", path=path), keep, replace)) != replace:
            return words.tell(words.say("nothing_done"))
    whole = _plain(content).removesuffix("\n") + "\n"
    return words.outcome_text((yield Proposal("write", {"path": path, "content": whole})))


def tell(words: GuideReplies, topic: Topic) -> ToolCallScript:
    yield from ()
    return words.about(topic)


def run(words: GuideReplies, command: str) -> ToolCallScript:
    return words.outcome_text((yield Proposal("bash", {"command": command})))


def _read(path: str) -> Proposal:
    return Proposal("read", {"path": path})


def _is_missing(call: CallState) -> bool:
    """Whether `read` failed because the file does not exist. In doubt, the file counts as existing."""
    return isinstance(call.outcome, Failed) and call.outcome.missing


def _lines(call: CallState) -> list[str]:
    """The lines that `read` returned, without their line numbers."""
    output = call.outcome.output if isinstance(call.outcome, Finished) else ""
    return [line.partition("\t")[2] for line in output.splitlines()]


def _plain(text: str) -> str:
    """The text without the quotes around it."""
    found = _QUOTED.fullmatch(text.strip())
    return next((each for each in found.groups() if each is not None), "") if found else text


def replay(script: ToolCallScript, calls: Sequence[CallState]) -> Proposal | str | None:
    """Replay a script from its beginning with the outcomes of its calls from the log, so that any process can go on
    with it. Returns None if the calls in the log are not those of this script."""
    try:
        proposal = next(script)
        for each in calls:
            if (each.call.name, each.call.arguments) != (proposal.tool, arguments_json(proposal)):
                return None
            proposal = script.send(each)
    except StopIteration as ended:
        return ended.value
    return proposal


def arguments_json(proposal: Proposal) -> str:
    return msgspec.json.encode(proposal.arguments).decode()
