"""Parses the lines that people type into answers to asks. An ask with several questions is answered line by line."""

from coderelay.client.ask_view import parse_answer, view_of
from coderelay.protocol.asks import Answers, Ask, Decision, PermissionAsk, QuestionAsk
from coderelay.protocol.calls import Question
from coderelay.protocol.ids import AskId
from coderelay.surfaces.terminal.ask_and_prompt_queues import OpenAsk

_ALL = ("all", "全部")


class AnswerParser:
    """Turns typed lines into decisions. Keeps the answers to an ask's first questions until the last one is
    answered."""

    def __init__(self) -> None:
        self._ask: AskId | None = None
        self._given: list[str] = []

    def current(self, ask: Ask) -> Ask:
        """The part of the ask that the next line answers: one question of several, or the whole ask."""
        return _only(ask, self.question(ask)) if isinstance(ask, QuestionAsk) else ask

    def question(self, ask: QuestionAsk) -> Question:
        """The question that the next line answers."""
        return ask.questions[len(self._so_far(ask))]

    def place(self, ask: Ask) -> tuple[int, int]:
        """The number of the question that the next line answers, and how many there are."""
        return (len(self._so_far(ask)) + 1, len(ask.questions)) if isinstance(ask, QuestionAsk) else (1, 1)

    def take(self, ask: Ask, line: str) -> Decision | None:
        """Returns the decision, or None if more questions follow. Raises BadInput, which keeps the earlier
        answers."""
        if not isinstance(ask, QuestionAsk):
            return parse_answer(ask, [view_of(ask).keys.get(line.strip(), line)])
        given = [*self._so_far(ask), line]
        decision = parse_answer(_only(ask, self.question(ask)), [line])
        if isinstance(decision, Answers) and len(given) < len(ask.questions):
            self._given = given
            return None
        self._given = []
        return parse_answer(ask, given) if isinstance(decision, Answers) else decision

    def _so_far(self, ask: Ask) -> list[str]:
        if ask.id != self._ask:
            self._ask, self._given = ask.id, []
        return self._given


def _only(ask: QuestionAsk, question: Question) -> QuestionAsk:
    return QuestionAsk(ask.id, ask.call_id, (question,))


def split_all(line: str, batch: list[OpenAsk]) -> tuple[str, list[OpenAsk]]:
    """The answer, and the asks it applies to: `y all` answers all permission asks of the batch, any other line only
    the first ask."""
    word, _, rest = line.strip().partition(" ")
    permissions = [each for each in batch if isinstance(each.ask, PermissionAsk)]
    if rest.strip().lower() in _ALL and permissions and batch[0] is permissions[0]:
        return word, permissions
    return line, batch[:1]
