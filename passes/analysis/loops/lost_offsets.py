"""Tensors that a loop or branch takes from another offset of a buffer than IREE has given them.

IREE 3.13 packs tensors into one buffer, and passes the buffer and the tensor's offset to a loop. `iree-util-optimize-int-arithmetic` knows the
range of an offset only if the sizes in front of it cannot overflow 64 bits: `util.align` of others has no range at all (AlignOp's
inferResultRanges returns without one), and counts as a value that never arrives. Where the other ways to the same place all pass 0, the
pass takes 0 for the tensor's offset, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.iree import ops as iree_ops

from ..host.on_host import ops_on_host
from ..lifetime.joins import edges_of, ends_of
from ..lifetime.ways_on import trips_of
from .growing_loops import FOR

_CARRIERS = (
    "scf.for",
    "scf.while",
    "scf.if",
    "scf.index_switch",
    "cf.br",
    "cf.cond_br",
    "cf.switch",
    "arith.select",
)
_NUMBER = "fissile-carrier"
_PROBE, _JOINED, _PASSED = "fissile.offset", "joined", "passed"
_INTEGERS = (ir.IndexType, ir.IntegerType)


def carriers(module: ir.Operation) -> list[ir.Operation]:
    """The ops on the host of ``module`` that pass tensors on from more than one place, in program order."""
    return [op for op in ops_on_host(module) if op.name in _CARRIERS and any(map(_is_tensor, _passed_on(op)))]


def passes_open_tensors(module: ir.Operation) -> bool:
    """Whether ``module`` has such ops, and a tensor of unknown size on the host: offsets are constants where there is none."""
    return bool(carriers(module)) and any(
        _is_tensor(result) and not ir.RankedTensorType(result.type).has_static_shape
        for op in ops_on_host(module)
        for result in op.results
    )


def tensors_passed(op: ir.Operation, inside: bool) -> list[tuple[ir.Operation, int]]:
    """The tensors that a carrier begins with, or chooses from: user and operand number. ``inside``: those that its body ends with, too; what
    the test of an scf.while passes on comes from one place."""
    enters = [] if op.name in ("scf.if", "scf.index_switch") else [op]
    ends = [end for end in ends_of(op) if end.name != "scf.condition"] if inside or not enters else []
    return [
        (user, number)
        for user in (*enters, *ends)
        for number, value in enumerate(user.operands)
        if _is_tensor(value)
    ]


def number_carriers(module: ir.Operation) -> None:
    """Gives each carrier its number as location; for a clone."""
    for number, op in enumerate(carriers(module)):
        op.location = ir.Location.file(_NUMBER, number, 1, context=op.context)


def mark_offsets(module: ir.Operation) -> None:
    """Puts barriers on the integers that meet in ``module``, with offsets in it, and on what they may be: for a clone. A barrier keeps what it
    is put on, and is otherwise of no account."""
    for number, (op, joined, passed) in enumerate(list(_meetings(module))):
        with op.location:
            for value in passed:
                _barrier(value, number, _PASSED)
            _barrier(joined, number, _JOINED)


def lost_offsets(module: ir.Operation) -> list[int]:
    """The numbers of the carriers, in program order, of which a marked integer has become a constant that not all of what it may be is;
    -1 of one that has lost its number."""
    joined: dict[int, tuple[ir.Operation, str | None]] = {}
    passed: dict[int, list[str | None]] = {}
    for op in ops_of(module, iree_ops.UTIL_OPTIMIZATION_BARRIER):
        if _PROBE not in op.attributes:
            continue
        number, kind = ir.StringAttr(op.attributes[_PROBE]).value.split()
        if kind == _JOINED:
            joined[int(number)] = (op, _constant(op.operands[0]))
        else:
            passed.setdefault(int(number), []).append(_constant(op.operands[0]))
    lost = [
        op for n, (op, value) in joined.items() if value and any(one != value for one in passed.get(n, ()))
    ]
    return sorted({_number_of(op) for op in lost})


def _meetings(module: ir.Operation) -> Iterator[tuple[ir.Operation, ir.Value, list[ir.Value]]]:
    """Each integer that comes from more than one place: by which op, the value itself, and what is passed for it."""
    for function in ops_on_host(module):
        if function.name not in (iree_ops.UTIL_FUNC, iree_ops.UTIL_INITIALIZER):
            continue
        found: dict[ir.Value, tuple[ir.Operation, list[ir.Value]]] = {}
        for op in ops_on_host(function):
            if op.name == "arith.select":
                found[op.results[0]] = (op, list(op.operands)[1:])
            elif op.name in _CARRIERS and (op.name != FOR or trips_of(op) not in (0, 1)):
                # The result of a loop that is known to run is what its body ends with, and no meeting.
                results = set(op.results) if op.name == FOR else set()
                for value, entry in edges_of(op):
                    if value not in results:
                        found.setdefault(value, (op, []))[1].append(entry.value)
        for value, (op, passed) in found.items():
            if isinstance(value.type, _INTEGERS) and any(one != passed[0] for one in passed):
                yield op, value, [one for one in passed if one != value]


def _barrier(value: ir.Value, number: int, kind: str) -> None:
    owner = value.owner
    if isinstance(owner, ir.Block):
        at = ir.InsertionPoint.at_block_begin(owner)
    else:
        at = ir.InsertionPoint.after(owner.operation)
    mark = ir.StringAttr.get(f"{number} {kind}", value.context)
    ir.Operation.create(
        iree_ops.UTIL_OPTIMIZATION_BARRIER, [value.type], [value], attributes={_PROBE: mark}, ip=at
    )


def _constant(value: ir.Value) -> str | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return str(owner.operation.attributes["value"])


def _number_of(op: ir.Operation) -> int:
    found = re.search(rf'"{_NUMBER}":(\d+):1', str(op.location))
    return int(found[1]) if found else -1


def _passed_on(op: ir.Operation) -> list[ir.Value]:
    return [*op.operands, *op.results]


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)
