"""Asserts what reductions found out about indices: one status for a whole block, read once.

Clamped accesses stay in bounds (`element_clamps.py`), so their checks may wait. They are joined in front
of the block's next side effect, or its end: reductions that hand one i32 on, one load of it, one wait.
Only where the host loads something else first, which may be computed from a wrong index, the status
comes ahead of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iree.compiler import ir
from iree.compiler.dialects import arith, cf, tensor

from fissile.passes.analysis.extents import Extents
from fissile.passes.analysis.size_terms import Term
from fissile.passes.checks.storage_fit import Judged, runtime_message

from .checks_first import is_pure
from .element_asserts import MAX_CHECKS, Reading, plain_indices, read_elements, read_plain, reduce_flags
from .term_ops import TermWriter

_EQ = 0
MAX_INPUTS = 8
"""Tensors that one reduction reads; a device may bind few buffers to a dispatch."""
PASSED = ("cf.assert", "util.global.load", "util.assume.int", "hal.tensor.import", "flow.tensor.", "hal.tensor.export")
"""Ops that no pure one is, and that show nothing of what was computed before them."""


@dataclass
class _Stop:
    """The checks that are due before ``op``."""

    op: ir.Operation
    due: list[Judged] = field(default_factory=list)


def assert_elements(extents: Extents, judged: Sequence[Judged]) -> list[ir.Operation]:
    """Writes the checks of ``judged``, whose accesses are clamped. Returns the asserts, in the order of the program."""
    blocks: dict[ir.Block, list[Judged]] = {}
    for j in judged:
        blocks.setdefault(j.obligation.op.block, []).append(j)
    written: list[ir.Operation] = []
    for block, rows in blocks.items():
        for stop in _stops(block, rows):
            written += _write(extents, stop)
    return written


def _stops(block: ir.Block, rows: Sequence[Judged]) -> list[_Stop]:
    waiting: dict[ir.Operation, list[Judged]] = {}
    for j in rows:
        waiting.setdefault(j.obligation.op, []).append(j)
    found: list[_Stop] = []
    due: list[Judged] = []
    operations = [op.operation for op in block.operations]
    for op in operations:
        if due and (op == operations[-1] or not (op.name.startswith(PASSED) or is_pure(op))):
            found.append(_Stop(op, due))
            due = []
        due += waiting.get(op, [])
    return found


def _write(extents: Extents, stop: _Stop) -> list[ir.Operation]:
    at = ir.InsertionPoint(stop.op)
    with stop.op.context, stop.due[0].obligation.op.location:
        writer = TermWriter(extents, at)
        words: list[tuple[ir.Value, list[Judged]]] = []
        for reading, checks in _readings(extents, writer, stop.due):
            if not words or len(words[-1][1]) + len(checks) > MAX_CHECKS:
                words.append((_no_flags(at), []))
            flags, before = words[-1]
            words[-1] = (reduce_flags(reading, flags, len(before), at), [*before, *checks])
        loaded = [(tensor.extract(flags, [], ip=at), checks) for flags, checks in words]
        return [_assert(flags, bit, j, at) for flags, checks in loaded for bit, j in enumerate(checks)]


def _no_flags(at: ir.InsertionPoint) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    kind = ir.RankedTensorType.get([], i32)
    return arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(i32, 0)), ip=at)


def _assert(flags: ir.Value, bit: int, judged: Judged, at: ir.InsertionPoint) -> ir.Operation:
    with judged.obligation.op.location:
        mine = arith.andi(flags, arith.constant(flags.type, 1 << bit, ip=at), ip=at)
        holds = arith.cmpi(_EQ, mine, arith.constant(flags.type, 0, ip=at), ip=at)
        return cf.assert_(holds, runtime_message(judged), ip=at).operation


def _readings(
    extents: Extents, writer: TermWriter, due: Sequence[Judged]
) -> list[tuple[Reading, list[Judged]]]:
    """Reductions for ``due``, each with its checks. What several ask of one index tensor is checked once."""
    plain: dict[ir.Value, list[tuple[Term, Judged]]] = {}
    others: dict[ir.Operation, list[Judged]] = {}
    for j in due:
        indices = plain_indices(j.obligation)
        if indices is None:
            others.setdefault(j.obligation.op, []).append(j)
        else:
            _add_size(plain.setdefault(indices, []), j.obligation.elements.size, j)
    groups: dict[tuple, list[tuple[ir.Value, Term, Judged]]] = {}
    for indices, rows in plain.items():
        groups.setdefault(tuple(extents.shape(indices)), []).extend((indices, size, j) for size, j in rows)
    found: list[tuple[Reading, list[Judged]]] = []
    for rows in groups.values():
        for part in _parts(rows, MAX_INPUTS):
            sizes = [writer.index(size) for _, size, _ in part]
            found.append((read_plain([indices for indices, _, _ in part], sizes), [j for _, _, j in part]))
    for op, rows in others.items():
        for part in _parts(rows, MAX_CHECKS):
            bounds = [j.obligation.elements for j in part]
            sizes = [writer.index(b.size) if b.size is not None else None for b in bounds]
            found.append((read_elements(op, bounds, sizes), part))
    return found


def _add_size(rows: list[tuple[Term, Judged]], size: Term, judged: Judged) -> None:
    """Adds a check against ``size`` to those of one index tensor, unless one of them says as much."""
    for number, (other, _) in enumerate(rows):
        if other == size:
            return
        if other.constant is not None and size.constant is not None:
            if size.constant < other.constant:
                rows[number] = (size, judged)
            return
    rows.append((size, judged))


def _parts(rows: list, largest: int) -> list[list]:
    return [rows[i : i + largest] for i in range(0, len(rows), largest)]
