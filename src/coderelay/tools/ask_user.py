"""The `ask_user` tool: asks the person questions; their answers are the result of the call."""

from msgspec import Struct

from coderelay.protocol.asks import QuestionAsk
from coderelay.protocol.calls import Finished, Need, Question
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.workspace.workspace import Workspace


class AskUserArguments(Struct, frozen=True):
    questions: tuple[Question, ...]


class AskUser:
    spec = ToolSpec(
        name="ask_user",
        kind="ask",
        description="Ask the person something you cannot find out yourself. With options they choose, "
        "without they answer in their own words.",
        parameters={
            "type": "object",
            "properties": {
                "questions": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "question": {"type": "string"},
                            "header": {"type": "string", "description": "a word or two"},
                            "options": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "properties": {"label": {"type": "string"}, "description": {"type": "string"}},
                                    "required": ["label"],
                                },
                            },
                            "multiSelect": {"type": "boolean"},
                        },
                        "required": ["question"],
                    },
                }
            },
            "required": ["questions"],
        },
        external_name=QuestionAsk.external_name,
        always_allowed=True,
        headline="",
        chinese="向用户询问自己无法查明的事情。",
    )
    arguments = AskUserArguments

    def need(self, arguments: AskUserArguments, workspace: Workspace) -> Need:
        texts = [each.question.strip() for each in arguments.questions]
        if not texts or not all(texts):
            raise ToolFailed("there must be at least one question, and none may be empty")
        if len(set(texts)) < len(texts):
            raise ToolFailed("each question may be asked once")
        return Need(tool="ask_user", kind="ask", title=texts[0], questions=arguments.questions)

    async def run(self, arguments: AskUserArguments, workspace: Workspace) -> Finished:
        raise ToolFailed(
            "the question was not shown to anybody"
        )  # an answered question ends the call without running it
