"""Which native code, and which object files, does a program bring along?

IREE evaluates constant parts of a program with the code that it generates for them, in the compiler's own process. What such code
may do is bounded by the ops of tensors; an op that is machine code, a call or an address is bounded by nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.dialect.source_text import BYTECODE
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of

_DIALECTS = ("llvm.", "ptr.")
"""Dialects whose ops may work on addresses."""
_CODE = (
    "llvm.inline_asm",
    "llvm.module_asm",
    "llvm.call",
    "llvm.invoke",
    "llvm.call_intrinsic",
    "llvm.inttoptr",
)
"""Ops that are machine code, reach code by a name, or make an address of a number."""
_ADDRESS = re.compile(r"!llvm\.(?:struct<.*)?ptr|!ptr\.")
_OBJECT = iree_ops.HAL_EXECUTABLE_OBJECT
"""IREE (3.13) reads the file at `path`, or takes `data`, and links it into the executable: HALAttrs.cpp."""
_PATH = re.compile(r'path = "((?:[^"\\]|\\.)*)"')
_BYTES = (b"llvm.", b"ptr.", b"executable.object<")
_BYTES_OF_BYTECODE = (b"llvm", b"ptr", b"executable.object<")
"""What the text, and bytecode, of a program with native code hold, unless a letter is escaped by a backslash."""


@dataclass(frozen=True)
class NativeCode:
    """``spelled`` is the op, or the object file in an attribute of ``holder``."""

    holder: str
    spelled: str
    place: Place | None


def may_hold_native_code(source: bytes) -> bool:
    """Whether the text or bytecode ``source`` can hold any: a search of bytes."""
    words = _BYTES_OF_BYTECODE if source.startswith(BYTECODE) else _BYTES
    return b"\\" in source or any(word in source for word in words)


def native_code(module: ir.Operation) -> list[NativeCode]:
    """All that the ops of ``module`` bring along, in program order."""
    found: list[NativeCode] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith(_DIALECTS) and (op.name in _CODE or _has_address(op)):
            found.append(NativeCode(op.name, op.name, place_of(op)))
        for name in op.attributes:
            if spelled := _object_in(op, name):
                found.append(NativeCode(op.name, spelled, place_of(op)))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _has_address(op: ir.Operation) -> bool:
    return any(_ADDRESS.search(str(value.type)) for value in (*op.operands, *op.results))


def _object_in(op: ir.Operation, name: str) -> str:
    """An object in attribute ``name`` that is no file below the working directory or a search path of the command line."""
    held = attribute(op, name)
    if held is None or isinstance(held, (ir.DenseElementsAttr, ir.StringAttr)):
        return ""
    text = str(held)
    for part in text.split(f"#{_OBJECT}<")[1:]:
        path = _PATH.search(part)
        if "data = " in part or path is None:
            return f"#{_OBJECT} with data"
        name = path.group(1)
        if "\\" in name or name.startswith("/") or ".." in name.split("/"):
            return f'#{_OBJECT} with path = "{name}"'
    return ""
