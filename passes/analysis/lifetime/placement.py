"""Where an owner's storage is to be released: behind the last use, on every path once, where a side effect may stand."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.analysis.bounds.shaped_values import is_argument

from .kinds import takes_side_effects
from .ownership import Ownership
from .regions import Regions, is_end, op_making, region_of
from .ways_on import branches_of


@dataclass(frozen=True)
class Spot:
    """A place for a release: behind op ``behind``, at the start of ``block``, on the edge from ``source`` to its successor number
    ``way``, or in the region number ``region`` of op ``branch``, an else that is not written."""

    behind: ir.Operation | None = None
    block: ir.Block | None = None
    source: ir.Block | None = None
    way: int = 0
    branch: ir.Operation | None = None
    region: int = 0


class Unplaced(Exception):
    """There is no legal place; the message says why."""


def spots_of(owner: ir.Value, ownership: Ownership, regions: Regions) -> list[Spot]:
    """The places where ``owner`` is to be released. Raises Unplaced."""
    if owner in ownership.kept:
        return []
    home = region_of(owner)
    around = op_making(owner) if is_argument(owner) else owner.owner.operation.parent.operation
    if not takes_side_effects(around):
        raise Unplaced(f"it is made inside {around.name}, which may have no side effect")
    aliases = ownership.aliases[owner]
    for alias in aliases:
        if not is_inside(alias, home, regions.function):
            raise Unplaced(
                "a name of it lives on outside the region where it is made, and another path gives that name other storage"
            )
    later = [name for name in ownership.later[owner] if is_inside(name, home, regions.function)]
    return _Placement(owner, aliases, later, set(ownership.moves[owner]), regions).run(home)


class _Placement:
    def __init__(
        self, owner: ir.Value, aliases: list[ir.Value], later: list[ir.Value], moves: set, regions: Regions
    ) -> None:
        self.owner = owner
        self.aliases = set(aliases)
        self.touching = regions.touching(aliases, later)
        self.moves = moves
        self.moving = set(moves)
        for op in moves:
            while (op := op.parent.operation) != regions.function:
                self.moving.add(op)

    def run(self, home: ir.Region) -> list[Spot]:
        made = self.owner.owner if is_argument(self.owner) else self.owner.owner.operation
        return self.place(home, made)

    def place(self, region: ir.Region, made: ir.Operation | ir.Block) -> list[Spot]:
        """The places inside ``region``, where the storage comes into being behind op ``made``, or at the start of block ``made``."""
        start = made if isinstance(made, ir.Block) else made.block
        blocks = self.reached(start)
        before = self.alive(blocks, start, made)
        spots: list[Spot] = []
        for block in blocks:
            ops = [view.operation for view in block.operations]
            here = ops[ops.index(made) + 1 :] if block == start and not isinstance(made, ir.Block) else ops
            if block != start and block not in before:
                continue
            after = [
                b for b in dict.fromkeys(block.successors) if b in before and not self.anew(b, start, made)
            ]
            used = [op for op in here if op in self.touching]
            if after:
                spots += self.edges(block, after)
            elif used:
                spots += self.end(used[-1], block)
            else:
                spots.append(
                    Spot(behind=made)
                    if block == start and not isinstance(made, ir.Block)
                    else Spot(block=block)
                )
        return spots

    @staticmethod
    def anew(block: ir.Block, start: ir.Block, made) -> bool:
        """Whether the storage of the next round begins in ``block`` before anything there may use this one's."""
        return block == start and isinstance(made, ir.Block)

    def end(self, last: ir.Operation, block: ir.Block) -> list[Spot]:
        """The release behind ``last``, the last op of its block that uses the storage."""
        if last not in self.moving:
            if last.successors or is_end(last):
                return self.leaving(last, block)
            return [Spot(behind=last)]
        if last in self.moves:
            return self.leaving(last, block)
        spots: list[Spot] = []
        for number, region in enumerate(last.regions):
            written = len(region.blocks)
            spots += self.place(region, region.blocks[0]) if written else [Spot(branch=last, region=number)]
        return spots

    def leaving(self, last: ir.Operation, block: ir.Block) -> list[Spot]:
        """A branch or an end of a region that uses the storage: its other edges release it."""
        if not last.successors:
            if last in self.moves:
                return []
            raise Unplaced(f"{last.name} hands it out of the region where it is made")
        gone = {e for e in last.successors if self.given_to(last, e)}
        return [self.edge(block, n) for n, target in enumerate(last.successors) if target not in gone]

    def given_to(self, branch: ir.Operation, block: ir.Block) -> bool:
        """Whether ``branch`` gives the storage away to an argument of ``block``."""
        if branch not in self.moves:
            return False
        return any(
            value in self.aliases for way in branches_of(branch) if way.block == block for value in way.values
        )

    def edges(self, block: ir.Block, after: list[ir.Block]) -> list[Spot]:
        """The storage lives on in ``after``; on the other ways out of ``block`` it ends."""
        last = block.operations[len(block.operations) - 1].operation
        return [
            self.edge(block, number)
            for number, target in enumerate(last.successors)
            if target not in after and not self.given_to(last, target)
        ]

    @staticmethod
    def edge(source: ir.Block, number: int) -> Spot:
        target = source.operations[len(source.operations) - 1].operation.successors[number]
        alone = len(list(target.predecessors)) == 1
        return Spot(block=target) if alone else Spot(source=source, way=number)

    def reached(self, start: ir.Block) -> list[ir.Block]:
        found, pending = [], [start]
        while pending:
            block = pending.pop()
            if block not in found:
                found.append(block)
                pending.extend(block.successors)
        return found

    def alive(self, blocks: list[ir.Block], start: ir.Block, made) -> set[ir.Block]:
        """The blocks at whose start the storage is alive: something behind uses it before it is made anew."""
        found: set[ir.Block] = set()
        changed = True
        while changed:
            changed = False
            for block in blocks:
                if block in found or (block == start and isinstance(made, ir.Block)):
                    continue
                wanted = False
                for view in block.operations:
                    if not isinstance(made, ir.Block) and view.operation == made:
                        break
                    if view.operation in self.touching:
                        wanted = True
                        break
                else:
                    wanted = any(b in found for b in block.successors)
                if wanted:
                    found.add(block)
                    changed = True
        return found


def is_inside(value: ir.Value, home: ir.Region, function: ir.Operation) -> bool:
    """Whether ``value`` comes into being in region ``home`` or in one inside it."""
    op = op_making(value)
    if region_of(value) == home:
        return True
    while op != function:
        if op.block.region == home:
            return True
        op = op.parent.operation
    return False
