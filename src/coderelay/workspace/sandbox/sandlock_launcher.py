"""Starts a program in a sandlock sandbox, and keeps running to supervise its system calls.

This is a script of its own and is never imported: python -I sandlock_launcher.py WHERE POLICY PROGRAM …
"""

import ctypes
import json
import sys

PR_CAPBSET_DROP = 24
LAST_CAPABILITY = 63


def main(where: str, policy: str, argv: list[str]) -> int:
    drop_capabilities()
    sys.path.append(where)
    from sandlock import Sandbox  # pyright: ignore[reportMissingTypeStubs] - it has none

    with open(policy, encoding="utf-8") as file:
        sandbox = Sandbox(**json.load(file))
    return sandbox.run_interactive(argv)


def drop_capabilities() -> None:
    """Drop all capabilities, for root too, both now and after another program is executed."""
    libc = ctypes.CDLL(None)
    for number in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    version_3 = (ctypes.c_uint32 * 2)(0x20080522, 0)
    libc.capset(version_3, (ctypes.c_uint32 * 6)())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
