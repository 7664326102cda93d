"""In which order do the passes of a pipeline chain, and with which passes added?"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from fissile.passes.catalogue import find_pass, is_known
from fissile.passes.definition import Contract, Property

from ..textual import Nest, PassCall
from .known import CHECKS, contract_of, establishers

MOST_STATES = 5000
"""The search ends without an answer after so many states: a pipeline of a dozen passes or less is decided."""
MOST_ADDED = 4
ADDED, MOVED, UNDONE = 10, 1, 3
"""What an order costs: for each pass added, for each pair of passes that change places, and for each property that the pipeline
as it was written leaves established and this one does not."""


@dataclass(frozen=True)
class _Step:
    """A pass in its nest: ``path`` are the anchors around it, outermost first."""

    call: PassCall
    path: tuple[str, ...]
    contract: Contract


_Reached = tuple[int, int, frozenset[int], frozenset[str], tuple[_Step, ...], bool]
"""Cost, a number that decides ties, the passes still to run, what does not hold, the order so far, and whether it is complete."""


def recommended_order(pipeline: Nest, holds: Callable[[Property], bool]) -> Nest | None:
    """The cheapest order of the passes of ``pipeline`` in which every requirement is met, with passes added where none of them
    establishes what is missing; None where there is none. ``holds`` says whether a property holds of the input."""
    steps = list(_steps(pipeline, ()))
    properties = {p.name: p for s in steps for p in (*s.contract.requires, *s.contract.invalidates)}
    makers = [
        _Step(PassCall(name), (pipeline.anchor,), contract_of(name).contract) for name in _makers(properties)
    ]
    wanted = {p.name for s in [*steps, *makers] for p in s.contract.requires}
    for maker in makers:
        properties.update({p.name: p for p in maker.contract.requires})
    broken = frozenset(name for name in wanted if not holds(properties[name]))
    kept = _after(steps, broken)
    order = _cheapest(steps, makers, broken, kept)
    return None if order is None else _nested(pipeline.anchor, order)


def _steps(nest: Nest, path: tuple[str, ...]) -> Iterator[_Step]:
    here = (*path, nest.anchor)
    for element in nest.body:
        if isinstance(element, Nest):
            yield from _steps(element, here)
        else:
            yield _Step(element, here, contract_of(element.name).contract)


def _makers(properties: dict[str, Property]) -> list[str]:
    """Passes of fissile's that establish one of ``properties`` and do so with no option set."""
    found = [name for prop in properties.values() for name in establishers(prop)]
    return [
        name
        for name in dict.fromkeys(found)
        if name not in CHECKS and is_known(name) and find_pass(name).anchor in ("builtin.module", "any")
    ]


def _apply(contract: Contract, broken: frozenset[str]) -> frozenset[str]:
    return (broken | {p.name for p in contract.invalidates}) - {p.name for p in contract.establishes}


def _after(steps: Sequence[_Step], broken: frozenset[str]) -> frozenset[str]:
    for step in steps:
        broken = _apply(step.contract, broken)
    return broken


def _cheapest(
    steps: Sequence[_Step], makers: Sequence[_Step], broken: frozenset[str], written: frozenset[str]
) -> list[_Step] | None:
    """Dijkstra's search over (passes still to run, properties that do not hold). ``written`` does not hold in the end as the
    pipeline is written."""
    tie = count()
    everything = frozenset(range(len(steps)))
    queue: list[_Reached] = [(0, next(tie), everything, broken, (), False)]
    seen: set[tuple[frozenset[int], frozenset[str], bool]] = set()
    while queue and len(seen) < MOST_STATES:
        cost, _, left, state, order, ended = heapq.heappop(queue)
        if ended:
            return list(order)
        if (left, state, ended) in seen:
            continue
        seen.add((left, state, ended))
        if not left:
            undone = UNDONE * len(state - written)
            heapq.heappush(queue, (cost + undone, next(tie), left, state, order, True))
        for index in sorted(left):
            step = steps[index]
            if not state & {p.name for p in step.contract.requires}:
                passed = sum(1 for other in left if other < index)
                after = _apply(step.contract, state)
                heapq.heappush(
                    queue,
                    (cost + MOVED * passed, next(tie), left - {index}, after, (*order, step), False),
                )
        if len(order) - (len(steps) - len(left)) < MOST_ADDED:
            needed = {p.name for i in left for p in (*steps[i].contract.requires,)}
            needed |= {p.name for m in makers for p in m.contract.requires}
            for maker in makers:
                after = _apply(maker.contract, state)
                if (state - after) & needed and not state & {p.name for p in maker.contract.requires}:
                    heapq.heappush(queue, (cost + ADDED, next(tie), left, after, (*order, maker), False))
    return None


def _nested(anchor: str, order: Sequence[_Step]) -> Nest:
    """The pipeline that runs ``order``; neighbours in the same nest share it."""
    body: list[PassCall | Nest] = []
    for step in order:
        element: PassCall | Nest = step.call
        for around in reversed(step.path[1:]):
            element = Nest(around, (element,))
        last = body[-1] if body else None
        if isinstance(element, Nest) and isinstance(last, Nest) and last.anchor == element.anchor:
            body[-1] = replace(last, body=_joined(last.body, element.body))
        else:
            body.append(element)
    return Nest(anchor, tuple(body))


def _joined(
    left: tuple[PassCall | Nest, ...], right: tuple[PassCall | Nest, ...]
) -> tuple[PassCall | Nest, ...]:
    first = right[0]
    if isinstance(first, Nest) and isinstance(left[-1], Nest) and left[-1].anchor == first.anchor:
        return (*left[:-1], replace(left[-1], body=_joined(left[-1].body, first.body)), *right[1:])
    return (*left, *right)
