"""Stories of other files once more, with the log in PostgreSQL."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from tests import house
from tests.blocking import test_stories as blocking_stories
from tests.host import test_asks, test_clear, test_fork, test_queue, test_several_people

pytest_plugins = ["tests.postgres"]

Story = Callable[[Path], None]


def stories(*modules: ModuleType) -> Iterator[Story]:
    """Those that need nothing but a folder, and neither look into the file of the log nor start another program."""
    for module in modules:
        for name, test in vars(module).items():
            if not name.startswith("test_") or [*inspect.signature(test).parameters] != ["tmp_path"]:
                continue
            if not {"read_logs", "Coder"} & {*inspect.unwrap(test).__code__.co_names}:
                yield cast("Story", test)


TOLD_AGAIN = [*stories(test_asks, test_clear, test_fork, test_queue, test_several_people, blocking_stories)]


@pytest.mark.parametrize("story", TOLD_AGAIN, ids=lambda story: story.__name__)
def test_a_story_of_a_host_is_the_same_on_postgres(
    story: Story, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house, "log_address", database)
    story(tmp_path)


def test_there_are_stories_to_tell_again() -> None:
    assert len(TOLD_AGAIN) > 30
