"""Reshapes of tensors with several unknown sizes: dimensions are merged first, so that one unknown size is left."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.assumed_sizes import assumption_of, known_result
from fissile.passes.analysis.imports.onnx_values import integers_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class MergeDims(FrontEndRemedy):
    """Merges the dimensions of a reshape's operand before it, so that at most one of unknown size is left.

    Known sizes at the end, and at the beginning, are merged where the result has a dimension of their product; what lies between becomes one
    dimension. IREE 3.13 pairs the dimensions of operand and result from the left, and takes one to be 1 that is not (FIS164), or rejects the op.
    With one unknown size there is nothing to assume. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-merge-dims"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS164")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "merges dimensions before an `aten.view`, `aten.reshape` or `onnx.Reshape` of a tensor with several unknown sizes (in the input)"
    )
    repairs: ClassVar[str] = (
        "such reshapes, for which IREE takes an unknown size to be 1: wrong numbers on every target (FIS164)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "merged dimensions before it"
    advice: ClassVar[str] = "merge dimensions before it"

    def fits(self, op: ir.Operation) -> bool:
        if assumption_of(op) is None:
            return False
        return all(torch.TensorType.of(value) for value in (op.operands[0], op.results[0]))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value = op.operands[0]
        given = torch.TensorType.of(value)
        type_ = op.results[0].type
        if torch.front_end_name(op) != "onnx.Reshape":
            type_ = ir.Type.parse(known_result(op))
        made = torch.TensorType.of_type(type_)
        assert given is not None and made is not None  # `fits`
        for first, last in reversed(_merged(given.shape, made.shape)):
            value = torch.merged(value, first, last)
        view = torch.apply("aten.view", [value, _listed(op)], made)
        return [torch.cast(view, op.results[0].type)]


def _listed(op: ir.Operation) -> ir.Value:
    """The sizes of ``op``'s result as a list of torch's; in ONNX 0 is the size that the operand has there."""
    shape = integers_of(op.operands[1]) if torch.front_end_name(op) == "onnx.Reshape" else None
    if shape is None:
        return op.operands[1]
    sizes = [
        torch.integer(size) if size else torch.size(op.operands[0], number)
        for number, size in enumerate(shape)
    ]
    return torch.listed(sizes)


def _merged(given: tuple[int | None, ...], made: tuple[int | None, ...]) -> list[tuple[int, int]]:
    """The (first, last) dimensions of ``given`` that become one, in order: known sizes whose product is one of ``made``'s, at both ends, and the rest."""
    before = _products(given, made)
    rest = len(given) - sum(before)
    behind = _products(given[::-1][:rest], made[::-1])[::-1]
    counts = [*before, rest - sum(behind), *behind]
    merged, begin = [], 0
    for count in counts:
        if count > 1:
            merged.append((begin, begin + count - 1))
        begin += count
    return merged


def _products(given: tuple[int | None, ...], made: tuple[int | None, ...]) -> list[int]:
    """How many of ``given``, from its first on, are one of ``made``: sizes that are known, up to the first that is not."""
    counts: list[int] = []
    begin = 0
    for size in made:
        if size is None:
            break
        count = 0
        while begin + count < len(given) and None not in given[begin : begin + count + 1]:
            count += 1
            if prod(one or 0 for one in given[begin : begin + count]) == size:
                break
        else:
            break
        counts.append(count)
        begin += count
    return counts
