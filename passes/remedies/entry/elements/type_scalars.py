"""Ops on constants that IREE's import computes otherwise than PyTorch, written so that it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_FLOATS = (*torch.FLOATS, "f64")
_SIGNED = ("si8", "si16", "si32", "si64")
_ARITHMETIC = {
    "aten.add.Scalar": (1, 2), "aten.sub.Scalar": (1, 2), "aten.rsub.Scalar": (1, 2), "aten.mul.Scalar": (1,), "aten.add.Tensor": (2,), "aten.sub.Tensor": (2,),
}  # fmt: skip
"""Op -> which operands are its scalars."""
_COMPARISONS = tuple(f"aten.{name}.Scalar" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
_REMAINDER = "aten.remainder.Scalar"
_QUOTIENTS = ("aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.floor_divide", "aten.floor_divide.Scalar")
_EQUAL = ("aten.eq.Tensor", "onnx.Equal")
_LIKE = tuple(f"aten.{name}" for name in ("full_like", "ones_like", "zeros_like", "new_full", "new_ones", "new_zeros"))  # fmt: skip
"""Ops of whose tensor operand only the type counts."""
_MADE = (
    *(f"aten.{name}" for name in ("full", "ones", "zeros", "scalar_tensor", "tensor", "tensor.int", "tensor.float", "tensor.bool")), "prim.NumToTensor.Scalar",
)  # fmt: skip
"""Ops that make a constant of numbers."""
_LITERAL = "vtensor.literal"
_DEEPEST = 64
_MOST = 16
"""IREE computes with as many different elements when it compiles."""


@register_pass
@dataclass(frozen=True)
class TypeScalars(FrontEndRemedy):
    """Writes the scalar operands of an op on constants in the type that PyTorch computes in, and a comparison of floats with themselves as one with NaN.

    IREE 3.13's import computes ops on constants when it compiles, if their elements are all the same or are at most 16 (FIS221). There it
    reads a negative integer as one of 64 bits without a sign, what is compared by the type of the number, a boolean as -1, takes the
    remainder with the sign of the dividend and divides integers without their signs; and floats are always equal to themselves, a NaN too. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-type-scalars"
    cures: ClassVar[tuple[str, ...]] = ("FIS221",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "gives the scalars that a constant is multiplied, added to or compared with the type that PyTorch computes in (in the input)"
    )
    repairs: ClassVar[str] = (
        "`torch.ones(4) * -1`, `torch.zeros(4) == 0` and others of constants, which IREE computes otherwise when it compiles, and `x == x` of a NaN: wrong on every target (FIS221)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "gave its operands the type that PyTorch computes in"
    advice: ClassVar[str] = "give the scalar the type of the tensor (`-1.0`, not `-1`)"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.operands) <= max(_ARITHMETIC.get(name, (1,))) or len(op.results) != 1:
            return False
        if name in _EQUAL:
            given = TensorType.of(op.operands[0])
            return op.operands[0] == op.operands[1] and given is not None and given.element in _FLOATS
        if name not in (*_ARITHMETIC, *_COMPARISONS, *_QUOTIENTS, _REMAINDER):
            return False
        given = TensorType.of(op.operands[0])
        if name in _QUOTIENTS and TensorType.of(op.operands[1]) and not is_constant(op.operands[1]):
            return False
        return given is not None and self._differs(op, name, given.element) and is_constant(op.operands[0])

    def _differs(self, op: ir.Operation, name: str, element: str) -> bool:
        """Whether IREE computes another result where the operands are constants with elements of type ``element``."""
        if name in _ARITHMETIC:
            scalars = [torch.integer_of(op.operands[at]) for at in _ARITHMETIC[name]]
            made = TensorType.of(op.results[0])
            floats = made is not None and made.element in _FLOATS
            return floats and any(one is not None and one < 0 for one in scalars)
        if name in _QUOTIENTS:
            made = TensorType.of(op.results[0])
            return made is not None and made.element in _SIGNED and element in _SIGNED
        if name == _REMAINDER:
            return element in (*_SIGNED, *_FLOATS) and torch.number_of(op.operands[1]) is not None
        whole = torch.integer_of(op.operands[1]) is not None
        return whole != (element not in _FLOATS) or element == "i1"

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = torch.front_end_name(op)
        made = TensorType.of(op.results[0])
        given = TensorType.of(op.operands[0])
        assert made is not None and given is not None
        operands = list(op.operands)
        if name in _EQUAL:
            return [apply("aten.logical_not", [apply("aten.isnan", operands[:1], made)], made)]
        if name in _ARITHMETIC:
            for at in _ARITHMETIC[name]:
                if (whole := torch.integer_of(operands[at])) is not None:
                    operands[at] = torch.real(float(whole))
            return [apply(name, operands, made)]
        if name in _QUOTIENTS:
            return [torch.converted(_quotient(name, operands, made), made.element)]
        number = torch.number_of(operands[1])
        assert number is not None
        if name == _REMAINDER:
            return [apply("aten.remainder.Tensor", [torch.converted(operands[0], made.element), _literal(number, made.element)], made)]  # fmt: skip
        if given.element in _FLOATS:
            operands[1] = torch.real(number)
        elif torch.integer_of(operands[1]) is None:
            operands[0] = torch.converted(operands[0], "f32")
        else:
            operands[0] = torch.converted(operands[0], "si64")
        return [apply(name, operands, made)]


def is_constant(value: ir.Value, depth: int = _DEEPEST) -> bool:
    """Whether IREE may know the elements of ``value``, a tensor, when it imports the program: it comes from such constants alone."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not depth or not owner.name.startswith("torch.") or owner.regions:
        return False
    name = torch.front_end_name(owner)
    if name in (*_LIKE, *_MADE):
        return True
    if name == _LITERAL:
        elements = owner.attributes["value"]
        return isinstance(elements, ir.DenseElementsAttr) and (elements.is_splat or len(elements) <= _MOST)
    tensors = [one for one in owner.operands if TensorType.of(one) is not None]
    return bool(tensors) and all(is_constant(one, depth - 1) for one in tensors)


def _quotient(name: str, operands: list[ir.Value], made: TensorType) -> ir.Value:
    """Of integers that the import does not know: each is the conjunction of itself with itself, which it does not compute. IREE divides no bytes."""
    wide = made.element if made.element == "si64" else "si32"
    first, *rest = [torch.converted(one, wide) if TensorType.of(one) else one for one in operands]
    hidden = apply("aten.bitwise_and.Tensor", [first, first], first.type)
    return apply(name, [hidden, *rest], TensorType(made.shape, wide))


def _literal(number: float, element: str) -> ir.Value:
    return torch.literal(f"{number:.17e}" if element in _FLOATS else str(int(number)), element)
