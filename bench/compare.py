"""Ours and the floor, in turn, so that a noisy moment hits both."""

from collections.abc import Callable
from statistics import median
from typing import Generic, TypeVar

T = TypeVar("T")


class Compared(Generic[T]):
    def __init__(self, ours: list[T], floor: list[T]) -> None:
        self.ours = ours
        self.floor = floor

    def median(self, of: Callable[[T], float]) -> tuple[float, float]:
        return median(map(of, self.ours)), median(map(of, self.floor))


def alternate(times: int, ours: Callable[[], T], floor: Callable[[], T], *, warm_up: int = 1) -> Compared[T]:
    """Some of each to warm up, which do not count; then `times` of each."""
    pairs = [(ours(), floor()) for _ in range(warm_up + times)][warm_up:]
    return Compared([pair[0] for pair in pairs], [pair[1] for pair in pairs])
