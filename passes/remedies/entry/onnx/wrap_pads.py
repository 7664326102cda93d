"""Pads of ONNX that go on with the other end of the tensor, or with its mirror image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.onnx_values import integers_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.concatenate_pads import padded

_MOST = 64
"""Slices along a dimension: each reaches over the whole tensor once, or less."""


@register_pass
@dataclass(frozen=True)
class WrapPads(FrontEndRemedy):
    """Writes an `onnx.Pad` with mode = wrap, or with mode = reflect along more than the last dimension, as the concatenation of slices of
    the tensor.

    IREE 3.13 never finishes on the first, and rejects the second. The widths are constants, and for wrap the sizes of the padded dimensions are
    known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-wrap-pads"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes an `onnx.Pad` with mode = wrap, or reflect along several dimensions, as slices and a concatenation (in the input)"
    )
    repairs: ClassVar[str] = "such pads, on which IREE never finishes, or which it rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as slices and a concatenation"
    advice: ClassVar[str] = "write it as slices and a concatenation"

    def fits(self, op: ir.Operation) -> bool:
        mirrored = _is_pad(op, "reflect")
        if not (wraps(op) or mirrored) or len(op.results) != 1:
            return False
        given, widths = torch.TensorType.of(op.operands[0]), pad_widths(op)
        if given is None or widths is None:
            return False
        if mirrored and not any(before or after for before, after in widths[:-1]):
            return False
        for size, (before, after) in zip(given.shape, widths, strict=True):
            if not before and not after:
                continue
            if min(before, after) < 0 or not size and not mirrored or size == 0:
                return False
            if size and ((before + after) // size > _MOST or mirrored and max(before, after) >= size):
                return False
        return True

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value = op.operands[0]
        for dim, (before, after) in enumerate(pad_widths(op) or ()):
            if before or after:
                extended = padded if _is_pad(op, "reflect") else _wrapped
                value = extended(value, dim, before, after)
        return [torch.cast(value, op.results[0].type)]


def wraps(op: ir.Operation) -> bool:
    """Whether ``op`` is such a pad, whose widths may be unknown."""
    return _is_pad(op, "wrap")


def _is_pad(op: ir.Operation, mode: str) -> bool:
    named = torch.front_end_name(op) == "onnx.Pad" and len(op.operands) > 1
    return named and text_of(op, "torch.onnx.mode") == mode


def _wrapped(value: ir.Value, dim: int, before: int, after: int) -> ir.Value:
    type_ = torch.TensorType.of(value)
    size = type_.shape[dim] if type_ else None
    assert size  # `fits`
    parts, at, end = [], -before, size + after
    while at < end:
        first = at % size
        last = min(size, first + end - at)
        parts.append(
            value if (first, last) == (0, size) else torch.sliced(value, dim, first, last - size or None)
        )
        at += last - first
    return torch.concatenated(parts, dim)


def pad_widths(op: ir.Operation) -> list[tuple[int, int]] | None:
    """The widths before and after each dimension of an `onnx.Pad`; None where they are not known."""
    given, numbers = torch.TensorType.of(op.operands[0]), integers_of(op.operands[1])
    if given is None or numbers is None:
        return None
    rank = len(given.shape)
    axes: list[int] | None = list(range(rank))
    if len(op.operands) > 3 and not torch.is_none(op.operands[3]):
        axes = integers_of(op.operands[3])
    if axes is None or len(numbers) != 2 * len(axes) or any(not -rank <= axis < rank for axis in axes):
        return None
    found = [(0, 0)] * rank
    for axis, before, after in zip(axes, numbers[: len(axes)], numbers[len(axes) :], strict=True):
        found[axis % rank] = (before, after)
    return found
