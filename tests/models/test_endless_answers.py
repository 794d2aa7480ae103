"""An answer that does not end fails when it has become longer than any answer can be."""

from collections.abc import Callable

import pytest

from coderelay.models.api_client import ApiClient
from coderelay.models.json_schema_chat.model import SchemaChat
from coderelay.models.model import Model
from coderelay.models.model_card import Card
from coderelay.protocol.errors import ModelFailed
from tests.models.chat_completions import HEAD, KEY, asking, complete
from tests.models.endless_answers import ENDLESS, Endless
from tests.models.raw_server import RawConnection, Talk, in_loop, raw_server
from tests.models.wire_forms import FORMS

MADE: dict[str, Callable[[str, Card, ApiClient], Model]] = {form.name: form.made for form in FORMS} | {
    "schema": SchemaChat
}
EACH = [pytest.param(form, what, id=f"{form}-{what}") for form, kinds in ENDLESS.items() for what in kinds]


@pytest.mark.parametrize(("form", "what"), EACH)
@in_loop
async def test_an_endless_answer_fails_once_and_for_good(form: str, what: str) -> None:
    async with raw_server(_talk(ENDLESS[form][what])) as server:
        api_client = ApiClient(server.url, {}, secret=KEY, env={})
        try:
            with pytest.raises(ModelFailed, match="the model's answer is too long") as failed:
                await complete(MADE[form]("test:m", Card(), api_client), asking())
        finally:
            await api_client.close()
    assert not failed.value.retryable


def _talk(endless: Endless) -> Talk:
    async def talk(connection: RawConnection) -> None:
        if await connection.request():
            await connection.send(HEAD)
            for piece in endless():
                await connection.send(piece)

    return talk
