"""A fake Feishu platform on this machine, for tests of chat bots: tokens, messages, cards, the long connection and
webhook calls, with a person's view of the chats.

    with FakeFeishu() as feishu:
        chat = feishu.person("ou_1").chat
        chat.say("hello")
        message = chat.wait(lambda: chat.find("确认"))
        assert message.click("确认").toast == "…"

It is as strict as the platform's documents: wrong cards, sequences, tokens and sizes are refused with its codes.
"""

from coderelay.testing.feishu_server.fake_feishu import FakeFeishu as FakeFeishu
from coderelay.testing.feishu_server.faults import Fault as Fault
from coderelay.testing.feishu_server.person_in_chat import ClickResult as ClickResult
from coderelay.testing.feishu_server.person_in_chat import FakeChat as FakeChat
from coderelay.testing.feishu_server.person_in_chat import FakePerson as FakePerson
from coderelay.testing.feishu_server.platform_api import ShownMessage as ShownMessage
from coderelay.testing.feishu_server.webhook_signing import SignedCall as SignedCall
