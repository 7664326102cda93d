"""The reverse of a max pool: each number goes to the place that its index names."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import filled
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..torch_ops import TensorType, apply

_SPATIAL = {"aten.max_unpool2d": 2, "aten.max_unpool3d": 3}
"""Op -> over how many dimensions it pools; those before them have their own places."""
_ONNX = "onnx.MaxUnpool"
_OPERANDS = {"aten.max_unpool2d": (3,), "aten.max_unpool3d": (5,), _ONNX: (2,)}
"""With a third operand, the sizes of the result, ONNX counts places otherwise."""
_POOLS = ("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")


@register_pass
@dataclass(frozen=True)
class ScatterMaxima(FrontEndRemedy):
    """Writes `aten.max_unpool2d` and `max_unpool3d` and `onnx.MaxUnpool` as zeros into which the numbers are scattered.

    IREE 3.13 looks for each number in one window only, of a size that it guesses from the shapes: of windows that overlap, or that do not cover
    the result evenly, numbers are lost (FIS162); ONNX's places are in the whole tensor, which it takes for those of a channel. Others it rejects.
    What a max pool of even windows made is left alone. Sizes are known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scatter-maxima"
    cures: ClassVar[tuple[str, ...]] = ("FIS162", FRONT_END_OP)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.max_unpool2d`, `max_unpool3d` and `onnx.MaxUnpool` with a scatter into zeros (in the input)"
    )
    repairs: ClassVar[str] = (
        "the reverse of a max pool whose windows overlap or are uneven, of which IREE loses numbers, or which it rejects (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it as a scatter into zeros"
    advice: ClassVar[str] = "write it as a scatter into zeros"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.results) != 1 or len(op.operands) not in _OPERANDS.get(name, ()):
            return False
        value, places, made = (TensorType.of(one) for one in (*list(op.operands)[:2], op.results[0]))
        if value is None or places is None or made is None or value.shape != places.shape:
            return False
        if None in (*value.shape, *made.shape) or len(value.shape) != len(made.shape) or 0 in (*value.shape, *made.shape):  # fmt: skip
            return False
        if value.element != made.element or value.element not in torch.FLOATS or places.element != "si64":
            return False
        return name == _ONNX or not _is_even(op, value, made)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, places = list(op.operands)[:2]
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        name = torch.front_end_name(op)
        outer = () if name == _ONNX else made.shape[: len(made.shape) - _SPATIAL[name]]
        rows = (prod(size or 0 for size in outer),)
        flat = TensorType((*rows, prod(size or 0 for size in made.shape[len(outer) :])), made.element)
        zeros = filled([torch.integer(size or 0) for size in flat.shape], flat, 0.0)
        one = torch.integer(1)
        operands = [zeros, one, _as_rows(places, rows[0]), _as_rows(value, rows[0])]
        scattered = apply("aten.scatter.src", operands, flat)
        sizes = torch.integers([size or 0 for size in made.shape])
        return [apply("aten.view", [scattered, sizes], made)]


def _as_rows(value: ir.Value, rows: int) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    shape = (rows, prod(size or 0 for size in type_.shape) // rows)
    return apply("aten.view", [value, torch.integers(shape)], TensorType(shape, type_.element))


def _is_even(op: ir.Operation, value: TensorType, made: TensorType) -> bool:
    """Whether a max pool of windows that do not overlap and cover all of the result made the places."""
    pool = op.operands[1].owner
    if isinstance(pool, ir.Block) or torch.front_end_name(pool) not in _POOLS:
        return False
    given = TensorType.of(pool.operands[0])
    lists = [torch.integers_of(one) for one in list(pool.operands)[1:5]]
    if given is None or given.shape != made.shape or None in lists:
        return False
    windows, steps, borders, dilations = (one or [] for one in lists)
    spatial = _SPATIAL[torch.front_end_name(op)]
    sizes = [size or 0 for size in value.shape[len(value.shape) - spatial :]]
    covered = [size or 0 for size in made.shape[len(made.shape) - spatial :]]
    return (
        (steps or windows) == windows
        and not any(borders)
        and set(dilations) <= {1}
        and [size * window for size, window in zip(sizes, windows, strict=False)] == covered
    )
