"""A bot with the platform's own client, lark-oapi as its documents use it.

    python -m tests.feishu.library_client APP_ID SECRET URL

It answers every message with a card and streams into it, and every click with a toast.
"""

# pyright: basic, reportMissingTypeStubs=false, reportOptionalMemberAccess=false, reportArgumentType=false
# In the library, whatever an answer has may be None.

import json
import sys

import lark_oapi as lark
from lark_oapi.api.cardkit.v1 import (
    ContentCardElementRequest,
    ContentCardElementRequestBody,
    CreateCardRequest,
    CreateCardRequestBody,
)
from lark_oapi.api.im.v1 import CreateMessageRequest, CreateMessageRequestBody, P2ImMessageReceiveV1
from lark_oapi.event.callback.model.p2_card_action_trigger import P2CardActionTrigger, P2CardActionTriggerResponse

app_id, secret, url = sys.argv[1:]
client = lark.Client.builder().app_id(app_id).app_secret(secret).domain(url).build()


def answer(event: P2ImMessageReceiveV1) -> None:
    message = event.event.message
    text = {"tag": "plain_text", "element_id": "answer", "content": "…"}
    button = {
        "tag": "button",
        "text": {"tag": "plain_text", "content": "ok"},
        "behaviors": [{"type": "callback", "value": {"a": "1"}}],
    }
    elements = [{"tag": "div", "text": text}, button]
    card = {"schema": "2.0", "config": {"streaming_mode": True}, "body": {"elements": elements}}
    body = CreateCardRequestBody.builder().type("card_json").data(json.dumps(card)).build()
    made = client.cardkit.v1.card.create(CreateCardRequest.builder().request_body(body).build())
    content = json.dumps({"type": "card", "data": {"card_id": made.data.card_id}})
    body = CreateMessageRequestBody.builder().receive_id(message.chat_id).msg_type("interactive").content(content)
    request = CreateMessageRequest.builder().receive_id_type("chat_id").request_body(body.build()).build()
    assert client.im.v1.message.create(request).success()
    said = json.loads(message.content)["text"]
    body = ContentCardElementRequestBody.builder().content(f"you said {said}").sequence(1).build()
    request = ContentCardElementRequest.builder().card_id(made.data.card_id).element_id("answer").request_body(body)
    assert client.cardkit.v1.card_element.content(request.build()).success()


def clicked(event: P2CardActionTrigger) -> P2CardActionTriggerResponse:
    return P2CardActionTriggerResponse(
        {"toast": {"type": "success", "content": json.dumps(event.event.action.value)}}
    )


handler = lark.EventDispatcherHandler.builder("", "").register_p2_im_message_receive_v1(answer)
handler = handler.register_p2_card_action_trigger(clicked).build()
lark.ws.Client(app_id, secret, event_handler=handler, domain=url).start()
