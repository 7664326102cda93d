"""Keeps chosen producers out of their consumers' dispatches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import register
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.definition import Contract, Pass, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS, NO_BOUNDARIES, NO_FISSILE_OPS

from ..chosen_ops import check_indices

BOUNDARY = "fissile.boundary"
EXTENSIONS = ("arith.extsi", "arith.extui", "arith.extf", "arith.sitofp", "arith.uitofp")
WINDOWED_OR_CONTRACTING = (
    "linalg.conv",
    "linalg.depthwise",
    "linalg.pooling",
    "linalg.matmul",
    "linalg.batch_matmul",
)


@register_pass
@dataclass(frozen=True)
class PlaceBoundaries(Pass):
    """Puts a `fissile.boundary` on the results of chosen source ops, so that no consumer is fused with them.

    ``ops`` chooses source ops by index: linalg ops in program order, counted over the module, which is how findings
    name them. Without ``ops``, every bit-extending producer (dequantise, f16 extend) of a reduction is chosen,
    since IREE clones those into their consumers' dispatches whatever their size.

    Run it after global optimisation: an earlier boundary would hinder elementwise fusion. An op that already has a
    boundary is left as it is.
    """

    name: ClassVar[str] = "fissile-place-boundaries"
    contract: ClassVar[Contract] = Contract(
        requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS), invalidates=(NO_BOUNDARIES, NO_FISSILE_OPS)
    )
    ops: tuple[int, ...] = option(
        (), "indices of the source ops to cut off; empty: bit-extending producers of reductions"
    )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        register(op.context)
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        chosen = [known[i] for i in self.ops] if self.ops else bit_extending_producers(known)
        place_boundaries(chosen)


def place_boundaries(producers: Iterable[ir.Operation]) -> int:
    """Cuts every tensor result of ``producers`` off from its users. Returns the number of boundaries placed."""
    placed = 0
    for producer in producers:
        for result in producer.results:
            users = [use.owner.operation for use in result.uses]
            if not isinstance(result.type, ir.RankedTensorType) or not users:
                continue
            if all(user.name == BOUNDARY for user in users):
                continue
            with producer.context, producer.location:
                boundary = ir.Operation.create(
                    BOUNDARY, results=[result.type], operands=[result], ip=ir.InsertionPoint.after(producer)
                )
            result.replace_all_uses_except(boundary.results[0], boundary)
            placed += 1
    return placed


def bit_extending_producers(ops: list[ir.Operation]) -> list[ir.Operation]:
    """Elementwise ops whose body widens elements and whose result a reduction reads."""
    return [
        op for op in ops if _widens(op) and any(_reduces(use.owner.operation) for use in op.results[0].uses)
    ]


def _widens(op: ir.Operation) -> bool:
    if op.name not in ("linalg.generic", "linalg.map") or _reduces(op):
        return False
    body = op.regions[0].blocks[0].operations
    return any(inner.operation.name in EXTENSIONS for inner in body)


def _reduces(op: ir.Operation) -> bool:
    if op.name.startswith(WINDOWED_OR_CONTRACTING):
        return True
    return "iterator_types" in op.attributes and "reduction" in str(op.attributes["iterator_types"])
