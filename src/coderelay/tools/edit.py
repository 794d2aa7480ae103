"""The `edit` tool: replaces a text that occurs exactly once in a file, or all of its occurrences."""

import re

from msgspec import Struct

from coderelay.policy.secrets.masking import MARKER
from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.tools.editing.edit_need import need_of
from coderelay.tools.editing.file_changes import (
    FileEdit,
    check_known,
    current_content,
    current_on_disk,
    make,
    summary_of,
    without_hidden_quotations,
)
from coderelay.tools.editing.text_encoding import PlainLines, lines_of, text_file
from coderelay.workspace.files.confined_files import FileContent
from coderelay.workspace.workspace import Workspace

_LISTED = 5
_NUMBERED = r"(?m)^ *\d+\t"


class EditArguments(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    old: str
    new: str
    all: bool = False


class Edit:
    spec = ToolSpec(
        name="edit",
        kind="edit",
        description="Replace text in a file. `old` must be in it exactly once, blanks included; "
        "give enough lines around the place to make it so, without the line numbers of read.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "relative to the workspace"},
                "old": {"type": "string", "description": "text that is in the file now"},
                "new": {"type": "string", "description": "text to put in its place"},
                "all": {"type": "boolean", "description": "replace it wherever it is"},
            },
            "required": ["path", "old", "new"],
            "additionalProperties": False,
        },
        external_name="Edit",
        external_arguments={"path": "file_path", "old": "old_string", "new": "new_string", "all": "replace_all"},
        covered_by=("multiedit",),
        rule_target="path",
        headline="path",
        chinese="替换文件中的文本。",
        chinese_results={
            "{path} does not exist; use write to create it": "{path} 不存在；请用 write 创建",
            "old is empty; use write to replace {path} whole": "old 为空；如要替换整个 {path}，请用 write",
            "old and new are the same, so nothing would change": "old 与 new 相同，不会有任何改动",
            "the text to replace is in {path} {count} times (lines {lines}); add lines around the one you mean, or "
            "use all=true for every one": (
                "old 在 {path} 中出现 {count} 次（第 {lines} 行）；请给出更多上下文，或用 all=true 全部替换"
            ),
            "the text to replace is not in {path}; {rest}": "{path} 中没有 old；{rest}",
            "nothing in the file is similar; read the file again": "文件中也没有相近的内容；请重新读取",
            "the nearest place is {rest}:": "最接近的是{rest}：",
            "the text to replace is not in {path}: it begins with the line numbers of read; leave them out": (
                "{path} 中没有 old：它带有 read 的行号；请去掉行号"
            ),
        },
    )
    arguments = EditArguments

    def need(self, arguments: EditArguments, workspace: Workspace) -> Need:
        def work_out() -> list[FileEdit]:
            return [_change(arguments, current_on_disk(arguments.path, workspace), workspace)[0]]

        return need_of("edit", [arguments.path], work_out, workspace)

    async def run(self, arguments: EditArguments, workspace: Workspace) -> Finished:
        change, places = _change(arguments, await current_content(arguments.path, workspace), workspace)
        shown = workspace.disk.relative(change.path)
        tally = summary_of([change])
        seen = await make([change], workspace)
        where = f" in {places} places" if places > 1 else ""
        return Finished(f"edited {shown}{where} ({tally})", tally, seen=seen)


def _change(arguments: EditArguments, before: FileContent | None, workspace: Workspace) -> tuple[FileEdit, int]:
    """Return the change of the file, and in how many places it is changed."""
    path = workspace.disk.locate(arguments.path)
    shown = workspace.disk.relative(path)
    if before is None:
        raise ToolFailed(say("{path} does not exist; use write to create it", path=shown))
    if not arguments.old:
        raise ToolFailed(say("old is empty; use write to replace {path} whole", path=shown))
    check_known(path, before, workspace)
    file = text_file(before.data)
    if file is None:
        raise ToolFailed(say("{path} is a binary file", path=shown))
    with without_hidden_quotations(path, workspace):
        text, places = replaced(file.text, arguments, shown)
    try:
        return FileEdit(path, before, file.encode(text)), places
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise ToolFailed(
            say(
                "{path} is {encoding}, which has no {character}",
                path=shown,
                encoding=file.note,
                character=repr(character),
            )
        ) from error


def replaced(text: str, arguments: EditArguments, shown: str) -> tuple[str, int]:
    """Return the text after the replacement, and the number of places replaced. Line endings (LF or CRLF) stay as
    they are in each place."""
    plain = PlainLines(text)
    old = arguments.old if arguments.old in plain.text else arguments.old.replace("\r\n", "\n")
    if old == arguments.new:
        raise ToolFailed("old and new are the same, so nothing would change")
    places = _places(plain.text, old, arguments.all)
    if not places:
        raise _not_found(plain.text, old, shown)
    if len(places) > 1 and not arguments.all:
        lines = [plain.text.count("\n", 0, at) + 1 for at in places[:_LISTED]]
        listed = ", ".join(map(str, lines)) + (", …" if len(places) > _LISTED else "")
        raise ToolFailed(
            say(
                "the text to replace is in {path} {count} times (lines {lines}); add lines around the one you mean, "
                "or use all=true for every one",
                path=shown,
                count=len(places),
                lines=listed,
            )
        )
    pieces: list[str] = []
    done = 0
    for at in places:
        pieces += [text[done : plain.place(at)], plain.with_line_endings_of(arguments.new, at, at + len(old))]
        done = plain.place(at + len(old))
    return "".join([*pieces, text[done:]]), len(places)


def _places(text: str, old: str, apart: bool) -> list[int]:
    """Return the offsets of `old`. Overlapping occurrences count separately, unless all are to be replaced
    (`apart`)."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + (len(old) if apart else 1))
    return places


def _not_found(text: str, old: str, shown: str) -> ToolFailed:
    if re.search(MARKER, old):
        return ToolFailed(
            say(
                "the text to replace is not in {path}: what is hidden there is a secret; choose lines without one",
                path=shown,
            )
        )
    without_numbers = re.sub(_NUMBERED, "", old)
    if without_numbers != old and without_numbers in text:
        return ToolFailed(
            say(
                "the text to replace is not in {path}: it begins with the line numbers of read; leave them out",
                path=shown,
            )
        )
    from coderelay.tools.editing.closest_match import closest_match  # loaded when a text is not found

    near, detail = closest_match(lines_of(text), lines_of(old))
    return ToolFailed(say("the text to replace is not in {path}; {rest}", path=shown, rest=near), detail=detail)
