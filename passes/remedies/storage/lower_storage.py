"""Turns explicit storage into ordinary tensors: IREE places and frees buffers itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import STORAGE_TYPE, ops_of, place_of
from fissile.dialect.verify import verify_dialect
from fissile.finding import Finding, ordered
from fissile.passes.definition import Contract, Pass, PassFailed, register_pass
from fissile.passes.properties import NO_STORAGE, WELL_FORMED


@register_pass
@dataclass(frozen=True)
class LowerStorage(Pass):
    """Turns each fissile.alloc_tensor into tensor.empty and erases fissile.alloc_storage and fissile.kill.

    A tensor on a storage has no content of its own until an op writes it, as tensor.empty. Capacity and
    lifetime must have been checked before: afterwards nothing says them any more. A storage that reaches
    another op (a call, a return, a branch) cannot be lowered: FIS404, all of them at once.
    """

    name: ClassVar[str] = "fissile-lower-storage"
    dialects: ClassVar[tuple[str, ...]] = ("tensor",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,), establishes=(NO_STORAGE,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if wrong := verify_dialect(op):
            raise PassFailed(wrong)
        storages = ops_of(op, "fissile.alloc_storage")
        tensors = ops_of(op, "fissile.alloc_tensor")
        escapes = [
            _escape(use.owner) for s in storages for use in s.results[0].uses if not _is_known_user(use.owner)
        ]
        kills = ops_of(op, "fissile.kill")
        on_storage = tensors + [kill for kill in kills if str(kill.operands[0].type) == STORAGE_TYPE]
        foreign = [_foreign(user) for user in on_storage if not _is_allocated_here(user.operands[0])]
        if escapes or foreign:
            raise PassFailed(ordered(escapes + foreign))
        for kill in kills:
            kill.erase()
        for found in tensors:
            sizes = list(found.operands)[2:]
            tensor_type = ir.RankedTensorType(found.results[0].type)
            with ir.InsertionPoint(found), found.location:
                given = iter(sizes)
                shape = [
                    next(given) if tensor_type.is_dynamic_dim(i) else tensor_type.get_dim_size(i)
                    for i in range(tensor_type.rank)
                ]
                empty = tensor.EmptyOp(shape, tensor_type.element_type, encoding=tensor_type.encoding)
            found.results[0].replace_all_uses_with(empty.result)
            found.erase()
        for storage in storages:
            storage.erase()


def _is_known_user(owner: ir.Operation) -> bool:
    return owner.operation.name in ("fissile.alloc_tensor", "fissile.kill")


def _is_allocated_here(storage: ir.Value) -> bool:
    return not isinstance(storage.owner, ir.Block) and storage.owner.operation.name == "fissile.alloc_storage"


def _escape(user: ir.Operation) -> Finding:
    return _finding(user.operation, f"a storage escapes to {user.operation.name}, where no pass can lower it")


def _foreign(user: ir.Operation) -> Finding:
    return _finding(user, f"{user.name} is given a storage that is not allocated in the same function")


def _finding(op: ir.Operation, message: str) -> Finding:
    place = place_of(op)
    return Finding(code="FIS404", message=message, subject=op.name, places=(place,) if place else ())
