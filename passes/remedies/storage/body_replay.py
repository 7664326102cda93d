"""Checks of reads under loops and branches of a body: the whole body runs again, and notes each index that is wrong.

A slice of the body (`element_asserts.py`) repeats what computes an index. It cannot where a loop in the body computes it, or a
branch decides whether it may be computed at all. Then everything is repeated, and one word of flags goes along: through each
`scf.for`, `scf.if` and `scf.while` that has such a read inside. The reads are clamped by then (`element_clamps.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect.operands import read_inside

REPLAYED = (
    "arith.",
    "math.",
    "complex.",
    "affine.",
    "index.",
    "linalg.index",
    "linalg.yield",
    "tensor.extract",
    "tensor.dim",
    "cf.assert",
)
THREADED = ("scf.for", "scf.if", "scf.while")
ENDS = ("scf.yield", "scf.condition")


@dataclass(frozen=True)
class Watch:
    """Ahead of ``op``, an op of the body, ``flags`` writes i1 values about ``value``, the first as bit ``first_bit`` of the word."""

    op: ir.Operation
    value: ir.Value
    flags: Callable[[ir.Value, ir.InsertionPoint], list[ir.Value]]
    first_bit: int


def can_replay(op: ir.Operation, watched: Sequence[ir.Operation]) -> bool:
    """Whether the body of the structured ``op`` can run again, and reads the same at ``watched``: what a sum has come to
    is not known a second time."""
    body = op.regions[0].blocks[0]
    results = len(op.results)
    changing = set(list(body.arguments)[-results:]) if results and has_reduction(op) else set()
    return _repeats(body, set(watched), changing)


def has_reduction(op: ir.Operation) -> bool:
    """Whether some loop of the structured ``op`` may be a sum."""
    return "iterator_types" not in op.attributes or any(
        "parallel" not in str(kind) for kind in op.attributes["iterator_types"]
    )


def _repeats(block: ir.Block, watched: set[ir.Operation], changing: set[ir.Value]) -> bool:
    for op in block.operations:
        op = op.operation
        if not op.name.startswith((*REPLAYED, *THREADED, *ENDS)):
            return False
        moved = any(value in changing for value in read_inside(op))
        if moved and (op in watched or _holds(op, watched)):
            return False
        if moved:
            changing.update(op.results)
        for region in op.regions:
            for inner in region.blocks:
                if not _repeats(inner, watched, changing):
                    return False
    return True


def _holds(op: ir.Operation, watched: set[ir.Operation]) -> bool:
    """Whether one of ``watched`` is inside of ``op``."""
    for inner in watched:
        outer = inner.parent
        while outer is not None and outer.operation != op:
            outer = outer.operation.parent
        if outer is not None:
            return True
    return False


def replayed_flags(
    op: ir.Operation,
    watches: Sequence[Watch],
    count: int,
    arguments: Sequence[ir.Value],
    at: ir.InsertionPoint,
) -> list[ir.Value]:
    """The ``count`` flags of ``watches`` in the body of ``op``, whose arguments are ``arguments`` here."""
    i32 = ir.IntegerType.get_signless(32)
    body = op.regions[0].blocks[0]
    replay = _Replay(watches, dict(zip(body.arguments, arguments, strict=True)))
    zero = arith.constant(i32, 0, ip=at)
    word = replay.block(body, at, zero)[0]
    return [
        arith.cmpi(_NE, arith.andi(word, arith.constant(i32, 1 << bit, ip=at), ip=at), zero, ip=at)
        for bit in range(count)
    ]


_NE = 1


class _Replay:
    """Copies ops; ``copies`` are what stands for each value of the original."""

    def __init__(self, watches: Sequence[Watch], copies: dict[ir.Value, ir.Value]) -> None:
        self._watches: dict[ir.Operation, list[Watch]] = {}
        for watch in watches:
            self._watches.setdefault(watch.op, []).append(watch)
        self._copies = copies

    def _copy(self, value: ir.Value) -> ir.Value:
        return self._copies.get(value, value)

    def block(
        self, block: ir.Block, at: ir.InsertionPoint, word: ir.Value
    ) -> tuple[ir.Value, list[ir.Value]]:
        """The word of flags behind the ops of ``block``, and what its last op hands on."""
        *ops, last = [op.operation for op in block.operations]
        for op in ops:
            word = self._op(op, at, word)
        return word, [self._copy(value) for value in last.operands]

    def _op(self, op: ir.Operation, at: ir.InsertionPoint, word: ir.Value) -> ir.Value:
        for watch in self._watches.get(op, ()):
            for bit, flag in enumerate(watch.flags(self._copy(watch.value), at), watch.first_bit):
                set_bit = arith.shli(
                    arith.extui(word.type, flag, ip=at), arith.constant(word.type, bit, ip=at), ip=at
                )
                word = arith.ori(word, set_bit, ip=at)
        if op.name == "cf.assert":
            return word  # one of the watches, or proved
        if op.name in THREADED and _holds(op, set(self._watches)):
            return self._threaded(op, at, word)
        copy = op.clone(ip=at)
        copy.walk(self._rename)
        self._copies.update(zip(op.results, copy.results, strict=True))
        return word

    def _rename(self, op: ir.Operation) -> ir.WalkResult:
        for number, value in enumerate(op.operands):
            if value in self._copies:
                op.operands[number] = self._copies[value]
        return ir.WalkResult.ADVANCE

    def _threaded(self, op: ir.Operation, at: ir.InsertionPoint, word: ir.Value) -> ir.Value:
        carries = op.name != "scf.if"
        made = ir.Operation.create(
            op.name,
            [*(r.type for r in op.results), word.type],
            [*map(self._copy, op.operands), *([word] if carries else [])],
            regions=len(op.regions),
            ip=at,
        )
        for region, new in zip(op.regions, made.regions, strict=True):
            source = region.blocks[0] if len(region.blocks) else None
            types = [a.type for a in source.arguments] if source is not None else []
            block = new.blocks.append(*types, *([word.type] if carries else []))
            inner = ir.InsertionPoint(block)
            passed: list[ir.Value] = []
            here = block.arguments[len(types)] if carries else word
            if source is not None:
                self._copies.update(zip(source.arguments, list(block.arguments)[: len(types)], strict=True))
                here, passed = self.block(source, inner, here)
            end = "scf.yield" if source is None else _last(source).name
            ir.Operation.create(end, [], [*passed, here], ip=inner)
        self._copies.update(zip(op.results, list(made.results)[:-1], strict=True))
        return made.results[len(op.results)]


def _last(block: ir.Block) -> ir.Operation:
    *_, last = block.operations
    return last.operation
