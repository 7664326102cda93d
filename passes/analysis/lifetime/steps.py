"""A program as steps that make, use and end the life of storage, with the edges between them; and which names are used later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from iree.compiler import ir

from fissile.quantity import Bytes


class Origin(Enum):
    """What stands behind a name."""

    OWNED = "allocated here; something must release it"
    PART = "a part of a storage, which ends with it"
    STACK = "on the stack, which ends with its function"
    CONSTANT = "a constant, which is never released"
    GIVEN = "the caller's, or made where nobody can look"


@dataclass
class Made:
    """Storage that a step makes, under the name ``name``; a part belongs to the storage called ``whole``."""

    name: int
    origin: Origin
    bytes: Bytes
    whole: int | None = None


@dataclass
class Edge:
    """The way to step ``to``: the names in ``moves`` (new, old) are given at once; ``when`` is the condition (name, value) for it."""

    to: int
    moves: tuple[tuple[int, int], ...] = ()
    when: tuple[int, bool] | None = None


@dataclass
class Step:
    """One op's part in the life of storage, in the order of the fields: what it reads, releases, lets escape, names, makes."""

    op: ir.Operation | None
    defines: tuple[int, ...] = ()
    """The names that the op gives anew, whatever they stood for before: a loop comes here again."""
    reads: tuple[int, ...] = ()
    releases: int | None = None
    escapes: tuple[int, ...] = ()
    names: tuple[tuple[int, int], ...] = ()
    chosen: tuple[int, int, int, int] | None = None
    """(new, condition, where true, where false), of arith.select."""
    known: tuple[int, bool] | None = None
    """A condition that is a constant."""
    negated: tuple[int, int] | None = None
    """(new, condition) of which one is the other's opposite."""
    made: tuple[Made, ...] = ()
    waits: tuple[int, ...] = ()
    """Timepoints that must have been reached before the step's work begins on the device."""
    reached: int | None = None
    """The timepoint of the step's work; it covers what was waited for and, of a step that works, the step itself."""
    works: bool = False
    """Whether it queues work that reads its names later, on the device."""
    host_waits: bool = False
    """Whether the host itself waits: all that is covered is done for everyone."""
    edges: list[Edge] = field(default_factory=list)

    def uses(self, with_releases: bool = True) -> Iterable[int]:
        yield from self.reads
        yield from self.escapes
        yield from (made.whole for made in self.made if made.whole is not None)
        if with_releases:
            yield from self.waits
            if self.releases is not None:
                yield self.releases


@dataclass
class Flow:
    """All steps; the first one is step 0. ``unknown`` lists ops whose part in the life of storage is not known."""

    steps: list[Step]
    names: int
    unknown: list[ir.Operation] = field(default_factory=list)
    followed: frozenset[str] = frozenset()
    """Functions whose calls were followed."""
    opposites: dict[int, int] = field(default_factory=dict)
    """Conditions of which one is true where the other is false."""

    def later_uses(self, with_releases: bool = True) -> list[int]:
        """For each step the set (bits) of names that it, or a step that it reaches, uses: what is alive before the step."""
        alive = [0] * len(self.steps)
        sources: list[list[int]] = [[] for _ in self.steps]
        for number, step in enumerate(self.steps):
            for edge in step.edges:
                sources[edge.to].append(number)
        pending, queued = list(range(len(self.steps))), [True] * len(self.steps)
        while pending:
            number = pending.pop()
            queued[number] = False
            before = _before(self.steps[number], alive, with_releases)
            if before != alive[number]:
                alive[number] = before
                for source in sources[number]:
                    if not queued[source]:
                        queued[source] = True
                        pending.append(source)
        return alive


def _before(step: Step, alive: list[int], with_releases: bool) -> int:
    live = 0
    for edge in step.edges:
        after, given = alive[edge.to], 0
        for new, old in edge.moves:
            if after >> new & 1:
                given |= 1 << old
        for new, _ in edge.moves:
            after &= ~(1 << new)
        after |= given
        if edge.when is not None and with_releases:
            after |= 1 << edge.when[0]
        live |= after
    for made in step.made:
        live &= ~(1 << made.name)
    plain = set(step.defines) - {new for new, _ in _named(step)} - {step.reached}
    for name in plain:
        live &= ~(1 << name)
    if step.reached is not None and live >> step.reached & 1:
        live &= ~(1 << step.reached)
        for waited in step.waits:
            live |= 1 << waited
    for new, olds in _named(step):
        if live >> new & 1:
            live &= ~(1 << new)
            for old in olds:
                live |= 1 << old
    for name in step.uses(with_releases):
        live |= 1 << name
    return live


def _named(step: Step) -> Iterable[tuple[int, tuple[int, ...]]]:
    for new, old in step.names:
        yield new, (old,)
    if step.chosen:
        yield step.chosen[0], step.chosen[1:]
    if step.negated:
        yield step.negated[0], step.negated[1:]
    if step.known:
        yield step.known[0], ()
