"""Transposed convolutions of ONNX, whose pads take something away from the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.unknown_sizes import SAME, integers, number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_MOST_GROUPS = 256
_SPATIAL = 2
_TAKEN = ("dilations", "kernel_shape", "strides", "output_padding")


@register_pass
@dataclass(frozen=True)
class CropTransposed(FrontEndRemedy):
    """Writes an `onnx.ConvTranspose` without pads and cuts off what they take away, group by group where each has one channel.

    IREE 3.13 has neither such groups nor other pads before than after, nor pads that follow from the size of the result. The
    sizes of the weights are known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-crop-transposed"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "writes an `onnx.ConvTranspose` with other pads before than after, or a group for each channel, as one without pads or one for each group, and slices (in the input)"
    )
    repairs: ClassVar[str] = "such convolutions, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "computed it without pads and cut them off"
    advice: ClassVar[str] = "compute it without pads and cut them off"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.ConvTranspose" or len(op.results) != 1:
            return False
        if len(op.operands) not in (2, 3):
            return False
        value, weights = (torch.TensorType.of(one) for one in list(op.operands)[:2])
        made = torch.TensorType.of(op.results[0])
        if value is None or weights is None or made is None or None in weights.shape:
            return False
        if not len(value.shape) == len(weights.shape) == len(made.shape) > _SPATIAL:
            return False
        groups = number(op, "group", 1)
        if not 1 <= groups <= _MOST_GROUPS or (weights.shape[0] or 0) % groups:
            return False
        pads = _pads(op, value, weights)
        if pads is None or min(map(min, pads)) < 0:
            return False
        return _groups(op, weights) > 1 or _follows(op) or any(before != after for before, after in pads)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, weights = list(op.operands)[:2]
        bias = op.operands[2] if len(op.operands) > 2 and not torch.is_none(op.operands[2]) else None
        given, of_weights = torch.TensorType.of(value), torch.TensorType.of(weights)
        assert given is not None and of_weights is not None  # `fits`
        pads, groups = _pads(op, given, of_weights), _groups(op, of_weights)
        assert pads is not None
        channels = (of_weights.shape[1] or 0) * number(op, "group", 1) // groups
        made = torch.TensorType((given.shape[0], channels, *_whole(op, given, of_weights)), given.element)
        kept = {
            name: op.attributes[f"{torch.ONNX_ATTRIBUTE}{name}"]
            for name in (*_TAKEN, *(["group"] if groups == 1 else []))
            if f"{torch.ONNX_ATTRIBUTE}{name}" in op.attributes
        }
        parts = []
        for group in range(groups):
            operands = [torch.part(value, 1, group, groups), torch.part(weights, 0, group, groups)]
            if bias is not None:
                operands.append(torch.part(bias, 0, group, groups))
            parts.append(torch.apply_onnx("ConvTranspose", operands, made, **kept))
        found = parts[0] if groups == 1 else torch.concatenated(parts, 1)
        for dim, (before, after) in enumerate(pads, _SPATIAL):
            if before or after:
                found = torch.sliced(found, dim, before, -after or None)
        return [torch.cast(found, op.results[0].type)]


def _groups(op: ir.Operation, weights: torch.TensorType) -> int:
    """How many parts are computed separately: IREE 3.13 rejects groups of one channel."""
    groups = number(op, "group", 1)
    return groups if groups == weights.shape[0] else 1


def _follows(op: ir.Operation) -> bool:
    """Whether the pads follow from the size of the result."""
    return bool(integers(op, "output_shape")) or text_of(op, "torch.onnx.auto_pad") in SAME


def _whole(op: ir.Operation, given: torch.TensorType, weights: torch.TensorType) -> list[int | None]:
    """The sizes of the result without pads."""
    rank = len(given.shape) - _SPATIAL
    steps, dilations = (integers(op, name) or [1] * rank for name in ("strides", "dilations"))
    added = integers(op, "output_padding") or [0] * rank
    return [
        None if size is None else step * (size - 1) + more + ((kernel or 1) - 1) * dilation + 1
        for size, kernel, step, dilation, more in zip(
            given.shape[_SPATIAL:], weights.shape[_SPATIAL:], steps, dilations, added, strict=True
        )
    ]


def _pads(
    op: ir.Operation, given: torch.TensorType, weights: torch.TensorType
) -> list[tuple[int, int]] | None:
    """What is taken away before and after in each dimension; None where it is not known."""
    rank = len(given.shape) - _SPATIAL
    if not _follows(op):
        widths = integers(op, "pads") or [0] * 2 * rank
        return list(zip(widths[:rank], widths[rank:], strict=True))
    steps, upper = integers(op, "strides") or [1] * rank, text_of(op, "torch.onnx.auto_pad") == "SAME_UPPER"
    stated = (integers(op, "output_shape") or [])[-rank:]
    found = []
    for dim, whole in enumerate(_whole(op, given, weights)):
        size = given.shape[dim + _SPATIAL]
        if whole is None or size is None:
            return None
        total = whole - (stated[dim] if stated else size * steps[dim])
        small, large = total // 2, total - total // 2
        found.append((small, large) if upper else (large, small))
    return found
