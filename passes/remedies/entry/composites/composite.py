"""What stands in a table of composites, and what their formulas share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import broadcast_shape, type_of
from ..torch_ops import TensorType, apply


def _always(_op: ir.Operation) -> bool:
    return True


@dataclass(frozen=True)
class Composite:
    """``operands``: how many the op has; ``written`` builds its results; ``fits``: whether it can, of tensors that are all floats if ``floats``.
    ``integers``: its operands may be integers, of which PyTorch computes the floats."""

    operands: int
    written: Callable[[ir.Operation], list[Tensor]]
    fits: Callable[[ir.Operation], bool] = _always
    floats: bool = True
    integers: bool = False


def elementwise(formula: Callable[..., Tensor], operands: int = 1) -> Composite:
    """Of ops whose operands are tensors alone, or numbers that are known (`_operand`)."""

    def written(op: ir.Operation) -> list[Tensor]:
        return [formula(*map(_operand, op.operands))]

    def fits(op: ir.Operation) -> bool:
        return all(TensorType.of(one) or torch.number_of(one) is not None for one in op.operands)

    return Composite(operands, written, fits, integers=True)


def _operand(value: ir.Value) -> Tensor | float:
    return Tensor.wide(value) if TensorType.of(value) else torch.number_of(value) or 0.0


def rank_of(value: ir.Value) -> int:
    return len(type_of(value).shape)


def norm(value: Tensor, p: float, dims: list[int], keep: bool) -> Tensor:
    """The vector norm over ``dims``."""
    shape = value.type_.shape
    left = tuple(1 if at in dims else one for at, one in enumerate(shape) if keep or at not in dims)
    made = TensorType(left, value.type_.element)
    operands = [value.value, torch.real(p), torch.integers(dims), torch.boolean(keep), torch.none()]
    return Tensor(apply("aten.linalg_vector_norm", operands, made))


def compared(left: Tensor, name: str, right: Tensor) -> Tensor:
    """Of two tensors: lt, le, gt, ge, eq, ne."""
    made = TensorType(broadcast_shape([left.type_.shape, right.type_.shape]), "i1")
    return Tensor(apply(f"aten.{name}.Tensor", [left.value, right.value], made))


def is_nan(value: Tensor) -> Tensor:
    return compared(value, "ne", value)
