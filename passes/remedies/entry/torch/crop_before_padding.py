"""Pads with negative widths, as slices and a pad that only adds elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..onnx.wrap_pads import pad_widths

_LAST_DIM_FIRST = ("aten.constant_pad_nd", "aten.pad")
"""Their widths are (low, high) of the last dimension, of the one before it, and so on."""
_ONNX_PAD, _ONNX_CONSTANT, _VALUE = "onnx.Pad", "onnx.Constant", "torch.onnx.value"
_CONSTANT = "constant"


@register_pass
@dataclass(frozen=True)
class CropBeforePadding(FrontEndRemedy):
    """Writes a pad with negative widths, which take elements away, as slices and a pad of the rest.

    IREE 3.13 makes a tensor.pad of the op. It drops that if the type stays (FIS160), and rejects it otherwise. Modes other than a constant
    stay as they are. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-crop-before-padding"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS160")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.constant_pad_nd`, `aten.pad` and `onnx.Pad` with negative widths by slices and a pad (in the input)"
    )
    repairs: ClassVar[str] = (
        "such pads, which IREE drops if the sizes stay: wrong numbers on every target (FIS160), or an error"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "rewrote it as slices and a pad"
    advice: ClassVar[str] = "rewrite it as slices and a pad"

    def fits(self, op: ir.Operation) -> bool:
        widths = _widths(op)
        type_ = torch.TensorType.of(op.operands[0]) if widths else None
        if widths is None or type_ is None or min(min(pair) for pair in widths) >= 0:
            return False
        left = [
            size is None or size + min(low, 0) + min(high, 0) > 0
            for size, (low, high) in zip(type_.shape, widths, strict=True)
        ]
        return all(left)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        widths = _widths(op)
        assert widths is not None  # `fits`
        value = op.operands[0]
        for dim, (low, high) in enumerate(widths):
            if min(low, high) < 0:
                value = torch.sliced(value, dim, max(-low, 0), high if high < 0 else None)
        added = [(max(low, 0), max(high, 0)) for low, high in widths]
        if not any(map(any, added)):
            return [torch.cast(value, op.results[0].type)]
        others = list(op.operands)[2:]
        if torch.front_end_name(op) == _ONNX_PAD:
            others = others[:1]  # all dimensions are named
        operands = [value, _given(op, added), *others]
        attributes = {name: attribute(op, name) for name in op.attributes}
        made = ir.Operation.create(
            op.name, results=[op.results[0].type], operands=operands, attributes=attributes
        )
        return list(made.results)


def _widths(op: ir.Operation) -> list[tuple[int, int]] | None:
    """The (low, high) of each dimension that a pad with a constant adds; None for another op, or if they are not known."""
    name = torch.front_end_name(op)
    type_ = torch.TensorType.of(op.operands[0]) if len(op.operands) >= 2 else None
    if type_ is None or len(op.results) != 1:
        return None
    rank = len(type_.shape)
    if name in _LAST_DIM_FIRST:
        given = torch.integers_of(op.operands[1])
        if given is None or len(given) % 2 or len(given) > 2 * rank or not _pads_with_a_constant(op):
            return None
        pairs = [(given[n], given[n + 1]) for n in range(0, len(given), 2)]
        return [*[(0, 0)] * (rank - len(pairs)), *reversed(pairs)]
    if name != _ONNX_PAD or text_of(op, "torch.onnx.mode") not in ("", _CONSTANT):
        return None
    return pad_widths(op)


def _pads_with_a_constant(op: ir.Operation) -> bool:
    if torch.front_end_name(op) != "aten.pad":
        return True
    mode = op.operands[2].owner
    return not isinstance(mode, ir.Block) and text_of(mode, "value") == _CONSTANT


def _given(op: ir.Operation, widths: list[tuple[int, int]]) -> ir.Value:
    """``widths`` as the second operand of ``op``."""
    if torch.front_end_name(op) == _ONNX_PAD:
        listed = ", ".join(str(pair[end]) for end in (0, 1) for pair in widths)
        value = ir.Attribute.parse(f"dense<[{listed}]> : tensor<{2 * len(widths)}xsi64>")
        attributes = {"name": ir.StringAttr.get(_ONNX_CONSTANT), _VALUE: value}
        made = torch.TensorType((2 * len(widths),), "si64").ir_type()
        return ir.Operation.create(torch.OPERATOR, results=[made], attributes=attributes).result
    numbers = [torch.integer(number) for pair in reversed(widths) for number in pair]
    return ir.Operation.create(
        "torch.prim.ListConstruct", results=[op.operands[1].type], operands=numbers
    ).result
