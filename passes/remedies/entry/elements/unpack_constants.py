"""Constants of elements below a byte whose bytes an importer wrote as they lie in an ONNX model, several elements in each."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.dialect.element_bytes import bytes_of
from fissile.passes.analysis.imports.onnx_values import VALUE
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_BITS = {"si4": 4, "ui4": 4, "f4E2M1FN": 4}
"""Type of the elements -> their bits: those below a byte that a tensor of torch may have."""
_NAMES = {"torch.operator": VALUE, "torch.vtensor.literal": "value"}
"""Op -> the attribute that holds the constant."""


@register_pass
@dataclass(frozen=True)
class UnpackConstants(FrontEndRemedy):
    """Gives each element of a constant of si4, ui4 or f4E2M1FN a byte of its own, as MLIR has it.

    An ONNX model packs such elements, the first into the lowest bits, and IREE 3.13's importer copies the bytes into a resource of the module.
    There the compiler takes each byte for an element, and reads past the last one (FIS226). A resource that has a byte for each element stays
    as it is. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-unpack-constants"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS226")
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = tuple(_NAMES)
    does: ClassVar[str] = (
        "gives the elements of a constant of ONNX that has several in a byte a byte each (in the input)"
    )
    repairs: ClassVar[str] = (
        "weights of 4 bits that IREE's ONNX importer copied as they lie in the model: rejected, or read past their end (FIS226)"
    )
    numbers: ClassVar[str] = "bit-identical to the model"
    done: ClassVar[str] = "gave each of its elements a byte"
    advice: ClassVar[str] = "unpack the constant in the model, to 8-bit integers"

    def fits(self, op: ir.Operation) -> bool:
        return _packed(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        found = _packed(op)
        assert found is not None  # `fits`
        held, data, bits = found
        per_byte, mask = 8 // bits, (1 << bits) - 1
        count = prod(held.type.shape)
        each = bytes(one >> bits * place & mask for one in data for place in range(per_byte))[:count]
        value = ir.Attribute.parse(f'dense<"0x{each.hex()}"> : {held.type}', op.context)
        names = [named.name for named in (op.attributes[at] for at in range(len(op.attributes)))]
        attributes = {name: op.attributes[name] for name in names} | {_NAMES[op.name]: value}
        made = ir.Operation.create(op.name, results=[op.results[0].type], attributes=attributes)
        return list(made.results)


def _packed(op: ir.Operation) -> tuple[ir.Attribute, bytes, int] | None:
    """The constant, its bytes and the bits of its elements; None where each has a byte of its own."""
    if len(op.results) != 1 or op.operands or op.name == "torch.operator" and torch.front_end_name(op) != "onnx.Constant":  # fmt: skip
        return None
    held = attribute(op, _NAMES[op.name])
    type_ = getattr(held, "type", None)
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return None
    bits = _BITS.get(str(type_.element_type))
    if bits is None or not str(held).startswith("dense_resource"):
        return None
    data, count = bytes_of(op), prod(type_.shape)
    return (held, data, bits) if len(data) == ceil(count * bits / 8) < count else None
