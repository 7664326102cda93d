"""Moves elementwise producers into the bodies of their consumers: no intermediate tensor is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import affine

from fissile.dialect import linalg_ops as linalg
from fissile.dialect import place_of
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.analysis.dispatch.structure import Structure, structure_of
from fissile.passes.definition import PassFailed, option, register_pass

from ..chosen_ops import check_indices
from ..generic_ops import build_generic
from ..rebuilt_ops import copy_into
from ..remedy import NOT_APPLICABLE, Exactness, Match, OpRemedy
from .place_boundaries import bit_extending_producers

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@dataclass(frozen=True)
class Folded:
    """What became of one producer: into how many operands it went, and why it is still there, if it is."""

    operands: int
    kept_for: tuple[str, ...] = ()


@register_pass
@dataclass(frozen=True)
class FoldProducers(OpRemedy):
    """Computes chosen elementwise producers inside the bodies of their consumers, element by element.

    ``ops`` chooses source ops by index, as findings name them; without it, every bit-extending producer
    (dequantise, f16 extend) of a reduction is chosen. A dequantisation then happens inside the convolution:
    nothing is materialised, on chip or off, but the consumer is no plain convolution any more and matrix
    units are not used. Each element is computed by the same ops, so it is bit-identical; code
    generation may add up a reduction's terms in another order than before, or contract a multiplication and
    an addition, as after any change of a dispatch.

    Producers may be permuted, broadcast, have several results and several users. A chosen op that can be
    folded into none of its consumers is FIS114; one that keeps other users stays for them.
    """

    name: ClassVar[str] = "fissile-fold-producers"
    order: ClassVar[int] = 140
    cures: ClassVar[tuple[str, ...]] = (
        "FIS101",
        "FIS102",
        "FIS103",
        "FIS104",
        "FIS106",
        "FIS108",
        "FIS111",
        "FIS140",
        "FIS213",
    )
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "computes an elementwise producer inside its consumers' bodies"
    repairs: ClassVar[str] = "the same as a boundary, without an intermediate tensor"
    numbers: ClassVar[str] = "bit-identical per element; sums may be reordered or contracted"
    counterpart: ClassVar[str] = (
        "IREE's elementwise fusion folds into elementwise consumers before dispatches are formed, not "
        "into a contraction or a window."
    )
    done: ClassVar[str] = "computed {ops} inside the consumer's body"
    advice: ClassVar[str] = "compute {ops} inside the consumer's body"
    refusal: ClassVar[str] = "{op} cannot be folded into its consumers: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "linalg")
    ops: tuple[int, ...] = option(
        (), "indices of the source ops to fold; empty: bit-extending producers of reductions"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return Match(_not_foldable(op, structure_of(op)) or "")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        fold_producers(ops)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "evaluated for every use, and matrix units are not used"

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        chosen = [known[i] for i in self.ops] if self.ops else bit_extending_producers(known)
        places = [(producer.name, place_of(producer)) for producer in chosen]
        outcome = fold_producers(chosen)
        stuck = [
            Finding(
                NOT_APPLICABLE,
                f"{name} cannot be folded into its consumers: {folded.kept_for[0]}",
                subject=name,
                places=(place,) if place else (),
                notes=folded.kept_for[1:],
            )
            for (name, place), folded in zip(places, outcome, strict=False)
            if not folded.operands and folded.kept_for
        ]
        if stuck and self.ops:
            raise PassFailed(stuck)


def fold_producers(producers: Iterable[ir.Operation]) -> list[Folded]:
    """Folds ``producers`` (source ops of one module) where it is legal, in place; one outcome each, in order.

    The last in program order goes first, so that a chain of chosen ops ends up in the consumer behind it. A
    producer without a user left is erased: its ``ir.Operation`` is invalid then.
    """
    chosen = list(producers)
    keys = [hash(op) for op in chosen]
    position = {hash(op): i for i, op in enumerate(_in_program_order(chosen))}
    outcome: dict[int, Folded] = {}
    for key, op in sorted(zip(keys, chosen, strict=False), key=lambda pair: -position[pair[0]]):
        if key not in outcome:
            outcome[key] = _fold(op)
    return [outcome[key] for key in keys]


def fold_operand(producer: ir.Operation, consumer: ir.Operation, position: int) -> ir.Operation | None:
    """Folds ``producer`` into operand ``position`` of ``consumer`` alone, where that is legal: ``consumer`` is replaced by
    the op that is returned. None where it is not legal; nothing is changed then."""
    structure, target = structure_of(producer), structure_of(consumer)
    if structure is None or target is None:
        return None
    if _not_foldable(producer, structure) or _not_a_consumer(consumer, target, position):
        return None
    result = ir.OpResult(consumer.operands[position]).result_number
    fold = _Fold(producer, structure, consumer, target, position, result)
    return fold.apply() if fold.is_legal else None


def _in_program_order(chosen: Sequence[ir.Operation]) -> list[ir.Operation]:
    if not chosen:
        return []
    root = chosen[0]
    while root.parent is not None:
        root = root.parent.operation
    wanted = {hash(op) for op in chosen}
    return [op for op in source_ops(root) if hash(op) in wanted]


def _fold(producer: ir.Operation) -> Folded:
    structure = structure_of(producer)
    refused = _not_foldable(producer, structure)
    if structure is None or refused:
        return Folded(0, (refused,))
    folded = 0
    kept: list[tuple[int, int, str]] = []
    while (use := _next_use(producer, kept)) is not None:
        consumer, position, result = use
        target = structure_of(consumer)
        why = _not_a_consumer(consumer, target, position)
        if target is not None and not why:
            fold = _Fold(producer, structure, consumer, target, position, result)
            if fold.is_legal:
                fold.apply()
                folded += 1
                kept.clear()  # the consumer is another op now
                continue
            why = "a loop's extent could no longer be read off an operand"
        kept.append((hash(consumer), position, f"{consumer.name}: {why}"))
    if not any(True for result in producer.results for _ in result.uses):
        producer.erase()
        return Folded(folded)
    return Folded(folded, tuple(dict.fromkeys(sentence for _, _, sentence in kept)))


def _not_foldable(producer: ir.Operation, structure: Structure | None) -> str:
    if structure is None:
        return "it has no body"
    if not structure.all_parallel:
        return "it reduces: each of its elements would be computed many times"
    if not all(m.is_permutation for m in structure.maps[-len(producer.results) :]):
        return "its results do not hold one element for each turn of its loops"
    if any(inner.operation.regions for inner in producer.regions[0].blocks[0].operations):
        return "its body has control flow"
    return ""


def _next_use(
    producer: ir.Operation, kept: list[tuple[int, int, str]]
) -> tuple[ir.Operation, int, int] | None:
    """A use that is not among ``kept``: the consumer, its operand and the producer's result."""
    skip = {(consumer, position) for consumer, position, _ in kept}
    for number, result in enumerate(producer.results):
        for use in result.uses:
            consumer = use.owner.operation
            if (hash(consumer), use.operand_number) not in skip:
                return consumer, use.operand_number, number
    return None


def _not_a_consumer(consumer: ir.Operation, target: Structure | None, position: int) -> str | None:
    if target is None:
        return "it has no body to fold into"
    if position >= len(consumer.operands) - len(consumer.results):
        return "it updates the tensor in place"
    return None


class _Fold:
    """One producer going into one operand of one consumer."""

    def __init__(
        self,
        producer: ir.Operation,
        structure: Structure,
        consumer: ir.Operation,
        target: Structure,
        position: int,
        result: int,
    ) -> None:
        self._producer, self._consumer, self._target, self._position = producer, consumer, target, position
        self._result = result
        written = structure.maps[len(structure.maps) - len(producer.results) + result]
        read = target.maps[position]
        # The producer's loops as expressions of the consumer's: invert the map that the element was written
        # by.
        at = {ir.AffineDimExpr(r).position: read.results[i] for i, r in enumerate(written.results)}
        self._loops = ir.AffineMap.get(target.loops, 0, [at[i] for i in range(structure.loops)])
        self._inputs = [i for i in range(len(producer.operands)) if self._reads(i)]
        moved = [self._moved(structure.maps[i]) for i in self._inputs]
        self._maps = [*target.maps[:position], *moved, *target.maps[position + 1 :]]

    @property
    def is_legal(self) -> bool:
        return self._target.covers_all_loops(self._maps)

    def apply(self) -> ir.Operation:
        """Replaces the consumer by one that computes the producer in its body; returns that one."""
        consumer, position = self._consumer, self._position
        before = list(consumer.operands)
        operands = [
            *before[:position],
            *(self._producer.operands[i] for i in self._inputs),
            *before[position + 1 :],
        ]
        outputs = len(consumer.results)
        with ir.InsertionPoint(consumer), consumer.location:
            new, block = build_generic(
                operands[: len(operands) - outputs],
                operands[len(operands) - outputs :],
                self._maps,
                self._target.parallel,
                like=consumer,
            )
            with ir.InsertionPoint(block):
                self._body(block)
        for old, result in zip(list(consumer.results), new.results, strict=False):
            old.replace_all_uses_with(result)
        consumer.erase()
        return new.operation

    def _body(self, block: ir.Block) -> None:
        old = self._consumer.regions[0].blocks[0]
        inner = self._producer.regions[0].blocks[0]
        given = list(block.arguments)
        count = len(self._inputs)
        values = {inner.arguments[i]: given[self._position + n] for n, i in enumerate(self._inputs)}
        body = [op.operation for op in inner.operations]
        folded = body[-1].operands[self._result]
        for op in _needed(body[:-1], folded):
            self._copy(op, values, moved=True)
        rest = given[: self._position] + [values.get(folded, folded)] + given[self._position + count :]
        values = dict(zip(old.arguments, rest, strict=False))
        for op in [op.operation for op in old.operations]:
            self._copy(op, values, moved=False)

    def _copy(self, op: ir.Operation, values: dict[ir.Value, ir.Value], moved: bool) -> None:
        if moved and op.name == "linalg.index":
            loop = self._loops.results[ir.IntegerAttr(op.attributes["dim"]).value]
            own = [linalg.IndexOp(i).result for i in range(self._target.loops)]
            values[op.results[0]] = affine.apply(ir.AffineMap.get(self._target.loops, 0, [loop]), own)
            return
        copy_into(op, values)

    def _reads(self, operand: int) -> bool:
        """Whether the body uses the operand; an output that is only written is left behind."""
        inputs = len(self._producer.operands) - len(self._producer.results)
        argument = self._producer.regions[0].blocks[0].arguments[operand]
        return operand < inputs or any(True for _ in argument.uses)

    def _moved(self, m: ir.AffineMap) -> ir.AffineMap:
        return ir.AffineMap.get(self._target.loops, 0, [result.compose(self._loops) for result in m.results])


def _needed(ops: Sequence[ir.Operation], value: ir.Value) -> list[ir.Operation]:
    """Those of ``ops`` that ``value`` depends on, in order: another result of the producer may need more."""
    wanted = {value}
    chosen: list[ir.Operation] = []
    for op in reversed(ops):
        if any(result in wanted for result in op.results):
            wanted.update(op.operands)
            chosen.append(op)
    return chosen[::-1]
