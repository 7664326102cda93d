"""What may become of storage: every way through a program is walked, with the names that are still needed.

A state says which name stands for which piece of storage, whether each piece lives, and which conditions are decided. States
that agree in all that is used later are one, so a walk ends: there are only finitely many.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from fissile.quantity import Bytes, total

from .steps import Edge, Flow, Origin, Step

MOST_STATES = 20000
LIVES, RELEASED = -1, 0


class Fault(Enum):
    LEAK = "never released"
    TWICE = "released twice"
    AFTER = "used after release"
    UNORDERED = "released while it may be in use"
    CONSTANT = "a constant is released"


@dataclass(frozen=True)
class Trouble:
    """``fault`` of the storage that step ``made`` makes, seen at step ``at``; ``other``: the release, or the last use.

    ``always``: on every way that gets there. ``way``: the decisions (step, condition holds) that the shortest way to it takes
    once the storage is made.
    """

    fault: Fault
    made: int
    at: int
    other: int | None = None
    always: bool = True
    way: tuple[tuple[int, bool], ...] = ()


@dataclass(frozen=True)
class Moment:
    """Bytes that live at step ``at``, and those of them that are still needed; ``held`` lists the steps that made them."""

    at: int
    live: Bytes
    needed: Bytes
    held: tuple[int, ...]
    needed_by: tuple[int, ...] = ()


@dataclass
class Walk:
    """All that was seen. ``complete`` is False where there are too many states to see all."""

    troubles: list[Trouble]
    moments: dict[int, Moment]
    released: set[int]
    """Steps whose storage some way releases."""
    complete: bool = True

    @property
    def peak(self) -> Moment:
        """The moment at which most bytes are alive. Only where there are moments."""
        return max(
            self.moments.values(),
            key=lambda m: (m.live.value is None, m.live.value or 0, -m.at),
        )

    @property
    def bound(self) -> Moment:
        """The moment at which most bytes are needed. Only where there are moments."""
        return max(
            self.moments.values(),
            key=lambda m: (m.needed.value is None, m.needed.value or 0, -m.at),
        )


@dataclass(frozen=True)
class _Piece:
    """One piece of storage. ``ended``: LIVES, or the step that released it plus 1."""

    made: int
    part: int
    """Which of the step's pieces it is."""
    origin: Origin
    ended: int = LIVES
    kept: bool = False
    """Whether it has left the function, or may have: then nobody here has to release it."""
    whole: int | None = None
    last: int = 0
    """The last step that used it; not part of what tells states apart."""
    queued: frozenset[int] = frozenset()
    """Steps whose work on the device may still read or write it."""
    since: int = 0
    """How many decisions had been made when it was made."""


@dataclass
class _State:
    names: dict[int, int]
    pieces: list[_Piece]
    known: dict[int, bool]
    covers: dict[int, frozenset[int]]
    done: frozenset[int] = frozenset()
    way: tuple = ()

    @property
    def decisions(self) -> int:
        return self.way[3] if self.way else 0


@dataclass
class _Seen:
    """How many ways came to a step with a fault, and with none."""

    troubles: dict[tuple, Trouble] = field(default_factory=dict)
    bad: dict[tuple, int] = field(default_factory=dict)
    all: dict[int, int] = field(default_factory=dict)


def walk(flow: Flow, most_states: int = MOST_STATES) -> Walk:
    """Walks every way through ``flow``, each state of a step once."""
    return _Walker(flow).run(most_states)


class _Walker:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.alive = flow.later_uses()
        self.needed = flow.later_uses(with_releases=False)
        self.seen = _Seen()
        self.moments: dict[int, Moment] = {}
        self.most: dict[int, tuple[float, float]] = {}
        """The bytes of each moment, as numbers that can be compared."""
        self.sizes = {(at, m.name): m.bytes for at, step in enumerate(flow.steps) for m in step.made}
        self.counts = {
            piece: math.inf if size.value is None else size.value for piece, size in self.sizes.items()
        }
        self.released: set[int] = set()
        self.clean: set[tuple[int, int]] = set()

    def run(self, most_states: int) -> Walk:
        known: list[set] = [set() for _ in self.flow.steps]
        pending = deque([(0, _State({}, [], {}, {}))])
        count, complete = 0, True
        while pending:
            at, state = pending.popleft()  # the shortest ways first
            key = _key(state)
            if key in known[at]:
                continue
            known[at].add(key)
            count += 1
            if count > most_states:
                complete = False
                break
            step = self.flow.steps[at]
            if step.chosen and step.chosen[1] not in state.known:
                pending.extend((at, _decided(state, at, step.chosen[1], holds)) for holds in (True, False))
                continue
            self.do(at, step, state)
            if not step.edges:
                self.lost(at, state, 0)
            for edge in step.edges:
                if (after := self.follow(at, edge, state)) is not None:
                    pending.append((edge.to, after))
        return Walk(self.troubles(), self.moments, self.released, complete)

    def troubles(self) -> list[Trouble]:
        found = []
        for key, trouble in self.seen.troubles.items():
            if trouble.fault is Fault.LEAK:
                always = trouble.made not in self.released and (trouble.made, -1) not in self.clean
            else:
                always = self.seen.bad[key] == self.seen.all.get(trouble.at, 0)
            found.append(Trouble(trouble.fault, trouble.made, trouble.at, trouble.other, always, trouble.way))
        return found

    # One step

    def do(self, at: int, step: Step, state: _State) -> None:
        self.seen.all[at] = self.seen.all.get(at, 0) + 1
        for name in step.waits:
            if step.host_waits:
                state.done |= state.covers.get(name, frozenset())
        for name in step.defines:
            state.known.pop(name, None)
        reach = frozenset().union(*(state.covers.get(name, frozenset()) for name in step.waits))
        used = (*step.reads, *step.escapes, *(m.whole for m in step.made if m.whole is not None))
        for name in dict.fromkeys(used):
            self.use(at, step, state, name)
        for made in step.made:
            whole = state.names.get(made.whole) if made.whole is not None else None
            state.pieces.append(
                _Piece(at, made.name, made.origin, whole=whole, last=at, since=state.decisions)
            )
            state.names[made.name] = len(state.pieces) - 1
        self.measure(at, step, state)
        if step.releases is not None:
            self.release(at, state, step.releases, reach)
        for name in step.escapes:
            self.keep(state, state.names.get(name))
        for new, old in step.names:
            _assign(state.names, new, state.names.get(old))
        if step.chosen:
            self.choose(step.chosen, state)
        if step.known:
            state.known[step.known[0]] = step.known[1]
        if step.negated and step.negated[1] in state.known:
            state.known[step.negated[0]] = not state.known[step.negated[1]]
        if step.reached is not None:
            state.covers[step.reached] = reach | ({at} if step.works else frozenset())

    def use(self, at: int, step: Step, state: _State, name: int) -> None:
        for number in _chain(state, state.names.get(name)):
            piece = state.pieces[number]
            if piece.ended != LIVES:
                self.report(Fault.AFTER, piece, at, piece.ended - 1, state)
            queued = piece.queued | {at} if step.works else piece.queued
            state.pieces[number] = _with(piece, last=at, queued=queued)

    def release(self, at: int, state: _State, name: int, reach: frozenset[int]) -> None:
        number = state.names.get(name)
        if number is None:
            return
        piece = state.pieces[number]
        self.released.add(piece.made)
        over = next((state.pieces[n] for n in _chain(state, number) if state.pieces[n].ended != LIVES), None)
        if over is not None:
            self.report(Fault.TWICE, over, at, over.ended - 1, state)
        elif piece.origin in (Origin.CONSTANT, Origin.STACK):
            self.report(Fault.CONSTANT, piece, at, None, state)
        elif left := sorted(piece.queued - reach - state.done):
            self.report(Fault.UNORDERED, piece, at, left[-1], state)
        state.pieces[number] = _with(piece, ended=at + 1, last=at)

    def keep(self, state: _State, number: int | None) -> None:
        for one in _chain(state, number):
            state.pieces[one] = _with(state.pieces[one], kept=True)
            self.clean.add((state.pieces[one].made, -1))

    @staticmethod
    def choose(chosen: tuple[int, int, int, int], state: _State) -> None:
        new, condition, where_true, where_false = chosen
        tables: tuple[dict[int, Any], ...] = (state.names, state.known, state.covers)
        for table in tables:
            table.pop(new, None)
        if condition in state.known:
            old = where_true if state.known[condition] else where_false
            for table in tables:
                if old in table:
                    table[new] = table[old]

    # One edge

    def follow(self, at: int, edge: Edge, state: _State) -> _State | None:
        known, way = dict(state.known), state.way
        if edge.when is not None:
            name, holds = edge.when
            if known.setdefault(name, holds) != holds:
                return None
            if (opposite := self.flow.opposites.get(name)) is not None:
                known.setdefault(opposite, not holds)
            way = (way, at, holds, state.decisions + 1) if name not in state.known else way
        after = _State(dict(state.names), list(state.pieces), known, dict(state.covers), state.done, way)
        tables: tuple[tuple[dict[int, Any], dict[int, Any]], ...] = (
            (after.names, state.names),
            (after.known, known.copy()),
            (after.covers, state.covers),
        )
        for table, old_table in tables:
            for new, _ in edge.moves:
                table.pop(new, None)
            for new, old in edge.moves:
                if old in old_table:
                    table[new] = old_table[old]
        self.lost(at, after, self.alive[edge.to])
        return after

    def lost(self, at: int, state: _State, alive: int) -> None:
        """Forgets what is not used from here on, and reports storage that lives on without a name."""
        state.names = {name: piece for name, piece in state.names.items() if alive >> name & 1}
        state.known = {name: value for name, value in state.known.items() if alive >> name & 1}
        state.covers = {name: value for name, value in state.covers.items() if alive >> name & 1}
        order: dict[int, None] = {}  # a set that keeps its order
        for name in sorted(state.names):
            one: int | None = state.names[name]
            while one is not None:
                order[one] = None
                one = state.pieces[one].whole
        for number, piece in enumerate(state.pieces):
            if (
                number not in order
                and piece.origin is Origin.OWNED
                and piece.ended == LIVES
                and not piece.kept
            ):
                self.report(Fault.LEAK, piece, at, piece.last, state)
        place = {number: new for new, number in enumerate(order)}
        pieces = [state.pieces[number] for number in order]
        state.pieces = [_with(p, whole=place[p.whole]) if p.whole is not None else p for p in pieces]
        state.names = {name: place[number] for name, number in state.names.items()}

    def report(self, fault: Fault, piece: _Piece, at: int, other: int | None, state: _State) -> None:
        key = (fault, piece.made, at) if fault is not Fault.LEAK else (fault, piece.made)
        self.seen.bad[key] = self.seen.bad.get(key, 0) + 1
        way = tuple(_decisions(state.way)[piece.since :])
        before = self.seen.troubles.get(key)
        if before is None or len(way) < len(before.way):
            self.seen.troubles[key] = Trouble(fault, piece.made, at, other, True, way)

    # Bytes

    def measure(self, at: int, step: Step, state: _State) -> None:
        """The bytes that live while ``step`` runs, and those that it or a later step needs."""
        live = [p.ended == LIVES and p.origin is Origin.OWNED for p in state.pieces]
        if True not in live:
            return
        wanted = self.needed[at]
        for edge in step.edges:
            wanted |= self.needed[edge.to]
        needed: set[int] = set()
        for name, one in state.names.items():
            held: int | None = one if wanted >> name & 1 else None
            while held is not None:
                needed.add(held)
                held = state.pieces[held].whole
        held_now = [p for p, lives in zip(state.pieces, live, strict=True) if lives]
        still = [state.pieces[number] for number in sorted(needed) if live[number]]
        now = self.sum_of(held_now), self.sum_of(still)
        before = self.most.get(at)
        if before is None or now > before:
            self.most[at] = now
            self.moments[at] = Moment(
                at,
                total([self.sizes[p.made, p.part] for p in held_now]),
                total([self.sizes[p.made, p.part] for p in still]),
                tuple([p.made for p in held_now]),
                tuple([p.made for p in still]),
            )

    def sum_of(self, pieces: list[_Piece]) -> float:
        """The bytes of ``pieces``; more than any number where one is unknown."""
        return sum([self.counts[piece.made, piece.part] for piece in pieces])


def _decided(state: _State, at: int, condition: int, holds: bool) -> _State:
    way = (state.way, at, holds, state.decisions + 1)
    return _State(
        dict(state.names),
        list(state.pieces),
        {**state.known, condition: holds},
        dict(state.covers),
        state.done,
        way,
    )


def _chain(state: _State, number: int | None) -> Iterator[int]:
    """A piece and what it is a part of."""
    while number is not None:
        yield number
        number = state.pieces[number].whole


def _assign(table: dict, new: int, value) -> None:
    if value is None:
        table.pop(new, None)
    else:
        table[new] = value


def _with(piece: _Piece, **changes) -> _Piece:
    return _Piece(**{**piece.__dict__, **changes})


def _key(state: _State) -> tuple:
    # What one step makes has one origin, which need not stand here. An enum's hash is slow.
    pieces = tuple([(p.made, p.ended, p.kept, p.whole, p.queued) for p in state.pieces])
    known = frozenset(state.known.items())
    return frozenset(state.names.items()), pieces, known, frozenset(state.covers.items()), state.done


def _decisions(way: tuple) -> list[tuple[int, bool]]:
    found = []
    while way:
        way, at, holds, _ = way
        found.append((at, holds))
    return found[::-1]
