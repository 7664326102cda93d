"""Interpolation of torch as weighted sums of neighbours, one dimension after the other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType

_NAME = re.compile(
    r"aten\.upsample_(?P<kind>linear1d|bilinear2d(?!\.vec)|bicubic2d|trilinear3d)(?P<vec>\.vec)?$"
)
_DIMENSIONS = {"linear1d": 1, "bilinear2d": 2, "bicubic2d": 2, "trilinear3d": 3}
_CUBIC = -0.75
"""The parameter of PyTorch's cubic convolution."""


@register_pass
@dataclass(frozen=True)
class WeighNeighbours(FrontEndRemedy):
    """Writes linear interpolation in one, two and three dimensions, and bicubic, of f32 as sums of neighbours by constant weights.

    IREE 3.13 lowers nearest neighbours alone; `fissile-rewrite-upsampling` writes `aten.upsample_bilinear2d.vec`. Each dimension is one sum, of two neighbours or, cubic, of four, at
    constant indices. All sizes that are interpolated are known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-weigh-neighbours"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `aten.upsample_linear1d`, `bilinear2d`, `bicubic2d` and `trilinear3d` with weighted sums of neighbours (in the input)"
    )
    repairs: ClassVar[str] = "these interpolations, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as weighted sums of neighbours"
    advice: ClassVar[str] = "rewrite it as weighted sums of neighbours"

    def fits(self, op: ir.Operation) -> bool:
        return _planned(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        planned = _planned(op)
        assert planned is not None
        value = op.operands[0]
        for dim, (places, weights) in planned.items():
            value = _weighted(value, dim, places, weights)
        return [torch.cast(value, op.results[0].type)]


def _weighted(value: ir.Value, dim: int, places: np.ndarray, weights: np.ndarray) -> ir.Value:
    """Along ``dim`` the sum over the rows of ``places`` and ``weights``, neighbours x results."""
    type_ = TensorType.of(value)
    assert type_ is not None
    made = type_.with_size(dim, places.shape[1])
    behind = (1,) * (len(type_.shape) - 1 - dim)
    total: ir.Value | None = None
    for place, weight in zip(places, weights, strict=True):
        taken = torch.apply("aten.index_select", [value, torch.integer(dim), torch.table(place)], made)
        part = torch.apply("aten.mul.Tensor", [taken, torch.table(weight.reshape(-1, *behind))], made)
        total = (
            part if total is None else torch.apply("aten.add.Tensor", [total, part, torch.integer(1)], made)
        )
    assert total is not None
    return total


def _planned(op: ir.Operation) -> dict[int, tuple[np.ndarray, np.ndarray]] | None:
    """For each dimension the neighbours of each result and their weights."""
    found = _NAME.match(torch.front_end_name(op))
    if found is None or len(op.results) != 1:
        return None
    count = _DIMENSIONS[found["kind"]]
    given, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
    if (
        given is None
        or made is None
        or {given.element, made.element} != {"f32"}
        or len(given.shape) != count + 2
    ):
        return None
    if len(op.operands) != (4 if found["vec"] else 3 + count):
        return None
    corners = torch.boolean_of(op.operands[2])
    scales: list[float | None] = [None] * count
    if not found["vec"]:
        scales = [None if torch.is_none(v) else torch.number_of(v) or 0.0 for v in op.operands[3:]]
    elif not torch.is_none(op.operands[3]):
        scales = [*(torch.numbers_of(op.operands[3]) or ())]
    if corners is None or len(scales) != count or 0.0 in scales:
        return None
    neighbours = cubic_neighbours if found["kind"] == "bicubic2d" else linear_neighbours
    plan = {}
    for dim, scale in zip(range(2, count + 2), scales, strict=True):
        old, new = given.shape[dim], made.shape[dim]
        if not old or not new:
            return None
        plan[dim] = neighbours(positions(old, new, scale, corners), old)
    return plan


def positions(old: int, new: int, scale: float | None, corners: bool) -> np.ndarray:
    """Where in the ``old`` elements each of the ``new`` ones lies."""
    at = np.arange(new)
    if corners:
        return at * (old - 1) / max(new - 1, 1)
    return (at + 0.5) * (1 / scale if scale else old / new) - 0.5


def linear_neighbours(at: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    at = np.maximum(at, 0)
    low = np.minimum(np.floor(at).astype(np.int64), size - 1)
    part = at - low
    return np.stack([low, np.minimum(low + 1, size - 1)]), np.stack([1 - part, part])


def cubic_neighbours(at: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Cubic convolution; the elements at the borders are repeated outside."""
    low = np.floor(at).astype(np.int64)
    part = at - low

    def near(x: np.ndarray) -> np.ndarray:
        return ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1

    def far(x: np.ndarray) -> np.ndarray:
        return ((_CUBIC * x - 5 * _CUBIC) * x + 8 * _CUBIC) * x - 4 * _CUBIC

    weights = [far(part + 1), near(part), near(1 - part), far(2 - part)]
    return np.stack([np.clip(low + i, 0, size - 1) for i in (-1, 0, 1, 2)]), np.stack(weights)
