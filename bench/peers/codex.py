"""Codex: OpenAI Responses, and one shell for everything but patches."""

from collections.abc import Iterator

from msgspec.structs import replace

from bench.peers.form import RESPONSES
from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import Call, call, raw_call
from tests.model_server.answers import Message, Spoken
from tests.model_server.wire_form import Asked

_PATCH = "apply_patch"


def _write(path: str, content: str) -> Call:
    lines = "".join(f"+{line}\n" for line in content.splitlines())
    return raw_call(_PATCH, f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")


def _stream(asked: Asked, answer: Spoken, /) -> Iterator[bytes]:
    """Its patches are free-form calls: other words for the same events."""
    events = RESPONSES.stream(asked, answer)
    patches = isinstance(answer, Message) and any(call.name == _PATCH for call in answer.calls)
    return map(_free_form, events) if patches else events


def _free_form(event: bytes) -> bytes:
    renamed = event.replace(b'"type":"function_call"', b'"type":"custom_tool_call"')
    return renamed.replace(b"function_call_arguments", b"custom_tool_call_input").replace(
        b'"arguments":', b'"input":'
    )


codex = Peer(
    "codex",
    (
        "codex",
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        *("-m", "gpt-5.5"),  # of a model it does not know it expects no patches
        *("-c", "model_provider=local"),
        *("-c", 'model_providers.local={name="local",base_url="{url}/v1",wire_api="responses",env_key="LOCAL_KEY"}'),
        *("-c", "check_for_update_on_startup=false"),
        *("-c", "analytics.enabled=false"),
        PROMPT,
    ),
    Tools(
        read=lambda path: call("exec_command", cmd=f"cat {path}"),
        write=_write,
        shell=lambda command: call("exec_command", cmd=command),
    ),
    replace(RESPONSES, stream=_stream),
    env={"LOCAL_KEY": "scripted"},
)
