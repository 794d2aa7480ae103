"""Every message of a connection, in both directions, against the published schema of ACP."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, cast

from acp import schema
from pydantic import TypeAdapter, ValidationError

Side = Literal["client", "agent"]
Message = dict[str, Any]

_ANY: TypeAdapter[Any] = TypeAdapter(dict[str, Any])
_ERROR: TypeAdapter[Any] = TypeAdapter(schema.Error)
REQUESTS: Mapping[Side, Mapping[str, tuple[TypeAdapter[Any], TypeAdapter[Any]]]] = {
    side: {method: (TypeAdapter(params), TypeAdapter(result)) for method, (params, result) in methods.items()}
    for side, methods in cast(
        "dict[Side, dict[str, tuple[Any, Any]]]",
        {
            "client": {
                "initialize": (schema.InitializeRequest, schema.InitializeResponse),
                "authenticate": (schema.AuthenticateRequest, schema.AuthenticateResponse),
                "session/new": (schema.NewSessionRequest, schema.NewSessionResponse),
                "session/load": (schema.LoadSessionRequest, schema.LoadSessionResponse),
                "session/resume": (schema.ResumeSessionRequest, schema.ResumeSessionResponse),
                "session/close": (schema.CloseSessionRequest, schema.CloseSessionResponse),
                "session/delete": (schema.DeleteSessionRequest, schema.DeleteSessionResponse),
                "session/list": (schema.ListSessionsRequest, schema.ListSessionsResponse),
                "session/prompt": (schema.PromptRequest, schema.PromptResponse),
                "session/set_mode": (schema.SetSessionModeRequest, schema.SetSessionModeResponse),
                "session/set_config_option": (
                    schema.SetSessionConfigOptionSelectRequest | schema.SetSessionConfigOptionBooleanRequest,
                    schema.SetSessionConfigOptionResponse,
                ),
            },
            "agent": {
                "session/request_permission": (schema.RequestPermissionRequest, schema.RequestPermissionResponse),
                "fs/read_text_file": (schema.ReadTextFileRequest, schema.ReadTextFileResponse),
                "fs/write_text_file": (schema.WriteTextFileRequest, schema.WriteTextFileResponse),
                "elicitation/create": (
                    schema.CreateFormSessionElicitationRequest,
                    schema.AcceptElicitationResponse
                    | schema.DeclineElicitationResponse
                    | schema.CancelElicitationResponse,
                ),
            },
        },
    ).items()
}
NOTIFICATIONS: Mapping[Side, Mapping[str, TypeAdapter[Any]]] = {
    "client": {
        "session/cancel": TypeAdapter(schema.CancelNotification),
        "$/cancel_request": TypeAdapter(schema.CancelRequestNotification),
    },
    "agent": {
        "session/update": TypeAdapter(schema.SessionNotification),
        "$/cancel_request": TypeAdapter(schema.CancelRequestNotification),
    },
}


class SchemaTap:
    """Sees the messages of one connection in the order in which they pass. The schema allows other fields everywhere;
    one that the models do not know is a problem all the same, unless it is in `_meta`. Methods that begin with `_`
    are extensions, as the protocol has it."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._asked: dict[Side, dict[object, str]] = {"client": {}, "agent": {}}

    def note(self, text: str | bytes) -> None:
        """Only remember what a client asks: a test may write what is wrong on purpose."""
        with suppress(ValueError):
            match json.loads(text):
                case {"method": str() as method, "id": str() | int() as key}:
                    self._asked["client"][key] = method
                case _:
                    pass

    def check(self, sender: Side, message: Message) -> None:
        unknown = {*message} - {"jsonrpc", "id", "method", "params", "result", "error"}
        if message.get("jsonrpc") != "2.0" or unknown:
            self.problems.append(f"{sender} sent no message: {message}")
        elif "method" not in message:
            self._check_answer(sender, message)
        elif "id" in message:
            self._asked[sender][message["id"]] = message["method"]
            known = {method: params for method, (params, _) in REQUESTS[sender].items()}
            self._check_params(sender, message, known)
        else:
            self._check_params(sender, message, NOTIFICATIONS[sender])

    def _check_params(self, sender: Side, message: Message, known: Mapping[str, TypeAdapter[Any]]) -> None:
        method = message["method"]
        kind = _ANY if method.startswith("_") else known.get(method)
        if kind is None:
            self.problems.append(f"{sender} sent {method}, which is not in the schema")
        else:
            self._compare(kind, f"{sender}'s {method}", message.get("params", {}))

    def _check_answer(self, sender: Side, message: Message) -> None:
        asker: Side = "agent" if sender == "client" else "client"
        method = self._asked[asker].get(message.get("id"), "")
        if ("result" in message) == ("error" in message):
            self.problems.append(f"{sender} answered {method} with {message}")
        elif "error" in message:
            self._compare(_ERROR, f"{sender}'s error for {method}", message["error"])
        elif not method:
            self.problems.append(f"{sender} answered what nobody asked: {message}")
        elif not method.startswith("_"):
            _, kind = REQUESTS[asker].get(method, (_ANY, _ANY))
            self._compare(kind, f"{sender}'s answer to {method}", message["result"])

    def _compare(self, kind: TypeAdapter[Any], what: str, said: Any) -> None:
        try:
            read = kind.dump_python(kind.validate_python(said), by_alias=True, exclude_unset=True, mode="json")
        except ValidationError as error:
            self.problems.append(f"{what}: {said}: {error}")
            return
        if read != said:
            self.problems.append(f"{what}: {said} was read as {read}")
