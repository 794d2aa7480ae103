"""Compares the bundled catalogue with a public table of models, as https://models.dev/api.json has it.

catalog.py API_JSON     lists what differs, and what is offered there and unknown here
"""

import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from coderelay.models.catalog import card_of, read_catalog
from coderelay.models.model_card import Card, Price

THEIRS = {"gemini": "google", "moonshot": "moonshotai", "qwen": "alibaba", "iflow": "iflowcn"}


class Limit(Struct, frozen=True):
    context: int = 0
    output: int = 0


class Row(Struct, frozen=True):
    """`cost` is left out where nobody charges by the token."""

    limit: Limit
    cost: dict[str, object] = {}
    tool_call: bool = False


class Provider(Struct, frozen=True):
    models: dict[str, Row]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        sys.stderr.write(f"{__doc__}\n")
        return 2
    table = msgspec.json.decode(Path(arguments[0]).read_bytes(), type=dict[str, Provider])
    catalog = read_catalog()
    lines: list[str] = []
    for name, offer in (catalog.makers | catalog.resellers).items():
        theirs = table[key].models if (key := THEIRS.get(name, name)) in table else {}
        for model, card in offer.models.items():
            told = _differences(card, theirs[model]) if model in theirs else ["not there"]
            lines += [f"{name}:{model} {each}" for each in told]
        lines += [
            f"{name}:{model} not here"
            for model, row in theirs.items()
            if row.tool_call and card_of(f"{name}:{model}").price is None
        ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if lines else 0


def _differences(card: Card, row: Row) -> list[str]:
    ours = {"context": card.context, "output": card.output} | _costs(card.price)
    theirs = {"context": row.limit.context, "output": row.limit.output} | row.cost
    return [
        f"{key} {ours[key]} here, {theirs[key]} there" for key in ours if key in theirs and ours[key] != theirs[key]
    ]


def _costs(price: Price | None) -> dict[str, float]:
    return msgspec.to_builtins(price) if price is not None else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
