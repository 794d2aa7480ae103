"""Kimi Code: any provider; here OpenAI Chat. Its forerunner, the Python package, no longer runs at all."""

from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import call

kimi = Peer(
    "kimi",
    ("kimi", "-p", PROMPT),
    Tools(
        read=lambda path: call("Read", path=path),
        write=lambda path, content: call("Write", path=path, content=content),
        shell=lambda command: call("Bash", command=command),
    ),
    env={
        "KIMI_MODEL_NAME": "scripted",
        "KIMI_MODEL_API_KEY": "scripted",
        "KIMI_MODEL_BASE_URL": "{url}/v1",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_MODEL_MAX_CONTEXT_SIZE": "1000000",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_DISABLE_TELEMETRY": "1",
    },
)
