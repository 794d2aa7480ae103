"""A server made with the reference implementation: `reference_server.py stdio`, or `reference_server.py PORT`."""

import asyncio
import sys

from mcp.server.mcpserver import Context, Image, MCPServer

server = MCPServer("reference")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def slowly(context: Context) -> str:
    """Reports while it works."""
    for done in range(3):
        await context.report_progress(done, 3)
    return "worked"


@server.tool()
def fail() -> str:
    raise ValueError("no such luck")


@server.tool()
def picture() -> Image:
    return Image(data=b"\x89PNG\r\n\x1a\n", format="png")


@server.tool()
async def forever() -> str:
    await asyncio.Event().wait()
    return "never"


@server.resource("note://today")
def today() -> str:
    return "buy bread"


@server.prompt()
def greet(who: str) -> str:
    """Say hello."""
    return f"Greet {who}."


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run()
    else:
        server.run("streamable-http", port=int(sys.argv[1]))
