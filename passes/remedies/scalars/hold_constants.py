"""Constants of complex numbers, and of wide integers, stay in global memory."""

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


_MOST = 32
"""Elements of 64 bits: IREE does not clone a larger constant."""


@register_pass
@dataclass(frozen=True)
class HoldConstants(OpRemedy):
    """Puts a barrier between constant tensors of complex numbers, or of integers of 64 bits, and the ops that read them.

    IREE 3.13 clones a constant of up to 256 bytes into the dispatch that reads it, and SPIR-V has no constant of complex numbers there: the
    factors of a short Fourier transform. Where a target has no integers of 64 bits, IREE has no constant of them that needs more than 32.
    Behind the barrier the dispatch reads it from memory. ``ops`` chooses source ops by index; without it,
    all that read such a constant. Another chosen op is FIS114.
    """

    name: ClassVar[str] = "fissile-hold-constants"
    order: ClassVar[int] = 13
    cures: ClassVar[tuple[str, ...]] = ("FIS104", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "keeps constant tensors of complex numbers, or of integers of 64 bits, out of dispatches"
    )
    repairs: ClassVar[str] = (
        "dispatches into which IREE clones a small constant of complex numbers, or of integers that need more than 32 bits (SPIR-V, `failed to legalize …`)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "IREE has no flag for the size up to which it clones constants."
    done: ClassVar[str] = "kept the constants that {ops} reads in global memory"
    advice: ClassVar[str] = "keep the constants that {ops} reads in global memory"
    refusal: ClassVar[str] = "{op} has no constants to keep in global memory: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all that read such constants")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if dispatch is not None and not backend_named(dispatch.target.backend).spirv:
            return Match("the target has such constants")
        return (
            FITS if _constants_of(op) else Match("it reads no constant of complex numbers or wide integers")
        )

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
    return [number for number, value in enumerate(op.operands) if _is_held(value)]


def _is_held(value: ir.Value) -> bool:
    type_, owner = value.type, value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return False
    if not isinstance(type_, ir.RankedTensorType):
        return False
    if isinstance(type_.element_type, ir.ComplexType):
        return True
    return str(type_.element_type) == "i64" and _is_wide(owner.operation.attributes["value"])


def _is_wide(held: ir.Attribute) -> bool:
    """Whether an element does not fit 32 bits with a sign. One number for all of them IREE writes otherwise."""
    if not isinstance(held, ir.DenseIntElementsAttr) or held.is_splat or len(held) > _MOST:
        return False
    return any(not -(1 << 31) <= int(held[number]) < 1 << 31 for number in range(len(held)))
