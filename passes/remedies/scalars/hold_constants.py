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


@register_pass
@dataclass(frozen=True)
class HoldConstants(OpRemedy):
    """Puts a barrier between constant tensors of complex numbers, or of integers of 64 bits, and the ops that read them.

    IREE 3.13 clones a constant of up to 256 bytes into the dispatch that reads it, and SPIR-V has no constant of complex numbers there: the
    factors of a short Fourier transform. Where a target has no integers of 64 bits, IREE does not lower a vector of them.
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
        "dispatches into which IREE clones a small constant of complex numbers, or of integers of 64 bits (SPIR-V, `failed to legalize …`)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "IREE has no flag for the size up to which it clones constants."
    done: ClassVar[str] = "kept the constants that {ops} reads in global memory"
    advice: ClassVar[str] = "keep the constants that {ops} reads in global memory"
    refusal: ClassVar[str] = "{op} has no constants to keep in global memory: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all that read such constants")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if dispatch is not None and (why_not := _has_them(op, dispatch)):
            return Match(why_not)
        return (
            FITS if _constants_of(op) else Match("it reads no constant of complex numbers or 64-bit integers")
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


def _has_them(op: ir.Operation, dispatch: Dispatch) -> str:
    """Why the target of ``dispatch`` has the constants that ``op`` reads."""
    target = dispatch.target
    if not backend_named(target.backend).spirv:
        return "the target has such constants"
    wide = all(str(op.operands[number].type.element_type) == "i64" for number in _constants_of(op))
    return "the target has integers of 64 bits" if wide and "int64" in target.compute else ""


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
    # One number for all elements IREE writes otherwise.
    return str(type_.element_type) == "i64" and not _is_splat(owner.operation.attributes["value"])


def _is_splat(held: ir.Attribute) -> bool:
    return isinstance(held, ir.DenseElementsAttr) and held.is_splat
