"""The server by hand: `python -m coderelay.testing.model_server`."""

import argparse
import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from coderelay.testing.model_server.answers import Answer
from coderelay.testing.model_server.echo import RULES, echo
from coderelay.testing.model_server.script import Script, by_history, script
from coderelay.testing.model_server.server import model_server

EPILOG = f"""\
Without --script the last message decides the answer:
{RULES}

A script file is a JSON list of answers, one for each request in turn:
  {{"kind": "message", "text": "hi", "thinking": "hm", "token_delay": 0.02, "finish_reason": "length"}}
  {{"kind": "message", "calls": [{{"name": "bash", "arguments": {{"command": "make"}}}}]}}
  {{"kind": "tokens", "count": 200}}
  {{"kind": "http_error", "status": 429, "message": "slow down", "headers": {{"retry-after": "1"}}}}
  {{"kind": "cut_off", "answer": {{"kind": "message", "text": "one two"}}, "after_pieces": 2}}
  {{"kind": "hangs", "answer": {{"kind": "tokens", "count": 9}}, "after_pieces": 2}}
  {{"kind": "garbage", "answer": {{"kind": "message", "text": "one two"}}, "after_pieces": 2}}
Of a message every field is optional; arguments given as a string are sent as they are.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m coderelay.testing.model_server",
        description="A model server on 127.0.0.1 that follows a script. It speaks OpenAI Chat Completions, "
        "OpenAI Responses and Anthropic Messages.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    parser.add_argument("--script", type=Path, metavar="FILE.json")
    options = parser.parse_args()
    try:
        chosen = _load(options.script) if options.script else by_history(echo)
    except (OSError, ValueError) as wrong:
        parser.error(f"{options.script}: {wrong}")
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(chosen, options.port))


def _load(file: Path) -> Script:
    return script(*msgspec.json.decode(file.read_bytes(), type=list[Answer]))


async def _serve(chosen: Script, port: int) -> None:
    async with model_server(chosen, port=port) as server:
        sys.stdout.write(f"export OPENAI_BASE_URL={server.base_url} OPENAI_API_KEY=scripted\n")
        anthropic = server.base_url.removesuffix("/v1")
        sys.stdout.write(f"# or: export ANTHROPIC_BASE_URL={anthropic} ANTHROPIC_API_KEY=scripted\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
