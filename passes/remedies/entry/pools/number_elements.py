"""The places of the largest elements of a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.analysis.imports.unknown_sizes import integers, number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..torch_ops import TensorType, apply
from .pad_pools import SPATIAL, borders_of


@register_pass
@dataclass(frozen=True)
class NumberElements(FrontEndRemedy):
    """Writes an `onnx.MaxPool` with Indices as a pad, `torch.aten.max_pool2d_with_indices`, and the sum of its indices and where each image
    and channel begins.

    ONNX numbers the elements of the whole tensor. IREE 3.13 numbers those of each channel, with uneven borders the padded ones (FIS162), and
    rejects other orders. Sizes are known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-number-elements"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes an `onnx.MaxPool` with Indices so that they number the whole tensor (in the input)"
    )
    repairs: ClassVar[str] = (
        "the second result of MaxPool, in which IREE numbers the elements of each channel: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "numbered the elements of the whole tensor"
    advice: ClassVar[str] = "number the elements of the whole tensor"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.MaxPool" or len(op.operands) != 1 or len(op.results) != 2:
            return False
        given, *made = (TensorType.of(value) for value in (op.operands[0], *op.results))
        elements = integers(op, "kernel_shape")
        if given is None or elements is None or len(elements) not in (1, 2):
            return False
        if None in given.shape or len(given.shape) != len(elements) + SPATIAL or 0 in given.shape:
            return False
        if any(one is None or None in one.shape or len(one.shape) != len(given.shape) for one in made):
            return False
        return given.element in torch.FLOATS

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value = op.operands[0]
        given, pooled = TensorType.of(value), TensorType.of(op.results[0])
        assert given is not None and pooled is not None  # `fits`
        borders = borders_of(op, given, pooled)
        widths = [width for pair in reversed(borders) for width in pair]
        wide = given
        for dim, (before, after) in enumerate(borders, SPATIAL):
            wide = wide.with_size(dim, before + (given.shape[dim] or 0) + after)
        if any(widths):
            lowest = torch.real(float("-inf"))
            value = apply("aten.constant_pad_nd", [value, torch.integers(widths), lowest], wide)
        lists = [
            integers(op, name) or [1] * len(borders) for name in ("kernel_shape", "strides", "dilations")
        ]
        if flat := len(borders) == 1:  # a row of an image
            value, wide, pooled = _rows(value), _with_rows(wide), _with_rows(pooled)
            lists = [[1, *one] for one in lists]
        kernel, steps, dilations = map(torch.integers, lists)
        operands = [value, kernel, steps, torch.integers([0, 0]), dilations, torch.boolean(False)]
        places = TensorType(pooled.shape, "si64")
        largest, index = ir.Operation.create(
            "torch.aten.max_pool2d_with_indices",
            results=[pooled.ir_type(), places.ir_type()],
            operands=operands,
        ).results
        numbers = _numbers(given, borders, bool(number(op, "storage_order", 0)))
        index = _looked_up(index, numbers.reshape(-1), places)
        index = apply("aten.add.Tensor", [index, torch.table(_begins(given)), torch.integer(1)], places)
        values = [_without_rows(one) if flat else one for one in (largest, index)]
        return [torch.cast(one, result.type) for one, result in zip(values, op.results, strict=True)]


def _numbers(given: TensorType, borders: list[tuple[int, int]], by_columns: bool) -> np.ndarray:
    """For each element of a padded channel, its number in the channel; 0 in the borders, which are never the largest."""
    sizes = [size or 0 for size in given.shape[SPATIAL:]]
    order = np.arange(int(np.prod(sizes)), dtype=np.int64)
    channel = order.reshape(sizes[::-1]).T if by_columns else order.reshape(sizes)
    return np.pad(channel, borders)


def _begins(given: TensorType) -> np.ndarray:
    """The number of the first element of each image and channel."""
    images, channels, *sizes = (size or 0 for size in given.shape)
    first = np.arange(images * channels, dtype=np.int64) * int(np.prod(sizes))
    return first.reshape(images, channels, 1, 1)


def _looked_up(index: ir.Value, numbers: np.ndarray, made: TensorType) -> ir.Value:
    """``numbers`` at ``index``."""
    if np.array_equal(numbers, np.arange(numbers.size)):
        return index
    flat = torch.merged(index, 0, len(made.shape) - 1)
    type_ = TensorType.of(flat)
    assert type_ is not None
    found = apply("aten.index_select", [torch.table(numbers), torch.integer(0), flat], type_)
    sizes = torch.integers([size or 0 for size in made.shape])
    return apply("aten.view", [found, sizes], made)


def _with_rows(type_: TensorType) -> TensorType:
    return TensorType((*type_.shape[:SPATIAL], 1, *type_.shape[SPATIAL:]), type_.element)


def _rows(value: ir.Value) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    return apply("aten.unsqueeze", [value, torch.integer(SPATIAL)], _with_rows(type_))


def _without_rows(value: ir.Value) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    made = TensorType((*type_.shape[:SPATIAL], *type_.shape[SPATIAL + 1 :]), type_.element)
    return apply("aten.squeeze.dim", [value, torch.integer(SPATIAL)], made)
