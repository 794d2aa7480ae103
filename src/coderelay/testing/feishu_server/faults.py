"""Faults that a test wants from the platform."""

import re
import threading

from msgspec import Struct


class Fault(Struct):
    """How the next `times` requests whose "METHOD path" matches `pattern` fail: with an HTTP `status`, with a `code`
    of the platform, or without any answer. With `after`, the request has its effect first."""

    pattern: str
    times: int = 1
    status: int = 200
    code: int = 0
    drops: bool = False
    after: bool = False
    delay: float = 0.0


class Faults:
    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def take(self, request: str) -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if fault.times > 0 and re.search(fault.pattern, request):
                    fault.times -= 1
                    return fault
        return None

    def left(self) -> int:
        with self._lock:
            return sum(each.times for each in self._faults)
