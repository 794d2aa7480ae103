"""The file tools in a session: what people are shown, what the log remembers, what an editor lends."""

from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, Deny, PermissionAsk
from coderelay.protocol.calls import Failed, Finished, one_line
from coderelay.protocol.events import CallEnded
from coderelay.workspace.files.disk_or_editor_files import DiskOrEditorFiles
from tests.house import InHouse, house, story
from tests.model_server import call, proposes, read, says, script, write
from tests.tools.toolbox_scene import contents, lay_out, scene

pytestmark = pytest.mark.quick


async def outcomes(coder: InHouse) -> list[str]:
    """How each call ended, as people see it."""
    ends = [each.event for each in await coder.events() if isinstance(each.event, CallEnded)]
    return [one_line(end.outcome) for end in ends]


@story
async def test_c36_d15_people_see_the_diff_of_an_edit_before_it_happens(tmp_path: Path) -> None:
    edit = call("edit", path="f.py", old="1", new="2")
    patch = call("patch", patch="*** Begin Patch\n*** Add File: g\n+x\n*** Delete File: f.py\n*** End Patch")
    async with house(tmp_path, script(proposes(edit, patch), says("done"))) as coder:
        lay_out(coder.folder, {"f.py": "x = 1\n"})
        await coder.create("default")
        await coder.prompt("go")
        asks = await coder.asks()
        assert [ask.need.diff for ask in asks if isinstance(ask, PermissionAsk)] == [
            "--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n",
            "--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n--- a/f.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n",
        ]
        assert contents(coder.folder) == {"f.py": b"x = 1\n"}
        await coder.answer(asks[0], Allow())
        await coder.answer(asks[1], Deny())
        await coder.ended()
        assert (await outcomes(coder))[0] == "+1 -1"
        assert {name: data for name, data in contents(coder.folder).items() if name[0] != "."} == {"f.py": b"x = 2\n"}


@story
async def test_d14_a_call_that_cannot_work_is_not_asked_about(tmp_path: Path) -> None:
    edit = call("edit", path="f.py", old="nowhere", new="2")
    async with house(tmp_path, script(proposes(edit), says("sorry"))) as coder:
        lay_out(coder.folder, {"f.py": "x = 1\n"})
        await coder.create("default")
        await coder.prompt("go")
        await coder.ended()
        assert await outcomes(coder) == [
            "the text to replace is not in f.py; nothing in the file is similar; read the file again"
        ]


@story
async def test_what_was_read_in_one_turn_and_process_may_be_written_in_another(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(read("f")), says("a"))) as coder:
        lay_out(coder.folder, {"f": "1\n"})
        await coder.prompt("first")
        await coder.ended()
        session = coder.session
    async with house(tmp_path, script(proposes(write("f", "2\n")), proposes(write("f", "3\n")), says("b"))) as later:
        await later.open(session)
        await later.prompt("second")
        await later.ended(turns=2)
        assert await outcomes(later) == ["1 line", "+1 -1", "+1 -1"]
        assert (later.folder / "f").read_text() == "3\n"


@story
async def test_a_file_that_the_person_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    steps = [proposes(read("f")), proposes(write("f", "2\n")), says("sorry")]
    async with house(tmp_path, script(*steps)) as coder:
        lay_out(coder.folder, {"f": "1\n"})
        await coder.create("default")
        await coder.prompt("go")
        [ask] = await coder.asks()
        lay_out(coder.folder, {"f": "1\nmine\n"})
        await coder.answer(ask, Allow())
        await coder.ended()
        last = [each.event.outcome for each in await coder.events() if isinstance(each.event, CallEnded)][-1]
        assert isinstance(last, Failed)
        assert last.message.startswith("f has changed since you read it:")
        assert (coder.folder / "f").read_text() == "1\nmine\n"


class OpenFiles:
    """An editor with unsaved text."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    async def read_text(self, path: str) -> str | None:
        return self.texts.get(Path(path).name)

    async def write_text(self, path: str, text: str) -> bool:
        if Path(path).name not in self.texts:
            return False
        self.texts[Path(path).name] = text
        return True


@story
async def test_the_text_in_an_editor_is_what_is_read_and_changed(tmp_path: Path) -> None:
    lay_out(tmp_path, {"f": "saved\n", "g": "1\n"})
    editor = OpenFiles(f="typed\n")
    async with scene(tmp_path) as here:
        here.workspace.files = DiskOrEditorFiles(here.workspace.disk, editor)
        assert await here.run("read", path="f") == "1\ttyped"
        assert here.need("edit", path="f", old="typed", new="changed").problem is None
        outcome = await here.outcome("edit", path="f", old="typed", new="changed")
        assert isinstance(outcome, Finished), outcome
        assert await here.run("edit", path="g", old="1", new="2") == "edited g (+1 -1)"
    assert (editor.texts, contents(tmp_path)) == ({"f": "changed\n"}, {"f": b"saved\n", "g": b"2\n"})
