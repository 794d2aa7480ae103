"""An MCP server that says it has exactly the tools that are written in a file, and notes which of them are called."""

import json
import sys
from pathlib import Path
from typing import Any


def main(listed: Path, notes: Path, behaviour: str) -> None:
    pages = 0
    for line in sys.stdin:
        message = json.loads(line)
        number, method = message.get("id"), message.get("method")
        if number is None or method is None:
            continue
        match method:
            case "initialize":
                version = message["params"]["protocolVersion"]
                say(number, {"protocolVersion": version, "capabilities": {"tools": {}, "resources": {}}})
            case "tools/list":
                print(f'{{"jsonrpc":"2.0","id":{number},"result":{{"tools":{listed.read_text()}}}}}', flush=True)
            case "resources/list" if behaviour == "endless":
                pages += 1
                say(
                    number,
                    {"resources": [{"uri": f"x://{pages}/{each}"} for each in range(50)], "nextCursor": str(pages)},
                )
            case "tools/call":
                with notes.open("a") as file:
                    file.write(f"{message['params']['name']}\n")
                if behaviour == "long ids":
                    print(json.dumps({"jsonrpc": "2.0", "id": "x" * 1_000_000, "method": "ping"}), flush=True)
                if behaviour == "many asks":
                    asks = [{"jsonrpc": "2.0", "id": each, "method": "ping"} for each in range(100)]
                    print(json.dumps(asks), flush=True)
                say(number, {"content": [{"type": "text", "text": "ok"}]})
            case _:
                say(number, {})


def say(number: Any, result: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
