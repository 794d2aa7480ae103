"""The parameters of the requests and notifications that a client sends. Fields that this version does not know are
ignored, as the protocol wants it."""

from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import Meta, Struct

from coderelay.wire.messages_and_errors import INVALID_PARAMS, RpcError

PROTOCOL_VERSION = 1
NOT_FOUND = -32002

T = TypeVar("T")


class Initialize(Struct, frozen=True, rename="camel"):
    """The protocol version is the newest that the client speaks. Its capabilities stay as they are, unknown ones
    too."""

    protocol_version: Annotated[int, Meta(ge=0, le=65535)]
    client_capabilities: dict[str, Any] | None = None
    client_info: dict[str, Any] | None = None

    @property
    def shows_notices(self) -> bool:
        return self._has("session", "notices")

    @property
    def reads_files(self) -> bool:
        return self._has("fs", "readTextFile")

    @property
    def writes_files(self) -> bool:
        return self._has("fs", "writeTextFile")

    @property
    def has_forms(self) -> bool:
        return self._has("elicitation", "form")

    def _has(self, group: str, name: str) -> bool:
        found: object = (self.client_capabilities or {}).get(group)
        return isinstance(found, dict) and cast("dict[str, Any]", found).get(name) not in (None, False)


class Authenticate(Struct, frozen=True, rename="camel"):
    method_id: str


class WantedSettings(Struct, frozen=True):
    """The settings that clients made for iFlow send with a new session."""

    permission_mode: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] | None = None
    max_turns: Annotated[int, Meta(ge=1)] | None = None
    append_system_prompt: str | None = None
    add_dirs: tuple[str, ...] | None = None
    system_prompt: str | None = None


class NewSession(Struct, frozen=True, rename="camel"):
    """The fields after the first three are not of ACP; clients made for iFlow send them."""

    cwd: str
    mcp_servers: tuple[dict[str, Any], ...] = ()
    additional_directories: tuple[str, ...] | None = None
    settings: WantedSettings | None = None
    hooks: Any = None
    commands: Any = None
    agents: Any = None


class LoadSession(NewSession, frozen=True, rename="camel", kw_only=True):
    session_id: str


class ListedSessions(Struct, frozen=True, rename="camel"):
    cwd: str | None = None
    cursor: str | None = None


class SetMode(Struct, frozen=True, rename="camel"):
    session_id: str
    mode_id: str


class SetConfigOption(Struct, frozen=True, rename="camel"):
    session_id: str
    config_id: str
    value: str


class SetThink(Struct, frozen=True, rename="camel"):
    """Like the next one, this is not of ACP; clients made for iFlow send it."""

    session_id: str
    think_enabled: bool


class SetModel(Struct, frozen=True, rename="camel"):
    session_id: str
    model_id: str


class InSession(Struct, frozen=True, rename="camel"):
    """The parameters of methods that only name a session."""

    session_id: str


class TextBlock(Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class ImageBlock(Struct, frozen=True, tag_field="type", tag="image", rename="camel"):
    data: str
    mime_type: str


class AudioBlock(Struct, frozen=True, tag_field="type", tag="audio"):
    """It is not offered, so that no client may send it."""


class LinkBlock(Struct, frozen=True, tag_field="type", tag="resource_link"):
    uri: str
    name: str = ""


class EmbeddedResource(Struct, frozen=True, rename="camel"):
    """A text, or the bytes of something else in base64."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class ResourceBlock(Struct, frozen=True, tag_field="type", tag="resource"):
    resource: EmbeddedResource


ContentBlock = TextBlock | ImageBlock | AudioBlock | LinkBlock | ResourceBlock


class Prompt(Struct, frozen=True, rename="camel"):
    session_id: str
    prompt: tuple[ContentBlock, ...]


def read_params(params: dict[str, Any], kind: type[T]) -> T:
    """Raises RpcError if the parameters are not of this kind."""
    try:
        return msgspec.convert(params, kind)
    except msgspec.ValidationError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from error
