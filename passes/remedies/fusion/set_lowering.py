"""Gives chosen ops a lowering configuration of their own, in place of the one that code generation would
choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.errors import UsageError
from fissile.finding import Finding, ordered
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.analysis.dispatch.structure import structure_of
from fissile.passes.definition import Contract, Pass, PassFailed, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS

from ..chosen_ops import check_indices

ATTRIBUTE = "compilation_info"
"""The attribute that IREE's codegen takes as a whole decision: tiles and pipeline (MaterializeUserConfigs,
3.13)."""


SERIAL_OPS = ("iree_linalg_ext.fft", "iree_linalg_ext.scan", "iree_linalg_ext.sort", "iree_linalg_ext.topk")
"""Ops of IREE's own that go along one dimension step by step, and take a configuration as structured ops do."""


@register_pass
@dataclass(frozen=True)
class SetLowering(Pass):
    """Puts a lowering configuration on chosen source ops; it acts on their dispatches alone.

    ``info`` is an attribute as IREE 3.13 spells it (`#iree_codegen.compilation_info<…>`), quoted in the
    pipeline's text. Measured: it reaches code generation on contractions (a matmul that accumulates in f16,
    gfx942). Where dispatch creation fuses the op elementwise with its producer, as it does for plain
    reductions, the attribute is lost: put a boundary on the producer first. Numbers change only as far as the
    pipelines add up in another order.

    A chosen op that is no structured op with a body, and no FFT, sort, scan or topk of IREE's, is FIS117; an
    attribute that does not parse is a usage error.
    """

    name: ClassVar[str] = "fissile-set-lowering"
    dialects: ClassVar[tuple[str, ...]] = ("iree_codegen", "iree_gpu")
    contract: ClassVar[Contract] = Contract(requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS))
    ops: tuple[int, ...] = option((), "indices of the source ops to configure")
    info: str = option("", "the configuration, as IREE spells the attribute")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if not self.ops or not self.info:
            raise UsageError(
                f"{self.name} needs `ops` and `info`", f"{self.name}{{ops=3 info='#iree_codegen.…'}}"
            )
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        set_lowering([known[i] for i in self.ops], self.info)


def set_lowering(ops: Iterable[ir.Operation], info: str) -> None:
    """Sets ``info`` on ``ops``. Raises UsageError where it does not parse, PassFailed (FIS117) where an op
    has no body."""
    ops = list(ops)
    if refused := [_refusal(op) for op in ops if structure_of(op) is None and op.name not in SERIAL_OPS]:
        raise PassFailed(ordered(refused))
    for op in ops:
        try:
            attribute = ir.Attribute.parse(info, op.context)
        except ir.MLIRError as error:
            said = " ".join(str(error).split())
            raise UsageError(f"this is no attribute of IREE: {info}", said[:200]) from None
        op.attributes[ATTRIBUTE] = attribute


def _refusal(op: ir.Operation) -> Finding:
    place = place_of(op)
    return Finding(
        "FIS117",
        f"{op.name} takes no lowering configuration: it has no body",
        subject=op.name,
        places=(place,) if place else (),
    )
