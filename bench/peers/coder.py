"""Ours, through the same door as the peers; and the floor."""

from msgspec.structs import replace

from bench.lab import CODER, FLOOR, YOLO
from bench.peers.form import CHAT
from bench.peers.peer import PROMPT, Peer, Tools
from tests.model_server import bash, read, write

_TOOLS = Tools(read, write, bash)
_ENV = {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "scripted"}

coder = Peer("coder", (*CODER, "-p", PROMPT, *YOLO), _TOOLS, env=_ENV)
floor = Peer("floor", (*FLOOR, PROMPT), _TOOLS, replace(CHAT, offers_tools=False), env=_ENV, has_version=False)
