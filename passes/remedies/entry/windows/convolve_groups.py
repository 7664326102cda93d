"""Convolutions over an image of unknown size, and of groups of channels over a batch of unknown size: one for each group, or one
`linalg.generic` for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect.attributes import attributes
from fissile.passes.analysis.imports.stablehlo_ops import (
    CONCATENATE,
    CONVOLUTION,
    element_of,
    has_static_shape,
    shape_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from ..stablehlo.sizes import index
from ..stablehlo.values import bits_as, without_sign
from .grouped_products import dims_of, is_writable, of_all_groups

_GROUPS, _BATCHES = "feature_group_count", "batch_group_count"
MOST_PARTS = 8
"""Groups that are a convolution each: of more, and of one channel each, all are one op."""


@dataclass(frozen=True)
class _Groups:
    """``count`` groups; the dimensions of the channels that are read, of those that the kernel makes, and of those of the result; whether
    all are to be one op."""

    count: int
    given: int
    kernel: int
    made: int
    whole: bool


@register_pass
@dataclass(frozen=True)
class ConvolveGroups(FrontEndRemedy):
    """Writes a `stablehlo.convolution` of groups, over a batch of unknown size, as one convolution of each and a concatenation, or, of
    more than 8 and of one channel each (a depthwise one), as one `linalg.generic` of all. One over an image of unknown size, of groups or
    not, is such an op as well.

    IREE 3.13 lowers groups only where all sizes are known, and no image of unknown size. The channels and the window are known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-convolve-groups"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    candidates: ClassVar[tuple[str, ...]] = (CONVOLUTION,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor", "arith", "linalg")
    does: ClassVar[str] = (
        "replaces a `stablehlo.convolution` of groups over an unknown size, and one over an image of unknown size, by one convolution of "
        "each group, or one op of linalg (in the input)"
    )
    repairs: ClassVar[str] = (
        "convolutions of groups, and depthwise ones, over a batch whose size is not known, and convolutions over images of unknown size, "
        "which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "wrote the groups one by one, or as a reduction of linalg"
    advice: ClassVar[str] = "write a convolution for each group, or a reduction of linalg"

    def fits(self, op: ir.Operation) -> bool:
        return _groups_of(op) is not None

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        groups = _groups_of(op)
        assert groups is not None  # `fits`
        value, kernel = op.operands
        if groups.whole:
            return [of_all_groups(op, groups.count)]
        result = ir.RankedTensorType(op.results[0].type)
        share = list(result.shape)
        share[groups.made] //= groups.count
        one = dict(attributes(op)) | {_GROUPS: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)}
        made = ir.RankedTensorType.get(share, result.element_type)
        parts = []
        for number in range(groups.count):
            read, by = _part(value, groups.given, number, groups.count), _part(kernel, groups.kernel, number, groups.count)  # fmt: skip
            parts.append(ir.Operation.create(CONVOLUTION, [made], [read, by], one).results[0])
        along = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), groups.made)}
        return [ir.Operation.create(CONCATENATE, [result], parts, along).results[0]]


def _part(value: ir.Value, dim: int, number: int, count: int) -> ir.Value:
    """The part ``number`` of ``count`` along ``dim``, whose size is known."""
    element, bits = element_of(value), without_sign(value)
    unknown = ir.ShapedType.get_dynamic_size()
    shape = list(shape_of(value))
    shape[dim] //= count
    dynamic = [tensor.DimOp(bits, index(at)).result for at, size in enumerate(shape) if size == unknown]
    starts = [number * shape[dim] if at == dim else 0 for at in range(len(shape))]
    made = ir.RankedTensorType.get(shape, element_of(bits))
    part = tensor.ExtractSliceOp(made, bits, [], dynamic, [], starts, shape, [1] * len(shape)).result
    return bits_as(part, element)


def _groups_of(op: ir.Operation) -> _Groups | None:
    if len(op.operands) != 2 or all(has_static_shape(one.type) for one in op.operands):
        return None
    count, batches = (int(ir.IntegerAttr(op.attributes[name]).value) if name in op.attributes else 1 for name in (_GROUPS, _BATCHES))  # fmt: skip
    given, kernel, made = dims_of(op)
    shape, unknown = shape_of(op.operands[0]), ir.ShapedType.get_dynamic_size()
    unsized = any(size == unknown and name.isdigit() for size, name in zip(shape, given, strict=True))
    if batches != 1 or (count == 1 and not unsized):
        return None  # IREE lowers one group over images of a known size
    sizes = [shape[given.index("f")], shape_of(op.operands[1])[kernel.index("o")]]
    whole = unsized or count > MOST_PARTS or sizes[0] == count
    groups = _Groups(count, given.index("f"), kernel.index("o"), made.index("f"), whole)
    if any(size == unknown or size % count for size in sizes):
        return None
    if shape_of(op.results[0])[groups.made] != sizes[1]:
        return None
    return None if whole and not is_writable(op) else groups
