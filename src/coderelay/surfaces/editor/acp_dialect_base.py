"""The Agent Client Protocol as it is published. Subclasses override what a client does differently; which class is
used is decided once, when the client sends `initialize`."""

from coderelay.acp.request_params import Initialize
from coderelay.acp.update_payloads import Fields
from coderelay.client.ask_view import AskOption
from coderelay.protocol.asks import Ask, Decision, QuestionAsk
from coderelay.protocol.ids import SessionId
from coderelay.surfaces.editor.question_form import form_decision, question_form
from coderelay.wire.messages_and_errors import RpcError
from coderelay.wire.peer import Peer


class Dialect:
    """The dialect of one connection. `tells_mode`: a client that gets a stricter mode than it wants is told so.
    `lends_files`: it can read and write files for us, if it says so."""

    tells_mode = True
    lends_files = True

    def __init__(self, initialized: Initialize) -> None:
        self.initialized = initialized

    def initialize_result(self, fields: Fields) -> Fields:
        """The result of `initialize`."""
        return fields

    def opened(self, session: SessionId, fields: Fields) -> Fields:
        """The result of the request that created or opened a session."""
        return fields

    def update(self, update: Fields) -> Fields:
        """An update of a session, as this client reads it."""
        return update

    def permission(self, params: Fields) -> Fields:
        """The parameters of `session/request_permission`."""
        return params

    def option_id(self, option: AskOption) -> str:
        """The id of an answer that the client may choose."""
        return option.answer

    def prompt_end(self, how: str | RpcError) -> tuple[str, str]:
        """What the person is told at the end of a prompt, and its stop reason. Raises the error if the client can
        read it."""
        if isinstance(how, RpcError):
            raise how
        return "", how

    async def decide(self, peer: Peer, session: SessionId, ask: Ask) -> Decision | None:
        """Ask the client in another way than by a permission request. Returns None if this client knows no other way,
        or gave no usable answer. Raises RpcError."""
        if not isinstance(ask, QuestionAsk) or not self.initialized.has_forms:
            return None
        result = await peer.send_request("elicitation/create", {"sessionId": session, **question_form(ask)})
        return form_decision(ask, result)
