"""Changes of a person's own files from a session: a setting, and what they trust in a folder. Only a client
that may use all commands may do so, and no process that an agent started."""

from coderelay.client.client import Capabilities
from coderelay.host.can_run import require_folder
from coderelay.host.host_context import HostContext
from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.commands import Accepted, Outcome, SetSetting, TrustFolder, Unchanged
from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import TrustShown
from coderelay.session import decide


def change_person_file(
    loaded: LoadedSession, command: SetSetting | TrustFolder, context: HostContext, capabilities: Capabilities
) -> Outcome:
    """Raises BadInput, and then nothing has changed."""
    _require_all_commands(capabilities)
    folder = require_folder(decide.require(loaded.state), context)
    if isinstance(command, SetSetting):
        context.folders.set_key(command.key, command.value)
        return Accepted(loaded.state.head)
    is_new = context.folders.trust(folder, command.digest)
    return (Accepted if is_new else Unchanged)(loaded.state.head)


def untrusted_in(loaded: LoadedSession, context: HostContext, capabilities: Capabilities) -> TrustShown:
    """What the person would trust in the session's folder. Nobody else may see all that is in its files."""
    _require_all_commands(capabilities)
    return context.folders.untrusted(require_folder(decide.require(loaded.state), context))


def _require_all_commands(capabilities: Capabilities) -> None:
    if not capabilities.all_commands:
        raise BadInput("this can only be done at the machine itself, in a terminal")
