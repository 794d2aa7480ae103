"""The usage of the context window as text for people."""

from coderelay.client.i18n import t
from coderelay.client.text_width import padded, width_of
from coderelay.protocol.query_results import (
    ContextShown,
)


def context_in_words(shown: ContextShown) -> str:
    used = sum(tokens for _, tokens in shown.parts)
    parts = [(t(part), tokens) for part, tokens in shown.parts]
    rows = [*parts, *([(t("free"), max(0, shown.window - used))] if shown.window else [])]
    name = max((width_of(part) for part, _ in rows), default=0)
    number = max((len(f"{tokens:,}") for _, tokens in rows), default=0)
    lines = [
        f"  {padded(part, name)}  {f'{tokens:,}'.rjust(number)}{_share(tokens, shown.window)}"
        for part, tokens in rows
    ]
    how = t("counted by the provider; the breakdown is an estimate") if shown.counted else t("estimated")
    first = t("{model}: {used} tokens, {how}", model=shown.model, used=_of(used, shown.window), how=how)
    return "\n".join([first, *lines])


def _of(used: int, window: int) -> str:
    return t("{used} of {window}", used=f"{used:,}", window=f"{window:,}") if window else f"{used:,}"


def _share(tokens: int, window: int) -> str:
    return f"  {100 * tokens / window:5.1f} %" if window else ""
