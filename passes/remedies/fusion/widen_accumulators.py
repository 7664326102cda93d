"""Adds up 16-bit floats in 32 bits: code generation has no schedule for some reductions that accumulate in
16."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.dispatch.structure import Structure, loop_structure, structure_of
from fissile.passes.definition import option, register_pass

from ..generic_ops import build_generic
from ..narrow.packed_words import sizes_of
from ..rebuilt_ops import elementwise
from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

NARROW_FLOATS = ("f16", "bf16")
_SAME_IN_F32 = ("arith.", "math.")


@register_pass
@dataclass(frozen=True)
class WidenAccumulators(OpRemedy):
    """Lets reductions that accumulate in f16 or bf16 accumulate in f32, and rounds their results once, behind
    them.

    ``ops`` chooses source ops by index, as findings name them; without it, every op that reduces into f16 or
    bf16. The inputs stay as they are in memory: they are extended inside the body, which is what matrix units
    take. The numbers are not bit-identical: they are closer to the exact sum, since 16-bit rounding
    after each term is gone (error of a sum of n terms: one 16-bit rounding instead of up to n). A chosen op
    that does not accumulate in 16 bits, or that cannot be rewritten, is FIS114.
    """

    name: ClassVar[str] = "fissile-widen-accumulators"
    order: ClassVar[int] = 120
    cures: ClassVar[tuple[str, ...]] = ("FIS103",)
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "computes f16 and bf16 sums in f32 and rounds once"
    repairs: ClassVar[str] = "`failed to distribute` of 16-bit accumulations (gfx942, sm_86)"
    numbers: ClassVar[str] = "*not* identical: closer to the exact sum"
    counterpart: ClassVar[str] = (
        "Input conversion promotes f16 or bf16 in the whole program, including arguments and results; nothing promotes "
        "only an accumulator."
    )
    done: ClassVar[str] = "accumulated {ops} in f32"
    advice: ClassVar[str] = "accumulate {ops} in f32"
    refusal: ClassVar[str] = "{op} cannot accumulate in f32: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "math", "tensor")
    ops: tuple[int, ...] = option(
        (), "indices of the source ops to widen; empty: all that reduce into 16-bit floats"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        structure = structure_of(op)
        if structure is None:
            return Match("it has no body")
        if structure.all_parallel:
            return Match("it does not reduce")
        if not any(str(result.type.element_type) in NARROW_FLOATS for result in op.results):
            return Match("it does not accumulate in f16 or bf16")
        for inner in (inner.operation for inner in op.regions[0].blocks[0].operations):
            touches = any(str(v.type) in NARROW_FLOATS for v in (*inner.operands, *inner.results))
            if touches and (
                inner.regions
                or not inner.name.startswith((*_SAME_IN_F32, "linalg.yield"))
                or inner.name == "arith.bitcast"
            ):
                return Match(f"no rule widens {inner.name} in its body")
        return FITS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        widen_accumulators(ops)

    def facts(self, ops: Sequence[ir.Operation]) -> tuple[tuple[str, str], ...]:
        return (
            ("rounding", "one 16-bit rounding at the end instead of one per term: closer to the exact sum"),
        )


def widen_accumulators(ops: Iterable[ir.Operation]) -> int:
    """Widens ``ops``, each of which matches, in place; returns their number."""
    count = 0
    for op in ops:
        with ir.InsertionPoint(op), op.location:
            _widen(op, loop_structure(op))
        count += 1
    return count


def _widen(op: ir.Operation, structure: Structure) -> None:
    outputs = len(op.results)
    inputs, inits = list(op.operands)[:-outputs], list(op.operands)[-outputs:]
    inits = [_wide_init(init) for init in inits]
    new, block = build_generic(inputs, inits, structure.maps, structure.parallel)
    with ir.InsertionPoint(block):
        _copy_body(op.regions[0].blocks[0], block)
    for old, result in zip(list(op.results), new.results, strict=False):
        old.replace_all_uses_with(_rounded(result, old.type))
    op.erase()


def _copy_body(old: ir.Block, new: ir.Block) -> None:
    """The body with every 16-bit float as f32."""
    values = {before: _extended(after) for before, after in zip(old.arguments, new.arguments, strict=False)}
    for op in [op.operation for op in old.operations]:
        operands = [values[v] if v in values else _extended(v) for v in op.operands]
        if op.name == "linalg.yield":
            linalg.YieldOp(operands)
        elif op.name in ("arith.extf", "arith.truncf") and operands[0].type == _wide_type(op.results[0].type):
            values[op.results[0]] = operands[0]
        elif op.name == "arith.constant" and _is_narrow(op.results[0].type):
            values[op.results[0]] = arith.constant(
                ir.F32Type.get(), ir.FloatAttr(op.attributes["value"]).value
            )
        elif any(_is_narrow(v.type) for v in (*op.operands, *op.results)):
            attributes = {
                named.name: named.attr for named in (op.attributes[i] for i in range(len(op.attributes)))
            }
            again = ir.Operation.create(
                op.name, [_wide_type(r.type) for r in op.results], operands, attributes
            )
            values.update(zip(op.results, again.results, strict=False))
        else:
            again = op.clone()
            for position, operand in enumerate(operands):
                again.operands[position] = operand
            values.update(zip(op.results, again.results, strict=False))


def _wide_init(init: ir.Value) -> ir.Value:
    """The f32 tensor that the accumulation starts from; the output of a fill is filled anew."""
    if not _is_narrow(init.type.element_type):
        return init
    owner = None if isinstance(init.owner, ir.Block) else init.owner.operation
    if owner is not None and owner.name == "linalg.fill":
        return linalg.fill(
            _extended(owner.operands[0]), outs=[tensor.EmptyOp(sizes_of(init), ir.F32Type.get()).result]
        )
    return elementwise(init, ir.F32Type.get(), lambda value: arith.extf(ir.F32Type.get(), value))


def _rounded(value: ir.Value, tensor_type: ir.RankedTensorType) -> ir.Value:
    if value.type == tensor_type:
        return value
    return elementwise(
        value, tensor_type.element_type, lambda wide: arith.truncf(tensor_type.element_type, wide)
    )


def _extended(value: ir.Value) -> ir.Value:
    if not _is_narrow(value.type):
        return value
    owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if owner is not None and owner.name == "arith.constant":
        return arith.constant(ir.F32Type.get(), ir.FloatAttr(owner.attributes["value"]).value)
    return arith.extf(ir.F32Type.get(), value)


def _is_narrow(type_: ir.Type) -> bool:
    return str(type_) in NARROW_FLOATS


def _wide_type(type_: ir.Type) -> ir.Type:
    return ir.F32Type.get() if _is_narrow(type_) else type_
