"""Which names own storage: allocations, and names that every path gives storage that it owned and needs no more.

Ownership moves: a branch that yields what it allocated gives it to the result, a loop that carries a buffer gives it to the next
round. Where one path gives storage that it does not own, the new name owns nothing and is an alias of what comes in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.bounds.shaped_values import is_argument

from ..program.private_calls import CALLS
from . import kinds
from .aliases import chosen_from, folds_to, may_be_same, same_storage
from .hand_over import handed_on, leaving_tensors, of_call, released_arguments
from .joins import Entry, choices, joins_of, tensor_joins
from .regions import Regions, beside, op_making

Bases = frozenset
FOREIGN = None
"""Stands for storage that somebody else owns, among the bases of a name."""


@dataclass
class Ownership:
    """Of one function. ``owners`` in program order; ``aliases`` has every name of an owner's storage, the owner first.

    ``moves``: ops that give an owner's storage away (to another owner, or out of the function), for each owner.
    ``kept``: owners whose storage may be reached from places that nobody here sees.
    """

    owners: list[ir.Value] = field(default_factory=list)
    aliases: dict[ir.Value, list[ir.Value]] = field(default_factory=dict)
    later: dict[ir.Value, list[ir.Value]] = field(default_factory=dict)
    """New tensors that become names of an owner's storage where a canonicalization folds the op that makes them."""
    moves: dict[ir.Value, list[ir.Operation]] = field(default_factory=dict)
    kept: set[ir.Value] = field(default_factory=set)
    undecided: set[ir.Value] = field(default_factory=set)
    """Those of ``kept`` that leave the function on some paths, or under a name that others share."""
    bases: dict[ir.Value, Bases] = field(default_factory=dict)
    consumed: frozenset[int] = frozenset()
    """The arguments that the function releases itself, or hands on to where nobody sees them."""
    results: tuple[Bases | None, ...] = ()
    """For each result of the function: None where the caller owns it, else what it may be: arguments by number, a result (`SameAs`), FOREIGN."""


Summaries = Mapping[str, Ownership]


def ownership_of(function: ir.Operation, summaries: Summaries) -> Ownership:
    """Who owns what in ``function``; ``summaries`` says it of the results of functions that it calls."""
    return _Analysis(function, summaries).run()


class _Analysis:
    def __init__(self, function: ir.Operation, summaries: Summaries) -> None:
        self.function = function
        self.summaries = summaries
        self.joins = joins_of(function)
        self.ops: list[ir.Operation] = []
        function.walk(self._collect, ir.WalkOrder.PRE_ORDER)
        self.tensors = tensor_joins(self.ops)
        """Tensors that control flow or a choice gives other names: aliases, never owners."""
        self.leaving = leaving_tensors(self.tensors)
        """Those of them that take their storage out of the function."""
        self.regions = Regions(function)

    def _collect(self, op: ir.Operation) -> ir.WalkResult:
        self.ops.append(op)
        return ir.WalkResult.ADVANCE

    def run(self) -> Ownership:
        moving = set(self.joins)  # all of them, until one is seen not to own what it names
        while True:
            found = self.with_owners(moving)
            wrong = {join for join in moving if not self.moves_into(join, found, moving)}
            staying = {join for join in self.leaving if not self.leaves_with(join, found)}
            if not wrong and not staying:
                return found
            moving -= self.together(wrong)
            self.leaving -= staying

    def together(self, joins: set[ir.Value]) -> set[ir.Value]:
        """Names that only own storage together: a loop's argument and its result are given the same values."""
        wrong = set(joins)
        for join in joins:
            mine = {(e.by, e.value) for e in self.joins[join]}
            wrong |= {
                o
                for o, entries in self.joins.items()
                if mine & {(e.by, e.value) for e in entries} and self._one_op(join, o)
            }
        return wrong

    @staticmethod
    def _one_op(a: ir.Value, b: ir.Value) -> bool:
        """Whether two names are those of one loop."""
        return (one := _loop_of(a)) is not None and (other := _loop_of(b)) is not None and one == other

    # Names

    def with_owners(self, moving: set[ir.Value]) -> Ownership:
        found = Ownership()
        bases = found.bases
        for argument in self.function.regions[0].blocks[0].arguments:
            bases[argument] = Bases([FOREIGN])
        self.settle(bases, moving)
        # A tensor that stands on no storage owns nothing, so a name that may be either cannot be released.
        mixed = [
            join
            for join, entries in self.tensors.items()
            if bases.get(join) and not all(bases.get(entry.value) for entry in entries)
        ]
        for join in mixed:
            bases[join] |= {FOREIGN}
        if mixed:
            self.settle(bases, moving)
        order = {value: number for number, value in enumerate(bases)}
        owners = {base for held in bases.values() for base in held if base is not FOREIGN}
        found.owners = sorted(owners, key=self.place)
        for owner in found.owners:
            found.aliases[owner] = [
                owner,
                *sorted((v for v, b in bases.items() if owner in b and v != owner), key=order.__getitem__),
            ]
            found.moves[owner] = []
            found.later[owner] = self.later(found.aliases[owner])
        self.gone(found, moving)
        return found

    def settle(self, bases: dict[ir.Value, Bases], moving: set[ir.Value]) -> None:
        """Adds to ``bases`` until nothing changes."""
        changed = True
        while changed:
            changed = False
            for value, given in self.given(bases, moving):
                before = bases.get(value, Bases())
                if not given <= before:
                    bases[value] = before | given
                    changed = True

    def later(self, aliases: list[ir.Value]) -> list[ir.Value]:
        """The names that ``aliases`` get once ops are folded away."""
        known, found = set(aliases), []
        pending = [name for name in aliases if isinstance(name.type, ir.RankedTensorType)]
        while pending:
            for use in pending.pop().uses:
                op = use.owner.operation
                for new, old in (*folds_to(op), *folds_to(op.parent.operation), *same_storage(op)):
                    if new not in known and old in known:
                        known.add(new)
                        found.append(new)
                        pending.append(new)
        return found

    def given(self, bases: Mapping[ir.Value, Bases], moving: set[ir.Value]):
        for join, entries in self.joins.items():
            if join in moving:
                yield join, Bases([join])
            else:
                yield join, Bases().union(*(bases.get(e.value, Bases()) for e in entries))
        for join, entries in self.tensors.items():
            parts = [bases.get(e.value, Bases()) for e in entries]
            yield join, Bases([FOREIGN]) if join in self.leaving else Bases().union(*parts)
        for op in self.ops:
            if op.name in kinds.ALLOCATIONS and not kinds.is_workgroup_memory(op.results[0].type):
                yield op.results[0], Bases([op.results[0]])
            elif chosen_from(op) is not None and kinds.is_storage_like(op.results[0].type):
                yield op.results[0], Bases().union(*(bases.get(v, Bases()) for v in choices(op)))
            elif op.name in CALLS:
                yield from self.call_results(op, bases)
            else:
                named = dict(same_storage(op))
                for result in op.results:
                    if result in named and named[result] in bases:
                        yield result, bases[named[result]]
                    elif (
                        kinds.is_storage_like(result.type)
                        and result not in self.joins
                        and result not in named
                    ):
                        yield result, Bases([FOREIGN])
                yield from ((new, bases[old]) for new, old in may_be_same(op) if old in bases)

    def call_results(self, op: ir.Operation, bases: Mapping[ir.Value, Bases]):
        summary = self.summaries.get(text_of(op, "callee"))
        for number, result in enumerate(op.results):
            origin = (
                summary.results[number] if summary and number < len(summary.results) else Bases([FOREIGN])
            )
            if origin is not None:
                named = [of_call(op, part) for part in origin]
                parts = (Bases([FOREIGN]) if v is FOREIGN else bases.get(v, Bases()) for v in named)
                given = Bases().union(*parts)
                if kinds.is_storage_like(result.type) or given - {FOREIGN}:
                    yield result, given
            elif kinds.is_storage_like(result.type):
                yield result, Bases([result])

    def place(self, value: ir.Value) -> tuple:
        return self.regions.place(value)

    # Moves

    def gone(self, found: Ownership, moving: set[ir.Value]) -> None:
        """What leaves: given to an owner, returned, stored, handed to what is not known."""
        entries = [entry for join in moving for entry in self.joins[join]]
        entries += [entry for join in self.leaving for entry in self.tensors[join]]
        for entry in entries:
            for base in found.bases.get(entry.value, ()):
                if base is not FOREIGN and entry.by not in found.moves[base]:
                    found.moves[base].append(entry.by)
        returns = [op for op in self.ops if op.name in kinds.RETURNS]
        taken: set[int] = set()
        for op in self.ops:
            held = [v for v in op.operands if v in found.bases and found.bases[v]]
            if not held:
                continue
            if op.name in kinds.RETURNS:
                for value in held:
                    owned = [b for b in found.bases[value] if b is not FOREIGN]
                    if len(found.bases[value]) > 1:
                        found.kept.update(owned)  # one of several: which one is not known here
                        found.undecided.update(owned)
                    for base in owned:
                        if op not in found.moves[base]:
                            found.moves[base].append(op)
            else:
                for value in self.kept_by(op, held):
                    owned = [b for b in found.bases[value] if b is not FOREIGN]
                    found.kept.update(owned)
                    taken.update(n for n in self.arguments(value) if n is not FOREIGN)
                    if kinds.stores(op) and not kinds.is_storage_like(value.type):
                        several = len(found.bases[value]) > 1
                        found.undecided.update(b for b in owned if several or not beside(op, b))
        found.results = self.summary(returns, found)
        found.consumed = released_arguments(self.function, self.ops) | taken

    def summary(self, returns: list[ir.Operation], found: Ownership) -> tuple[Bases | None, ...]:
        """What the caller gets: storage that it owns then (None), or what comes from its own arguments and from elsewhere."""
        if not returns:
            return ()
        handed, unknown = handed_on(returns, partial(_owner, found), partial(self.is_whole, found))
        found.kept |= unknown
        found.undecided |= unknown
        result: list[Bases | None] = []
        for position in range(len(returns[0].operands)):
            parts = [self.arguments(r.operands[position]) for r in returns]
            result.append(handed[position] if position in handed else Bases().union(*parts))
        return tuple(result)

    def arguments(self, value: ir.Value) -> Bases:
        """The numbers of the arguments whose storage ``value`` may name, with FOREIGN where it may be other storage."""
        numbers = {a: n for n, a in enumerate(self.function.regions[0].blocks[0].arguments)}
        seen: set[ir.Value | None] = set()
        pending: list[ir.Value | None] = [value]
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                if name is not FOREIGN and name not in numbers:
                    pending += self.origins(name)
        return Bases(
            FOREIGN if name is FOREIGN else numbers[name]
            for name in seen
            if name is FOREIGN or name in numbers
        )

    def origins(self, value: ir.Value) -> list[ir.Value | None]:
        """The names that ``value`` has its storage from, and FOREIGN where it has it from elsewhere."""
        entries = self.joins.get(value) or self.tensors.get(value)
        if entries:
            return [entry.value for entry in entries]
        if is_argument(value):
            return [FOREIGN]
        op = value.owner.operation
        if chosen_from(op) is not None:
            return list(choices(op))
        if op.name in CALLS:
            summary, number = self.summaries.get(text_of(op, "callee")), ir.OpResult(value).result_number
            origin = summary.results[number] if summary and number < len(summary.results) else None
            if origin is None:
                return [FOREIGN]
            return [of_call(op, part) for part in sorted(origin, key=str)]
        named = dict(same_storage(op))
        return [named.get(value, FOREIGN), *(old for new, old in may_be_same(op) if new == value)]

    def kept_by(self, op: ir.Operation, held: list[ir.Value]) -> list[ir.Value]:
        """Those of ``held`` that live on, or end, where nobody here sees it."""
        if op.name in CALLS and (summary := self.summaries.get(text_of(op, "callee"))) is not None:
            values = list(op.operands)
            return [values[number] for number in summary.consumed if values[number] in held]
        return held if self.keeps(op) else []

    def keeps(self, op: ir.Operation) -> bool:
        if op.name in CALLS or kinds.stores(op) or kinds.is_stranger(op):
            return True
        fresh = any(kinds.is_storage_like(r.type) and r not in self.joins for r in op.results)
        known = op.name in kinds.ALLOCATIONS or chosen_from(op) is not None or bool(same_storage(op))
        return fresh and not known

    def moves_into(self, join: ir.Value, found: Ownership, moving: set[ir.Value]) -> bool:
        """Whether every path gives ``join`` storage of exactly one owner, under a whole name of it, that nothing uses later."""
        for entry in self.joins[join]:
            base = self.whole(entry.value, found)
            if base is None or base in found.kept:
                return False
            if self.given_twice(entry, base, found, moving, join):
                return False
            names = found.aliases[base] + found.later[base]
            if not self.regions.may_move(entry, base, names, self.joins, join):
                return False
        return True

    def leaves_with(self, join: ir.Value, found: Ownership) -> bool:
        """Whether each path that gives the tensor ``join`` storage has one owner of it, whom nothing uses later under another name."""
        for entry in self.tensors[join]:
            bases = found.bases.get(entry.value, Bases()) - {FOREIGN}
            if not bases:
                continue
            (base, *others), held = bases, found.bases[entry.value]
            names = found.aliases[base] + found.later[base]
            if others or FOREIGN in held or base in found.kept:
                return False
            if sum(base in found.bases.get(v, ()) for v in entry.by.operands) > 1:
                return False
            if not self.regions.may_move(entry, base, names, self.joins, join):
                return False
        return True

    def is_whole(self, found: Ownership, value: ir.Value) -> bool:
        return self.whole(value, found) is not None

    def whole(self, value: ir.Value, found: Ownership) -> ir.Value | None:
        """The one owner that ``value`` names from its beginning on."""
        bases = found.bases.get(value, Bases())
        if len(bases) != 1 or FOREIGN in bases:
            return None
        (base,) = bases
        while value != base:
            if is_argument(value) or value.owner.operation.name not in kinds.CASTS:
                return None
            value = dict(same_storage(value.owner.operation))[value]
        return base

    def given_twice(
        self, entry: Entry, base, found: Ownership, moving: set[ir.Value], join: ir.Value
    ) -> bool:
        """Whether the same op gives the storage to another name, too, on the same edge."""
        for other in moving:
            if other == join or (self._one_op(join, other) and _is_result(join) != _is_result(other)):
                continue
            for one in self.joins[other]:
                if (
                    one.by == entry.by
                    and base in found.bases.get(one.value, ())
                    and self.regions.same_edge(entry.by, join, other)
                ):
                    return True
        return False


def _is_result(value: ir.Value) -> bool:
    return not is_argument(value)


def _loop_of(value: ir.Value) -> ir.Operation | None:
    op = op_making(value)
    return op if op.name in kinds.LOOPS else None


def _owner(found: Ownership, value: ir.Value) -> ir.Value | None:
    """Who owns the storage that ``value`` names, where that is one, here, and nobody else sees it."""
    bases = found.bases.get(value, Bases())
    (owner,) = bases if len(bases) == 1 else (FOREIGN,)
    return FOREIGN if owner in found.kept else owner
