"""iFlow: OpenAI Chat. From its documentation; not yet run here."""

import json

from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import call

_SETTINGS = {
    "selectedAuthType": "iflow",
    "apiKey": "scripted",
    "baseUrl": "{url}/v1",
    "modelName": "scripted",
    "disableAutoUpdate": True,
    "disableTelemetry": True,
}

iflow = Peer(
    "iflow",
    ("iflow", "-p", PROMPT, "-y"),
    Tools(
        read=lambda path: call("read_file", absolute_path=path),
        write=lambda path, content: call("write_file", file_path=path, content=content),
        shell=lambda command: call("run_shell_command", command=command),
    ),
    files={".iflow/settings.json": json.dumps(_SETTINGS)},
)
