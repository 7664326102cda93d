"""Computes chosen producers in dispatches of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.passes.analysis.dispatch.producers import bytes_of_results
from fissile.passes.definition import Contract, option, register_pass

from ..remedy import FITS, PLACES_BOUNDARIES, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

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
class PlaceBoundaries(OpRemedy):
    """Puts a `fissile.boundary` on the results of chosen source ops, so that no consumer is fused with them.

    ``ops`` chooses source ops by index: linalg ops in program order, counted over the module, which is how findings
    name them. Without ``ops``, every bit-extending producer (dequantise, f16 extend) of a reduction is chosen,
    since IREE clones those into their consumers' dispatches whatever their size.

    Run it after global optimisation: an earlier boundary would hinder elementwise fusion. An op that already has a
    boundary is left as it is.
    """

    name: ClassVar[str] = "fissile-place-boundaries"
    order: ClassVar[int] = 10
    cures: ClassVar[tuple[str, ...]] = (
        "FIS101",
        "FIS102",
        "FIS103",
        "FIS104",
        "FIS105",
        "FIS106",
        "FIS108",
        "FIS109",
        "FIS111",
        "FIS112",
        "FIS140",
    )
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "prevents fusion across the results of chosen ops"
    repairs: ClassVar[str] = (
        "workgroup memory, stack, races, misaligned vectors (SPIR-V, FIS112), code unrolled over narrow "
        "elements (SPIR-V, FIS109), `failed to distribute` of fused row sums"
    )
    numbers: ClassVar[str] = "bit-identical per element; sums may be reordered"
    counterpart: ClassVar[str] = (
        "The flags of dispatch creation apply to the whole program, and none of them stops IREE from cloning a producer "
        "that extends bits into its consumer's dispatch."
    )
    done: ClassVar[str] = "computed {ops} in a separate dispatch, read {them} back by tile"
    advice: ClassVar[str] = "compute {ops} in a separate dispatch, read {them} back by tile"
    refusal: ClassVar[str] = "{op} takes no boundary: {why}"
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option(
        (), "indices of the source ops to cut off; empty: bit-extending producers of reductions"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS

    def chooses(self, op: ir.Operation) -> bool:
        return extends_bits(op)

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        place_boundaries(ops)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        crossing = [bytes_of_results(op) for op in ops]
        known = sum(count for count in crossing if count is not None)
        dynamic = " and results of dynamic size" if None in crossing else ""
        return f"{known} bytes{dynamic} written once to global memory, then read by tile"


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
    return [op for op in ops if extends_bits(op)]


def extends_bits(op: ir.Operation) -> bool:
    """Whether ``op`` is such a producer."""
    return _widens(op) and any(_reduces(use.owner.operation) for use in op.results[0].uses)


def _widens(op: ir.Operation) -> bool:
    if op.name not in ("linalg.generic", "linalg.map") or _reduces(op):
        return False
    body = op.regions[0].blocks[0].operations
    return any(inner.operation.name in EXTENSIONS for inner in body)


def _reduces(op: ir.Operation) -> bool:
    if op.name.startswith(WINDOWED_OR_CONTRACTING):
        return True
    return "iterator_types" in op.attributes and "reduction" in str(op.attributes["iterator_types"])
