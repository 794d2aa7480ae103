"""A background command in one line, for people."""

import time

from coderelay.client.language import retell, t
from coderelay.protocol.background import BackgroundRow, in_words


def background_line(row: BackgroundRow) -> str:
    since = time.strftime("%H:%M:%S", time.localtime(row.started_at / 1000))
    how = t("runs since {time}", time=since) if row.end is None else retell(in_words(row.end))
    return f"{row.id}. {row.command.strip().partition(chr(10))[0]}  · {how}"
