"""References that IREE's VM loses in a branch (FIS173): found in the register allocation of the finished module, and repaired there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.finding import Finding
from fissile.passes.analysis.loops.branch_operands import (
    branches,
    carries_references,
    copied_operands,
    mixed_blocks,
    passes_numbers,
)
from fissile.passes.analysis.loops.registers import values_lost
from fissile.passes.checks.numbers.branch_operands import check_branch_operands
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.flags import ANNOTATED_VM_CODE
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT, VM_CODE_AT

from ...phase_pipeline import PhaseHook
from ...process.scratch import scratch
from ...session import Module, PhaseFailed, Session
from . import repairing

_VM_OPS = "vm."
MOST_OPS = 3000
"""Of a module whose allocation is read. The annotations list the live values at every op, so their text grows with the square: 1009 ops of an
LSTM's training step take 0.11 s."""


def lost_references(
    flags: Sequence[str], repair: bool, is_asserted: Callable[[], bool] = lambda: False
) -> list[PhaseHook]:
    """Finds FIS173 and FIS197, and repairs them where ``repair`` says so. Only a program with a branch that passes two references stops before
    its code is written; one without loops or branches does not. Registers of a module that ``is_asserted``, with checks that stock IREE's has
    not, say what is lost there, and not what stock IREE loses."""
    carried: list[bool] = []

    def look(module: Module) -> list[Finding]:
        carried[:] = [carries_references(module.op.operation)]
        return []

    def act(module: Module) -> list[Finding]:
        if not (copied_operands(module.op.operation) or mixed_blocks(module.op.operation)):
            return []
        lost = _losing(module, flags)
        found = check_branch_operands(*((_passing(module), False) if lost is None else (lost,)))
        if not (found and repair):
            return found
        from fissile.passes.remedies.loops.separate_branch_operands import SeparateBranchOperands

        remedy, repaired = SeparateBranchOperands(), module.clone()
        repairing.run(repaired, remedy, [])
        if _losing(repaired, flags):
            return found
        if lost is not None and is_asserted():
            found = check_branch_operands(lost, sure=False)
        return repairing.apply(module, remedy, found)

    return [
        PhaseHook(DISPATCHES_CONFIGURED_AT, "branches with references", look),
        PhaseHook(VM_CODE_AT, "lost references", act, lambda: any(carried)),
    ]


def _passing(module: Module) -> list[ir.Operation]:
    """The branches that may lose something."""
    copied = [one.branch for one in copied_operands(module.op.operation)]
    return copied + [one for one in branches(module.op.operation) if passes_numbers(one)]


def _losing(module: Module, flags: Sequence[str]) -> list[ir.Operation] | None:
    """The ops of ``module`` that read what is lost, or lose what they pass; None where its allocation is not read."""
    every = ops_of(module.op.operation, _VM_OPS)
    if len(every) > MOST_OPS:
        return None
    try:
        annotated = _annotated(module, flags)
    except PhaseFailed:
        return None
    if not (lost := values_lost(annotated)):
        return []
    written = {hash(op): i for i, op in enumerate(ops_of(annotated, _VM_OPS))}
    return [every[written[hash(op)]] for op in lost] if len(written) == len(every) else _passing(module)


def _annotated(module: Module, flags: Sequence[str]) -> ir.Operation:
    """What IREE writes of ``module`` as text, with registers. Raises PhaseFailed."""
    session = Session((*flags, ANNOTATED_VM_CODE))
    copy = session.parse_text(_without_data(module)).stands_at(VM_CODE_AT)
    session.run(copy, "end")
    with scratch() as folder:
        session.write(copy, folder / "annotated.mlir")
        return session.parse(folder / "annotated.mlir").op.operation


def _without_data(module: Module) -> str:
    """``module`` with a byte for each constant: weights and machine code are of no account here."""
    clone = module.clone().op.operation
    with clone.context:
        byte = ir.Attribute.parse("dense<0> : vector<1xi8>")

    for op in ops_of(clone, iree_ops.VM_RODATA):
        op.attributes["value"] = byte
    return str(clone.get_asm())
