"""goose: OpenAI Chat. From its documentation and source; not yet run here."""

from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import call

goose = Peer(
    "goose",
    ("goose", "run", "--no-session", "--with-builtin", "developer", "-t", PROMPT),
    Tools(
        read=lambda path: call("shell", command=f"cat {path}"),
        write=lambda path, content: call("write", path=path, content=content),
        shell=lambda command: call("shell", command=command),
    ),
    env={
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "scripted",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_HOST": "{url}",
        "OPENAI_BASE_PATH": "v1/chat/completions",
        "OPENAI_API_KEY": "scripted",
    },
)
