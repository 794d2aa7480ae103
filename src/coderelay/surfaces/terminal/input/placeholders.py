"""Shows the characters of attachments by their labels."""

from bisect import bisect_right

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from coderelay.surfaces.terminal.input.attachments import Attachments

STYLE = "class:attachment fg:ansicyan"


class Placeholders(Processor):
    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        if not self._attachments.has_any(fragment_list_to_text(fragments)):
            return Transformation(fragments)
        shown: StyleAndTextTuples = []
        starts: list[int] = []
        at = 0
        for style, character, *_ in explode_text_fragments(fragments):
            label = self._attachments.label(character)
            shown.append((style, character) if label is None else (f"{style} {STYLE}", label))
            starts.append(at)
            at += len(character if label is None else label)
        starts.append(at)
        last = len(starts) - 1

        def to_display(position: int) -> int:
            return starts[position] if position <= last else at + position - last

        def to_source(position: int) -> int:
            return min(bisect_right(starts, position) - 1, last) if position <= at else last + position - at

        return Transformation(shown, source_to_display=to_display, display_to_source=to_source)
