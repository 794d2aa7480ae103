"""The floor: the least a coding agent can be, with nothing but the standard library.

    OPENAI_BASE_URL=… python bench/floor.py PROMPT

Streams a chat completion, runs the calls it proposes (read, write, bash) and asks again until there are
none. Keeps no log, asks nobody, tells the model of no tools, survives nothing.
"""

import http.client
import json
import os
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

Message = dict[str, Any]


def main(prompt: str) -> None:
    address = urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(address.netloc)
    messages: list[Message] = [{"role": "user", "content": prompt}]
    while True:
        said = complete(connection, f"{address.path}/chat/completions", messages)
        messages.append(said)
        if "tool_calls" not in said:
            break
        for call in said["tool_calls"]:
            output = run(call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
    sys.stdout.write(said["content"] + "\n")


def complete(connection: http.client.HTTPConnection, path: str, messages: list[Message]) -> Message:
    body = json.dumps({"model": "scripted", "stream": True, "messages": messages}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    connection.request("POST", path, body, headers)
    text: list[str] = []
    calls: dict[int, Message] = {}
    for line in connection.getresponse():
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            text.append(delta.get("content") or "")
            for part in delta.get("tool_calls") or ():
                grow(calls.setdefault(part["index"], {"type": "function", "function": {"arguments": ""}}), part)
    return {"role": "assistant", "content": "".join(text)} | ({"tool_calls": [*calls.values()]} if calls else {})


def grow(call: Message, part: Message) -> None:
    if "id" in part:
        call["id"] = part["id"]
        call["function"]["name"] = part["function"]["name"]
    call["function"]["arguments"] += part["function"]["arguments"]


def run(name: str, arguments: dict[str, str]) -> str:
    match name:
        case "read":
            with open(arguments["path"], encoding="utf-8") as file:
                return file.read()
        case "write":
            with open(arguments["path"], "w", encoding="utf-8") as file:
                file.write(arguments["content"])
            return "written"
        case _:
            done = subprocess.run(["bash", "-c", arguments["command"]], capture_output=True, text=True, check=False)
            return done.stdout + done.stderr


if __name__ == "__main__":
    main(sys.argv[1])
