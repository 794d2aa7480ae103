"""A notebook as text: its cells, numbered, each with the beginning of what it put out."""

from typing import Any

import msgspec

_OUTPUT_LINES = 20
_OUTPUT_CHARS = 2000


class _Output(msgspec.Struct, frozen=True):
    """Of the four kinds of outputs, whatever they have."""

    output_type: str = ""
    text: str | list[str] = ""
    data: dict[str, Any] = {}
    ename: str = ""
    evalue: str = ""


class _Cell(msgspec.Struct, frozen=True):
    cell_type: str
    source: str | list[str] = ""
    outputs: list[_Output] = []


class _Notebook(msgspec.Struct, frozen=True):
    cells: list[_Cell]


def notebook_text(text: str) -> str | None:
    """None if it is no notebook of the form that has been usual since 2013."""
    try:
        notebook = msgspec.json.decode(text, type=_Notebook)
    except (msgspec.DecodeError, RecursionError):
        return None
    return "\n".join(_cell(number, cell) for number, cell in enumerate(notebook.cells, 1)) + "\n"


def _cell(number: int, cell: _Cell) -> str:
    parts = [f"[cell {number}, {cell.cell_type}]", _joined(cell.source)]
    outputs = [_output(each) for each in cell.outputs]
    if outputs:
        parts += [f"[output of cell {number}]", *outputs]
    return "\n".join(part.rstrip("\n") for part in parts)


def _output(output: _Output) -> str:
    if output.ename:
        return _short(f"{output.ename}: {output.evalue}")
    text = _joined(output.text)
    plain = output.data.get("text/plain", "")
    if not text and isinstance(plain, str | list):
        text = _joined(plain)  # type: ignore[arg-type]
    others = ", ".join(kind for kind in output.data if kind != "text/plain")
    return _short(text) + (f"\n({others})" if others else "")


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _short(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    kept = "\n".join(lines[:_OUTPUT_LINES])[:_OUTPUT_CHARS]
    return kept if len(kept) == len(text.rstrip("\n")) else f"{kept}\n… ({len(lines)} lines in all)"
