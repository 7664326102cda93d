"""Pools of ONNX with other borders before than after, over an image that is padded before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.unknown_sizes import SAME, integers, number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_MAX_POOL, _LP_POOL = "onnx.MaxPool", "onnx.LpPool"
_LEAST = {f"si{bits}": -(2 ** (bits - 1)) for bits in (8, 16, 32, 64)}
_IN_FLOATS = ("si8", "si16")
SPATIAL = 2
"""The dimensions in front of those that a window moves over."""


@register_pass
@dataclass(frozen=True)
class PadPools(FrontEndRemedy):
    """Pads the image of an `onnx.MaxPool` or `onnx.LpPool` with other borders before than after, and pools that without borders.

    IREE 3.13 pads such an image itself: of integers with 0, which is larger than all negative numbers (FIS162). It crashes on the volumes of
    a 3-D pool of integers, which is computed in floats, and rejects 16-bit floats (FIS421). The sizes are known; `fissile-measure-sizes` does the same for others. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-pad-pools"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "pads the image of an `onnx.MaxPool` or `LpPool` with other borders before than after, before the pool (in the input)"
    )
    repairs: ClassVar[str] = (
        "such a maximum of integers, for which IREE pads with 0: wrong numbers on every target (FIS162); of 16-bit floats, and `LpPool`, which IREE rejects"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "padded the image with the lowest value of its type before the pool"
    advice: ClassVar[str] = "pad the image with the lowest value of its type before the pool"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name not in (_MAX_POOL, _LP_POOL) or len(op.results) != 1 or len(op.operands) != 1:
            return False
        given, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
        elements = integers(op, "kernel_shape")
        if given is None or made is None or elements is None or len(given.shape) != len(elements) + SPATIAL:
            return False
        if None in given.shape[SPATIAL:] or len(made.shape) != len(given.shape):
            return False
        if given.element not in torch.FLOATS and (name != _MAX_POOL or given.element not in _LEAST):
            return False
        if name == _LP_POOL and set(integers(op, "dilations") or [1]) != {1}:
            return False
        stated = _stated(op, given)
        return (_is_uneven(stated) or _crashes(given)) and min(map(min, stated)) >= 0

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value = op.operands[0]
        type_, made = torch.TensorType.of(value), torch.TensorType.of(op.results[0])
        assert type_ is not None and made is not None  # `fits`
        if _crashes(type_):
            value, type_ = torch.converted(value, "f32"), torch.TensorType(type_.shape, "f32")
        borders = borders_of(op, type_, made)
        for dim, (before, after) in enumerate(borders, SPATIAL):
            type_ = type_.with_size(dim, before + (type_.shape[dim] or 0) + after)
        if torch.front_end_name(op) == _LP_POOL:
            filler = torch.real(0.0)
        elif type_.element in _LEAST:
            filler = torch.integer(_LEAST[type_.element])
        else:
            filler = torch.real(float("-inf"))
        widths = torch.integers([width for pair in reversed(borders) for width in pair])
        padded = torch.apply("aten.constant_pad_nd", [value, widths, filler], type_)
        kept = {
            name: op.attributes[f"{torch.ONNX_ATTRIBUTE}{name}"]
            for name in ("kernel_shape", "strides", "dilations", "p")
            if f"{torch.ONNX_ATTRIBUTE}{name}" in op.attributes
        }
        name = torch.front_end_name(op).removeprefix("onnx.")
        pooled = torch.apply_onnx(name, [padded], torch.TensorType(made.shape, type_.element), **kept)
        return [torch.converted(pooled, made.element)]


def misreads_border(op: ir.Operation) -> bool:
    """Whether IREE 3.13 pads the integers of ``op``, which `PadPools` fits, with 0; it rejects the others."""
    given = torch.TensorType.of(op.operands[0])
    return given is not None and given.element in _LEAST and _is_uneven(_stated(op, given))


def _is_uneven(borders: list[tuple[int, int]]) -> bool:
    return any(before != after for before, after in borders)


def _crashes(given: torch.TensorType) -> bool:
    """Whether IREE 3.13 crashes on the maximum over volumes of such integers, padded or not. Floats hold them."""
    return given.element in _IN_FLOATS and len(given.shape) == 3 + SPATIAL


def windows_of(op: ir.Operation) -> list[tuple[int, int]]:
    """The step of each dimension, and how many elements a window spans."""
    elements = integers(op, "kernel_shape") or []
    steps, dilations = (integers(op, name) or [1] * len(elements) for name in ("strides", "dilations"))
    return [
        (step, dilation * (count - 1) + 1)
        for count, step, dilation in zip(elements, steps, dilations, strict=True)
    ]


def _stated(op: ir.Operation, given: torch.TensorType) -> list[tuple[int, int]]:
    """The borders before and after, as the op says."""
    windows, auto = windows_of(op), text_of(op, "torch.onnx.auto_pad")
    if auto not in SAME:
        widths = integers(op, "pads") or [0] * 2 * len(windows)
        return list(zip(widths[: len(windows)], widths[len(windows) :], strict=True))
    borders = []
    for size, (step, extent) in zip(given.shape[SPATIAL:], windows, strict=True):
        assert size is not None  # `fits`
        total = max(0, (-(-size // step) - 1) * step + extent - size)
        before = (total + 1) // 2 if auto == "SAME_LOWER" else total // 2
        borders.append((before, total - before))
    return borders


def borders_of(op: ir.Operation, given: torch.TensorType, made: torch.TensorType) -> list[tuple[int, int]]:
    """The same up to the end of the last window, which ceil_mode = 1 moves behind the stated border."""
    borders = []
    for dim, ((before, after), (step, extent)) in enumerate(
        zip(_stated(op, given), windows_of(op), strict=True), SPATIAL
    ):
        size = given.shape[dim] or 0
        count = made.shape[dim]
        if count is None:
            count = _count(size, before, after, step, extent, bool(number(op, "ceil_mode", 0)))
        borders.append((before, max(0, (count - 1) * step + extent - before - size)))
    return borders


def _count(size: int, before: int, after: int, step: int, extent: int, up: bool) -> int:
    """How many windows there are; none begins behind the image."""
    left = before + size + after - extent
    count = (-(-left // step) if up else left // step) + 1
    return count - 1 if up and (count - 1) * step >= before + size else count
