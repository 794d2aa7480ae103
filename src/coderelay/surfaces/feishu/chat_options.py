"""What the person has configured for the chats of a bot."""

from typing import Literal

from msgspec import Struct

from coderelay.surfaces.feishu.access_rules import AccessRules
from coderelay.surfaces.feishu.card_layout import CardSchema

WhileRunning = Literal["queue", "steer", "stop", "ignore"]


class ChatOptions(Struct, frozen=True):
    """`host_person` is the name of the person who runs the bot, in the logs of the host. `cwd` is the folder of new
    sessions, and `/cd` goes to folders beneath `roots`. A question waits `input_timeout_s` seconds. With
    `shares_groups`, the members of a group share its sessions; else each has their own. `web_url` is the address of
    the web app that cards link to; empty for none."""

    host_person: str
    cwd: str
    roots: tuple[str, ...] = ()
    access: AccessRules = AccessRules()
    input_timeout_s: int = 300
    while_running: WhileRunning = "queue"
    shares_groups: bool = False
    schema: CardSchema = "2.0"
    web_url: str = ""

    @property
    def reachable(self) -> tuple[str, ...]:
        """Beneath these folders, people choose the folder of their sessions."""
        return self.roots or (self.cwd,)
