"""How busy the machine is, and what it has. psutil reads files of the system, so it runs in a thread."""

import asyncio
import os
import platform
import socket

import psutil

_DISK = "/"


async def sample() -> dict[str, float]:
    """The share of the processors, the memory and the disk that is in use, each from 0 to 1. The processors are
    measured since the last sample."""
    return await asyncio.to_thread(_sample)


def _sample() -> dict[str, float]:
    return {
        "cpu": _share(psutil.cpu_percent(interval=None)),
        "memory": _share(psutil.virtual_memory().percent),
        "disk": _share(psutil.disk_usage(_DISK).percent),
    }


def _share(percent: float) -> float:
    return round(min(max(percent / 100, 0.0), 1.0), 4)


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
