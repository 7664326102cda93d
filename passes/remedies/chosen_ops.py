"""Source ops that a pass is told to change, by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iree.compiler import ir

from fissile.errors import UsageError
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.definition import PassFailed


def check_indices(indices: Sequence[int], known: Sequence[ir.Operation], name: str) -> None:
    """Raises UsageError where an index is none of ``known``, the source ops of a module; ``name`` is the pass's."""
    for index in indices:
        if not 0 <= index < len(known):
            there = (
                f"the module has {len(known)} source op{'s' if len(known) != 1 else ''}; indices count from 0"
            )
            raise UsageError(f"{name}: there is no source op {index}", there)


def able_ops(
    module: ir.Operation,
    indices: Sequence[int],
    name: str,
    why_not: Callable[[ir.Operation], str],
    refusal: Callable[[ir.Operation, str], Finding],
) -> list[ir.Operation]:
    """The source ops of ``module`` with these indices, each once; without any, all for which ``why_not`` is empty.

    Raises PassFailed with a ``refusal`` for each chosen op for which it is not.
    """
    known = source_ops(module)
    check_indices(indices, known, name)
    reasons = {op: why_not(op) for op in ([known[i] for i in indices] if indices else known)}
    if indices and (refused := [refusal(op, why) for op, why in reasons.items() if why]):
        raise PassFailed(refused)
    return [op for op, why in reasons.items() if not why]


def chosen_ops(module: ir.Operation, indices: Sequence[int], kind: str, name: str) -> list[ir.Operation]:
    """The source ops of ``module`` with these indices, each once; without any, all that are called ``kind``."""
    known = source_ops(module)
    check_indices(indices, known, name)
    return [known[i] for i in dict.fromkeys(indices)] if indices else [op for op in known if op.name == kind]
