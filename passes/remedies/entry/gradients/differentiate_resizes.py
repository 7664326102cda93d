"""Gradients of interpolations and of pads that repeat the image, as products with tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor, all_floats
from ..front_end import FrontEndRemedy
from ..tensors.weigh_neighbours import cubic_neighbours, linear_neighbours, positions
from ..torch_ops import TensorType

_UPSAMPLE = re.compile(r"aten\.upsample_(nearest|linear|bilinear|bicubic|trilinear)([123])d_backward$")
_PAD = re.compile(r"aten\.(reflection|replication)_pad([123])d_backward$")


@register_pass
@dataclass(frozen=True)
class DifferentiateResizes(FrontEndRemedy):
    """Writes the gradients of interpolations, and of reflecting and replicating pads, as one product per dimension with a constant table.

    A row of the table belongs to an element of the larger image, and has the weights with which it takes those of the given one. The sizes
    of both images are known. IREE 3.13 has no lowering for them. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-differentiate-resizes"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces the gradients of interpolations and of reflecting and replicating pads with products with a table of weights (in the input)"
    )
    repairs: ClassVar[str] = "gradients of interpolations and of pads, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it with a table of weights"
    advice: ClassVar[str] = "rewrite it with a table of weights"

    def fits(self, op: ir.Operation) -> bool:
        return len(op.results) == 1 and _tables(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        tables = _tables(op)
        assert tables is not None
        return [Tensor.wide(op.operands[0]).along_last(tables).as_result(op.results[0])]


def _tables(op: ir.Operation) -> list[np.ndarray] | None:
    """For each dimension of the image: (elements of the gradient, elements of the result) -> the weight."""
    name = torch.front_end_name(op)
    upsample, pad = _UPSAMPLE.match(name), _PAD.match(name)
    found = upsample or pad
    if found is None:
        return None
    dims, types = int(found[2]), all_floats(op.operands[:1])
    made = TensorType.of(op.results[0])
    if types is None or made is None or len(made.shape) <= dims or len(types[0].shape) != len(made.shape):
        return None
    new, old = types[0].shape[-dims:], made.shape[-dims:]
    known = [(one or 0, other or 0) for one, other in zip(new, old, strict=True)]
    if any(0 in pair for pair in known):
        return None
    if pad:
        widths = torch.integers_of(op.operands[2]) if len(op.operands) == 3 else None
        if widths is None or len(widths) != 2 * dims or min(widths) < 0:
            return None
        before = widths[::2][::-1]  # those of the last dimension come first
        return [_padded(*pair, width, found[1]) for pair, width in zip(known, before, strict=True)]
    nearest = found[1] == "nearest"
    if len(op.operands) != 3 + dims + (not nearest):
        return None
    corners = False if nearest else torch.boolean_of(op.operands[3])
    scales = [None if torch.is_none(one) else torch.number_of(one) or 0.0 for one in op.operands[-dims:]]
    if corners is None or 0.0 in scales:
        return None
    return [_resized(*pair, scale, found[1], corners) for pair, scale in zip(known, scales, strict=True)]


def _resized(new: int, old: int, scale: float | None, kind: str, corners: bool) -> np.ndarray:
    if kind == "nearest":
        step = np.float32(1 / scale if scale else old / new)
        places = np.minimum(np.floor(np.arange(new, dtype=np.float32) * step).astype(np.int64), old - 1)[None]
        weights = np.ones((1, new))
    else:
        neighbours = cubic_neighbours if kind == "bicubic" else linear_neighbours
        places, weights = neighbours(positions(old, new, scale, corners), old)
    table = np.zeros((new, old), np.float32)
    for place, weight in zip(places, weights, strict=True):
        np.add.at(table, (np.arange(new), place), weight)
    return table


def _padded(new: int, old: int, before: int, kind: str) -> np.ndarray:
    at = np.arange(new) - before
    if kind == "reflection":
        at = np.abs(at)
        at = np.where(at >= old, 2 * (old - 1) - at, at)
    table = np.zeros((new, old), np.float32)
    table[np.arange(new), np.clip(at, 0, old - 1)] = 1.0
    return table
