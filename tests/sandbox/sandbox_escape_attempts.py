"""What a command must not be able to do, tried from inside: prints one JSON object, `done` or the error of each.

A script of its own: python -I sandbox_escape_attempts.py FACTS, which is JSON too.
"""

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

PTRACE_ATTACH = 16


def main(facts: dict[str, Any]) -> None:
    print(json.dumps({name: attempt(action) for name, action in actions(facts).items()}))


def attempt(action: Callable[[], object]) -> str:
    try:
        action()
    except OSError as error:
        return error.strerror or type(error).__name__
    except AssertionError as failure:
        return str(failure)
    return "done"


def actions(facts: dict[str, Any]) -> dict[str, Callable[[], object]]:
    libc = ctypes.CDLL(None, use_errno=True)
    secret = facts["secret"]

    def write(path: str) -> Callable[[], object]:
        return lambda: open(path, "a").close()

    def connect(family: int, address: Any) -> Callable[[], object]:
        return lambda: socket.socket(family).connect(address)

    def read(path: str) -> Callable[[], object]:
        def look() -> None:
            with open(path) as file:
                assert secret in file.read(), "it is not there"

        return look

    def call(number: int) -> None:
        if number < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def environments() -> None:
        assert any(secret in environ_of(pid) for pid in os.listdir("/proc") if pid.isdigit()), "none shows it"

    def rewrite(path: str) -> None:
        with open(path, "r+") as file:
            file.write(file.read())

    harmless: dict[str, Callable[[], object]] = {
        **{f"write {path}": write(path) for path in facts["outside"]},
        **{f"read {path}": read(path) for path in facts["secrets"]},
        "reach the machine": connect(socket.AF_INET, ("127.0.0.1", facts["port"])),
        "reach another of its addresses": connect(socket.AF_INET, ("127.0.0.2", facts["port"])),
        "reach it by IPv6": connect(socket.AF_INET6, ("::1", facts["port"])),
        **{f"connect to {path}": connect(socket.AF_UNIX, path) for path in facts["sockets"]},
        "connect to an abstract socket": connect(socket.AF_UNIX, "\0" + facts["abstract"]),
        "read an environment": environments,
        "signal the owner": lambda: os.kill(facts["pid"], 0),
    }
    if facts["harmless"]:
        return harmless
    return harmless | {
        "trace the owner": lambda: call(libc.ptrace(PTRACE_ATTACH, facts["pid"], 0, 0)),
        "mount": lambda: call(libc.mount(b"none", os.fsencode(os.getcwd()), b"tmpfs", 0, None)),
        "become another user": lambda: os.setuid(65533),
        "make a device": lambda: os.mknod("device", 0o20666, os.makedev(1, 3)),
        "set up the machine": lambda: rewrite("/proc/sys/kernel/printk"),
    }


def environ_of(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/environ", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
