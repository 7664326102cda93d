"""What does code that is converted to LLVM or SPIR-V say of its translation, which comes next?"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.backends import Backend

_CONVERTED_FROM = ("arith.", "math.", "memref.", "scf.", "vector.")
"""Dialects of which nothing is left in what a translation takes."""


@dataclass
class ConvertedCode:
    """A dispatch's code in LLVM's dialect or SPIR-V, up to the first op that translation will refuse."""

    backend: Backend
    ops: int = 0
    elements: int = 0
    """Of the longest vector."""
    unconverted: ir.Operation | None = None
    """The op that translation will refuse."""
    called: ir.Operation | None = None
    """An op of which LLVM may make a call of a function that IREE's linker does not find."""

    @property
    def unusual(self) -> bool:
        """Whether there is so much code, or so long a vector, that LLVM may not translate it within seconds."""
        return 0 < self.backend.usual_ops <= self.ops or 0 < self.backend.usual_elements <= self.elements

    def see(self, op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name == iree_ops.CODEGEN_DISPATCH_CONFIG:
            return ir.WalkResult.SKIP  # counts workgroups, on the host
        if name == iree_ops.UNREALIZED_CAST or name.startswith(_CONVERTED_FROM):
            self.unconverted = op
            return ir.WalkResult.INTERRUPT
        self.ops += 1
        vectors = [type_ for result in op.results if isinstance(type_ := result.type, ir.VectorType)]
        self.elements = max([self.elements, *(prod(type_.shape) for type_ in vectors)])
        if self.called is None and _may_call(op, name, self.backend):
            self.called = op
        return ir.WalkResult.ADVANCE


def read_converted(inner: ir.Operation, backend: Backend) -> ConvertedCode:
    """Reads ``inner``, a dispatch's builtin.module after the conversion of ``backend``."""
    code = ConvertedCode(backend)
    inner.walk(code.see, ir.WalkOrder.PRE_ORDER)
    return code


def _may_call(op: ir.Operation, name: str, backend: Backend) -> bool:
    """Whether LLVM may make a call of ``op``, by its name and the element type of its result."""
    kinds = backend.library_calls.get(name)
    if kinds is None or not op.results:
        return False
    type_ = op.results[0].type
    element = ir.VectorType(type_).element_type if isinstance(type_, ir.VectorType) else type_
    return not kinds or str(element) in kinds
