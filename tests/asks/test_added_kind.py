"""A kind of ask that is answered with yes or no is one class: no other file knows of this one."""

from typing import Any, ClassVar

import pytest
from msgspec import Struct

from coderelay.client.ask_view import full_text, headline, parse_answer, view_of
from coderelay.client.i18n import speaking
from coderelay.protocol.asks import Allow, Deny, DenyAndStop, PlanDecision, YesNo
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import AskId, SessionId
from coderelay.session.decide import check_fit
from coderelay.surfaces.feishu import click_decisions
from coderelay.surfaces.feishu.ask_cards import AskCard, Closed, ask_layout
from coderelay.surfaces.feishu.card_layout import card_of
from coderelay.surfaces.terminal.ask_menu import AskMenu
from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.asks import ask_card
from coderelay.surfaces.web import permission_response
from coderelay.surfaces.web.client_event_types import AllowResult, DenyResult
from coderelay.surfaces.web.outgoing_event_json import ask_fields
from tests.feishu.card_reader import read_card

pytestmark = pytest.mark.quick


class DeployAsk(Struct, frozen=True, tag="deploy"):
    answered_by: ClassVar[type[Struct]] = Allow
    wrong_answer_message: ClassVar[str] = "say yes or no"
    external_name: ClassVar[str] = "Deploy"

    id: AskId
    place: str
    deadline: int | None = None

    @property
    def call_id(self) -> None:
        return None

    @property
    def yes_no(self) -> YesNo:
        return YesNo(
            Localized("The build for {place} is done", "{place} 的构建已完成"),
            Localized("Deploy to {place}?", "部署到 {place} 吗？"),
            Localized("No, later", "以后再说"),
            {"place": self.place},
            {"place": self.place},
        )


ASK: Any = DeployAsk(AskId("a"), "staging")


def test_it_is_put_in_words_and_answered_by_typing() -> None:
    assert headline(ASK) == "The build for staging is done"
    assert full_text(ASK) == "The build for staging is done\n  Deploy to staging?"
    assert [each.label for each in view_of(ASK).options] == ["Yes", "No, later"]
    assert [parse_answer(ASK, [word]) for word in ("y", "n", "no, not yet")] == [Allow(), Deny(), Deny("not yet")]


def test_only_yes_and_no_answer_it() -> None:
    for decision in (Allow(), Deny(), DenyAndStop()):
        check_fit(ASK, decision)
    with pytest.raises(BadInput, match="say yes or no"):
        check_fit(ASK, PlanDecision("smart"))


def test_the_terminal_draws_it_with_its_answers() -> None:
    shown = without_colours(ask_card(ASK, 60))
    assert shown == "\n┃ The build for staging is done\n┃ Deploy to staging?\n"
    assert len(AskMenu(ASK)) == 2


def test_the_web_asks_about_it_in_all_languages() -> None:
    assert ask_fields(ASK, None, "/w") == {
        "toolUseId": "a",
        "toolName": "Deploy",
        "input": {"place": "staging"},
        "askId": "a",
        "kind": "permission",
        "title": "The build for staging is done",
        "reason": "The build for staging is done",
        "retold": {"zh": "staging 的构建已完成"},
    }
    answers = (AllowResult(), DenyResult("later"))
    assert [permission_response.decision_of(ASK, each, None) for each in answers] == [Allow(), Deny("later")]


def test_the_chat_has_a_card_for_it() -> None:
    with speaking("en"):
        card = read_card(card_of(ask_layout(AskCard("ask/a", "nonce", SessionId("s")), [(ASK, None)]), "2.0"))
        closed = ask_layout(AskCard("ask/a", "nonce", SessionId("s")), [(ASK, Closed(Allow()))])
    assert card.text == full_text(ASK)
    assert card.labels == ["Confirm", "Cancel", "Stop"]
    decided = [click_decisions.decision_of(ASK, each.value["action"], {}) for each in card.buttons]
    assert decided == [Allow(), Deny(), DenyAndStop()]
    assert closed.summary == "Confirmed"
