"""Slices, updates and gathers of tensors whose sizes are known at run time only, written with ops of tensor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, scf, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.imports.stablehlo_ops import (
    DYNAMIC_GATHER,
    DYNAMIC_UPDATE_SLICE,
    GATHER,
    SCATTER,
    element_of,
    has_static_shape,
    shape_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from .sizes import UNKNOWN, Size, as_value, extracted, host_integers, index, minus, sizes_in
from .values import bits_as, without_sign


@register_pass
@dataclass(frozen=True)
class SliceToSizes(FrontEndRemedy):
    """Writes `stablehlo.dynamic_update_slice` of a tensor of dynamic size, and a scatter that sets one part of it, as `tensor.insert_slice`,
    and a gather of dynamic sizes as `tensor.extract_slice` or as reads of elements.

    Places that StableHLO moves inside are moved inside. IREE 3.13 lowers none of them, unless the sizes turn out to be constants. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-slice-to-sizes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (
        DYNAMIC_UPDATE_SLICE,
        DYNAMIC_GATHER,
        GATHER,
        SCATTER,
    )
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor", "arith", "linalg", "scf")
    does: ClassVar[str] = (
        "replaces `stablehlo.dynamic_update_slice`, gathers, and scatters that set one part, of dynamic sizes by "
        "`tensor.extract_slice`, `tensor.insert_slice` and `tensor.extract` (in the input)"
    )
    repairs: ClassVar[str] = "these ops, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with ops of tensor"
    advice: ClassVar[str] = "rewrite it with ops of tensor"

    def fits(self, op: ir.Operation) -> bool:
        if op.name == SCATTER:
            return _sets_one_part(op)
        return not all(has_static_shape(value.type) for value in (op.operands[0], op.results[0]))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        way = {DYNAMIC_UPDATE_SLICE: _updated, SCATTER: _scattered}.get(op.name, _gathered)
        value = way(op, without_sign(op.operands[0]))
        made = ir.RankedTensorType.get(shape_of(op.results[0]), element_of(value))
        value = value if value.type == made else tensor.CastOp(made, value).result
        return [bits_as(value, element_of(op.results[0]))]


def _extract(
    value: ir.Value, starts: Sequence[Size], sizes: Sequence[Size], strides: Sequence[Size]
) -> ir.Value:
    made = ir.RankedTensorType.get(_stated(sizes), element_of(value))
    rows = (starts, sizes, strides)
    return tensor.ExtractSliceOp(made, value, *map(_values, rows), *map(_stated, rows)).result


def _values(sizes: Sequence[Size]) -> list[ir.Value]:
    return [one for one in sizes if isinstance(one, ir.Value)]


def _stated(sizes: Sequence[Size]) -> list[int]:
    return [UNKNOWN if isinstance(one, ir.Value) else one for one in sizes]


def _sizes(value: ir.Value) -> list[Size]:
    return [
        tensor.DimOp(value, index(dim)).result if one == UNKNOWN else one
        for dim, one in enumerate(shape_of(value))
    ]


def _inside(start: ir.Value, length: Size, part: Size) -> ir.Value:
    """``start``, moved so that ``part`` elements from it on are among ``length``."""
    last = as_value(minus(length, part))
    return arith.maxsi(arith.minsi(start, last), index(0))


def _updated(op: ir.Operation, value: ir.Value) -> ir.Value:
    update = without_sign(op.operands[1])
    part = _sizes(update)
    starts = [
        _inside(extracted(start, []), length, size)
        for start, length, size in zip(list(op.operands)[2:], _sizes(value), part, strict=True)
    ]
    ones = [1] * len(part)
    return tensor.InsertSliceOp(
        update, value, starts, _values(part), [], [UNKNOWN] * len(part), _stated(part), ones
    ).result


def _sets_one_part(op: ir.Operation) -> bool:
    """Whether a scatter of dynamic sizes writes one part of its operand over: all its dimensions, at one place."""
    if len(op.operands) != 3 or all(has_static_shape(value.type) for value in op.operands):
        return False
    rank = ir.RankedTensorType(op.operands[0].type).rank
    indices = ir.RankedTensorType(op.operands[1].type)
    text = str(op.attributes["scatter_dimension_numbers"])
    window = re.search(r"update_window_dims = \[([^\]]*)\]", text)
    whole = window is not None and len(window[1].split(",")) == rank
    block = op.regions[0].blocks[0]
    end = block.operations[0].operation
    return (
        whole
        and "inserted_window_dims" not in text
        and "batching_dims" not in text
        and "index_vector_dim" not in text
        and indices.rank == 1
        and len(block.operations) == 1
        and end.operands[0] == block.arguments[1]
    )


def _scattered(op: ir.Operation, value: ir.Value) -> ir.Value:
    """StableHLO leaves the operand as it is where the part is not inside."""
    update, lengths = without_sign(op.operands[2]), _sizes(value)
    part = _sizes(update)
    found = re.search(
        r"scatter_dims_to_operand_dims = \[([^\]]*)\]", str(op.attributes["scatter_dimension_numbers"])
    )
    places = [int(one) for one in found[1].split(",")] if found else []
    starts: list[ir.Value] = [index(0) for _ in lengths]
    inside = arith.constant(ir.IntegerType.get_signless(1), 1)
    for number, dim in enumerate(places):
        starts[dim] = extracted(op.operands[1], [number])
        last = as_value(minus(lengths[dim], part[dim]))
        fits = arith.andi(
            arith.cmpi(arith.CmpIPredicate.sge, starts[dim], index(0)),
            arith.cmpi(arith.CmpIPredicate.sle, starts[dim], last),
        )
        inside = arith.andi(inside, fits)
    branch = scf.IfOp(inside, [value.type], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        ones = [1] * len(part)
        written = tensor.InsertSliceOp(
            update, value, starts, _values(part), [], [UNKNOWN] * len(part), _stated(part), ones
        )
        scf.YieldOp([written.result])
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp([value])
    return branch.results[0]


@dataclass(frozen=True)
class _Dimensions:
    """StableHLO's dimension numbers of a gather."""

    offset: list[int]
    collapsed: list[int]
    batching: list[int]
    batching_of_indices: list[int]
    start: list[int]
    vector: int

    @staticmethod
    def of(op: ir.Operation) -> _Dimensions:
        text = str(op.attributes["dimension_numbers"])

        def numbers(name: str) -> list[int]:
            found = re.search(rf"\b{name} = \[([^\]]*)\]", text)
            return [int(one) for one in found[1].split(",") if one.strip()] if found else []

        vector = re.search(r"index_vector_dim = (\d+)", text)
        return _Dimensions(
            numbers("offset_dims"),
            numbers("collapsed_slice_dims"),
            numbers("operand_batching_dims"),
            numbers("start_indices_batching_dims"),
            numbers("start_index_map"),
            int(vector[1]) if vector else 0,
        )


def _gathered(op: ir.Operation, value: ir.Value) -> ir.Value:
    dims, indices = _Dimensions.of(op), host_integers(op.operands[1])
    lengths = _sizes(value)
    part: list[Size] = (
        sizes_in(op.operands[2])
        if op.name == DYNAMIC_GATHER
        else list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
    )
    kept = [dim for dim in range(len(lengths)) if dim not in (*dims.collapsed, *dims.batching)]
    rank = ir.RankedTensorType(indices.type).rank
    around = [dim for dim in range(rank) if dim != dims.vector]
    of_indices = _sizes(indices)
    if not around and len(kept) == len(lengths):
        starts = [index(0) for _ in lengths]
        for number, dim in enumerate(dims.start):
            at = [number] if rank else []
            starts[dim] = _inside(extracted(op.operands[1], at), lengths[dim], part[dim])
        return _extract(value, starts, part, [1] * len(part))
    results = ir.RankedTensorType(op.results[0].type).rank
    batch = [dim for dim in range(results) if dim not in dims.offset]
    sizes: list[Size] = [0] * results
    for place, dim in zip(dims.offset, kept, strict=True):
        sizes[place] = part[dim]
    for place, dim in zip(batch, around, strict=True):
        sizes[place] = of_indices[dim]
    lasts = [as_value(minus(length, size)) for length, size in zip(lengths, part, strict=True)]
    empty = tensor.EmptyOp(sizes, element_of(value)).result
    generic, block = build_generic([], [empty], [ir.AffineMap.get_identity(results)], [True] * results)
    with ir.InsertionPoint(block):
        at_result = [linalg.IndexOp(dim).result for dim in range(results)]
        at_indices = dict(zip(around, (at_result[place] for place in batch), strict=True))
        places: list[ir.Value] = [index(0) for _ in lengths]
        for number, dim in enumerate(dims.start):
            at = [index(number) if one == dims.vector else at_indices[one] for one in range(rank)]
            start = tensor.ExtractOp(indices, at).result
            if not isinstance(start.type, ir.IndexType):
                start = arith.index_cast(ir.IndexType.get(), start)
            places[dim] = arith.maxsi(arith.minsi(start, lasts[dim]), index(0))
        for dim, of_index in zip(dims.batching, dims.batching_of_indices, strict=True):
            places[dim] = at_indices[of_index]
        for place, dim in zip(dims.offset, kept, strict=True):
            places[dim] = arith.addi(places[dim], at_result[place])
        linalg.YieldOp([tensor.ExtractOp(value, places).result])
    return generic.results[0]
