"""The bytes of elements that lie in a resource of the module: IREE's Python bindings create such attributes and do not read them."""

from __future__ import annotations

import io

from iree.compiler import ir

from .attributes import attributes

_MAGIC = 4
"""Bytes before the version of bytecode."""
_ALIGNED = 0x80
"""A section that begins with this bit set has an alignment."""
_RESOURCES = 5
"""The section with the data of resources (mlir/Bytecode/Encoding.h)."""


def stands_in_resource(held: ir.Attribute) -> bool:
    """Whether ``held`` are elements in a resource of the module: the bindings give them as a plain attribute."""
    try:
        ir.DenseResourceElementsAttr(held)
    except ValueError:
        return False
    return True


def bytes_of(op: ir.Operation) -> bytes:
    """Those of the resource that ``op``, a constant, holds; none where it holds no other."""
    return next((resource_bytes(held) for _name, held in attributes(op) if stands_in_resource(held)), b"")


def resource_bytes(held: ir.Attribute) -> bytes:
    """Those of ``held``, a `dense_resource`; none where the module has no data for it.

    They are read from bytecode: 100 MB take 0.4 s, and 2.5 s from a text.
    """
    with held.context, ir.Location.unknown():
        module = ir.Module.create().operation
        module.attributes["value"] = held
    written = io.BytesIO()
    module.write_bytecode(written)
    return _data(memoryview(written.getvalue()))


def _data(code: memoryview) -> bytes:
    """The data of the first resource in ``code``."""
    _version, at = _number(code, _MAGIC)
    while code[at]:  # the name of the producer
        at += 1
    at += 1
    while at < len(code):
        section = code[at]
        length, at = _number(code, at + 1)
        if section & _ALIGNED:
            at = _aligned(code, at)
        if section & ~_ALIGNED == _RESOURCES:
            return _first(code, at) if length else b""
        at += length
    return b""


def _first(code: memoryview, at: int) -> bytes:
    alignment, at = _number(code, at)
    size, at = _number(code, at)
    at += -at % max(1, alignment)
    return bytes(code[at : at + size])


def _aligned(code: memoryview, at: int) -> int:
    alignment, at = _number(code, at)
    return at + -at % alignment


def _number(code: memoryview, at: int) -> tuple[int, int]:
    """An integer of variable length, whose first byte has as many zeros at its end as bytes follow, and the place after it."""
    first = code[at]
    if not first:
        return int.from_bytes(code[at + 1 : at + 9], "little"), at + 9
    length = (first & -first).bit_length()
    return int.from_bytes(code[at : at + length], "little") >> length, at + length
