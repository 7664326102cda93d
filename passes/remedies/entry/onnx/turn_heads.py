"""Rotary embeddings of a sequence whose heads are side by side, as those of separate heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attributes
from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..torch_ops import TensorType


@register_pass
@dataclass(frozen=True)
class TurnHeads(FrontEndRemedy):
    """Writes an `onnx.RotaryEmbedding` of ONNX Runtime over [batch, sequence, heads * size] as one over [batch, heads, sequence, size],
    and one that turns a part of each head as one of that part.

    IREE 3.13 reads the first as if it were the second, reshaped, and turns other pairs of a part (FIS162). Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-turn-heads"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes an `onnx.RotaryEmbedding` of heads that are side by side as one of separate heads (in the input)"
    )
    repairs: ClassVar[str] = (
        "rotary embeddings of ONNX Runtime over three dimensions, which IREE turns by the angles of other places: wrong numbers on every "
        "target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "separated the heads"
    advice: ClassVar[str] = "separate the heads"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.RotaryEmbedding" or len(op.operands) != 4:
            return False
        given, places, table = (TensorType.of(op.operands[index]) for index in (0, 1, 2))
        if given is None or places is None or table is None or len(table.shape) != 2:
            return False  # the standard's own op, whose tables come first, has tables of three dimensions
        rank, size = len(given.shape), _head(op, given, table)
        if len(places.shape) != 2 or not size or rank not in (3, 4):
            return False
        return rank == 3 or 2 * (table.shape[1] or 0) < size

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, table = op.operands[0], TensorType.of(op.operands[2])
        given = TensorType.of(value)
        assert given is not None and table is not None and table.shape[1] is not None  # `fits`
        size, turns = _head(op, given, table), 2 * table.shape[1]
        swap = [torch.integer(1), torch.integer(2)]
        if together := len(given.shape) == 3:
            batch, sequence, width = given.shape
            assert width is not None
            split = [torch.integer(2), torch.integers([width // size, size])]
            apart = TensorType((batch, sequence, width // size, size), given.element)
            given = TensorType((batch, width // size, sequence, size), given.element)
            value = torch.apply("aten.unflatten.int", [value, *split], apart)
            value = torch.apply("aten.transpose.int", [value, *swap], given)
        first = torch.sliced(value, 3, 0, turns - size) if turns < size else value
        made = torch.apply_onnx(
            "RotaryEmbedding", [first, *list(op.operands)[1:]], given.with_size(3, turns), **_kept(op)
        )
        if turns < size:
            made = torch.concatenated([made, torch.sliced(value, 3, turns, None)], 3)
        if together:
            made = torch.merged(torch.apply("aten.transpose.int", [made, *swap], apart), 2, 3)
        return [torch.cast(made, op.results[0].type)]


def _head(op: ir.Operation, given: TensorType, table: TensorType) -> int:
    """The size of a head; 0 where it is not known."""
    width, half = given.shape[-1], table.shape[1]
    if len(given.shape) == 4:
        return width or 0
    if width is None or half is None:
        return 0
    count = number(op, "num_heads", 0)
    size = width // count if number(op, "rotary_embedding_dim", 0) and count else 2 * half
    return size if size and width % size == 0 else 0


def _kept(op: ir.Operation) -> dict[str, ir.Attribute]:
    """What holds of the part of a head that is turned, too."""
    begin = torch.ONNX_ATTRIBUTE
    found = {name.removeprefix(begin): held for name, held in attributes(op) if name.startswith(begin)}
    return {name: held for name, held in found.items() if name not in ("num_heads", "rotary_embedding_dim")}
