"""Gives storage of a fixed size the size that its uses need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import ops_of, place_of
from fissile.dialect.views import view_of
from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.bounds.conditions import at_most
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.shaped_values import i64s
from fissile.passes.analysis.bounds.size_terms import Term, apply, product, symbols_of, term
from fissile.passes.analysis.program.defined_before import exists_before
from fissile.passes.analysis.storage.memory_rules import bytes_of_element
from fissile.passes.analysis.storage.proof import decide
from fissile.passes.definition import Contract, Pass, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.verdict import Answer

from .term_ops import TermWriter


@register_pass
@dataclass(frozen=True)
class GrowStorage(Pass):
    """Replaces a fixed capacity by one computed from the sizes that use it, where the storage does
    not escape.

    Two kinds of storage grow: a fissile.alloc_storage that only fissile.alloc_tensor and fissile.kill
    use, and a tensor.empty of static shape that is only filled, written by tensor.insert_slice and
    read by tensor.extract_slice. The new capacity is the largest end of all uses, and never less than
    the old one. A storage whose uses are proved to fit is left as it is; so is one whose sizes are
    not known where it is made, or that reaches another op. Each storage that grows is reported (FIS207).
    """

    name: ClassVar[str] = "fissile-grow-storage"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "tensor")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for storage in ops_of(op, "fissile.alloc_storage"):
            if found := grow_storage(storage):
                report(found)
        for empty in ops_of(op, "tensor.empty"):
            if found := grow_tensor(empty):
                report(found)


def grow_storage(storage: ir.Operation) -> Finding | None:
    """Grows one fissile.alloc_storage; None where it stays as it is."""
    extents = Extents()
    capacity = extents.value(storage.operands[0])
    ends: list[Term] = []
    for use in storage.results[0].uses:
        user = use.owner.operation
        if user.name == "fissile.kill":
            continue
        if user.name != "fissile.alloc_tensor":
            return None
        tensor_type = ir.RankedTensorType(user.results[0].type)
        width = bytes_of_element(tensor_type.element_type)
        if width is None:
            return None
        ends.append(extents.value(user.operands[1]) + product((*extents.shape(user.results[0]), term(width))))
    grown = _needed(capacity, ends)
    if grown is None or not _known_before(extents, grown, storage):
        return None
    with storage.context, storage.location:
        storage.operands[0] = TermWriter(extents, ir.InsertionPoint(storage)).index(grown)
    return _grown_finding(storage, f"{capacity} bytes", f"{grown} bytes")


def grow_tensor(empty: ir.Operation) -> Finding | None:
    """Grows one tensor.empty of static shape and the ops that write it; None where it stays as it is."""
    tensor_type = ir.RankedTensorType(empty.results[0].type)
    if not tensor_type.has_static_shape:
        return None
    chain = _chain(empty)
    if chain is None:
        return None
    written, slices = chain
    extents = Extents()
    shape: list[Term] = [term(tensor_type.get_dim_size(i)) for i in range(tensor_type.rank)]
    grown: list[Term] = list(shape)
    for op in slices:
        offsets = extents.mixed(i64s(op, "static_offsets"), list(view_of(op).offsets))
        sizes = extents.mixed(i64s(op, "static_sizes"), list(view_of(op).sizes))
        strides = extents.mixed(i64s(op, "static_strides"), list(view_of(op).strides))
        for i, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=False)):
            end = offset + (size - 1) * stride + 1
            grown[i] = _needed(grown[i], [end]) or grown[i]
    if grown == shape or not all(_known_before(extents, size, empty) for size in grown):
        return None
    grown_finding = _grown_finding(empty, _text(shape) + " elements", _text(grown) + " elements")
    _retype(extents, empty, written, shape, grown)
    return grown_finding


def _chain(empty: ir.Operation) -> tuple[list[ir.Operation], list[ir.Operation]] | None:
    """The ops that hand the tensor on, and all slices of it; None where it escapes to another op."""
    written: list[ir.Operation] = []
    slices: list[ir.Operation] = []
    pending = [empty.results[0]]
    while pending:
        value = pending.pop()
        for use in value.uses:
            user, number = use.owner.operation, use.operand_number
            if user.name == "tensor.extract_slice" and number == 0:
                slices.append(user)
            elif user.name == "tensor.insert_slice" and number == 1:
                slices.append(user)
                written.append(user)
                pending.append(user.results[0])
            elif user.name == "linalg.fill" and number == 1:
                written.append(user)
                pending.append(user.results[0])
            else:
                return None
    return written, slices


def _retype(
    extents: Extents, empty: ir.Operation, written: list[ir.Operation], shape: list[Term], grown: list[Term]
) -> None:
    with empty.context, empty.location:
        writer = TermWriter(extents, ir.InsertionPoint(empty))
        element = ir.RankedTensorType(empty.results[0].type).element_type
        sizes = [
            old.constant if old == new else writer.index(new) for old, new in zip(shape, grown, strict=False)
        ]
        bigger = tensor.EmptyOp(sizes, element, ip=ir.InsertionPoint(empty))
        type_ = bigger.result.type
        for op in written:
            op.results[0].set_type(type_)
        empty.results[0].replace_all_uses_with(bigger.result)
        empty.erase()


def _needed(capacity: Term, ends: list[Term]) -> Term | None:
    """The largest of ``capacity`` and ``ends``, None where the capacity is proved to be enough."""
    missing = [e for e in ends if decide(at_most(e, capacity)).verdict.answer is not Answer.PROVED]
    return apply("max", capacity, *missing) if missing else None


def _known_before(extents: Extents, size: Term, op: ir.Operation) -> bool:
    return all(exists_before(extents.handle(s).value, op) for s in symbols_of(size).values())


def _text(shape: list[Term]) -> str:
    return "x".join(f"({s})" if " " in str(s) else str(s) for s in shape)


def _grown_finding(op: ir.Operation, before: str, after: str) -> Finding:
    place = place_of(op)
    return Finding(
        "FIS207",
        f"storage of {before} has now {after}",
        Severity.NOTE,
        op.name,
        places=(place,) if place else (),
        helps=(Help("capacity from the sizes that use it", GrowStorage.name, applied=True),),
    )
