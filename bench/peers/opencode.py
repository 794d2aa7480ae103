"""opencode: any provider; here OpenAI Chat."""

import json

from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import call

_CONFIG = {
    "model": "local/scripted",
    "small_model": "local/scripted",
    "autoupdate": False,
    "share": "disabled",
    "provider": {
        "local": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{url}/v1", "apiKey": "scripted"},
            "models": {"scripted": {"tool_call": True, "limit": {"context": 1_000_000, "output": 32_000}}},
        }
    },
}
# What its first run leaves where there is a network. Without it every run tries to install this, for two seconds.
_INSTALLED = {
    ".config/opencode/node_modules/.keep": "",
    ".config/opencode/package-lock.json": '{"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}',
}

opencode = Peer(
    "opencode",
    ("opencode", "run", "--auto", "-m", "local/scripted", PROMPT),
    Tools(
        read=lambda path: call("read", filePath=path),
        write=lambda path, content: call("write", filePath=path, content=content),
        shell=lambda command: call("bash", command=command, description="One step"),
    ),
    env={
        "OPENCODE_CONFIG_CONTENT": json.dumps(_CONFIG),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    },
    files=_INSTALLED,
)
