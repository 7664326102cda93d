"""Frozen data as JSON values and back, by the types that dataclasses declare."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

Data = TypeVar("Data")


def to_plain(value: Any) -> Any:
    """``value`` (dataclasses, enums, tuples, mappings, plain values) as JSON values."""
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: to_plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(inner) for inner in value]
    return value


def from_plain(kind: type[Data], data: Any) -> Data:
    """What `to_plain` made of a value of type ``kind``."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (kind,) = (one for one in inner if one is not type(None))
        return None if data is None else from_plain(kind, data)
    if origin is tuple:
        return tuple(from_plain(inner[0], one) for one in data)
    if origin in (dict, Mapping):
        return {key: from_plain(inner[1], one) for key, one in data.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if is_dataclass(kind):
        return kind(**{name: from_plain(hint, data[name]) for name, hint in _hints(kind).items()})
    return data


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
