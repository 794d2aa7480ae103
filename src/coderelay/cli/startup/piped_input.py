"""Input that is piped to `coder -p`, which becomes part of the prompt."""

import select
import sys

from coderelay.client.i18n import t

_PATIENCE_SECONDS = 3.0


def piped_input() -> bytes:
    """What was piped or redirected to standard input, up to its end. If nothing comes for a while, stderr says what
    is waited for: nobody can tell whether the other program is only slow."""
    if not select.select([0], [], [], _PATIENCE_SECONDS)[0]:
        told = t("reading standard input; if there is none, start coder with </dev/null")
        sys.stderr.write(f"coder: {told}\n")
        sys.stderr.flush()
    return sys.stdin.buffer.read()
