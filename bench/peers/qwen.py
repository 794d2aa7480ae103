"""Qwen Code: OpenAI Chat."""

import json

from msgspec.structs import replace

from bench.peers.form import CHAT
from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import call

_SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}

qwen = Peer(
    "qwen",
    ("qwen", "-y", "--auth-type", "openai", PROMPT),
    Tools(
        read=lambda path: call("read_file", file_path=path),
        write=lambda path, content: call("write_file", file_path=path, content=content),
        shell=lambda command: call("run_shell_command", command=command, is_background=False),
    ),
    replace(CHAT, asides=(b"managed memory extraction subagent", b"managed memory dream")),
    env={"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "scripted"},
    files={".qwen/settings.json": json.dumps(_SETTINGS)},
)
