"""Gradients of poolings over windows: products with tables of the windows, and scatters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor, all_floats, filled
from ..front_end import FrontEndRemedy
from ..tensors.values import size_of, type_of
from ..torch_ops import TensorType, apply

_AVERAGES = {"aten.avg_pool2d_backward": 2, "aten.avg_pool3d_backward": 3}
_ADAPTIVE = {"aten._adaptive_avg_pool2d_backward": 2, "aten._adaptive_avg_pool3d_backward": 3}
_LARGEST, _LARGEST_BACKWARD = "aten.adaptive_max_pool2d", "aten.adaptive_max_pool2d_backward"


@register_pass
@dataclass(frozen=True)
class DifferentiatePools(FrontEndRemedy):
    """Writes the gradients of average poolings as one product per dimension with a constant table, and `aten.adaptive_max_pool2d` as a pooling.

    A row of the table belongs to a window, and has the share of each element of the image in it. The gradient of the adaptive maximum is
    scattered to the positions that the forward op gives. The size of the image has to be known. IREE 3.13 has no lowering for these.
    Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-differentiate-pools"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces the gradients of average poolings with products with a table of the windows, `aten.adaptive_max_pool2d` with a pooling "
        "and its gradient with a scatter (in the input)"
    )
    repairs: ClassVar[str] = "gradients of poolings, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it with a table of its windows, or a scatter"
    advice: ClassVar[str] = "rewrite it with a table of its windows, or a scatter"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name == _LARGEST:
            return len(op.results) == 2 and _windows(op) is not None
        if name == _LARGEST_BACKWARD:
            return len(op.operands) == 3 and _scattered_dims(op) is not None
        return len(op.results) == 1 and _tables(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = torch.front_end_name(op)
        if name == _LARGEST:
            return _pooled(op)
        if name == _LARGEST_BACKWARD:
            return [_scattered(op)]
        tables = _tables(op)
        assert tables is not None
        return [Tensor.wide(op.operands[0]).along_last(tables).as_result(op.results[0])]


def _tables(op: ir.Operation) -> list[np.ndarray] | None:
    """For each dimension of the image: (windows, elements) -> the share; None where something is not known."""
    name, given = torch.front_end_name(op), list(op.operands)
    dims = _AVERAGES.get(name) or _ADAPTIVE.get(name)
    if dims is None or len(given) != (8 if name in _AVERAGES else 2):
        return None
    types = all_floats(given[:2])
    if types is None or len(types[1].shape) <= dims:
        return None
    sizes, counts = types[1].shape[-dims:], types[0].shape[-dims:]
    if None in sizes or None in counts:
        return None
    if name in _ADAPTIVE:
        return [_adaptive(size or 0, count or 0) for size, count in zip(sizes, counts, strict=True)]
    kernel, stride, padding = (torch.integers_of(one) for one in given[2:5])
    with_pads, divisor = torch.boolean_of(given[6]), torch.integer_of(given[7])
    if not kernel or stride is None or not padding or with_pads is None:
        return None
    if divisor is None and not torch.is_none(given[7]):
        return None
    each = [kernel, stride or kernel, padding]
    kernel, stride, padding = (one * dims if len(one) == 1 else one for one in each)
    windows = zip(kernel, stride, padding, strict=True)
    found = [
        _averages((size or 0, count or 0), window, with_pads, divisor is not None)
        for size, count, window in zip(sizes, counts, windows, strict=True)
    ]
    if divisor is not None:
        found[0] = found[0] / divisor
    return found


def _averages(
    sizes: tuple[int, int], window: tuple[int, int, int], with_pads: bool, plain: bool
) -> np.ndarray:
    """Of an image's size and the number of windows; ``plain``: a sum, which another number divides."""
    (size, count), (kernel, stride, padding) = sizes, window
    table = np.zeros((count, size), np.float32)
    for row in range(count):
        begin = row * stride - padding
        end = min(begin + kernel, size + padding)
        first, last = max(begin, 0), min(end, size)
        divisor = 1 if plain else (end - begin if with_pads else last - first)
        table[row, first:last] = 1.0 / max(divisor, 1)
    return table


def _adaptive(size: int, count: int) -> np.ndarray:
    table = np.zeros((count, size), np.float32)
    for row in range(count):
        first, last = row * size // count, -(-(row + 1) * size // count)
        table[row, first:last] = 1.0 / (last - first)
    return table


def _windows(op: ir.Operation) -> list[int] | None:
    """The windows of an adaptive maximum, where all are of one size."""
    type_, counts = TensorType.of(op.operands[0]), torch.integers_of(op.operands[1])
    if type_ is None or type_.element not in torch.FLOATS or len(type_.shape) != 4 or not counts:
        return None
    counts = counts * 2 if len(counts) == 1 else counts
    sizes = type_.shape[-2:]
    if None in sizes or any((size or 0) % count for size, count in zip(sizes, counts, strict=True)):
        return None
    return [(size or 0) // count for size, count in zip(sizes, counts, strict=True)]


def _pooled(op: ir.Operation) -> list[ir.Value]:
    window = torch.integers(_windows(op) or [])
    pads, dilation = torch.integers([0, 0]), torch.integers([1, 1])
    operands = [op.operands[0], window, window, pads, dilation, torch.boolean(False)]
    results = [one.type for one in op.results]
    made = ir.Operation.create("torch.aten.max_pool2d_with_indices", results=results, operands=operands)
    return list(made.results)


def _scattered_dims(op: ir.Operation) -> int | None:
    """How many dimensions are before those of the image."""
    types = all_floats(op.operands[:2])
    index = TensorType.of(op.operands[2])
    if types is None or index is None or index.element != "si64" or len(types[1].shape) not in (3, 4):
        return None
    return None if None in types[1].shape[-2:] else len(types[1].shape) - 2


def _scattered(op: ir.Operation) -> ir.Value:
    before = _scattered_dims(op)
    assert before is not None
    slope, image = Tensor.wide(op.operands[0]).value, op.operands[1]
    shape = type_of(image).shape
    slope, index = (torch.merged(one, before, before + 1) for one in (slope, op.operands[2]))
    elements = (shape[-1] or 0) * (shape[-2] or 0)
    sizes = [*(size_of(image, dim) for dim in range(before)), torch.integer(elements)]
    zeros = filled(sizes, TensorType((*shape[:before], elements), "f32"), 0.0)
    added = apply("aten.scatter_add", [zeros, torch.integer(before), index, slope], type_of(zeros))
    made = TensorType(shape, "f32")
    split = [added, torch.integer(before), torch.integers([one or 0 for one in shape[-2:]])]
    return Tensor(apply("aten.unflatten.int", split, made)).as_result(op.results[0])
