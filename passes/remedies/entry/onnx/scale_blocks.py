"""Quantised numbers of ONNX with a scale for each block, of 4 bits, and unsigned ones of 16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_QUANTISE, _DEQUANTISE = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
_WIDER = {"si4": "si8", "ui4": "ui8", "ui16": "si32"}
"""Elements that IREE's import does not convert -> those that hold them."""
_LIMITS = {
    "si8": (-128, 127), "ui8": (0, 255), "si16": (-32768, 32767), "ui16": (0, 65535), "si4": (-8, 7), "ui4": (0, 15),
}  # fmt: skip
_INTEGERS = ("si8", "ui8", "si16", "si32", *_WIDER)


@register_pass
@dataclass(frozen=True)
class ScaleBlocks(FrontEndRemedy):
    """Writes an `onnx.DequantizeLinear` or `onnx.QuantizeLinear` with a scale for each block as arithmetic, with the scales repeated.

    IREE 3.13 has one scale for all, or one for each channel, no numbers of 4 bits and no unsigned ones of 16: those are converted beside it.
    The last block may be partial. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scale-blocks"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes `onnx.DequantizeLinear` and `onnx.QuantizeLinear` with a scale for each block, or of 4 bits or of ui16, as arithmetic (in the input)"
    )
    repairs: ClassVar[str] = "such ops, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it as arithmetic with the scales repeated"
    advice: ClassVar[str] = "write it as arithmetic with the scales repeated"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name not in (_QUANTISE, _DEQUANTISE) or len(op.operands) not in (2, 3) or len(op.results) != 1:
            return False
        value, scale = (torch.TensorType.of(one) for one in list(op.operands)[:2])
        made = torch.TensorType.of(op.results[0])
        if value is None or scale is None or made is None or scale.element not in torch.FLOATS:
            return False
        block = number(op, "block_size", 0)
        if not block and (made if name == _QUANTISE else value).element not in _WIDER:
            return False
        if block and (len(value.shape) != len(scale.shape) or value.shape[_axis(op, value)] is None):
            return False
        if name == _DEQUANTISE:
            return value.element in _INTEGERS and made.element == scale.element
        return value.element == scale.element and made.element in _LIMITS

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, scale, *zeros = op.operands
        scale = _beside(op, value, scale)
        zero = None if not zeros or torch.is_none(zeros[0]) else _beside(op, value, _bytes(zeros[0]))
        of_scale, made = torch.TensorType.of(scale), torch.TensorType.of(op.results[0])
        assert of_scale is not None and made is not None  # `fits`
        whole = torch.TensorType(made.shape, of_scale.element)
        one = torch.integer(1)
        if zero is not None:
            zero = torch.converted(zero, of_scale.element)
        if torch.front_end_name(op) == _DEQUANTISE:
            found = torch.converted(_bytes(value), of_scale.element)
            if zero is not None:
                found = torch.apply("aten.sub.Tensor", [found, zero, one], whole)
            return [torch.apply("aten.mul.Tensor", [found, scale], whole)]
        found = torch.apply("aten.div.Tensor", [value, scale], whole)
        found = torch.apply("aten.round", [found], whole)
        if zero is not None:
            found = torch.apply("aten.add.Tensor", [found, zero, one], whole)
        ends = [torch.real(float(end)) for end in _LIMITS[made.element]]
        return [_narrowed(torch.apply("aten.clamp", [found, *ends], whole), made)]


def _axis(op: ir.Operation, value: torch.TensorType) -> int:
    return number(op, "axis", 1) % max(1, len(value.shape))


def _bytes(value: ir.Value) -> ir.Value:
    """Numbers of 4 bits as bytes, unsigned ones of 16 in 32; others as they are."""
    type_ = torch.TensorType.of(value)
    if type_ is None or type_.element not in _WIDER:
        return value
    made = torch.TensorType(type_.shape, _WIDER[type_.element])
    kind = ir.Type.parse(f"tensor<{_sizes(type_)}{made.element.lstrip('su')}>")
    name = "arith.extsi" if type_.element == "si4" else "arith.extui"
    wide = ir.Operation.create(name, results=[kind], operands=[torch.to_builtin(value)]).result
    return torch.from_builtin(wide, made)


def _narrowed(value: ir.Value, made: torch.TensorType) -> ir.Value:
    """Whole floats, which the elements of ``made`` hold, as those."""
    if made.element not in _WIDER:
        return torch.converted(value, made.element)
    whole = torch.to_builtin(torch.converted(value, "si32"))
    kind = ir.Type.parse(f"tensor<{_sizes(made)}{made.element.lstrip('su')}>")
    cut = ir.Operation.create("arith.trunci", results=[kind], operands=[whole]).result
    return torch.from_builtin(cut, made)


def _sizes(type_: torch.TensorType) -> str:
    return "".join(f"{'?' if size is None else size}x" for size in type_.shape)


def _beside(op: ir.Operation, value: ir.Value, scale: ir.Value) -> ir.Value:
    """The scales, or zero points, so that they are broadcast to ``value``."""
    given, type_ = torch.TensorType.of(value), torch.TensorType.of(scale)
    assert given is not None and type_ is not None  # `fits`
    axis, block = _axis(op, given), number(op, "block_size", 0)
    if not block:
        if len(type_.shape) != 1 or type_.shape == (1,):
            return scale
        behind = len(given.shape) - 1 - axis
        sizes = [type_.shape[0] or -1, *[1] * behind]
        made = torch.TensorType((type_.shape[0], *[1] * behind), type_.element)
        return torch.apply("aten.reshape", [scale, torch.integers(sizes)], made)
    wide = torch.TensorType((*type_.shape[: axis + 1], 1, *type_.shape[axis + 1 :]), type_.element)
    repeated = torch.apply("aten.unsqueeze", [scale, torch.integer(axis + 1)], wide)
    sizes = [-1] * len(wide.shape)
    sizes[axis + 1] = block
    wide = wide.with_size(axis + 1, block)
    repeated = torch.apply("aten.expand", [repeated, torch.integers(sizes), torch.boolean(False)], wide)
    repeated = torch.merged(repeated, axis, axis + 1)
    size, have = given.shape[axis] or 0, (torch.TensorType.of(repeated) or given).shape[axis]
    return repeated if have == size or have is None else torch.sliced(repeated, axis, 0, size - have)
