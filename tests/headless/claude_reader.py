"""What a program made for Claude Code reads: the lines of `stream-json` and `json`, parsed by Claude's own SDK."""

import json
from typing import Any

from claude_agent_sdk import Message, ResultMessage, SystemMessage
from claude_agent_sdk._internal.message_parser import parse_message  # the parser has no public name

INIT_FIELDS = {
    "uuid": str,
    "session_id": str,
    "cwd": str,
    "model": str,
    "permissionMode": str,
    "tools": list,
    "mcp_servers": list,
    "slash_commands": list,
    "apiKeySource": str,
}


def read_messages(out: str) -> list[Message]:
    """Every line, parsed. A line that the SDK does not know, or that lacks what it needs, is a failure."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    parsed = [parse_message(line) for line in lines]
    known = [message for message in parsed if message is not None]
    assert len(known) == len(lines), lines
    for line, message in zip(lines, known, strict=True):
        assert isinstance(line["uuid"], str)
        assert line["session_id"] == lines[0]["session_id"]
        if isinstance(message, SystemMessage) and message.subtype == "init":
            wrong = {
                name: line.get(name) for name, kind in INIT_FIELDS.items() if not isinstance(line.get(name), kind)
            }
            assert wrong == {}
    assert len({line["uuid"] for line in lines}) == len(lines)
    return known


def the_result(out: str) -> ResultMessage:
    """The last message, which is the only result; before it, if there is anything, comes the init message."""
    *before, last = read_messages(out)
    assert isinstance(last, ResultMessage)
    assert [each for each in before if isinstance(each, ResultMessage)] == []
    if before:
        assert isinstance(before[0], SystemMessage)
        assert before[0].subtype == "init"
    return last
