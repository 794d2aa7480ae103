"""The content of a prompt as an editor sends it: text, images, links to files and embedded files."""

import os
from typing import assert_never
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from coderelay.acp.request_params import (
    AudioBlock,
    ContentBlock,
    EmbeddedResource,
    ImageBlock,
    LinkBlock,
    ResourceBlock,
    TextBlock,
)
from coderelay.protocol.errors import BadInput
from coderelay.protocol.message_content import Image


class PromptContent(Struct, frozen=True):
    """`text` is for the model; `typed` is what the person sees of it, where an embedded file is only its name."""

    text: str
    typed: str
    images: tuple[Image, ...] = ()


def prompt_content(blocks: tuple[ContentBlock, ...], cwd: str) -> PromptContent:
    """Raises BadInput."""
    typed: list[str] = []
    embedded: list[str] = []
    images: list[Image] = []
    for block in blocks:
        match block:
            case TextBlock():
                typed.append(block.text)
            case LinkBlock():
                typed.append(_mention(block.uri, cwd))
            case ImageBlock():
                images.append(Image(block.mime_type, block.data))
            case ResourceBlock(resource=EmbeddedResource(blob=str() as data, mime_type=str() as kind)) if (
                kind.startswith("image/")
            ):
                images.append(Image(kind, data))
            case ResourceBlock():
                typed.append(_mention(block.resource.uri, cwd))
                embedded.append(_embedded(block.resource, cwd))
            case AudioBlock():
                raise BadInput("audio cannot be sent to the model")
            case _:
                assert_never(block)
    said = "".join(typed)
    return PromptContent("\n\n".join(filter(None, (said, *embedded))), said, tuple(images))


def _mention(uri: str, cwd: str) -> str:
    """A file as a person would name it; any other address as it is."""
    return f"@{name}" if (name := _file(uri, cwd)) is not None else uri


def _embedded(resource: EmbeddedResource, cwd: str) -> str:
    name = _file(resource.uri, cwd) or resource.uri
    if resource.text is None:
        return f"({name} is not a text, and was left out.)"
    return f'<file path="{name}">\n{resource.text.rstrip(chr(10))}\n</file>'


def _file(uri: str, cwd: str) -> str | None:
    """The path in a file address, relative if it is beneath the folder; None for other addresses."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = os.path.normpath(unquote(parts.path))
    if not os.path.isabs(path):
        return None
    lines = f"#{parts.fragment}" if parts.fragment else ""
    beneath = os.path.relpath(path, cwd) if os.path.commonpath([path, cwd]) == cwd.rstrip("/") else path
    return beneath + lines
