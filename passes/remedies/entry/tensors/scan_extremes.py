"""Running maxima and minima as scans of IREE's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, linalg, tensor

from fissile.passes.definition import register_pass
from fissile.passes.iree.ops import LINALG_EXT_SCAN, LINALG_EXT_YIELD
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import FLOATS, TensorType, apply
from .values import INTEGERS, as_boolean, axis_of, positions, type_of

_NAMES = {"aten.cummax": True, "aten.cummin": False}


@register_pass
@dataclass(frozen=True)
class ScanExtremes(FrontEndRemedy):
    """Writes `aten.cummax` and `aten.cummin` as two scans (`iree_linalg_ext.scan`): of the values, and of the indices of those that are reached.

    Of equal elements the last one's index is given, and NaN is larger and smaller than all, as in PyTorch. The size may be dynamic,
    and the work grows with it, not with its square. The torch dialect of IREE 3.13 has neither op. Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-scan-extremes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces `aten.cummax` and `aten.cummin` with scans (in the input)"
    repairs: ClassVar[str] = "`aten.cummax` and `aten.cummin`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as scans of the values and of their indices"
    advice: ClassVar[str] = "rewrite it as scans of the values and of their indices"
    dialects: ClassVar[tuple[str, ...]] = ("torch", "torch_c", "iree_linalg_ext", "linalg", "tensor", "arith")

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _NAMES or len(op.operands) != 2 or len(op.results) != 2:
            return False
        type_ = TensorType.of(op.operands[0])
        if type_ is None or type_.element not in (*FLOATS, *INTEGERS):
            return False
        known = all(TensorType.of(result) is not None for result in op.results)
        return known and axis_of(op.operands[1], len(type_.shape)) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, largest = op.operands[0], _NAMES[torch.front_end_name(op)]
        type_ = type_of(value)
        axis = axis_of(op.operands[1], len(type_.shape))
        assert axis is not None
        is_float = type_.element in FLOATS
        values = scanned(value, axis, _neutral(type_.element, largest), _COMBINE[is_float, largest])
        reached = apply("aten.eq.Tensor", [value, values], as_boolean(type_))
        if is_float:
            unordered = apply("aten.ne.Tensor", [value, value], as_boolean(type_))
            reached = apply("aten.logical_or", [reached, unordered], as_boolean(type_))
        indices = scanned(positions(reached, axis, 0), axis, _neutral("si64", True), arith.maxsi)
        return [
            torch.cast(one, result.type) for one, result in zip((values, indices), op.results, strict=True)
        ]


def scanned(value: ir.Value, axis: int, neutral: float, combine: Callable[..., ir.Value]) -> ir.Value:
    """What ``combine`` makes of the elements up to each one along ``axis``; ``neutral`` changes nothing."""
    type_, given = type_of(value), torch.to_builtin(value)
    element = ir.RankedTensorType(given.type).element_type
    sizes = [
        tensor.DimOp(given, arith.constant(ir.IndexType.get(), dim)).result if size is None else size
        for dim, size in enumerate(type_.shape)
    ]
    rows = tensor.EmptyOp([*sizes[:axis], *sizes[axis + 1 :]], element).result
    start = linalg.fill(arith.constant(element, neutral), outs=[rows])
    whole = tensor.EmptyOp(sizes, element).result
    scan = ir.Operation.create(
        LINALG_EXT_SCAN,
        results=[whole.type, start.type],
        operands=[given, whole, start],
        attributes={
            "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis),
            "inclusive": ir.BoolAttr.get(True),
        },
        regions=1,
    )
    block = scan.regions[0].blocks.append(element, element)
    with ir.InsertionPoint(block):
        ir.Operation.create(LINALG_EXT_YIELD, operands=[combine(*block.arguments)])
    return torch.from_builtin(scan.results[0], type_)


_COMBINE = {
    (True, True): arith.maximumf,
    (True, False): arith.minimumf,
    (False, True): arith.maxsi,
    (False, False): arith.minsi,
}
"""Whether elements are floats, whether the largest is sought -> the op; those of floats keep NaN."""


def _neutral(element: str, largest: bool) -> float | int:
    """What no element changes."""
    if element in FLOATS:
        return -inf if largest else inf
    bits = INTEGERS[element]
    return -(2 ** (bits - 1)) if largest else 2 ** (bits - 1) - 1
