"""Torch ops that IREE knows under another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .front_end import FrontEndRemedy
from .torch_ops import OPERATOR, front_end_name

_ALIASES = {
    # Python's operators on tensors: torch defines each as the op on the right (aten/src/ATen/native/native_functions.yaml).
    "aten.__and__.Tensor": "aten.bitwise_and.Tensor",
    "aten.__and__.Scalar": "aten.bitwise_and.Scalar",
    "aten.__or__.Tensor": "aten.bitwise_or.Tensor",
    "aten.__xor__.Tensor": "aten.bitwise_xor.Tensor",
    "aten.__lshift__.Tensor": "aten.bitwise_left_shift.Tensor",
    "aten.__rshift__.Tensor": "aten.bitwise_right_shift.Tensor",
    # Aliases: the same function under a second name.
    "aten.absolute": "aten.abs",
    "aten.arccos": "aten.acos",
    "aten.arccosh": "aten.acosh",
    "aten.arcsin": "aten.asin",
    "aten.arcsinh": "aten.asinh",
    "aten.arctan": "aten.atan",
    "aten.arctan2": "aten.atan2",
    "aten.arctanh": "aten.atanh",
    "aten.concat": "aten.cat",
    "aten.concatenate": "aten.cat",
    # In place, on a tensor that the program makes: its values stay as they are.
    "aten.detach_": "aten.detach",
    "aten.divide.Tensor": "aten.div.Tensor",
    "aten.fix": "aten.trunc",
    "aten.greater.Tensor": "aten.gt.Tensor",
    "aten.greater_equal.Tensor": "aten.ge.Tensor",
    "aten.less.Tensor": "aten.lt.Tensor",
    "aten.less_equal.Tensor": "aten.le.Tensor",
    # The shape of the image says the same.
    "aten.grid_sampler_2d": "aten.grid_sampler",
    "aten.linalg_diagonal": "aten.diagonal",
    "aten.matrix_power": "aten.linalg_matrix_power",
    "aten.moveaxis.int": "aten.movedim.int",
    "aten.multiply.Tensor": "aten.mul.Tensor",
    "aten.negative": "aten.neg",
    "aten.not_equal.Tensor": "aten.ne.Tensor",
    "aten.special_erf": "aten.erf",
    "aten.special_exp2": "aten.exp2",
    "aten.special_expit": "aten.sigmoid",
    "aten.special_log1p": "aten.log1p",
    "aten.special_round": "aten.round",
    "aten.subtract.Tensor": "aten.sub.Tensor",
    "aten.swapaxes": "aten.transpose.int",
    "aten.swapdims": "aten.transpose.int",
    # It differs for autograd alone: its parts may be written in place.
    "aten.unsafe_split.Tensor": "aten.split.Tensor",
    "aten.true_divide.Scalar": "aten.div.Scalar",
    "aten.true_divide.Tensor": "aten.div.Tensor",
}
_COPIES = {
    # The same elements in storage of their own, which a program of values cannot see.
    "aten.alias_copy": "aten.alias",
    "aten.detach_copy": "aten.detach",
    "aten.diagonal_copy": "aten.diagonal",
    "aten.expand_copy": "aten.expand",
    "aten.permute_copy": "aten.permute",
    "aten.select_copy.int": "aten.select.int",
    "aten.slice_copy.Tensor": "aten.slice.Tensor",
    "aten.split_copy.Tensor": "aten.split.Tensor",
    "aten.split_with_sizes_copy": "aten.split_with_sizes",
    "aten.squeeze_copy": "aten.squeeze",
    "aten.squeeze_copy.dim": "aten.squeeze.dim",
    "aten.t_copy": "aten.t",
    "aten.transpose_copy.int": "aten.transpose.int",
    "aten.unbind_copy.int": "aten.unbind.int",
    "aten.unfold_copy": "aten.unfold",
    "aten.unsqueeze_copy": "aten.unsqueeze",
    "aten.view_copy": "aten.view",
}
"""Ops of functional programs; the torch dialect has most of them, and no pattern for one."""
_NAMES = {**_ALIASES, **_COPIES}


@register_pass
@dataclass(frozen=True)
class RenameTorchOps(FrontEndRemedy):
    """Gives torch ops that are defined as another op that op's name.

    IREE 3.13 has `aten.__and__` in its torch dialect and no pattern for it, and none of PyTorch's aliases
    (`torch.operator "torch.aten.arccos"`). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-rename-torch-ops"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "gives a torch op the name of the op that defines it: `aten.__and__`, `aten.bitwise_and` (in the input)"
    )
    repairs: ClassVar[str] = "Python's operators and PyTorch's aliases, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with the op that PyTorch defines it by"
    advice: ClassVar[str] = "rewrite it with the op that PyTorch defines it by"

    def fits(self, op: ir.Operation) -> bool:
        name = front_end_name(op)
        target = _NAMES.get(name)
        if target is None or len(op.results) != 1:
            return False
        return op.context.is_registered_operation(f"torch.{target}") and (
            op.name == OPERATOR or "__" in op.name or name in _COPIES
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = f"torch.{_NAMES[front_end_name(op)]}"
        return [ir.Operation.create(name, results=[op.results[0].type], operands=list(op.operands)).result]
