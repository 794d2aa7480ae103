"""The access rules of a bot: who may use it, and who may decide what."""

from msgspec import Struct

from coderelay.protocol.asks import Allow, Ask, By, Decision, PlanDecision, QuestionAsk
from coderelay.surfaces.feishu.incoming_event_types import ChatKind

ANYBODY = "*"
VIA = "feishu"


def person(open_id: str) -> By:
    """Somebody in a chat, as every log and every surface names them."""
    return By(who=f"feishu:{open_id}", via=VIA)


class AccessRules(Struct, frozen=True):
    """The lists of the configuration, by open_id and chat_id; `*` in a list stands for everybody. An empty list of
    `users` admits only the linked owners, an empty list of `chats` any group in which an admitted person mentions the
    bot, and without `approvers` people decide about their own turns."""

    users: tuple[str, ...] = ()
    chats: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()

    def may_talk(self, open_id: str, chat_id: str, kind: ChatKind, *, is_linked: bool) -> bool:
        if not (is_linked or _is_in(open_id, self.users)):
            return False
        return kind == "p2p" or not self.chats or _is_in(chat_id, self.chats)

    def is_admitted(self, open_id: str, *, is_linked: bool) -> bool:
        """Whether a person is known at all, to talk or to approve."""
        return is_linked or _is_in(open_id, (*self.users, *self.approvers))

    def may_answer(self, open_id: str, ask: Ask, asked: str, *, is_owner: bool) -> bool:
        """Whether a person may answer an ask of a turn that `asked` began. `is_owner`: the session is theirs, or the
        host. Questions may also be answered by whoever began the turn; what has an effect on the machine only by an
        approver, if there is a list of them."""
        if is_owner or _is_in(open_id, self.approvers):
            return True
        is_own = asked == person(open_id).who
        return is_own and (isinstance(ask, QuestionAsk) or not self.approvers)


def needs_owner(decision: Decision) -> bool:
    """Whether a decision reaches beyond the session or loosens its mode, which only the linked owner may do."""
    match decision:
        case Allow(scope=scope, mode=mode):
            return scope in ("project", "person") or mode is not None
        case PlanDecision(mode=mode):
            return mode not in (None, "default")
        case _:
            return False


def _is_in(name: str, names: tuple[str, ...]) -> bool:
    return name in names or ANYBODY in names
