"""Statistics of the machine: how busy it is, and what it has. psutil reads system files, so it runs in a thread."""

import asyncio
import os
import platform
import socket

import psutil

_DISK = "/"


async def sample() -> dict[str, float]:
    """The share of the processors, the memory and the disk that is in use, each from 0 to 1. The processors are
    measured since the last sample; the first time, since this file was loaded."""
    return await asyncio.to_thread(_sample)


def _sample() -> dict[str, float]:
    return {
        "cpu": _processors.share(),
        "memory": _rounded(psutil.virtual_memory().percent / 100),
        "disk": _rounded(psutil.disk_usage(_DISK).percent / 100),
    }


class _Processors:
    """psutil can measure this too, but from one call of a thread to the next of the same one; threads vary here."""

    def __init__(self) -> None:
        self._busy, self._whole = _processor_seconds()

    def share(self) -> float:
        busy, whole = _processor_seconds()
        since_busy, since_whole = busy - self._busy, whole - self._whole
        self._busy, self._whole = busy, whole
        return _rounded(since_busy / since_whole) if since_whole > 0 else 0.0


def _processor_seconds() -> tuple[float, float]:
    times = psutil.cpu_times()._asdict()
    whole = sum(times.values()) - times.get("guest", 0.0) - times.get("guest_nice", 0.0)  # they count twice
    return whole - times["idle"] - times.get("iowait", 0.0), whole


_processors = _Processors()


def _rounded(share: float) -> float:
    return round(min(max(share, 0.0), 1.0), 4)


async def machine() -> dict[str, str | int]:
    """What does not change: the name of the machine, its processors, and bytes of memory and disk."""
    return await asyncio.to_thread(_machine)


def _machine() -> dict[str, str | int]:
    return {
        "hostname": socket.gethostname(),
        "system": platform.system(),
        "cpuModel": _cpu_model(),
        "cpuCount": os.cpu_count() or 1,
        "totalMemory": psutil.virtual_memory().total,
        "totalDisk": psutil.disk_usage(_DISK).total,
    }


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() in ("model name", "Model"):
                    return value.strip()
    except OSError:
        pass  # only Linux has this file
    return platform.processor() or platform.machine()
