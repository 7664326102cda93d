"""Frozen data as JSON and back, by the types that dataclasses declare; and what JSON Schema says of these types.

Requests, jobs, reports, probe results and baselines all pass here: no type has a reader or a writer of its own. What a type does
not declare is not read; what it declares and is not there, or of another type, is a `WireError` with the path to it.
"""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, TypeVar

import msgspec

Data = TypeVar("Data")
WireError = msgspec.DecodeError
"""Text that is no JSON, or not of the expected type."""
WrongType = msgspec.ValidationError
"""The second of these."""


def encode(value: Any, indent: int = 0) -> bytes:
    """``value`` (dataclasses, enums, tuples, mappings, plain values) as JSON: one line, or lines that are indented by ``indent``."""
    line = msgspec.json.encode(value, enc_hook=_number)
    return msgspec.json.format(line, indent=indent) if indent else line


def decode(kind: type[Data], data: str | bytes) -> Data:
    """What `encode` made of a value of type ``kind``. Raises WireError."""
    return msgspec.json.decode(data, type=kind)


def plain(value: Any) -> Any:
    """``value`` as JSON values: dictionaries, lists, texts, numbers."""
    return msgspec.to_builtins(value, enc_hook=_number)


def _number(value: Any) -> Any:
    """A number of NumPy's as Python's own."""
    if not hasattr(value, "item"):
        raise TypeError(f"a {type(value).__name__} is nothing that JSON has")
    return value.item()


def build(kind: type[Data], data: Any) -> Data:
    """What `plain` made of a value of type ``kind``. Raises WireError."""
    return msgspec.convert(data, kind)


def schemas(*kinds: type) -> dict[str, dict]:
    """JSON Schema of each of ``kinds`` and of the types in them, by name; they refer to each other as `#/$defs/NAME`.

    As `encode` writes them: nothing that a type does not declare, and all fields of a dataclass.
    """
    _, defs = msgspec.json.schema_components(kinds)
    whole = {name for kind in kinds for name in _dataclasses(kind, set())}
    for name, schema in defs.items():
        schema.pop("description", None)
        if "properties" in schema:
            schema["additionalProperties"] = False
            for inner in schema["properties"].values():
                inner.pop("default", None)
            if name in whole:
                schema["required"] = list(schema["properties"])
    return defs


def _dataclasses(kind: Any, seen: set) -> set[str]:
    """The names of the dataclasses in ``kind``."""
    if kind in seen:
        return set()
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)):
        inner = [*typing.get_type_hints(kind).values()]
        own: set[str] = {kind.__name__} if dataclasses.is_dataclass(kind) else set()
        return own.union(*(_dataclasses(one, seen | {kind}) for one in inner))
    return set().union(*(_dataclasses(one, seen) for one in typing.get_args(kind) if one is not Ellipsis))
