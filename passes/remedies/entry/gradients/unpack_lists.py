"""Steps of PyTorch's optimisers over lists of tensors, as one op for each tensor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_NAME = re.compile(r"aten\._foreach_(\w+)(?:\.(Scalar|List|Tensor|ScalarList))?$")
_UNARY = (
    "sqrt", "neg", "exp", "abs", "reciprocal", "rsqrt", "sign", "log", "floor", "ceil", "sigmoid", "tanh", "sin", "cos", "erf", "log1p",
    "expm1", "round", "trunc",
)  # fmt: skip
_BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "pow")
_LIST = "torch.prim.ListConstruct"


@register_pass
@dataclass(frozen=True)
class UnpackLists(FrontEndRemedy):
    """Writes `aten._foreach_*`, an op on each tensor of a list, as so many ops on tensors.

    PyTorch's optimisers step so over all parameters at once. The torch dialect of IREE 3.13 has none of these ops. Run it on the program as it
    was imported.
    """

    name: ClassVar[str] = "fissile-unpack-lists"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `aten._foreach_*` over lists of tensors with an op for each tensor (in the input)"
    )
    repairs: ClassVar[str] = (
        "steps of PyTorch's optimisers over lists of tensors, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "wrote an op for each of its tensors"
    advice: ClassVar[str] = "write an op for each of its tensors"

    def fits(self, op: ir.Operation) -> bool:
        return len(op.results) == 1 and _rows(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        rows = _rows(op)
        found = _NAME.match(torch.front_end_name(op))
        assert rows is not None and found is not None
        values = [_stepped(found[1], row) for row in rows]
        made = op.results[0].type
        return [ir.Operation.create(_LIST, results=[made], operands=values).result]


def _rows(op: ir.Operation) -> list[list[ir.Value]] | None:
    """For each tensor of the first list the operands of its op; None for another op."""
    found = _NAME.match(torch.front_end_name(op))
    if found is None:
        return None
    step, given = found[1], list(op.operands)
    lists = [list(one.owner.operands) for one in given if _is_list(one)]
    rest = [one for one in given if not _is_list(one)]
    wanted = _wanted(step, found[2] or "")
    if wanted is None or (len(lists), len(rest)) not in wanted or not lists[0]:
        return None
    if any(len(one) != len(lists[0]) for one in lists):
        return None
    tensors = [TensorType.of(one) for listed in lists for one in listed]
    if any(one is None or one.element not in torch.FLOATS for one in tensors):
        return None
    scalars = [TensorType.of(one) is not None or torch.number_of(one) is not None for one in rest]
    if not all(scalars):
        return None
    return [[*row, *rest] for row in zip(*lists, strict=True)]


def _wanted(step: str, kind: str) -> tuple[tuple[int, int], ...] | None:
    """How many lists and how many other operands it has."""
    if step in _UNARY:
        return ((1, 0),) if not kind else None
    if step in _BINARY:
        return {"Scalar": ((1, 1),), "Tensor": ((1, 1), (1, 2)), "List": ((2, 0), (2, 1))}.get(kind)
    if step in ("addcmul", "addcdiv"):
        return ((3, 1),) if kind == "Scalar" else None
    if step == "lerp":
        return {"Scalar": ((2, 1),), "List": ((3, 0),)}.get(kind)
    return ((1, 0),) if step == "zero" else None


def _stepped(step: str, row: list[ir.Value]) -> ir.Value:
    first = TensorType.of(row[0])
    assert first is not None
    if step in _UNARY:
        return apply(f"aten.{step}", row, first)
    x, others = Tensor(row[0]), [_other(one) for one in row[1:]]
    if step == "zero":
        return x.zeros().value
    other = others[0]
    if step in ("addcmul", "addcdiv"):
        assert isinstance(other, Tensor)
        return (x + (other * others[1] if step == "addcmul" else other / others[1]) * others[2]).value
    if step == "lerp":
        assert isinstance(other, Tensor)
        return (x + (other - x) * others[1]).value
    if step in ("maximum", "minimum"):
        return _bound(x, other, step).value
    if step == "pow":
        name = "aten.pow.Tensor_Tensor" if isinstance(other, Tensor) else "aten.pow.Tensor_Scalar"
        return apply(name, row[:2], first)
    if len(others) == 2 and isinstance(other, Tensor):
        other = other * others[1]
    return {"add": x.__add__, "sub": x.__sub__, "mul": x.__mul__, "div": x.__truediv__}[step](other).value


def _other(value: ir.Value) -> Tensor | float:
    number = torch.number_of(value)
    return Tensor(value) if number is None else number


def _bound(x: Tensor, other: Tensor | float, step: str) -> Tensor:
    """A NaN of either stays, as in torch."""
    compared = "ge" if step == "maximum" else "le"
    if not isinstance(other, Tensor):
        kept = x.is_(compared, other).chosen(x, other)
    else:
        made = TensorType(x.type_.shape, "i1")
        kept = Tensor(apply(f"aten.{compared}.Tensor", [x.value, other.value], made)).chosen(x, other)
        kept = Tensor(apply("aten.ne.Tensor", [other.value, other.value], made)).chosen(other, kept)
    return Tensor(apply("aten.ne.Tensor", [x.value, x.value], TensorType(x.type_.shape, "i1"))).chosen(
        x, kept
    )


def _is_list(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == _LIST
