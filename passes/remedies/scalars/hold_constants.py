"""Constants of complex numbers stay in global memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.passes.definition import option, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.backends import backend_named

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class HoldConstants(OpRemedy):
    """Puts a barrier between constant tensors of complex numbers and the ops that read them.

    IREE 3.13 clones a constant of up to 256 bytes into the dispatch that reads it, and SPIR-V has no constant of complex numbers there: the
    factors of a short Fourier transform. Behind the barrier the dispatch reads it from memory. ``ops`` chooses source ops by index; without it,
    all that read such a constant. Another chosen op is FIS114.
    """

    name: ClassVar[str] = "fissile-hold-constants"
    order: ClassVar[int] = 13
    cures: ClassVar[tuple[str, ...]] = ("FIS104", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "keeps constant tensors of complex numbers out of dispatches"
    repairs: ClassVar[str] = (
        "dispatches into which IREE clones a small constant of complex numbers (SPIR-V, `failed to legalize operation 'arith.constant'`)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "IREE has no flag for the size up to which it clones constants."
    done: ClassVar[str] = "kept the complex constants that {ops} reads in global memory"
    advice: ClassVar[str] = "keep the complex constants that {ops} reads in global memory"
    refusal: ClassVar[str] = "{op} has no constants to keep in global memory: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all that read complex constants")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if dispatch is not None and not backend_named(dispatch.target.backend).spirv:
            return Match("the target has constants of complex numbers")
        return FITS if _constants_of(op) else Match("it reads no constant of complex numbers")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for number in _constants_of(op):
                constant = op.operands[number]
                with ir.InsertionPoint(op), op.location:
                    held = ir.Operation.create(
                        iree_ops.UTIL_OPTIMIZATION_BARRIER, [constant.type], [constant]
                    ).result
                op.operands[number] = held


def _constants_of(op: ir.Operation) -> list[int]:
    """The numbers of the operands of ``op`` that are such constants."""
    return [number for number, value in enumerate(op.operands) if _is_complex_constant(value)]


def _is_complex_constant(value: ir.Value) -> bool:
    type_, owner = value.type, value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return False
    return isinstance(type_, ir.RankedTensorType) and isinstance(type_.element_type, ir.ComplexType)
