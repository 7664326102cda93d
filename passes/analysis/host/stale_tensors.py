"""Tensors that are read after an op has updated another one in place that is the same buffer.

The results of a loop or a branch, and what its body is given, are values of their own to IREE: before an update it looks at the uses of the
one value that is updated (MaterializeCopyOnWrite), and not at another result, or at a tensor that the loop or branch passes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ..dispatch.dispatches import constant_of
from ..program.private_calls import FUNCTIONS
from .on_host import HOST_REGIONS
from .shared_destinations import MOVES_NOTHING, root_of

_LOOPS = ("scf.for", "scf.while")
_ENDS = ("scf.yield", "scf.condition")
_READS_NOTHING = ("tensor.dim", "tensor.empty", iree_ops.FLOW_TENSOR_EMPTY)
_NEVER_UPDATED = (
    "arith.constant",
    iree_ops.FLOW_TENSOR_CONSTANT,
    iree_ops.UTIL_GLOBAL_LOAD,
    iree_ops.UTIL_GLOBAL_LOAD_INDIRECT,
)

Updated = Callable[[ir.Operation], list[ir.Value]]
"""The tensors that an op may update in place."""


By = frozenset[tuple[ir.Operation, ir.Value, bool]]
Stale = dict[ir.Value, By]
"""Each tensor that may be stale, with the updates that have made it so, the tensors that those work on, and whether it is that very one."""
NONE: By = frozenset()


@dataclass(frozen=True)
class StaleTensor:
    """``update`` updates ``target`` in place; ``reader`` reads a tensor as it was that may be the same buffer."""

    update: ir.Operation
    target: ir.Value
    reader: ir.Operation


def stale_tensors(module: ir.Operation, updated: Updated) -> list[StaleTensor]:
    """Those of the functions in ``module`` that have loops or branches: where they are taken, which is known at run time."""
    return [one for function in _functions(module) for one in _Staleness(function, updated).found()]


def _functions(module: ir.Operation) -> list[ir.Operation]:
    """Those with loops or branches."""
    functions = (op.operation for op in module.regions[0].blocks[0].operations)
    return [
        op
        for op in functions
        if op.name in FUNCTIONS
        and len(op.regions[0].blocks) == 1
        and any(inner.operation.name in HOST_REGIONS for inner in op.regions[0].blocks[0].operations)
    ]


class _Staleness:
    """Follows, along the program, which tensors' buffers have been overwritten, and by what."""

    def __init__(self, function: ir.Operation, updated: Updated) -> None:
        self._body, self._updated = function.regions[0].blocks[0], updated
        self._sources: dict[ir.Value, list[ir.Value]] = {}
        self._tensors: list[ir.Value] = []
        self._found: dict[StaleTensor, None] = {}
        self._list(self._body)
        self._made = {value: self._leaves(value) for value in self._tensors}
        self._sharing: dict[ir.Value, list[ir.Value]] = {}
        for value, leaves in self._made.items():
            for leaf in leaves:
                self._sharing.setdefault(leaf, []).append(value)

    def found(self) -> list[StaleTensor]:
        self._block(self._body, {})
        return list(self._found)

    # What a tensor may be the buffer of

    def _list(self, block: ir.Block) -> None:
        """Fills ``_tensors`` and ``_sources`` with those of ``block``."""
        self._tensors += [value for value in block.arguments if _is_tensor(value)]
        for op in (o.operation for o in block.operations):
            self._tensors += [value for value in op.results if _is_tensor(value)]
            if op.name in MOVES_NOTHING:
                self._pass(op.operands[0], op.results[0])
            if op.name not in HOST_REGIONS:
                continue
            for region in op.regions:
                for inner in region.blocks:
                    self._list(inner)
            for source, target in _passed(op):
                self._pass(source, target)

    def _pass(self, source: ir.Value, target: ir.Value) -> None:
        if _is_tensor(target):
            self._sources.setdefault(target, []).append(source)

    def _leaves(self, value: ir.Value) -> frozenset[ir.Value]:
        """The tensors that ops make, or the program is given, of which ``value`` may be one."""
        seen, values = {value}, [value]
        for one in values:
            more = [source for source in self._sources.get(one, ()) if source not in seen]
            seen.update(more)
            values += more
        return frozenset(one for one in values if one not in self._sources)

    # Which are stale, and by which updates

    def _block(self, block: ir.Block, stale: Stale) -> Stale:
        """What is stale behind ``block``, where ``stale`` is before it."""
        before: list[ir.Operation] = []
        for op in (o.operation for o in block.operations):
            if op.name in _ENDS:
                break
            if op.name in MOVES_NOTHING:
                stale.pop(op.results[0], None)
                if by := stale.get(op.operands[0]):
                    stale[op.results[0]] = by
            elif op.name in _LOOPS:
                stale = self._loop(op, stale)
            elif op.name in HOST_REGIONS:
                stale = self._branch(op, stale)
            else:
                self._op(op, stale, before)
            before.append(op)
        return stale

    def _op(self, op: ir.Operation, stale: Stale, before: Sequence[ir.Operation]) -> None:
        if op.name not in _READS_NOTHING:
            for value in (*op.operands, *_arguments_returned(op)):
                for update, target, itself in stale.get(value, ()):
                    # IREE sees the other uses of what is updated: where it is wrong all the same, it is FIS156.
                    if not itself:
                        self._found[StaleTensor(update, target, op)] = None
        for target in self._updated(op):
            root = root_of(target)
            if _is_never_updated(root):
                continue
            shared = {value for leaf in self._made.get(target, ()) for value in self._sharing[leaf]}
            others = {
                value for value in shared if root_of(value) != root and not _is_never_updated(root_of(value))
            }
            for value in shared:
                stale[value] = stale.get(value, NONE) | {(op, target, value not in others)}
            if not others.isdisjoint(op.operands):
                self._found[StaleTensor(op, target, op)] = None
            # What reads one of them on the device may be scheduled beside the update, or behind it.
            defined = _defining(root)
            if others and defined is not None and defined in before:
                for reader in before[before.index(defined) + 1 :]:
                    if _on_device(reader) and not others.isdisjoint(reader.operands):
                        self._found[StaleTensor(op, target, reader)] = None
        for result in op.results:
            stale.pop(result, None)

    def _branch(self, op: ir.Operation, stale: Stale) -> Stale:
        states, ends = [], []
        for region in op.regions:
            for block in region.blocks:
                state = self._block(block, dict(stale))
                states.append(state)
                ends.append([state.get(value, NONE) for value in _operands_of_end(block)])
        after = _joined(*states, *([stale] if len(states) < 2 else []))
        for number, result in enumerate(op.results):
            _bind(after, result, NONE.union(*(one[number] for one in ends)))
        return after

    def _loop(self, op: ir.Operation, stale: Stale) -> Stale:
        around, carried = stale, [stale.get(value, NONE) for value in _initial(op)]
        results = carried if _may_not_run(op) else [NONE] * len(op.results)
        while True:
            state, passed = dict(around), carried
            for number, region in enumerate(op.regions):
                block = region.blocks[0]
                for value, held in zip(_carried_arguments(op, block), passed, strict=True):
                    _bind(state, value, held)
                state = self._block(block, state)
                passed = [state.get(value, NONE) for value in _operands_of_end(block)]
                if number == 0:  # the body of a for, the test of a while
                    results = [one | other for one, other in zip(results, passed, strict=True)]
            known = (around, carried)
            around = _joined(around, state)
            carried = [one | other for one, other in zip(carried, passed, strict=True)]
            if known == (around, carried):
                break
        after = dict(around)
        for result, held in zip(op.results, results, strict=True):
            _bind(after, result, held)
        return after


def _joined(*states: Stale) -> Stale:
    return {
        value: NONE.union(*(state.get(value, NONE) for state in states))
        for value in dict.fromkeys(value for state in states for value in state)
    }


def _bind(stale: Stale, value: ir.Value, by: By) -> None:
    """What is passed on is another tensor to IREE."""
    if by:
        stale[value] = frozenset((update, target, False) for update, target, _itself in by)
    else:
        stale.pop(value, None)


def _arguments_returned(op: ir.Operation) -> list[ir.Value]:
    """The tensors of the arguments that ``op`` returns as they came."""
    if op.name != iree_ops.UTIL_RETURN:
        return []
    users = (use.owner.operation for value in op.operands for use in value.uses)
    return [user.results[0] for user in users if user.name == iree_ops.HAL_TENSOR_IMPORT]


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _is_never_updated(value: ir.Value) -> bool:
    """Whether IREE copies ``value`` before any update: constants, and what globals hold. A loop or a branch passes on a copy, too, but it is
    one copy for all."""
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in _NEVER_UPDATED


def _defining(root: ir.Value) -> ir.Operation | None:
    return None if isinstance(root.owner, ir.Block) else root.owner.operation


def _on_device(op: ir.Operation) -> bool:
    return op.name not in (
        *HOST_REGIONS,
        *MOVES_NOTHING,
        *_READS_NOTHING,
        iree_ops.FLOW_TENSOR_LOAD,
    ) and any(_is_tensor(result) for result in op.results)


def _end(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def _operands_of_end(block: ir.Block) -> list[ir.Value]:
    """What the end of ``block`` passes on; the condition itself is not."""
    end = _end(block)
    operands = list(end.operands) if end.name in _ENDS else []
    return operands[1:] if end.name == "scf.condition" else operands


def _may_not_run(loop: ir.Operation) -> bool:
    """Whether ``loop`` may have what it begins with as its result: an scf.for that perhaps has no iteration."""
    if loop.name != "scf.for":
        return False
    begin, end = (constant_of(value) for value in list(loop.operands)[:2])
    return begin is None or end is None or begin >= end


def _initial(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[3:] if op.name == "scf.for" else list(op.operands)


def _carried_arguments(op: ir.Operation, block: ir.Block) -> list[ir.Value]:
    return list(block.arguments)[1:] if op.name == "scf.for" else list(block.arguments)


def _passed(op: ir.Operation) -> list[tuple[ir.Value, ir.Value]]:
    """What each loop argument and result of ``op`` may be."""
    blocks = [block for region in op.regions for block in region.blocks]
    if op.name == "scf.for":
        (body,) = blocks
        made, begins = _operands_of_end(body), _initial(op)
        arguments, results = _carried_arguments(op, body), list(op.results)
        pairs = [(begins, arguments), (made, arguments), (made, results)]
        if _may_not_run(op):
            pairs.append((begins, results))
        return [pair for sources, targets in pairs for pair in zip(sources, targets, strict=True)]
    if op.name == "scf.while":
        before, after = blocks
        tested = _operands_of_end(before)
        return [
            *zip(_initial(op), before.arguments, strict=True),
            *zip(_operands_of_end(after), before.arguments, strict=True),
            *zip(tested, after.arguments, strict=True),
            *zip(tested, op.results, strict=True),
        ]
    return [pair for block in blocks for pair in zip(_operands_of_end(block), op.results, strict=False)]
