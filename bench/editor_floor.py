"""The floor of an agent for editors: `bench/floor.py` behind the fewest lines of the Agent Client Protocol."""

import http.client
import json
import os
import sys
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # started as a program
from bench.floor import complete


def main() -> None:
    address = urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(address.netloc)
    for line in sys.stdin:
        message = json.loads(line)
        result: dict[str, Any] = {"protocolVersion": 1, "sessionId": "one", "stopReason": "end_turn"}
        if message["method"] == "session/prompt":
            text = message["params"]["prompt"][0]["text"]
            complete(connection, f"{address.path}/chat/completions", [{"role": "user", "content": text}])
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
