"""MCP tools as the agent calls them: their names, and a server's answer as the outcome of a call."""

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import count
from typing import Any

import msgspec
from msgspec import Raw

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.message_content import Image
from coderelay.protocol.text_escaping_and_width import escaped
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import join_texts, say
from coderelay.tools.mcp.protocol_types import CallResult, ContentPart, ListedTool, ResourceContent
from coderelay.tools.mcp.restarting_server import McpServer
from coderelay.tools.mcp.server_transport_interface import ServerFailed, ServerRefused
from coderelay.tools.read import MOST_BYTES, image_kind
from coderelay.tools.toolbox import shortened
from coderelay.workspace.workspace import Workspace

_IMAGES = 5
DESCRIPTION_CHARS = 2000
_SHOWN_ARGUMENTS = 2000
_SHOWN_NAME = 100
Object = dict[str, Raw]
"""The arguments of a call, passed on as the model wrote them: only the server knows what they mean."""


def finished(result: CallResult) -> Finished:
    """Raises ToolFailed if the server marks the result as an error."""
    texts: list[str] = []
    images: list[Image] = []
    for part in result.content:
        image = _image(part) if len(images) < _IMAGES else None
        if image is not None:
            images.append(image)
        else:
            texts.append(part_text(part))
    said = shortened("\n".join(texts) or _structured(result))
    if result.is_error:
        raise ToolFailed(said or "the tool failed and does not say why")
    return Finished(output=said or _count(images) or "(no output)", summary=_summary(said, images), images=(*images,))


def part_text(part: ContentPart) -> str:
    if part.text is not None:
        return part.text
    if part.resource is not None:
        return content_text(part.resource)
    if part.type == "resource_link":
        return f"[{part.name or 'resource'}: {part.uri}]"
    size = f", {len(part.data)} characters of base64" if part.data else ""
    return f"[{part.mime_type or part.type}{size}, which cannot be shown]"


def content_text(content: ResourceContent) -> str:
    """The text of an embedded resource, or of one that was read."""
    if content.text is not None:
        return f"{content.uri}:\n{content.text}" if content.uri else content.text
    return f"[{content.uri or 'resource'}: {content.mime_type or 'binary'}, which cannot be shown]"


def _image(part: ContentPart) -> Image | None:
    """None also for data that only claims to be an image: a provider would refuse the whole conversation from then
    on."""
    data = part.data if part.type == "image" else part.resource.blob if part.resource is not None else None
    if not data or len(data) > MOST_BYTES * 4 // 3 + 4:
        return None
    try:
        content = b64decode(data, validate=True)
    except ValueError:
        return None
    kind = image_kind(content)
    return Image(kind, b64encode(content).decode()) if kind is not None else None


def _structured(result: CallResult) -> str:
    """The structured content as JSON, for results without text. Most servers repeat it as text, which is then
    enough."""
    return "" if result.structured_content is None else msgspec.json.encode(result.structured_content).decode()


def _count(images: list[Image]) -> str:
    return "" if not images else "1 image" if len(images) == 1 else say("{count} images", count=len(images))


def _summary(said: str, images: list[Image]) -> str:
    lines = said.count("\n") + 1 if said else 0
    text = "1 line" if lines == 1 else say("{count} lines", count=lines) if lines else ""
    return join_texts(", ", (text, _count(images))) or "no output"


class McpTool:
    arguments = Object

    def __init__(self, name: str, server: McpServer, listed: ListedTool, parameters: dict[str, Any]) -> None:
        plain = plain_name(server.name, listed.name)
        self.spec = ToolSpec(name, _description(server, listed), parameters, "mcp", plain if plain != name else "")
        self._server = server
        self._tool = listed.name

    def need(self, arguments: Object, workspace: Workspace) -> Need:
        """The title shows all arguments. A remembered approval is for this tool of this server."""
        return Need(
            tool=self.spec.name,
            kind="mcp",
            title=f"{_short(self._server.name)}: {_short(self._tool)} {_shown(arguments)}".rstrip(),
            server=self._server.mark,
            server_tool=self._tool,
            plain=self.spec.plain,
        )

    async def run(self, arguments: Object, workspace: Workspace) -> Finished:
        try:
            return finished(await self._server.call(self._tool, arguments))
        except ServerRefused as refused:
            raise ToolFailed(say("{name} {problem}", name=self._server.name, problem=refused.what)) from refused
        except ServerFailed as failed:
            told = say("the MCP server {name} {problem}", name=self._server.name, problem=failed.what)
            detail = [failed.output, "The call may have run; check before repeating it." if failed.sent else ""]
            raise ToolFailed(
                say("{problem}; it said:", problem=told) if failed.output else told,
                detail="\n".join(filter(None, detail)),
            ) from failed


def _description(server: McpServer, listed: ListedTool) -> str:
    text = (listed.description or listed.title or f"{listed.name} of {server.name}").strip()
    return text if len(text) <= DESCRIPTION_CHARS else f"{text[:DESCRIPTION_CHARS]}…"


def _short(name: str) -> str:
    line = escaped(name)
    return line if len(line) <= _SHOWN_NAME else f"{line[: _SHOWN_NAME - 1]}…"


def _shown(arguments: Object) -> str:
    """The arguments on one line. Those that are too long to show are distinguished by their hash."""
    if not arguments:
        return ""
    text = escaped(msgspec.json.encode(arguments).decode())
    if len(text) <= _SHOWN_ARGUMENTS:
        return text
    mark = sha256(text.encode()).hexdigest()[:16]
    return f"{text[:_SHOWN_ARGUMENTS]}… ({len(text)} characters, sha256 {mark})"


_MOST = 64
_MARK = 8
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def tool_names(tools: Sequence[tuple[str, str]]) -> list[str]:
    """The names for pairs of server and tool. Names that are too long, equal, or different in case alone (which rules
    ignore) get a suffix that depends on nothing but the pair; or another suffix if somebody made up that one."""
    names = [plain_name(server, tool) for server, tool in tools]
    for times in count():
        taken = Counter(name.lower() for name in names)
        again = [taken[name.lower()] > 1 or len(name) > _MOST for name in names]
        if not any(again):
            break
        names = [
            _marked(plain_name(*pair), pair, times) if marked else name
            for name, pair, marked in zip(names, tools, again, strict=True)
        ]
    return names


def plain_name(server: str, tool: str) -> str:
    """The name without a suffix. Two underscores end the name of the server, so that a rule for one server never
    means another."""
    short = re.sub("_+", "_", _ODD.sub("_", server)).strip("_") or "server"
    return f"mcp__{short}__{_ODD.sub('_', tool) or 'tool'}"


def _marked(name: str, pair: tuple[str, str], times: int) -> str:
    mark = sha256("\0".join([*pair, *["again"] * times]).encode(errors="replace")).hexdigest()[:_MARK]
    return f"{name[: _MOST - _MARK - 1]}_{mark}"
