"""What the web app must know of the server, as TypeScript: the events that clients may send, and the modes.
`python -m tools.web_types` writes it.

It is made from the msgspec types that the server decodes with and from the records of the modes, so the two cannot
differ; a test compares them.
"""

from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import inspect

from coderelay.client.i18n import localize, speaking
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.modes import MODES, ModeSpec
from coderelay.protocol.translation_files import LANGUAGES
from coderelay.surfaces.web.client_event_types import ClientEvent

FILE = Path(__file__).parents[1] / "web" / "src" / "contract" / "client_events.ts"
_PLAIN: tuple[tuple[type[inspect.Type], str], ...] = (
    (inspect.StrType, "string"),
    (inspect.BoolType, "boolean"),
    (inspect.IntType, "number"),
    (inspect.FloatType, "number"),
    (inspect.NoneType, "null"),
    (inspect.AnyType, "unknown"),
)


def typescript() -> str:
    kinds = get_args(ClientEvent)
    shown = [inspect.type_info(kind) for kind in kinds]
    structs: dict[str, inspect.StructType] = {}
    for each in shown:
        _collect(each, structs)
    parts = [_interface(name, struct) for name, struct in sorted(structs.items())]
    union = "export type ClientEvent =\n" + "".join(f"  | {kind.__name__}\n" for kind in kinds).rstrip() + ";"
    modes = f"export const MODES = [\n{''.join(map(_mode, MODES))}] as const;"
    head = "// Written by `python -m tools.web_types` from the types of the server. Do not edit."
    return "\n\n".join([head, modes, *parts, union]) + "\n"


def _mode(mode: ModeSpec) -> str:
    outside, label, detail = _json(mode.external_name), _in_all_languages(mode.label), _in_all_languages(mode.detail)
    return f"  {{ name: {_json(mode.name)}, outsideName: {outside}, label: {label}, detail: {detail} }},\n"


def _in_all_languages(words: Localized) -> str:
    told: list[str] = []
    for language in LANGUAGES:
        with speaking(language):
            told.append(f"{language}: {_json(localize(words))}")
    return f"{{ {', '.join(told)} }}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _collect(kind: inspect.Type, structs: dict[str, inspect.StructType]) -> None:
    match kind:
        case inspect.StructType():
            structs[kind.cls.__name__] = kind
            for field in kind.fields:
                _collect(field.type, structs)
        case inspect.UnionType():
            for each in kind.types:
                _collect(each, structs)
        case inspect.VarTupleType():
            _collect(kind.item_type, structs)
        case _:
            pass


def _interface(name: str, struct: inspect.StructType) -> str:
    lines = [] if struct.tag_field is None else [f'  {struct.tag_field}: "{struct.tag}";']
    for field in struct.fields:
        mark = "" if field.required else "?"
        lines.append(f"  {field.encode_name}{mark}: {_type(field.type)};")
    return f"export interface {name} {{\n" + "\n".join(lines) + "\n}" if lines else f"export type {name} = object;"


def _type(kind: inspect.Type) -> str:
    for plain, name in _PLAIN:
        if isinstance(kind, plain):
            return name
    match kind:
        case inspect.StructType():
            return kind.cls.__name__
        case inspect.UnionType():
            return " | ".join(_type(each) for each in kind.types)
        case inspect.LiteralType():
            return " | ".join(_json(each) for each in _values(kind))
        case inspect.VarTupleType():
            item = _type(kind.item_type)
            return f"{item}[]" if " " not in item else f"({item})[]"
        case inspect.DictType():
            return f"Record<string, {_type(kind.value_type)}>"
        case _:
            raise TypeError(f"no TypeScript type for {kind}")


def _values(kind: inspect.LiteralType) -> tuple[Any, ...]:
    return kind.values


if __name__ == "__main__":
    FILE.write_text(typescript(), encoding="utf-8")
