"""Elements taken by several index tensors, by one index into merged dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply
from .values import (
    INDICES,
    broadcast_shape,
    from_front,
    permuted,
    size_of,
    type_of,
)

_NAMES = ("aten.index.Tensor", "aten.index.Tensor_hacked_twin")


@register_pass
@dataclass(frozen=True)
class IndexMergedDims(FrontEndRemedy):
    """Writes `aten.index.Tensor` by several tensors (`x[rows, columns]`) as one index into the dimensions, merged.

    IREE 3.13 rejects index tensors of which two have an unknown size in one dimension, and those of 32-bit integers. Dimensions that
    are not neighbours come first, as in PyTorch, and negative indices count from the end. Masks are left alone. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-index-merged-dims"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.index.Tensor` by several tensors with one index into merged dimensions (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.index.Tensor` by several tensors of dynamic size or by 32-bit integers, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "merged the dimensions and took the elements by one index"
    advice: ClassVar[str] = "merge the dimensions and take the elements by one index"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _NAMES or len(op.operands) != 2 or len(op.results) != 1:
            return False
        source, given = TensorType.of(op.operands[0]), _listed(op.operands[1])
        if source is None or TensorType.of(op.results[0]) is None or len(given) > len(source.shape):
            return False
        types = [TensorType.of(one) for one in given if not torch.is_none(one)]
        known = [one for one in types if one is not None and one.element in INDICES]
        if not types or len(known) != len(types):
            return False
        aligned = zip_longest(*(reversed(one.shape) for one in known), fillvalue=1)
        dynamic = any(sizes.count(None) > 1 for sizes in aligned)
        return dynamic or any(one.element == "si32" for one in known)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        source, given = op.operands[0], _listed(op.operands[1])
        axes = [axis for axis, one in enumerate(given) if not torch.is_none(one)]
        first, last = axes[0], axes[-1]
        if last - first >= len(axes):
            rest = [axis for axis in range(len(type_of(source).shape)) if axis not in axes]
            source = permuted(source, [*axes, *rest])
            first, last = 0, len(axes) - 1
        indices = [torch.converted(given[axis], "si64") for axis in axes]
        sizes = [size_of(source, dim) for dim in range(first, last + 1)]
        index = _linear(indices, sizes)
        source = torch.merged(source, first, last)
        shape = type_of(source).shape
        places = [*([torch.none()] * first), index]
        index_list = ir.Operation.create(
            "torch.prim.ListConstruct",
            results=[ir.Type.parse("!torch.list<optional<vtensor>>")],
            operands=places,
        ).result
        made = TensorType(
            (*shape[:first], *type_of(index).shape, *shape[first + 1 :]), type_of(source).element
        )
        taken = apply("aten.index.Tensor", [source, index_list], made)
        return [torch.cast(taken, op.results[0].type)]


def _listed(value: ir.Value) -> list[ir.Value]:
    """The elements of a list that the program constructs; none of another."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "torch.prim.ListConstruct":
        return []
    return list(owner.operands)


def _linear(indices: list[ir.Value], sizes: list[ir.Value]) -> ir.Value:
    """Where in the merged dimensions the element is."""
    found: ir.Value | None = None
    for index, size in zip(indices, sizes, strict=True):
        front = from_front(index, size)
        if found is None:
            found = front
            continue
        begun = type_of(found)
        scaled = apply("aten.mul.Scalar", [found, size], begun)
        made = TensorType(broadcast_shape([begun.shape, type_of(front).shape]), "si64")
        found = apply("aten.add.Tensor", [scaled, front, torch.integer(1)], made)
    assert found is not None
    return found
