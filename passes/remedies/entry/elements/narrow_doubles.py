"""Ops on 64-bit floats that another remedy writes with others, if their floats have 32 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.catalogue import built_in, find_pass
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..torch_ops import TensorType

_WIDE, _NARROW = "f64", "f32"
_COUNTS = ("aten.histc", "aten.kthvalue", "aten.topk")
"""Ops that have no element type as operand: a 7 is a number there, and not PyTorch's number of f64."""


@register_pass
@dataclass(frozen=True)
class NarrowDoubles(FrontEndRemedy):
    """Converts 64-bit floats to 32 bits around an op that another remedy writes with others in 32 bits and not in 64.

    IREE computes 64-bit floats in 32 bits by default (`--iree-input-demote-f64-to-f32`), so that the numbers stay. Run it on the program as it was imported, ahead of the other
    remedies.
    """

    name: ClassVar[str] = "fissile-narrow-doubles"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "converts 64-bit floats to 32 bits around an op that another pass rewrites only in 32 bits (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.kthvalue`, `median`, `mode`, `copysign` and others of f64, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "those of 32 bits, as IREE's of f64 are by default"
    done: ClassVar[str] = "computed it in 32 bits"
    advice: ClassVar[str] = "compute it in 32 bits"

    def fits(self, op: ir.Operation) -> bool:
        values = (*op.operands, *op.results)
        if not any(map(_is_double, values)) or op.name.startswith("torch.vtensor") or any(op.regions):
            return False
        name = torch.front_end_name(op)
        if name not in _COUNTS and any(
            torch.integer_of(value) == torch.NUMBERS[_WIDE] for value in op.operands
        ):
            return False
        if any(_fits(one, op) for one in _others()):
            return False
        built: list[ir.Operation] = []
        with ir.InsertionPoint(op), op.location:
            narrow = _narrowed(op, built)
            fitting = any(_fits(one, narrow) for one in _others())
        for one in reversed(built):
            one.erase()
        return fitting

    def written(self, op: ir.Operation) -> list[ir.Value]:
        results = _narrowed(op, []).results
        return [
            torch.converted(value, _WIDE) if _is_double(result) else value
            for value, result in zip(results, op.results, strict=True)
        ]


@cache
def _others() -> Sequence[FrontEndRemedy]:
    """The remedies of torch ops that IREE rejects."""
    names = [name for name, module in built_in().items() if ".remedies.entry." in module]
    found = [find_pass(name) for name in names if name != NarrowDoubles.name]
    return [
        one()
        for one in found
        if issubclass(one, FrontEndRemedy) and FRONT_END_OP in one.cures and "torch." in one.candidates
    ]


def _fits(remedy: FrontEndRemedy, op: ir.Operation) -> bool:
    return remedy.fits(op)


def _is_double(value: ir.Value) -> bool:
    type_ = TensorType.of(value)
    return type_ is not None and type_.element == _WIDE


def _narrowed(op: ir.Operation, built: list[ir.Operation]) -> ir.Operation:
    """``op`` with floats of 32 bits, at the insertion point; ``built`` gets all ops that are made, in order."""
    operands = []
    for value in op.operands:
        if not _is_double(value):
            operands.append(value)
            continue
        operands.append(torch.converted(value, _NARROW))
        conversion = operands[-1].owner
        # A conversion has its constants before it.
        built += [*dict.fromkeys(one.owner for one in list(conversion.operands)[1:]), conversion]
    types = [
        TensorType(type_.shape, _NARROW).ir_type()
        if (type_ := TensorType.of(result)) and type_.element == _WIDE
        else result.type
        for result in op.results
    ]
    attributes = {one: op.attributes[one] for one in op.attributes}
    built.append(ir.Operation.create(op.name, results=types, operands=operands, attributes=attributes))
    return built[-1]
