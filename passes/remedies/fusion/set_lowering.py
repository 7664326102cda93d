"""Gives chosen ops a lowering configuration of their own, in place of the one that code generation would
choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.errors import UsageError
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.structure import structure_of
from fissile.passes.definition import option, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.lowerings import FFT

from ..remedy import Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

ATTRIBUTE = "compilation_info"
"""The attribute that IREE's codegen takes as a whole decision: tiles and pipeline (MaterializeUserConfigs,
3.13)."""


SERIAL_OPS = (
    FFT,
    iree_ops.LINALG_EXT_SCAN,
    iree_ops.LINALG_EXT_SORT,
    iree_ops.LINALG_EXT_TOPK,
    iree_ops.LINALG_EXT_ARG_COMPARE,
)
"""Ops of IREE's own that go along one dimension step by step, and take a configuration as structured ops do."""
ALONG_ROWS = SERIAL_OPS[1:]
"""Ops of IREE's own along a dimension, each row for itself."""


@register_pass
@dataclass(frozen=True)
class SetLowering(OpRemedy):
    """Puts a lowering configuration on chosen source ops; it acts on their dispatches alone.

    ``info`` is an attribute as IREE 3.13 spells it (`#iree_codegen.compilation_info<…>`), quoted in the
    pipeline's text. Measured: it reaches code generation on contractions (a matmul that accumulates in f16,
    gfx942). Where dispatch creation fuses the op elementwise with its producer, as it does for plain
    reductions, the attribute is lost: put a boundary on the producer first. Numbers change only as far as the
    pipelines add up in another order.

    A chosen op that is no structured op with a body, and no FFT, sort, scan, topk or argmax of IREE's, is FIS114; an
    attribute that does not parse is a usage error.
    """

    name: ClassVar[str] = "fissile-set-lowering"
    order: ClassVar[int] = 30
    cures: ClassVar[tuple[str, ...]] = ("FIS101", "FIS102", "FIS103", "FIS106", "FIS108", "FIS111", "FIS143")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "gives chosen ops a lowering configuration"
    repairs: ClassVar[str] = (
        "16-bit accumulations, without changing their type; a sort, scan or topk of one row and every stage of an FFT "
        "on Vulkan, which all 64 threads would otherwise execute at once; a scan, argmax or topk of many dimensions on llvm-cpu, whose tiles exceed the stack; sums of which threads add only the diagonal "
        "(FIS143)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    counterpart: ClassVar[str] = (
        "Tuning specs set the same attribute on every op of one form; this pass sets it on chosen ops."
    )
    done: ClassVar[str] = "gave {ops} a lowering configuration"
    advice: ClassVar[str] = "give {ops} a lowering configuration"
    refusal: ClassVar[str] = "{op} takes no lowering configuration: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("iree_codegen", "iree_gpu")
    ops: tuple[int, ...] = option((), "indices of the source ops to configure")
    info: str = option("", "the configuration, as IREE spells the attribute")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return Match("" if structure_of(op) is not None or op.name in SERIAL_OPS else "it has no body")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if not self.ops or not self.info:
            raise UsageError(f"{self.name} needs `ops` and `info`", f"{self.name}{{ops=3 info='…'}}")
        super().run(op, report)

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        set_lowering(ops, self.info)


def set_lowering(ops: Iterable[ir.Operation], info: str) -> None:
    """Sets ``info`` on ``ops``, each of which matches. Raises UsageError where it does not parse."""
    for op in ops:
        try:
            attribute = ir.Attribute.parse(info, op.context)
        except ir.MLIRError as error:
            reason = " ".join(str(error).split())
            raise UsageError(f"this is not an attribute of IREE: {info}", reason[:200]) from None
        op.attributes[ATTRIBUTE] = attribute
