"""Input that is piped to `coder -p`, which becomes part of the prompt.

`--help` loads this file, so it imports nothing that argparse does not need.
"""

import os
import stat
import sys

from coderelay.client.language import t

_PATIENCE_SECONDS = 3.0


def piped_input() -> bytes:
    """What was piped or redirected to standard input, up to its end; nothing from a terminal or /dev/null. If nothing
    comes for a while, stderr says what is waited for: nobody can tell whether the other program is only slow."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:
        return b""
    if not (stat.S_ISFIFO(kind) or stat.S_ISREG(kind) or stat.S_ISSOCK(kind)):
        return b""
    import select  # needed for pipes only

    if not select.select([0], [], [], _PATIENCE_SECONDS)[0]:
        told = t("waiting for the end of standard input; if there is none, start coder with </dev/null")
        sys.stderr.write(f"coder: {told}\n")
        sys.stderr.flush()
    return sys.stdin.buffer.read()


def decoded(text: bytes) -> str:
    """Text in UTF-8, or else in the encoding of the locale; what is neither is replaced."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode(sys.getfilesystemencoding(), "replace")
