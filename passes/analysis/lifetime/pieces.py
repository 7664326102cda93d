"""The storage that an op makes: what has to be released, and what has not."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.quantity import Bytes

from . import kinds
from .sizes import bytes_of_memref, bytes_of_type, bytes_of_value
from .steps import Origin


@dataclass(frozen=True)
class New:
    """Storage of the name ``value``; a part of a storage belongs to the one called ``whole``."""

    value: ir.Value
    origin: Origin
    bytes: Bytes
    whole: ir.Value | None = None


def made_by(op: ir.Operation) -> New | None:
    """The storage that ``op`` makes; None where it makes none."""
    if op.name == kinds.MEMREF and not kinds.is_workgroup_memory(op.results[0].type):
        return New(op.results[0], Origin.OWNED, bytes_of_memref(op))
    if op.name == kinds.CLONE:
        return New(op.results[0], Origin.OWNED, bytes_of_type(op.results[0].type))
    if op.name in kinds.STACK or op.name == kinds.MEMREF:
        return New(op.results[0], Origin.STACK, bytes_of_memref(op))
    if op.name == kinds.STORAGE:
        return New(op.results[0], Origin.OWNED, bytes_of_value(view_of(op).capacity, "the storage"))
    if op.name == kinds.TENSOR:
        return New(op.results[0], Origin.PART, bytes_of_type(op.results[0].type), view_of(op).storage)
    if op.name == kinds.STREAM:
        view = view_of(op)
        return New(view.result, Origin.OWNED, bytes_of_value(view.storage_size, "the resource"))
    if op.name == "arith.constant" and isinstance(op.results[0].type, ir.RankedTensorType):
        return New(op.results[0], Origin.CONSTANT, Bytes.unknown("a constant"))
    return None
