"""Where in a region, its blocks and the regions inside it, storage is used; and whether any use comes behind an op."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from iree.compiler import ir

from fissile.passes.analysis.bounds.shaped_values import is_argument

from .joins import Entry
from .kinds import LOOPS, RELEASES, takes_side_effects


class Regions:
    """Order and nesting of a function's ops."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.order: dict[ir.Operation, int] = {}

        def visit(op: ir.Operation) -> ir.WalkResult:
            self.order[op] = len(self.order)
            return ir.WalkResult.ADVANCE

        function.walk(visit, ir.WalkOrder.PRE_ORDER)

    def place(self, value: ir.Value) -> tuple[int, int, int]:
        """A key that sorts values by where they come into being."""
        if is_argument(value):
            return self.order[value.owner.operations[0].operation], 0, ir.BlockArgument(value).arg_number
        return self.order[value.owner.operation], 1, ir.OpResult(value).result_number

    @staticmethod
    def same_edge(op: ir.Operation, a: ir.Value, b: ir.Value) -> bool:
        """Whether ``op`` may give both names at once: to two blocks of one branch it does not."""
        if op.successors and is_argument(a) and is_argument(b):
            return a.owner == b.owner
        return True

    def touching(self, aliases: Iterable[ir.Value], later: Iterable[ir.Value] = ()) -> set[ir.Operation]:
        """The ops that use one of ``aliases``, releases left out, and all ops around them; and ops that use one of ``later``
        where it does not leave its block."""
        found: set[ir.Operation] = set()
        uses = [use.owner.operation for value in aliases for use in value.uses]
        uses += [op for value in later for use in value.uses if not is_end(op := use.owner.operation)]
        for op in uses:
            if op.name in RELEASES:
                continue
            while op is not None and op not in found and op != self.function:
                found.add(op)
                op = op.parent.operation if op.parent is not None else None
        return found

    def may_move(self, entry: Entry, base: ir.Value, aliases: list[ir.Value], joins, join: ir.Value) -> bool:
        """Whether ``entry.by`` may give ``base`` away: nothing uses it under an old name on the path that goes on from there."""
        home = region_of(base)
        touching = self.touching(aliases)
        node = entry.by
        if entry.enters is not None and any(op in touching for op in _children(entry.enters)):
            return False
        first = True
        while True:
            if not takes_side_effects(node.parent.operation):
                return False
            starts = [join.owner] if first and is_argument(join) and node.successors else None
            if self.used_behind(node, base, touching, starts):
                return False
            if node.block.region == home:
                return True
            first = False
            node = node.parent.operation
            if node == self.function or node.name in LOOPS:
                return False  # given away in one round, and wanted in the next; or not visible here at all

    def used_behind(self, op: ir.Operation, base: ir.Value, touching: set[ir.Operation], starts=None) -> bool:
        """Whether an op behind ``op`` in its region uses the storage, before ``base`` is made anew."""
        block, made = op.block, None if is_argument(base) else base.owner.operation
        if starts is None:
            for other in behind(op):
                if made is not None and other == made:
                    return False
                if other in touching:
                    return True
        seen: set[ir.Block] = set()
        pending = list(starts if starts is not None else block.successors)
        while pending:
            here = pending.pop()
            if here in seen or (is_argument(base) and base.owner == here):
                continue
            seen.add(here)
            for view in here.operations:
                other = view.operation
                if made is not None and other == made:
                    break
                if other in touching:
                    return True
            else:
                pending.extend(here.successors)
        return False


def region_of(value: ir.Value) -> ir.Region:
    return value.owner.region if is_argument(value) else value.owner.operation.block.region


def op_around(block: ir.Block) -> ir.Operation:
    """The op that has ``block`` in a region. A block's own `owner` is the branch that it was reached by, where it was (3.13)."""
    return block.operations[0].operation.parent.operation


def op_making(value: ir.Value) -> ir.Operation:
    """The op whose result ``value`` is, or the one in whose region it is an argument."""
    return op_around(value.owner) if is_argument(value) else value.owner.operation


def is_end(op: ir.Operation) -> bool:
    """Whether ``op`` is the last one of its block."""
    operations = op.block.operations
    return operations[len(operations) - 1].operation == op


def beside(op: ir.Operation, value: ir.Value) -> bool:
    """Whether ``op`` stands in the block where ``value`` comes into being: then it runs whenever there is one."""
    return op.block == (value.owner if is_argument(value) else value.owner.operation.block)


def behind(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops behind ``op`` in its block."""
    found = False
    for view in op.block.operations:
        if found:
            yield view.operation
        found = found or view.operation == op


def _children(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
