"""Convolutions of quantised bytes in ONNX: with borders, of one dimension, of volumes in groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.unknown_sizes import SAME, integers, number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_SPATIAL = 2
_VOLUME = 5
_MOST_GROUPS = 256
_BYTES = ("ui8", "si8")


@dataclass(frozen=True)
class _Window:
    """What is the same for each group: along each dimension of the image."""

    kernel: tuple[int, ...]
    steps: tuple[int, ...]
    dilations: tuple[int, ...]

    def attributes(self, groups: int) -> dict[str, ir.Attribute]:
        wide = ir.IntegerType.get_signed(64)
        lists = {"kernel_shape": self.kernel, "strides": self.steps, "dilations": self.dilations}
        found: dict[str, ir.Attribute] = {
            name: ir.ArrayAttr.get([ir.IntegerAttr.get(wide, one) for one in numbers])
            for name, numbers in lists.items()
        }
        return found | {"group": ir.IntegerAttr.get(wide, groups)}

    @property
    def in_two_dimensions(self) -> _Window:
        return _Window((1, *self.kernel), (1, *self.steps), (1, *self.dilations))


@register_pass
@dataclass(frozen=True)
class ConvolveBytes(FrontEndRemedy):
    """Writes an `onnx.ConvInteger` with borders as one of the padded image, one of a single dimension as one of two, and one of volumes group by group.

    IREE 3.13 rejects them. The border is the zero point of the image. The sizes of the weights are known, and those of the image where the
    borders follow from them. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-convolve-bytes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "pads the image of an `onnx.ConvInteger` before it, gives one of a single dimension a second, and takes groups of volumes one by one (in the input)"
    )
    repairs: ClassVar[str] = "such convolutions, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "padded the image, and wrote it as a convolution that IREE has"
    advice: ClassVar[str] = "pad the image, and write it as a convolution of two dimensions"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.ConvInteger" or len(op.results) != 1 or len(op.operands) < 2:
            return False
        value, weights, made = (
            torch.TensorType.of(one) for one in (op.operands[0], op.operands[1], op.results[0])
        )
        if value is None or weights is None or made is None or None in weights.shape:
            return False
        rank, groups = len(value.shape), number(op, "group", 1)
        if not rank == len(weights.shape) == len(made.shape) or not _SPATIAL < rank <= _VOLUME:
            return False
        if value.element not in _BYTES or weights.element not in _BYTES or not 1 <= groups <= _MOST_GROUPS:
            return False
        if (weights.shape[0] or 0) % groups:
            return False
        pads = _pads(op, value, weights)
        return pads is not None and (
            any(before or after for before, after in pads)
            or rank == _SPATIAL + 1
            or rank == _VOLUME
            and groups > 1
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, weights, *points = op.operands
        given, of_weights = torch.TensorType.of(value), torch.TensorType.of(weights)
        assert given is not None and of_weights is not None  # `fits`
        pads = _pads(op, given, of_weights)
        assert pads is not None
        window, groups = _window(op, of_weights), number(op, "group", 1)
        padded = _padded(value, points, pads)
        if len(given.shape) == _SPATIAL + 1:
            padded, weights = (_with_dimension(one) for one in (padded, weights))
            window = window.in_two_dimensions
        each = groups if len(given.shape) == _VOLUME else 1
        parts = [
            _convolved(
                [
                    torch.part(padded, 1, group, each),
                    torch.part(weights, 0, group, each),
                    *_points(points, group, each),
                ],
                window,
                groups // each,
            )
            for group in range(each)
        ]
        made = parts[0] if each == 1 else torch.concatenated(parts, 1)
        if len(given.shape) == _SPATIAL + 1:
            type_ = torch.TensorType.of(made)
            assert type_ is not None
            flat = torch.TensorType((*type_.shape[:_SPATIAL], type_.shape[-1]), type_.element)
            made = torch.apply("aten.squeeze.dim", [made, torch.integer(_SPATIAL)], flat)
        return [torch.cast(made, op.results[0].type)]


def _window(op: ir.Operation, weights: torch.TensorType) -> _Window:
    kernel = tuple(size or 0 for size in weights.shape[_SPATIAL:])
    steps, dilations = (tuple(integers(op, name) or [1] * len(kernel)) for name in ("strides", "dilations"))
    return _Window(kernel, steps, dilations)


def _pads(
    op: ir.Operation, given: torch.TensorType, weights: torch.TensorType
) -> list[tuple[int, int]] | None:
    """The borders before and after each dimension of the image; None where they are not known."""
    window, auto = _window(op, weights), text_of(op, "torch.onnx.auto_pad")
    rank = len(window.kernel)
    if len(window.steps) != rank or len(window.dilations) != rank:
        return None
    if auto not in SAME:
        widths = integers(op, "pads") or [0] * 2 * rank
        found = list(zip(widths[:rank], widths[rank:], strict=False))
        return found if len(widths) == 2 * rank and min(widths) >= 0 else None
    found = []
    for size, kernel, step, dilation in zip(
        given.shape[_SPATIAL:], window.kernel, window.steps, window.dilations, strict=True
    ):
        if size is None:
            return None
        total = max(0, (-(-size // step) - 1) * step + (kernel - 1) * dilation + 1 - size)
        small, large = total // 2, total - total // 2
        found.append((small, large) if auto == "SAME_UPPER" else (large, small))
    return found


def _padded(value: ir.Value, points: Sequence[ir.Value], pads: Sequence[tuple[int, int]]) -> ir.Value:
    """``value`` with borders of its zero point."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    if not any(before or after for before, after in pads):
        return value
    if points and not torch.is_none(points[0]):
        border = torch.as_scalar(points[0])
    else:
        border = torch.literal("0", type_.element)
    widths = [0, 0, *(before for before, _ in pads), 0, 0, *(after for _, after in pads)]
    sizes = (
        *type_.shape[:_SPATIAL],
        *(
            None if size is None else size + before + after
            for size, (before, after) in zip(type_.shape[_SPATIAL:], pads, strict=True)
        ),
    )
    made = torch.TensorType(sizes, type_.element)
    return torch.apply_onnx("Pad", [value, torch.table(np.array(widths, np.int64)), border], made)


def _with_dimension(value: ir.Value) -> ir.Value:
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    made = torch.TensorType((*type_.shape[:_SPATIAL], 1, *type_.shape[_SPATIAL:]), type_.element)
    return torch.apply("aten.unsqueeze", [value, torch.integer(_SPATIAL)], made)


def _points(points: Sequence[ir.Value], group: int, groups: int) -> list[ir.Value]:
    """The zero points: the image has one, the weights may have one for each filter."""
    found = list(points)
    type_ = torch.TensorType.of(found[1]) if len(found) > 1 else None
    if type_ is not None and type_.shape and (type_.shape[0] or 1) > 1:
        found[1] = torch.part(found[1], 0, group, groups)
    return found


def _convolved(operands: list[ir.Value], window: _Window, groups: int) -> ir.Value:
    value, weights = (torch.TensorType.of(one) for one in operands[:2])
    assert value is not None and weights is not None
    sizes = (
        None if size is None else (size - (kernel - 1) * dilation - 1) // step + 1
        for size, kernel, step, dilation in zip(
            value.shape[_SPATIAL:], window.kernel, window.steps, window.dilations, strict=True
        )
    )
    made = torch.TensorType((value.shape[0], weights.shape[0], *sizes), "si32")
    return torch.apply_onnx("ConvInteger", operands, made, **window.attributes(groups))
