"""Rotary embeddings of the ONNX standard as products and sums of the halves of each head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import inserted, type_of
from ..torch_ops import TensorType, apply


@register_pass
@dataclass(frozen=True)
class TurnPairs(FrontEndRemedy):
    """Writes the `onnx.RotaryEmbedding` of the standard (opset 23) with slices, products and sums.

    Its operands are the input, the cosines, the sines and, in one form, the positions; IREE 3.13 has a lowering for ONNX Runtime's op of
    that name alone, whose second operand are the positions. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-turn-pairs"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "writes `onnx.RotaryEmbedding` of opset 23 with slices, products and sums (in the input)"
    )
    repairs: ClassVar[str] = "rotary embeddings of the ONNX standard, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "wrote it with slices, products and sums"
    advice: ClassVar[str] = "write it with slices, products and sums"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.RotaryEmbedding" or len(op.operands) not in (3, 4):
            return False
        given, cosines, sines = (TensorType.of(value) for value in list(op.operands)[:3])
        if given is None or cosines is None or sines is None or given.element not in torch.FLOATS:
            return False
        if cosines.element != given.element or sines.element != given.element:
            return False  # ONNX Runtime's own op, whose second operand are the positions
        positions = _positions(op)
        if positions is not None:
            places = TensorType.of(positions)
            if places is None or len(places.shape) != 2 or places.element not in ("si64", "si32"):
                return False
        if len(cosines.shape) != (3 if positions is None else 2) or len(sines.shape) != len(cosines.shape):
            return False
        size, turned = _head(op, given), _turned(op, given)
        return 0 < turned <= size and turned % 2 == 0

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, given = op.operands[0], type_of(op.operands[0])
        size, turned, together = _head(op, given), _turned(op, given), len(given.shape) == 3
        heads = 2 if together else 1
        """The dimension of the heads."""
        if together:
            batch, sequence, width = given.shape
            assert width is not None  # `fits`
            split = [torch.integer(2), torch.integers([width // size, size])]
            apart = TensorType((batch, sequence, width // size, size), given.element)
            value = apply("aten.unflatten.int", [value, *split], apart)
        first = torch.sliced(value, 3, 0, turned - size) if turned < size else value
        cosines, sines = (inserted(_rows(op, index, turned // 2), heads) for index in (1, 2))
        made = _turn(first, cosines, sines, bool(number(op, "interleaved", 0)))
        if turned < size:
            made = torch.concatenated([made, torch.sliced(value, 3, turned, None)], 3)
        if together:
            made = torch.merged(made, 2, 3)
        return [torch.cast(made, op.results[0].type)]


def _positions(op: ir.Operation) -> ir.Value | None:
    return op.operands[3] if len(op.operands) == 4 and not torch.is_none(op.operands[3]) else None


def _head(op: ir.Operation, given: TensorType) -> int:
    """The size of a head; 0 where it is not known."""
    width, heads = given.shape[-1] or 0, number(op, "num_heads", 0)
    if len(given.shape) == 4:
        return width
    return width // heads if len(given.shape) == 3 and heads > 0 and width % heads == 0 else 0


def _turned(op: ir.Operation, given: TensorType) -> int:
    """How many elements of each head are turned."""
    return number(op, "rotary_embedding_dim", 0) or _head(op, given)


def _rows(op: ir.Operation, index: int, half: int) -> ir.Value:
    """The cosines or sines of each place of the sequence: [batch, sequence, half]."""
    table, positions = op.operands[index], _positions(op)
    if positions is None:
        return torch.cast(table, type_of(table).with_size(2, half).ir_type())
    batch, sequence = type_of(positions).shape
    made = TensorType((batch, sequence, half), type_of(table).element)
    table = torch.cast(table, type_of(table).with_size(1, half).ir_type())
    no = torch.boolean(False)
    return apply(
        "aten.embedding", [table, torch.converted(positions, "si64"), torch.integer(-1), no, no], made
    )


def _turn(value: ir.Value, cosines: ir.Value, sines: ir.Value, interleaved: bool) -> ir.Value:
    """Each pair of elements, of neighbours or of the same place in both halves, turned by its angle."""
    given = type_of(value)
    half = (given.shape[3] or 0) // 2
    apart = [half, 2] if interleaved else [2, half]
    split = TensorType((*given.shape[:3], *apart), given.element)
    pairs = apply("aten.unflatten.int", [value, torch.integer(3), torch.integers(apart)], split)
    axis = 4 if interleaved else 3
    real, imaginary = (_selected(pairs, axis, index) for index in (0, 1))
    type_ = type_of(real)
    one = torch.integer(1)

    def times(a: ir.Value, b: ir.Value) -> ir.Value:
        return apply("aten.mul.Tensor", [a, b], type_)

    turned = (
        apply("aten.sub.Tensor", [times(real, cosines), times(imaginary, sines), one], type_),
        apply("aten.add.Tensor", [times(real, sines), times(imaginary, cosines), one], type_),
    )
    return torch.merged(torch.concatenated([inserted(part, axis) for part in turned], axis), 3, 4)


def _selected(value: ir.Value, axis: int, index: int) -> ir.Value:
    type_ = type_of(value)
    made = TensorType((*type_.shape[:axis], *type_.shape[axis + 1 :]), type_.element)
    return apply("aten.select.int", [value, torch.integer(axis), torch.integer(index)], made)
