"""Of many values, the one that so many per cent do not exceed."""

from collections.abc import Sequence
from statistics import quantiles


def p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[18]
