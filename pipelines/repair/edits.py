"""What the repair loop may do to one source op, and doing it to a module at global optimisation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import load_dialects
from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.net import passes_on
from fissile.passes.remedies.decompose.decompose_attention import DecomposeAttention, decompose_attention
from fissile.passes.remedies.decompose.decompose_movement import DecomposeMovement, decompose_movement
from fissile.passes.remedies.decompose.decompose_softmax import DecomposeSoftmax, decompose_softmax
from fissile.passes.remedies.decompose.rank_sorts import RankSorts, rank_sorts
from fissile.passes.remedies.decompose.read_by_element import ReadByElement, read_by_element
from fissile.passes.remedies.decompose.split_reductions import SplitReductions, split_reductions
from fissile.passes.remedies.decompose.split_results import SplitResults, split_results
from fissile.passes.remedies.fusion.drop_configuration import DropConfiguration, drop_configuration
from fissile.passes.remedies.fusion.extend_operands import ExtendOperands, extend_operands
from fissile.passes.remedies.fusion.fold_producers import FoldProducers, fold_producers
from fissile.passes.remedies.fusion.lower_boundaries import LowerBoundaries
from fissile.passes.remedies.fusion.place_boundaries import PlaceBoundaries, place_boundaries
from fissile.passes.remedies.fusion.set_lowering import SetLowering, set_lowering
from fissile.passes.remedies.fusion.widen_accumulators import WidenAccumulators, widen_accumulators
from fissile.passes.remedies.narrow.expand_scalars import ExpandScalars, expand_scalars

from ..session import Module

(
    CUT,
    DECOMPOSE,
    ATTENTION_APART,
    MOVEMENT_APART,
    RANK,
    SPLIT,
    RESULTS_APART,
    EXTEND,
    EXPAND,
    WIDEN,
    CONFIGURE,
    FOLD,
    BY_ELEMENT,
) = (
    PlaceBoundaries.name,
    DecomposeSoftmax.name,
    DecomposeAttention.name,
    DecomposeMovement.name,
    RankSorts.name,
    SplitReductions.name,
    SplitResults.name,
    ExtendOperands.name,
    ExpandScalars.name,
    WidenAccumulators.name,
    SetLowering.name,
    FoldProducers.name,
    ReadByElement.name,
)
DROP = DropConfiguration.name
REMEDIES = (
    CUT,
    DROP,
    DECOMPOSE,
    ATTENTION_APART,
    MOVEMENT_APART,
    RANK,
    SPLIT,
    RESULTS_APART,
    EXTEND,
    EXPAND,
    WIDEN,
    CONFIGURE,
    FOLD,
    BY_ELEMENT,
)
FLAT = "flat"
"""The detail of a BY_ELEMENT whose loops become one."""
FLAT_SUMS = "flat-sums"
"""The same, where the loops that reduce become one too."""


@dataclass(frozen=True, order=True)
class Edit:
    """One remedy, by its pass's name, on one source op, by its index in the module.

    ``detail`` is the lowering configuration for CONFIGURE, as IREE spells it, and may be FLAT or FLAT_SUMS for BY_ELEMENT; empty for the others.
    """

    remedy: str
    op: int
    detail: str = ""


def edits(remedy: str, ops: Iterable[int]) -> tuple[Edit, ...]:
    return tuple(Edit(remedy, op) for op in sorted(set(ops)))


def apply_edits(module: Module, wanted: Iterable[Edit]) -> None:
    """Applies ``wanted`` to ``module`` in place. All indices are those of the module as it comes in."""
    chosen = sorted(set(wanted))
    if not chosen:
        return
    for remedy in (
        LowerBoundaries,
        DecomposeSoftmax,
        DecomposeAttention,
        DecomposeMovement,
        RankSorts,
        SplitReductions,
        SplitResults,
        ExtendOperands,
        ExpandScalars,
        WidenAccumulators,
        SetLowering,
        FoldProducers,
        ReadByElement,
    ):
        load_dialects(module.op.context, remedy.dialects)
    known = source_ops(module.op)
    by_remedy = {remedy: [known[e.op] for e in chosen if e.remedy == remedy] for remedy in REMEDIES}
    # Boundaries, configurations and expanded bodies leave every op in place; decomposing, splitting, extending, widening and reading
    # by element replace the chosen ops, folding their consumers: in this order an op that is still to be edited is still there.
    with module.op.context, ir.Location.unknown():
        drop_configuration(by_remedy[DROP])
        for edit in chosen:
            if edit.remedy == CONFIGURE:
                set_lowering([known[edit.op]], edit.detail)
        place_boundaries(by_remedy[CUT])
        expand_scalars(by_remedy[EXPAND])
        for op in by_remedy[DECOMPOSE]:
            decompose_softmax(op)
        for op in by_remedy[ATTENTION_APART]:
            decompose_attention(op)
        for op in by_remedy[MOVEMENT_APART]:
            decompose_movement(op)
        rank_sorts(by_remedy[RANK])
        split_reductions(by_remedy[SPLIT])
        split_results(by_remedy[RESULTS_APART])
        extend_operands(by_remedy[EXTEND])
        widen_accumulators(by_remedy[WIDEN])
        for edit in chosen:
            if edit.remedy == BY_ELEMENT:
                read_by_element([known[edit.op]], edit.detail in (FLAT, FLAT_SUMS), edit.detail == FLAT_SUMS)
        fold_producers(by_remedy[FOLD])
        LowerBoundaries().run(module.op, lambda finding: None)


def works_alone(module: Module, edit: Edit) -> bool:
    """Whether ``edit`` by itself does not throw, on a clone of ``module``."""
    try:
        apply_edits(module.clone(), [edit])
    except Exception as error:
        return passes_on(error)
    return True


def passes_of(wanted: Iterable[Edit]) -> tuple[str, ...]:
    """``wanted`` as textual passes: `fissile-place-boundaries{ops=0,1}`, one for each remedy and configuration."""
    chosen = sorted(set(wanted))
    calls = sorted({(REMEDIES.index(e.remedy), e.detail) for e in chosen})
    return tuple(
        f"{REMEDIES[rank]}{{ops={','.join(str(e.op) for e in chosen if (e.remedy, e.detail) == (REMEDIES[rank], detail))}"
        + (f" info='{detail}'}}" if REMEDIES[rank] == CONFIGURE else f" {detail}=true}}" if detail else "}")
        for rank, detail in calls
    )


def instead(finding: Finding, title: str, wanted: Iterable[Edit]) -> Finding:
    """A repaired finding for which ``wanted`` was done after all; nothing to do leaves a note of it."""
    wanted = tuple(wanted)
    if not wanted:
        return finding.with_(severity=Severity.NOTE, helps=())
    return finding.with_(
        helps=(Help(title, wanted[0].remedy, True, tuple(("pass", text) for text in passes_of(wanted))),)
    )
