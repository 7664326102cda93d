"""Turns fissile.require into a runtime assertion, or decides it where its condition is a constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import cf

from fissile.dialect import ops_of, place_of
from fissile.dialect.attributes import text_of
from fissile.dialect.verify import verify_dialect
from fissile.finding import Finding
from fissile.passes.analysis.host.on_host import is_on_host
from fissile.passes.definition import Contract, Pass, PassFailed, register_pass
from fissile.passes.properties import NO_REQUIRES, WELL_FORMED


def constant_condition(value: ir.Value) -> bool | None:
    """True or False where ``value`` is a constant i1, None where it is not known."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return bool(ir.IntegerAttr(owner.operation.attributes["value"]).value)


@register_pass
@dataclass(frozen=True)
class LowerRequires(Pass):
    """Turns each fissile.require into cf.assert with the same sentence.

    One whose condition is the constant true is proved and removed; one whose condition is the constant
    false is refuted: FIS403, all of them at once. Run canonicalize before it, so that conditions over
    constants have been folded. At run time a call that breaks the precondition returns
    FAILED_PRECONDITION with the sentence.
    """

    name: ClassVar[str] = "fissile-lower-requires"
    dialects: ClassVar[tuple[str, ...]] = ("cf",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,), establishes=(NO_REQUIRES,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if wrong := verify_dialect(op):
            raise PassFailed(wrong)
        requires = [(found, constant_condition(found.operands[0])) for found in ops_of(op, "fissile.require")]
        if refuted := [_refuted(found) for found, known in requires if known is False]:
            raise PassFailed(refuted)
        for found, known in requires:
            if known is None:
                lower_require(found)
            else:
                found.erase()


def requires_in_bodies(op: ir.Operation) -> list[ir.Operation]:
    """The fissile.require ops in the bodies of ops on tensors: they are about each element."""
    return [found for found in ops_of(op, "fissile.require") if not is_on_host(found)]


def lower_require(op: ir.Operation) -> None:
    """A fissile.require as cf.assert with the same sentence."""
    with ir.InsertionPoint(op), op.location:
        cf.AssertOp(op.operands[0], ir.StringAttr(op.attributes["message"]))
    op.erase()


def _refuted(op: ir.Operation) -> Finding:
    place = place_of(op)
    sentence = text_of(op, "message")
    return Finding(
        code="FIS403",
        message=f"a precondition never holds: {sentence}",
        subject=op.name,
        places=(place,) if place else (),
    )
