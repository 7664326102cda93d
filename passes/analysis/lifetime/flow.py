"""From a function to the steps of its storage: control flow, structured or not, becomes edges, and calls are followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.operands import operands_named
from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.iree import ops as iree_ops
from fissile.quantity import Bytes

from ..program.private_calls import CALLS
from . import kinds
from .aliases import chosen_from, may_be_same, same_storage
from .joins import edges_of
from .pieces import made_by
from .sizes import constant
from .steps import Edge, Flow, Made, Origin, Step
from .ways_on import Way, branches_of, leaves, trips_of

DEEPEST_CALL = 6
"""Calls inside calls that are followed; deeper ones, and recursion, are not."""
_Ends = Callable[[ir.Operation, int], None]


def flow_of(function: ir.Operation, functions: Mapping[str, ir.Operation]) -> Flow:
    """The steps of ``function``; ``functions`` has the bodies of what it may call, by symbol."""
    return _Builder(functions).run(function)


class _Builder:
    def __init__(self, functions: Mapping[str, ir.Operation]) -> None:
        self.functions = functions
        self.steps: list[Step] = []
        self.numbers: dict[tuple[int, ir.Value], int] = {}
        self.unknown: list[ir.Operation] = []
        self.tracked: set[int] = set()
        self.calls: list[str] = []
        self.followed: set[str] = set()
        self.frame = 0
        self.frames = 0

    def run(self, function: ir.Operation) -> Flow:
        start = self.step(None)
        entry = function.regions[0].blocks[0]
        self.steps[start].made = tuple(
            Made(self.name(a), Origin.GIVEN, Bytes.unknown("an argument"))
            for a in entry.arguments
            if kinds.is_storage_like(a.type)
        )
        self.tracked.update(made.name for made in self.steps[start].made)

        def ends(op: ir.Operation, at: int) -> None:
            self.steps[at].escapes = self.held(op.operands)

        self.link(start, self.region(function.regions[0], ends))
        opposites = {}
        for step in self.steps:
            if step.negated:
                opposites.update({step.negated[0]: step.negated[1], step.negated[1]: step.negated[0]})
        return Flow(self.steps, len(self.numbers), self.unknown, frozenset(self.followed), opposites)

    # Names and steps

    def name(self, value: ir.Value) -> int:
        return self.numbers.setdefault((self.frame, value), len(self.numbers))

    def held(self, values) -> tuple[int, ...]:
        """The names among ``values`` behind which storage may stand."""
        return tuple(self.name(v) for v in values if kinds.is_storage_like(v.type) or self.is_tracked(v))

    def is_tracked(self, value: ir.Value) -> bool:
        return self.numbers.get((self.frame, value), -1) in self.tracked

    def step(self, op: ir.Operation | None, **parts) -> int:
        self.steps.append(Step(op, **parts))
        return len(self.steps) - 1

    def link(
        self, source: int, target: int, new=(), old=(), when: tuple[ir.Value, bool] | None = None
    ) -> None:
        moves = []
        for fresh, given in zip(new, old, strict=False):
            if self.matters(given):
                moves.append((self.name(fresh), self.name(given)))
                if self.is_tracked(given):
                    self.tracked.add(self.name(fresh))
        condition = (self.name(when[0]), when[1]) if when is not None else None
        self.steps[source].edges.append(Edge(target, tuple(moves), condition))

    def links(self, source: int, *targets: int) -> None:
        for target in targets:
            self.link(source, target)

    def matters(self, value: ir.Value) -> bool:
        """Whether a name may hold storage, a timepoint or a condition. A tensor does where it stands on a storage."""
        type_ = value.type
        return (
            kinds.is_storage_like(type_)
            or kinds.is_timepoint(type_)
            or self.is_tracked(value)
            or (isinstance(type_, ir.IntegerType) and type_.width == 1)
        )

    # Regions

    def region(self, region: ir.Region, ends: _Ends) -> int:
        """Adds the steps of a region and returns the first; ``ends`` is called with each op that leaves it."""
        blocks = list(region.blocks)
        first = {block: self.step(None) for block in blocks}
        for block in blocks:
            at: int | None = first[block]
            op = region.owner.operation
            for view in block.operations:
                op = view.operation
                if at is None:
                    break
                if op.successors:
                    self.branch(op, at, first)
                    at = None
                elif leaves(op):
                    last = self.step(op)
                    self.link(at, last)
                    ends(op, last)
                    at = None
                else:
                    at = self.op(op, at)
            if at is not None:  # an end that is not one by its name, or none at all
                ends(op, at)
        return first[blocks[0]]

    def branch(self, op: ir.Operation, at: int, first: Mapping[ir.Block, int]) -> None:
        ways = branches_of(op)
        if not ways:  # whatever it passes on may go anywhere
            values = list(op.operands)
            for block in op.successors:
                wanted = len(list(block.arguments))
                ways.append(Way(block, tuple(values[len(values) - wanted :] if wanted else ())))
            if any(way.values for way in ways):
                self.unknown.append(op)
        here = self.step(op)
        self.link(at, here)
        for way in ways:
            self.link(here, first[way.block], way.block.arguments, way.values, way.when)

    # Ops

    def op(self, op: ir.Operation, at: int) -> int:
        """Adds what ``op`` does behind step ``at`` and returns the step where the program goes on."""
        handler = _REGIONS.get(op.name)
        if handler is not None:
            return handler(self, op, at)
        if op.name in CALLS:
            return self.call(op, at)
        here = self.simple(op)
        self.link(at, here)
        regions = [r for r in op.regions if len(r.blocks)]
        if not regions or op.name in (
            iree_ops.STREAM_CMD_EXECUTE,
            iree_ops.STREAM_ASYNC_EXECUTE,
            "builtin.module",
        ):
            return here
        known = op.context.is_registered_operation(op.name) or op.name.startswith("fissile.")
        if not known and (freed := kinds.released_inside(op)):
            # Whether and how often it is released is not known.
            self.steps[here].escapes += self.held(freed)
            self.unknown.append(op)
            return here
        after = self.step(None)
        carried = list(edges_of(op))
        self.link(here, after, *_pairs((new, e.value) for new, e in carried if not is_argument(new)))

        def ends(end: ir.Operation, last: int) -> None:
            if not known and (held := self.held(end.operands)):
                self.steps[last].escapes += held
                self.unknown.append(op)
            self.links(last, here, after)

        for region in regions:  # run any number of times, in any order
            given = _pairs(
                (new, e.value) for new, e in carried if is_argument(new) and new.owner.region == region
            )
            self.mark(*given)
            self.link(here, self.region(region, ends), *given)
        return after

    def simple(self, op: ir.Operation) -> int:
        here = self.step(op)
        step = self.steps[here]
        step.defines = tuple(self.name(r) for r in op.results if self.matters(r))
        if (new := made_by(op)) is not None:
            whole = self.name(new.whole) if new.whole is not None else None
            step.made = (Made(self.name(new.value), new.origin, new.bytes, whole),)
            self.tracked.add(self.name(new.value))
        self.timepoints(op, step)
        if (value := kinds.released(op)) is not None:
            step.releases = self.name(value)
            return here
        choice = chosen_from(op)
        if choice is not None and (self.matters(op.results[0]) or self.held(choice)):
            condition, chosen, other = map(self.name, choice)
            step.chosen = (self.name(op.results[0]), condition, chosen, other)
            if self.held(choice[1:]):
                self.tracked.add(self.name(op.results[0]))
            return here
        if op.name == "arith.constant" and str(op.results[0].type) == "i1":
            step.known = (self.name(op.results[0]), constant(op.results[0]) not in (0, None))
        if op.name == "arith.xori" and constant(operands_named(op, "rhs")[0]) in (1, -1):
            step.negated = (self.name(op.results[0]), self.name(operands_named(op, "lhs")[0]))
        step.reads = self.held(op.operands)
        names = [
            (self.name(new), self.name(old))
            for new, old in same_storage(op)
            if old is not None and self.held([old])
        ]
        step.names = tuple(pair for pair in names if pair[0] not in {m.name for m in step.made})
        self.tracked.update(new for new, _ in step.names)
        self.strangers(op, step)
        return here

    def strangers(self, op: ir.Operation, step: Step) -> None:
        """Storage that an op returns, or may keep, in a way that is not known."""
        named = {new for new, _ in step.names} | {made.name for made in step.made}
        fresh = [r for r in op.results if kinds.is_storage_like(r.type) and self.name(r) not in named]
        if fresh:
            origin = Origin.CONSTANT if op.name in kinds.CONSTANTS else Origin.GIVEN
            step.made += tuple(Made(self.name(r), origin, Bytes.unknown(op.name)) for r in fresh)
            self.tracked.update(map(self.name, fresh))
        if not step.reads:
            return
        stores = kinds.stores(op)
        unknown = kinds.is_stranger(op) or self.held([old for _, old in may_be_same(op)])
        if stores or unknown or fresh:
            step.escapes = step.reads
            if unknown or (fresh and not stores):
                self.unknown.append(op)

    def timepoints(self, op: ir.Operation, step: Step) -> None:
        if not op.name.startswith(iree_ops.STREAM_OPS):
            return
        view = view_of(op)
        waits = [v for v in op.operands if kinds.is_timepoint(v.type)]
        step.waits = tuple(map(self.name, waits))
        reached = [r for r in op.results if kinds.is_timepoint(r.type)]
        step.reached = self.name(reached[0]) if reached else None
        step.works = bool(reached) and op.name not in (
            iree_ops.STREAM_TIMEPOINT_JOIN,
            iree_ops.STREAM_TIMEPOINT_IMMEDIATE,
        )
        step.host_waits = op.name == iree_ops.STREAM_TIMEPOINT_AWAIT and bool(view is not None)

    # Control flow

    def if_(self, op: ir.Operation, at: int) -> int:
        here, after = self.step(op), self.step(None)
        self.link(at, here)
        condition = view_of(op).condition if op.name == "scf.if" else None
        ends = self.forward(op.results, after)
        for region, holds in zip(op.regions, (True, False), strict=False):
            when = (condition, holds) if condition is not None else None
            target = self.region(region, ends) if len(region.blocks) else after
            self.link(here, target, when=when)
        return after

    def any_of(self, op: ir.Operation, at: int) -> int:
        here, after = self.step(op), self.step(None)
        self.link(at, here)
        for region in op.regions:
            self.link(here, self.region(region, self.forward(op.results, after)))
        return after

    def forward(self, results, after: int) -> _Ends:
        return lambda op, last: self.link(last, after, results, op.operands)

    def for_(self, op: ir.Operation, at: int) -> int:
        """A counted loop. Constant bounds say whether it runs at all, and whether it runs twice."""
        here, after = self.step(op, reads=self.held(op.operands)), self.step(None)
        self.link(at, here)
        view = view_of(op)
        block = op.regions[0].blocks[0]
        inits = list(view.initArgs) if op.name == "scf.for" else list(view.inits)
        carried = list(block.arguments)[len(block.arguments) - len(inits) :]
        trips = trips_of(op)
        if trips != 0:
            self.mark(carried, inits)
            last_ops: list[tuple[ir.Operation, int]] = []
            entry = self.region(op.regions[0], lambda end, last: last_ops.append((end, last)))
            self.link(here, entry, carried, inits)
            for end, last in last_ops:
                if trips != 1:
                    self.link(last, entry, carried, end.operands)
                self.link(last, after, op.results, end.operands)
        if trips is None or trips == 0:
            self.link(here, after, op.results, inits)
        return after

    def while_(self, op: ir.Operation, at: int) -> int:
        here, after = self.step(op, reads=self.held(op.operands)), self.step(None)
        self.link(at, here)
        before_args, after_args = (list(r.blocks[0].arguments) for r in op.regions)
        self.mark(before_args, op.operands)
        ends: list[tuple[ir.Operation, int]] = []
        before = self.region(op.regions[0], lambda end, last: ends.append((end, last)))
        for end, _ in ends:
            self.mark(after_args, view_of(end).args)
        body = self.region(
            op.regions[1], lambda end, last: self.link(last, before, before_args, end.operands)
        )
        for end, last in ends:
            view = view_of(end)
            self.link(last, body, after_args, view.args, (view.condition, True))
            self.link(last, after, op.results, view.args, (view.condition, False))
        self.link(here, before, before_args, op.operands)
        return after

    def mark(self, new, old) -> None:
        """Names that an edge, linked later, gives: they are tracked while the region in between is read."""
        self.tracked.update(self.name(n) for n, o in zip(new, old, strict=False) if self.held([o]))

    def call(self, op: ir.Operation, at: int) -> int:
        callee = text_of(op, "callee")
        body = self.functions.get(callee)
        here = self.step(op, reads=self.held(op.operands))
        self.link(at, here)
        if (
            body is None
            or callee in self.calls
            or len(self.calls) >= DEEPEST_CALL
            or not len(body.regions[0].blocks)
        ):
            step = self.steps[here]
            fresh = [r for r in op.results if kinds.is_storage_like(r.type)]
            step.made = tuple(
                Made(self.name(r), Origin.GIVEN, Bytes.unknown(f"from {callee}")) for r in fresh
            )
            self.tracked.update(map(self.name, fresh))
            if step.reads:
                step.escapes = step.reads
                self.unknown.append(op)
            return here
        after = self.step(None)
        outer, self.frames = self.frame, self.frames + 1
        inner = self.frames
        self.calls.append(callee)
        self.followed.add(callee)
        given = [(v, self.name(v)) for v in op.operands if self.matters(v)]
        held = {n for v, n in given if self.held([v])}
        wanted = dict(given)
        results = [(r, self.name(r)) for r in op.results]
        self.frame = inner
        moves = []
        for argument, value in zip(body.regions[0].blocks[0].arguments, op.operands, strict=False):
            if value in wanted:
                moves.append((self.name(argument), wanted[value]))
                if wanted[value] in held:
                    self.tracked.add(self.name(argument))

        def comes_back(end: ir.Operation, last: int) -> None:
            back = []
            for (_, new), value in zip(results, end.operands, strict=False):
                if self.matters(value):
                    back.append((new, self.name(value)))
                    if self.held([value]):
                        self.tracked.add(new)
            self.steps[last].edges.append(Edge(after, tuple(back)))

        entry = self.region(body.regions[0], comes_back)
        self.steps[here].edges.append(Edge(entry, tuple(moves)))
        self.frame = outer
        self.calls.pop()
        return after


def _pairs(pairs: Iterable[tuple[ir.Value, ir.Value]]) -> tuple[list[ir.Value], list[ir.Value]]:
    new_and_old = list(pairs)
    return [new for new, _ in new_and_old], [old for _, old in new_and_old]


_REGIONS = {
    "scf.if": _Builder.if_,
    "affine.if": _Builder.if_,
    "scf.index_switch": _Builder.any_of,
    "scf.execute_region": _Builder.any_of,
    "memref.alloca_scope": _Builder.any_of,
    "fissile.group": _Builder.any_of,
    "scf.for": _Builder.for_,
    "affine.for": _Builder.for_,
    "scf.while": _Builder.while_,
}
