"""Reads and writes parts of tensors element by element where IREE copies a range of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect.views import view_of
from fissile.finding import Finding
from fissile.passes.analysis.host.tensor_ranges import SLICE, UPDATE, scattered_ranges
from fissile.passes.definition import Contract, register_pass
from fissile.passes.remedies.remedy import ON_TENSORS, Exactness, Remedy

from .held_tensors import held


@register_pass
@dataclass(frozen=True)
class CopySlices(Remedy):
    """Turns flow.tensor.slice and flow.tensor.update into tensor.extract_slice and tensor.insert_slice where the part is not one range
    of elements.

    IREE 3.13 copies a range of bytes for the former (FIS149), and a dispatch copies for the latter. Run it after global
    optimisation. The same numbers in every bit as the program specifies.
    """

    name: ClassVar[str] = "fissile-copy-slices"
    cures: ClassVar[tuple[str, ...]] = ("FIS149",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = f"turns {SLICE} and {UPDATE} of parts with gaps into tensor ops"
    repairs: ClassVar[str] = "wrong numbers on every target: IREE copies one range of bytes (FIS149)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "copied the part with a tensor op, which may have gaps"
    advice: ClassVar[str] = "copy the part with a tensor op, which may have gaps"
    dialects: ClassVar[tuple[str, ...]] = ("flow", "tensor", "util")
    contract: ClassVar[Contract] = ON_TENSORS

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in scattered_ranges(op):
            with ir.InsertionPoint(found.op), found.op.location:
                new = _extracted(found.op) if found.op.name == SLICE else _inserted(found.op)
            found.op.results[0].replace_all_uses_with(new)
            found.op.erase()


def _extracted(op: ir.Operation) -> ir.Value:
    view = view_of(op)
    type_ = ir.RankedTensorType(view.result.type)
    dynamic = [size for d, size in enumerate(view.lengths) if type_.is_dynamic_dim(d)]
    starts = _starts(type_, view.start_indices, dynamic)
    return tensor.ExtractSliceOp(
        type_, held(view.source, view.source_dims), starts, dynamic, [], *_static(type_)
    ).result


def _inserted(op: ir.Operation) -> ir.Value:
    view = view_of(op)
    type_ = ir.RankedTensorType(view.update.type)
    return tensor.InsertSliceOp(
        held(view.update, view.update_dims),
        view.target,
        _starts(type_, view.start_indices, view.update_dims),
        list(view.update_dims),
        [],
        *_static(type_),
    ).result


def _starts(
    part: ir.RankedTensorType, starts: Iterable[ir.Value], sizes: Iterable[ir.Value]
) -> list[ir.Value]:
    """The position of ``part``, 0 in each dimension where it has no elements.

    A part without elements may begin at the end of the whole, and IREE rejects tensor ops whose constant position is there,
    whatever the size is.
    """
    left = iter(sizes)
    return [
        _nothing_or(next(left), start) if part.is_dynamic_dim(d) else start for d, start in enumerate(starts)
    ]


def _nothing_or(size: ir.Value, start: ir.Value) -> ir.Value:
    none = arith.constant(ir.IndexType.get(), 0)
    return arith.select(arith.cmpi(arith.CmpIPredicate.eq, size, none), none, start)


def _static(part: ir.RankedTensorType) -> tuple[list[int], list[int], list[int]]:
    """Offsets, which are all values, sizes and strides."""
    unknown = ir.ShapedType.get_dynamic_size()
    sizes = [unknown if part.is_dynamic_dim(d) else part.get_dim_size(d) for d in range(part.rank)]
    return [ir.ShapedType.get_dynamic_stride_or_offset()] * part.rank, sizes, [1] * part.rank
