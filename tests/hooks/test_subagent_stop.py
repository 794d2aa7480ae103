"""SubagentStop: the end of a task that an agent of its own works on."""

import json
from pathlib import Path

from tests.children.conversations import conversations, task
from tests.hooks.hook_scripts import configure, hook
from tests.house import house, story
from tests.model_server import by_history, proposes, says


@story
async def test_a26_the_end_of_a_child_is_another_event_than_that_of_its_parent(tmp_path: Path) -> None:
    command = f"cat >> {tmp_path}/heard; echo >> {tmp_path}/heard; "
    more = hook("SubagentStop", f"{command} echo 'look again' >&2; exit 2") | hook("Stop", command)
    configure(tmp_path, more)
    answers = conversations(
        parent=[proposes(task("look", "Look around.")), says("all done")],
        children={"Look around.": [says("nothing"), says("nothing, really")]},
    )
    async with house(tmp_path, by_history(answers)) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).text == "all done"
        heard = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
        assert [(each["hook_event_name"], each["last_assistant_message"]) for each in heard] == [
            ("SubagentStop", "nothing"),
            ("SubagentStop", "nothing, really"),
            ("Stop", "all done"),
        ]
        assert [each.get("parent_session_id") for each in heard] == [coder.session, coder.session, None]
