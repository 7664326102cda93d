"""Which attentions of a module take IREE's choice of a configuration down, before there is a dispatch to look at?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from iree.compiler import ir

from fissile.passes.iree.backends import backend_named

from .attention_roles import AttentionRoles, attentions_in


class Defect(Enum):
    """What goes wrong, each by its cause."""

    DYNAMIC_HEAD = "its head dimension is dynamic"
    """SIGFPE: the number of key vectors overflows to less than none, and threads are divided by it (setAttentionReductionConfig)."""
    ONE_KEY = "it has one key"
    """SIGSEGV: loops of one iteration are folded away, and the last of the loops over the keys is looked up among none."""
    PACKED_MASK = "its mask has eight booleans to a byte"
    """IREE refuses it: type propagation does not know the packed encoding."""

    @property
    def signal(self) -> str:
        return {Defect.DYNAMIC_HEAD: "SIGFPE", Defect.ONE_KEY: "SIGSEGV"}.get(self, "")


@dataclass(frozen=True)
class Unconfigurable:
    op: ir.Operation
    defect: Defect


def unconfigurable_attentions(module: ir.Operation, backends: Iterable[str]) -> list[Unconfigurable]:
    """Every such attention of ``module`` (at global optimisation), which is built for ``backends``."""
    if not any(backend_named(name).configures_attention for name in backends):
        return []
    return [
        Unconfigurable(op, defect) for op in attentions_in(module) if (defect := _defect(AttentionRoles(op)))
    ]


def _defect(roles: AttentionRoles) -> Defect | None:
    mask = roles.operands.get("mask")
    if mask is not None and is_packed_i1(mask):
        return Defect.PACKED_MASK
    if any(roles.extent(loop) is None for loop in roles.summed):
        return Defect.DYNAMIC_HEAD
    if all(roles.extent(loop) == 1 for loop in roles.columns):
        return Defect.ONE_KEY
    return None


def is_packed_i1(value: ir.Value) -> bool:
    """Whether eight booleans of the tensor ``value`` share a byte (`#iree_encoding.packed_storage`)."""
    type_ = value.type
    return (
        isinstance(type_, ir.RankedTensorType)
        and type_.encoding is not None
        and "packed_storage" in str(type_.encoding)
        and str(type_.element_type) == "i1"
    )
