"""An MCP server as a child process, good or bad in the way its first argument says. Needs nothing but Python."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
Json = dict[str, Any]


def main(kind: str) -> None:
    match kind:
        case "hangs":
            sys.stderr.write("waiting for the moon\n")
            sys.stderr.flush()
            sys.stdin.read()
        case "dies":
            sys.stderr.write("no database to be found\n")
            sys.exit(3)
        case "rubbish":
            while True:
                print("this is no message", flush=True)
        case "endless":
            while True:
                sys.stdout.write("x" * 65536)
        case _:
            Server(kind).serve()


class Server:
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.names = _tools(kind)
        self.asked = 0

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("method") == "initialize" and self.kind == "floods":
                flood()
            if "id" in message and "method" in message:
                self.answer(message["id"], message["method"], message.get("params", {}))
            elif message.get("method") == "notifications/cancelled":
                note(f"cancelled {message['params']['requestId']}: {message['params']['reason']}")

    def answer(self, number: int, method: str, params: Json) -> None:
        match method:
            case "initialize":
                say_result(number, self.greeting(params))
            case "tools/list":
                say_result(number, self.page(params))
            case "tools/call":
                self.call(number, params)
            case "resources/list":
                say_result(number, {"resources": [{"uri": "note://1", "name": "first", "mimeType": "text/plain"}]})
            case "resources/read":
                say_result(number, {"contents": [{"uri": params["uri"], "text": "remember the milk"}]})
            case "prompts/list":
                arguments = [{"name": "who", "required": True}]
                say_result(number, {"prompts": [{"name": "greet", "description": "hello", "arguments": arguments}]})
            case "prompts/get":
                content = {"type": "text", "text": f"Greet {params['arguments']['who']}."}
                say_result(number, {"messages": [{"role": "user", "content": content}]})
            case "ping" if self.kind != "good-but-deaf":
                say_result(number, {})
            case _:
                if self.kind != "good-but-deaf":
                    say(id=number, error={"code": -32601, "message": "no such method"})

    def greeting(self, params: Json) -> Json:
        version = {"old": "2024-11-05", "future": "2099-01-01"}.get(self.kind, params["protocolVersion"])
        note(f"started {os.getpid()}")
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": self.kind, "version": "1"},
        }

    def page(self, params: Json) -> Json:
        """In pages of 30, and in another order each time."""
        start = int(params.get("cursor", 0))
        names = self.names[start : start + 30]
        more = {"nextCursor": str(start + 30)} if start + 30 < len(self.names) else {}
        return {"tools": [tool(name) for name in reversed(names)], **more}

    def call(self, number: int, params: Json) -> None:
        arguments = params.get("arguments", {})
        match params["name"]:
            case "echo":
                say_text(number, json.dumps(arguments))
            case "environment":
                say_text(number, "\n".join(sorted(f"{name}={value}" for name, value in os.environ.items())))
            case "picture":
                say_result(number, {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/jpeg"}]})
            case "false_picture":
                say_result(number, {"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]})
            case "parts":
                say_result(number, {"content": _parts()})
            case "structured":
                say_result(number, {"content": [], "structuredContent": {"degrees": 21}})
            case "fail":
                say_result(number, {"content": [{"type": "text", "text": "the oven is cold"}], "isError": True})
            case "long":
                say_text(number, "a" * 60_000 + "z")
            case "half":
                sys.stdout.write(f'{{"jsonrpc":"2.0","id":{number},"result":{{"content":[{{"type":"text",')
                sys.stdout.write('"text":"half \\ud83d of it"}]}}\n')
                sys.stdout.flush()
            case "ask_roots":
                say_text(number, json.dumps(self.ask("roots/list")))
            case "ask_model":
                say_text(number, json.dumps(self.ask("sampling/createMessage", {"messages": []})))
            case "ask_person":
                say_text(number, json.dumps(self.ask("elicitation/create", {"message": "your password?"})))
            case "grow":
                self.names.append("grown")
                say(method="notifications/tools/list_changed")
                say_text(number, "grown")
            case "progress":
                self.progress(number, params)
            case "hang":
                note(f"hanging in {number}")
            case "die":
                sys.stderr.write("out of paper\n")
                note("died")
                os._exit(4)
            case "chat":
                print("starting up…", flush=True)
                say_text(number, "done")
            case other:
                say(id=number, error={"code": -32602, "message": f"there is no {other}"})

    def ask(self, method: str, params: Json | None = None) -> Json:
        self.asked += 1
        say(id=f"server-{self.asked}", method=method, params=params or {})
        return json.loads(sys.stdin.readline())

    def progress(self, number: int, params: Json) -> None:
        """Reports once when the test wants it, and ends when it wants that."""
        note("working")
        wait_for(Path("report"))
        token = params["_meta"]["progressToken"]
        say(method="notifications/progress", params={"progressToken": token, "progress": 1})
        self.ask("ping")  # answered, so what was said before has been heard
        note("reported")
        wait_for(Path("finish"))
        say_text(number, "at last")


def tool(name: str) -> Json:
    return {
        "name": name,
        "description": f"The tool {name}.",
        "inputSchema": {"$schema": "https://example.com", "type": "object", "properties": {"x": {"type": "string"}}},
        "annotations": {"readOnlyHint": True},
    }


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def say_result(number: int, result: Json) -> None:
    say(id=number, result=result)


def say_text(number: int, text: str) -> None:
    say_result(number, {"content": [{"type": "text", "text": text}]})


def note(text: str) -> None:
    """For the test, in the file that it named."""
    if place := os.environ.get("DOUBLE_NOTES"):
        with open(place, "a", encoding="utf-8") as file:
            file.write(f"{text}\n")


def flood() -> None:
    while True:
        say(method="notifications/message", params={"level": "info", "data": "hello"})


def wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


def _tools(kind: str) -> list[str]:
    if kind == "many":
        return [f"tool_{number:03}" for number in range(200)]
    return [
        "echo", "environment", "picture", "false_picture", "parts", "structured", "fail", "long", "half", "ask_roots",
        "ask_model", "ask_person", "grow", "progress", "hang", "die", "chat",
    ]  # fmt: skip


def _parts() -> list[Json]:
    return [
        {"type": "text", "text": "one"},
        {"type": "resource", "resource": {"uri": "note://2", "text": "two"}},
        {"type": "resource_link", "uri": "note://3", "name": "three"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "note://4", "blob": "AAAA", "mimeType": "application/zip"}},
        {"type": "hologram"},
    ]


if __name__ == "__main__":
    main(sys.argv[1])
