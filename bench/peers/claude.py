"""Claude Code: Anthropic Messages."""

from bench.peers.form import ANTHROPIC
from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import call

claude = Peer(
    "claude",
    ("claude", "-p", PROMPT, "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"),
    Tools(
        read=lambda path: call("Read", file_path=path),
        write=lambda path, content: call("Write", file_path=path, content=content),
        shell=lambda command: call("Bash", command=command, description="One step"),
    ),
    ANTHROPIC,
    env={
        "ANTHROPIC_BASE_URL": "{url}",
        "ANTHROPIC_API_KEY": "scripted",
        "IS_SANDBOX": "1",  # without it, root may not skip permissions
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    },
)
