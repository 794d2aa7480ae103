"""What the model was sent, as a person would want to read it."""

import os
import re
from pathlib import Path
from typing import Any

Body = dict[str, Any]

SNAPSHOTS = Path(__file__).parent / "snapshots"


def readable(body: Body, folder: Path) -> str:
    """The messages of a request as text, with what differs from machine to machine left out."""
    messages = [f"--- {message['role']}\n{message['content']}" for message in body["messages"]]
    text = "\n".join(messages).replace(str(folder), "FOLDER")
    text = re.sub(r"System: .*", "System: SYSTEM", text)
    return re.sub(r"Date: .*", "Date: DATE", text) + "\n"


def check_snapshot(name: str, text: str) -> None:
    """CODER_UPDATE_SNAPSHOTS=1 writes them anew; the difference is then reviewed like any other."""
    path = SNAPSHOTS / name
    if os.environ.get("CODER_UPDATE_SNAPSHOTS"):
        path.write_text(text)
    assert path.read_text() == text


def users(body: Body) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] == "user"]


def results(body: Body) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]
