"""Turns what could not be proved about sizes into run-time checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.dialect.attributes import text_of
from fissile.finding import Finding
from fissile.passes.analysis.bounds.conditions import Condition, any_of, at_most, equal, negation, symbols
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.intervals import always_holds
from fissile.passes.analysis.bounds.shaped_values import rank_of
from fissile.passes.analysis.storage.guards import Loop
from fissile.passes.analysis.storage.obligations import Obligation
from fissile.passes.analysis.storage.proof import SMT_TIMEOUT_MS
from fissile.passes.checks.storage.storage_fit import Judged, findings_of, judge_storage, runtime_message
from fissile.passes.definition import (
    Contract,
    Offence,
    Pass,
    PassFailed,
    define_property,
    option,
    register_pass,
)
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, NO_REQUIRES, WELL_FORMED
from fissile.verdict import Answer

if TYPE_CHECKING:
    from .assert_places import AssertPlace

# How checks are written is imported where one is: most programs need none.


@define_property(
    "no-open-obligation",
    "every storage bound that a check outside of dispatches can decide is proved or asserted",
)
def NO_OPEN_OBLIGATION(op: ir.Operation) -> list[Offence]:
    from .assert_places import place_assert

    judged = judge_storage(op)
    asserted = {text_of(found, "msg") for found in ops_of(op, "cf.assert")}
    open_ones = [j for j in judged.judged if j.answer is not Answer.PROVED]
    return [
        Offence(j.sentence, j.obligation.place)
        for j in open_ones
        if j.answer is Answer.REFUTED
        or (
            not any(message.startswith(runtime_message(j)) for message in asserted)
            and place_assert(judged.extents, j.obligation) is not None
        )
    ]


@register_pass
@dataclass(frozen=True)
class AssertBounds(Pass):
    """Proves that every op stays inside its storage, and asserts what it cannot prove.

    An obligation that is proved leaves nothing in the program. One that no call can meet stops the
    pipeline (FIS201). The others become `cf.assert`, each once, at the function's entry where the
    arguments decide it, else as far out of loops and branches as its sizes allow; never inside a
    dispatch. Run it on ops on tensors, after IREE's input conversion and before global optimisation.
    """

    name: ClassVar[str] = "fissile-assert-bounds"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "cf", "tensor", "linalg", "memref")
    contract: ClassVar[Contract] = Contract(
        requires=(WELL_FORMED, DISPATCHES_NOT_FORMED), establishes=(NO_REQUIRES, NO_OPEN_OBLIGATION)
    )
    smt_timeout_ms: int = option(
        SMT_TIMEOUT_MS, "limit for each question to the SMT solver; 0 does without it"
    )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        judged = judge_storage(op, smt_timeout_ms=self.smt_timeout_ms)
        refuted = [f for f in findings_of(judged, asserted=True) if f.code == "FIS201"]
        if refuted:
            raise PassFailed(refuted)
        placed = assert_obligations(judged.extents, judged.having(Answer.UNKNOWN))
        for finding in findings_of(judged, asserted=True, unprotected=placed.unprotected):
            report(finding)
        drop_requires(j.obligation for j in judged.judged)


@dataclass(frozen=True)
class Placed:
    """``asserts`` were added, ``at_entry`` of them at a function's entry and ``elementwise`` of them
    with a dispatch of their own; ``unprotected`` are obligations that no assert can check."""

    asserts: int
    at_entry: int
    elementwise: int
    unprotected: tuple[Obligation, ...]


def is_assertable(extents: Extents, obligation: Obligation) -> bool:
    """Whether a run-time check of ``obligation`` can be placed outside of a dispatch."""
    from .assert_places import place_assert
    from .element_asserts import can_check

    return place_assert(extents, obligation) is not None or can_check(obligation)


def assert_obligations(extents: Extents, judged: Iterable[Judged], entry_only: bool = False) -> Placed:
    """Adds one assert for each different condition and block, ahead of all that it guards there; with ``entry_only``, where a function
    begins and nowhere else."""
    judged = list(judged)
    if not judged:
        return Placed(0, 0, 0, ())
    from .assert_places import place_assert
    from .element_asserts import can_check
    from .held_loads import held_loads, loads_of
    from .order.checks_first import Check, checks_first, sizes_by_terms

    entries: dict[ir.Block, tuple[ir.Operation, dict[Condition, Judged]]] = {}
    inside: dict[tuple[ir.Block, Condition], tuple[AssertPlace, list[Judged]]] = {}
    of_elements: list[Judged] = []
    unprotected: list[Obligation] = []
    for j in judged:
        place = place_assert(extents, j.obligation)
        if entry_only and (place is None or not place.at_entry):
            unprotected.append(j.obligation)
        elif place is None and can_check(j.obligation):
            of_elements.append(j)
        elif place is None:
            unprotected.append(j.obligation)
        elif place.at_entry:
            block = place.anchor.block
            # Written before the first op of the block, in the order of the program.
            entries.setdefault(block, (block.operations[0].operation, {}))[1].setdefault(place.condition, j)
        else:
            inside.setdefault((place.anchor.block, place.condition), (place, []))[1].append(j)
    written = [c for _, rows in entries.values() for c in rows] + [
        place.condition for place, _ in inside.values()
    ]
    loads = held_loads(extents, written)
    for first, rows in entries.values():
        _write(extents, first, [(condition, j) for condition, j in rows.items()])
    checks = [
        _write(extents, place.anchor, [(place.condition, same[0])])[0] for place, same in inside.values()
    ]
    for check in checks:
        sizes_by_terms(extents, check)
    held = {load.value: load.hold() for load in loads}
    checks_first(
        Check(
            check,
            frozenset(
                [_in_block(j.obligation.op, place.anchor.block) for j in same]
                + [held[value] for value in loads_of(extents, place.condition) if value in held]
            ),
        )
        for check, (place, same) in zip(checks, inside.values(), strict=False)
    )
    elementwise = _assert_elements(extents, of_elements)
    at_entry = sum(len(rows) for _, rows in entries.values())
    return Placed(at_entry + len(inside) + elementwise, at_entry, elementwise, tuple(unprotected))


def _assert_elements(extents: Extents, judged: list[Judged]) -> int:
    """Clamps what ``judged`` is about, and asserts it where the function goes on to what others see.
    Returns how many checks there are."""
    if not judged:
        return 0
    from .element_clamps import clamp_loaded_indices
    from .element_status import assert_elements
    from .order.checks_first import Check, checks_first

    functions = list(dict.fromkeys(_outermost(j.obligation.op) for j in judged))
    bounds = [j.obligation.bound for j in judged]
    clamp_loaded_indices(
        extents, functions, {(b.at, b.index) for b in bounds if b.at is not None and b.index is not None}
    )
    _refuse_empty_tensors(extents, judged)
    early = {function for function in functions if _loads_on_host(function)}
    written = assert_elements(extents, judged)
    checks_first(Check(check, frozenset()) for check in written.asserts if _outermost(check) in early)
    return written.checks


def _refuse_empty_tensors(extents: Extents, judged: list[Judged]) -> None:
    """What is accessed where loaded data says may be empty: no clamp keeps an access inside then, so this is checked first. Where
    data says whether there is an access at all, the call may be right: the mask of such a scatter is cleared instead."""
    from .element_clamps import clear_mask
    from .order.checks_first import Check, checks_first

    rows: dict[tuple[ir.Operation, Condition], Judged] = {}
    for j in judged:
        op, bound = j.obligation.op, j.obligation.bound
        if bound.size is None or bound.when or bound.nested:
            continue
        if bound.mask is not None:
            if op.name == iree_ops.LINALG_EXT_SCATTER:
                clear_mask(extents, op, bound.size)
            continue
        if bound.indices is not None:
            rounds = [extents.dimension(bound.indices, i) for i in range(rank_of(bound.indices))]
            idle = [equal(n, 0) for n in rounds if n.constant is None]
        else:
            loops = [g for g in j.obligation.guards if isinstance(g, Loop) and g.op == op]
            idle = [negation(loop.runs) for loop in loops]
        needed = any_of((at_most(1, bound.size), *dict.fromkeys(idle)))
        on_host = not any(extents.is_inner(symbol) for symbol in symbols(needed).values())
        if on_host and not always_holds(needed):
            rows.setdefault((op, needed), j)
    written = [
        Check(_write(extents, op, [(needed, j)])[0], frozenset([op])) for (op, needed), j in rows.items()
    ]
    checks_first(written)


def _outermost(op: ir.Operation) -> ir.Operation:
    """The function, or initialiser, that ``op`` stands in."""
    while op.parent.name != "builtin.module":
        op = op.parent.operation
    return op


def _loads_on_host(function: ir.Operation) -> bool:
    """Whether a number that the host takes from a tensor decides what the function does."""
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        if op.name.startswith("linalg."):
            return ir.WalkResult.SKIP
        found |= op.name == "tensor.extract" and not isinstance(op.results[0].type, ir.FloatType)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _write(
    extents: Extents, before: ir.Operation, rows: list[tuple[Condition, Judged]]
) -> list[ir.Operation]:
    from iree.compiler.dialects import cf

    from .term_ops import TermWriter

    at = ir.InsertionPoint(before)
    written = []
    with before.context, before.location:
        writer = TermWriter(extents, at)
        for condition, j in rows:
            with j.obligation.op.location:
                written.append(cf.assert_(writer.condition(condition), runtime_message(j), ip=at).operation)
    return written


def _in_block(op: ir.Operation, block: ir.Block) -> ir.Operation:
    """``op``, or the op around it that stands in ``block``."""
    while op.block != block:
        op = op.parent.operation
    return op


def drop_requires(obligations: Iterable[Obligation]) -> int:
    """Removes fissile.require ops: each is proved, or an assert now. Returns how many there were."""
    requires = {o.op for o in obligations if o.kind == "fissile.require"}
    for op in requires:
        op.erase()
    return len(requires)
