"""Gemini CLI: generateContent."""

import json

from bench.peers.form import GEMINI
from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import call

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}

gemini = Peer(
    "gemini",
    ("gemini", "-p", PROMPT, "-y", "--skip-trust", "-m", "gemini-2.5-flash"),
    Tools(
        read=lambda path: call("read_file", file_path=path),
        write=lambda path, content: call("write_file", file_path=path, content=content),
        shell=lambda command: call("run_shell_command", command=command),
    ),
    GEMINI,
    env={"GEMINI_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": "{url}"},
    files={".gemini/settings.json": json.dumps(_SETTINGS)},
)
