"""Asserts what reductions found out about indices: one status for a whole block, read once.

Clamped accesses stay in bounds (`element_clamps.py`), so their checks may wait. They are joined in front
of the block's next side effect, or its end: reductions that hand one i32 on, one load of it, one wait.
Only where the host loads something else first, which may be computed from a wrong index, the status
comes ahead of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from iree.compiler import ir
from iree.compiler.dialects import arith, cf, tensor

from fissile.dialect.linalg_ops import indexing_maps
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.size_terms import Term
from fissile.passes.analysis.storage.structured_rules import loop_extents
from fissile.passes.checks.storage.storage_fit import Judged, runtime_message
from fissile.passes.iree import ops as iree_ops

from .element_asserts import (
    MAX_FLAGS,
    Reading,
    flags_of,
    loops_that_run,
    plain_indices,
    read_elements,
    read_plain,
    reduce_flags,
)
from .indices.computed_indices import compute_again, same_elements
from .indices.wide_indices import widen_indices
from .order.checks_first import is_pure
from .term_ops import TermWriter

_EQ = 0
MAX_INPUTS = 8
"""Tensors that one reduction reads; a device may bind few buffers to a dispatch."""
PASSED = (
    "cf.assert",
    iree_ops.UTIL_GLOBAL_LOAD,
    iree_ops.UTIL_ASSUME_INT,
    iree_ops.HAL_TENSOR_IMPORT,
    iree_ops.FLOW_TENSOR_OPS,
    iree_ops.HAL_TENSOR_EXPORT,
)
"""Ops that no pure one is, and that show nothing of what was computed before them."""


@dataclass
class _Stop:
    """The checks that are due before ``op``."""

    op: ir.Operation
    due: list[Judged] = field(default_factory=list)


@dataclass(frozen=True)
class _Flag:
    """What one bit of the status says: that the check of ``judged`` found an index that is wrong as ``got`` says."""

    judged: Judged
    got: str = ""


@dataclass(frozen=True)
class Asserted:
    """``asserts`` in the order of the program, for so many ``checks``."""

    asserts: tuple[ir.Operation, ...]
    checks: int


def assert_elements(extents: Extents, judged: Sequence[Judged]) -> Asserted:
    """Writes the checks of ``judged``, whose accesses are clamped."""
    blocks: dict[ir.Block, list[Judged]] = {}
    for j in judged:
        blocks.setdefault(j.obligation.op.block, []).append(j)
    written: list[ir.Operation] = []
    checks: set[int] = set()
    for block, rows in blocks.items():
        for stop in _stops(block, rows):
            for flag, op in _write(extents, stop):
                written.append(op)
                checks.add(id(flag.judged))
    return Asserted(tuple(written), len(checks))


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


def _write(extents: Extents, stop: _Stop) -> list[tuple[_Flag, ir.Operation]]:
    at = ir.InsertionPoint(stop.op)
    with stop.op.context, stop.due[0].obligation.op.location:
        writer = TermWriter(extents, at)
        words: list[tuple[ir.Value, list[_Flag]]] = []
        for reading, flags in _readings(extents, writer, stop.due):
            if not words or len(words[-1][1]) + len(flags) > MAX_FLAGS:
                words.append((_no_flags(at), []))
            word, before = words[-1]
            check = reduce_flags(reading, word, len(before), at).owner.operation
            check = compute_again(check, MAX_INPUTS)
            widen_indices(check)
            words[-1] = (check.results[0], [*before, *flags])
        loaded = [(tensor.extract(word, [], ip=at), flags) for word, flags in words]
        return [(f, _assert(word, bit, f, at)) for word, flags in loaded for bit, f in enumerate(flags)]


def _no_flags(at: ir.InsertionPoint) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    tensor_type = ir.RankedTensorType.get([], i32)
    return arith.constant(
        tensor_type, ir.DenseElementsAttr.get_splat(tensor_type, ir.IntegerAttr.get(i32, 0)), ip=at
    )


def _assert(word: ir.Value, bit: int, flag: _Flag, at: ir.InsertionPoint) -> ir.Operation:
    with flag.judged.obligation.op.location:
        mine = arith.andi(word, arith.constant(word.type, 1 << bit, ip=at), ip=at)
        holds = arith.cmpi(_EQ, mine, arith.constant(word.type, 0, ip=at), ip=at)
        return cf.assert_(holds, runtime_message(flag.judged, flag.got), ip=at).operation


def _flags(judged: Judged) -> list[_Flag]:
    """In the order of `flags_of`."""
    bound = judged.obligation.bound
    if flags_of(bound) == 1:
        return [_Flag(judged)]
    size = None if bound.size is None else bound.size.constant
    last = None if size is None else size - 1
    above = "one past the last element" if last is None else f"one above {last}"
    return [_Flag(judged, "got a negative one"), _Flag(judged, f"got {above}")]


def _readings(
    extents: Extents, writer: TermWriter, due: Sequence[Judged]
) -> list[tuple[Reading, list[_Flag]]]:
    """Reductions for ``due``, each with its checks. What several ask of one index tensor is checked once."""
    plain: dict[ir.Value, list[tuple[Term, Judged]]] = {}
    others: dict[ir.Operation, list[Judged]] = {}
    for j in due:
        indices = plain_indices(j.obligation)
        if indices is None:
            others.setdefault(j.obligation.op, []).append(j)
        else:
            wanted = j.obligation.bound.size
            assert wanted is not None  # `plain_indices`
            _add_size(plain.setdefault(same_elements(indices), []), wanted, j)
    groups: dict[tuple, list[tuple[ir.Value, Term, Judged]]] = {}
    for indices, rows in plain.items():
        groups.setdefault(tuple(extents.shape(indices)), []).extend((indices, size, j) for size, j in rows)
    found: list[tuple[Reading, list[_Flag]]] = []
    for read in groups.values():
        for part in _parts(read, MAX_INPUTS):
            sizes = [writer.index(size) for _, size, _ in part]
            reading = read_plain([indices for indices, _, _ in part], sizes)
            found.append((reading, [flag for _, _, j in part for flag in _flags(j)]))
    for op, checks in others.items():
        for part in _parts(checks, MAX_FLAGS // 2):
            bounds = [j.obligation.bound for j in part]
            sizes = [writer.index(b.size) if b.size is not None else None for b in bounds]
            extent, rounds = (partial(one, extents, writer, op) for one in (_extent, _rounds))
            reading = read_elements(op, bounds, sizes, extent, rounds)
            found.append((reading, [flag for j in part for flag in _flags(j)]))
    return found


def _extent(extents: Extents, writer: TermWriter, op: ir.Operation, loop: int) -> ir.Value | None:
    """How many rounds a loop of the structured ``op`` has; None: at least one."""
    if loop in loops_that_run(op):
        return None
    size = loop_extents(extents, op, indexing_maps(op) or [])[loop]
    return None if size is None else writer.index(size)


def _rounds(extents: Extents, writer: TermWriter, op: ir.Operation, loops: Sequence[int]) -> ir.Value | None:
    """A tensor that is as large as those loops of the structured ``op`` are long, and has no contents; None where a length is not known."""
    sizes = loop_extents(extents, op, indexing_maps(op) or [])
    terms = [size for loop in loops if (size := sizes[loop]) is not None]
    return writer.empty(terms) if len(terms) == len(loops) else None


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
