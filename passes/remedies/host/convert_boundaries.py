"""Converts what a function takes and returns between the caller's element type and the program's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, complex

from fissile.dialect.attributes import attributes
from fissile.dialect.operands import operand, operands_named, positions_named
from fissile.finding import Finding
from fissile.passes.analysis.host.demoted_boundaries import DemotedBoundary, demoted_boundaries
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.rebuilt_ops import elementwise
from fissile.passes.remedies.remedy import Exactness, Remedy

from .double_words import floats_of, words_of, words_type


@register_pass
@dataclass(frozen=True)
class ConvertBoundaries(Remedy):
    """Converts arguments behind their import, and results before the barrier that their caller waits for.

    For functions with IREE's ABI whose program was demoted or promoted behind it (FIS161): a tensor of f64 comes in as such and
    is computed with as f32, as the flag says. A tensor that an argument is overwritten with is converted as well. Run it at
    phase input. The numbers are those that the program computes; a conversion to fewer bits rounds. ``words`` converts f64 by its two
    words of 32 bits, for a target without f64.
    """

    name: ClassVar[str] = "fissile-convert-boundaries"
    cures: ClassVar[tuple[str, ...]] = ("FIS161",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "converts arguments and results between the caller's element type and the program's"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: f64 buffers of a torch or ONNX function are read and written as f32 (FIS161)"
    )
    numbers: ClassVar[str] = "bit-identical to what the demoted program specifies"
    done: ClassVar[str] = "converted it where it enters or leaves the function"
    advice: ClassVar[str] = "convert it where it enters or leaves the function"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "complex", "hal", "linalg", "math", "tensor")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))
    words: bool = option(False, "convert f64 in integers of 32 bits, for a target without f64")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in demoted_boundaries(op):
            with found.op.location:
                by_words = self.words and _is_double(found.caller)
                if found.is_argument:
                    _convert_argument(found, by_words)
                else:
                    _convert_result(found, by_words)


def _convert_argument(found: DemotedBoundary, by_words: bool) -> None:
    old = found.op
    caller = _with(ir.RankedTensorType(old.results[0].type), found.caller)
    with ir.InsertionPoint(old):
        if by_words:
            words = _anew(old, words_type(caller), list(old.operands))
            new = floats_of(words, _single(found.caller))
        else:
            new = _anew(old, caller, list(old.operands))
        value = _elements_as(new, found.program)
    old.results[0].replace_all_uses_with(value)
    old.erase()


def _convert_result(found: DemotedBoundary, by_words: bool) -> None:
    """An alias is made of the converted tensor; what else used its result uses the tensor itself."""
    old, source = found.op, operand(found.op, "source")
    assert source is not None
    aliases = old.name == iree_ops.HAL_TENSOR_ALIAS
    barrier = _barrier_of(old.results[0] if aliases else source)
    position = positions_named(old, "source")[0]
    if barrier is not None and not aliases:
        source = operands_named(barrier, "sources")[ir.OpResult(source).result_number]
    with ir.InsertionPoint(old if aliases or barrier is None else barrier):
        if by_words:
            value = words_of(_elements_as(source, _single(found.caller)))
        else:
            value = _elements_as(source, found.caller)
        if aliases:
            operands = list(old.operands)
            operands[position] = value
            value = _anew(old, value.type, operands)
    if barrier is not None:
        value = _joined(barrier, value)
    if aliases:
        old.results[0].replace_all_uses_with(source)
        old.erase()
    else:
        old.operands[position] = value


def _is_double(element: ir.Type) -> bool:
    return isinstance(element.element_type if isinstance(element, ir.ComplexType) else element, ir.F64Type)


def _single(double: ir.Type) -> ir.Type:
    """The type of half the width."""
    f32 = ir.F32Type.get()
    return ir.ComplexType.get(f32) if isinstance(double, ir.ComplexType) else f32


def _elements_as(source: ir.Value, element: ir.Type) -> ir.Value:
    """``source`` with its elements converted."""
    if ir.RankedTensorType(source.type).element_type == element:
        return source
    return elementwise(source, element, lambda one: _converted(one, element))


def _barrier_of(value: ir.Value) -> ir.Operation | None:
    """The barrier that ``value`` comes from, or goes to."""
    near = [use.owner.operation for use in value.uses]
    near += [value.owner.operation] if isinstance(value, ir.OpResult) else []
    return next((op for op in near if op.name == iree_ops.HAL_TENSOR_BARRIER), None)


def _joined(barrier: ir.Operation, value: ir.Value) -> ir.Value:
    """``value`` as one more tensor of ``barrier``, which is made anew."""
    sources, fence = operands_named(barrier, "sources"), operand(barrier, "signal_fence")
    types = [*(result.type for result in barrier.results), value.type]
    with ir.InsertionPoint(barrier), barrier.location:
        new = ir.Operation.create(barrier.name, types, [*sources, value, fence])
    for before, after in zip(barrier.results, new.results, strict=False):
        before.replace_all_uses_with(after)
    barrier.erase()
    return new.results[len(types) - 1]


def _anew(op: ir.Operation, type_: ir.Type, operands: list[ir.Value]) -> ir.Value:
    """``op`` with a result of ``type_``."""
    return ir.Operation.create(op.name, [type_], operands, dict(attributes(op))).results[0]


def _with(tensor: ir.RankedTensorType, element: ir.Type) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(tensor.shape, element)


def _converted(value: ir.Value, wanted: ir.Type) -> ir.Value:
    given = value.type
    if isinstance(wanted, ir.ComplexType):
        parts = (part.result for part in (complex.ReOp(value), complex.ImOp(value)))
        return complex.CreateOp(wanted, *(_converted(part, wanted.element_type) for part in parts)).result
    if isinstance(wanted, ir.IntegerType):
        return arith.trunci(wanted, value) if wanted.width < given.width else arith.extsi(wanted, value)
    if given.width == wanted.width:  # two formats of 16 bits
        value, given = arith.extf(ir.F32Type.get(), value), ir.F32Type.get()
    return arith.truncf(wanted, value) if wanted.width < given.width else arith.extf(wanted, value)
