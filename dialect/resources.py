"""Elements of constants that stand in a resource of the module (`dense_resource`), whose bytes the bindings do not give."""

from __future__ import annotations

import re

from iree.compiler import ir

_BYTES = re.compile(r'"0x([0-9A-Fa-f]*)"')
_ALIGNMENT = 4
"""Bytes in front of a resource's own, which say how it is aligned."""


def stands_in_resource(held: ir.Attribute) -> bool:
    """Whether ``held`` are elements in a resource of the module: the bindings give them as a plain attribute."""
    try:
        ir.DenseResourceElementsAttr(held)
    except ValueError:
        return False
    return True


def bytes_of(op: ir.Operation) -> bytes:
    """Those of the resource that ``op``, a constant, holds; none where it holds no other."""
    with op.context, ir.Location.unknown():
        module = ir.Module.create()
        module.body.append(op.clone())
    found = _BYTES.search(module.operation.get_asm(assume_verified=True).rpartition("dialect_resources")[2])
    return bytes.fromhex(found[1])[_ALIGNMENT:] if found else b""
