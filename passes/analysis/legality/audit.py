"""Every op that IREE cannot compile, in one run: compile, find the ops that fail alone, go on without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Place
from fissile.passes.containment import contained

from .boundary_types import BoundaryValue, refused_boundaries
from .compiler import Compiler, Outcome, text_of_module
from .cutting import cut, remove_functions
from .isolation import CannotIsolate, Isolated, is_constant, isolate
from .refused import Audit, Occurrence, Refused
from .scalars import scalar_to_blame
from .slices import named_units, smallest_refused
from .units import Unit, op_name, units
from .unranked import Unranked, unranked_values

MOST_ROUNDS = 12
"""How often the program is compiled without what was found so far."""
MOST_PROBES = 2000
"""Different ops that are compiled alone, of one program."""


@dataclass
class _Group:
    isolated: Isolated
    units: list[Unit] = field(default_factory=list)


def audit(
    compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str = "end", start: str = "start"
) -> Audit:
    """Compiles ``module``, which is changed, up to phase ``to``; where IREE stops, finds the ops that it refuses alone."""
    refused = [*_unknown(module)]
    outcomes: list[Outcome] = []
    boundaries: list[BoundaryValue] = []
    unranked: list[Unranked] = []
    for _round in range(MOST_ROUNDS):
        text = text_of_module(module, locations=True)
        outcomes.append(compiler.compile(text, flags, to, start, whole=True))
        if outcomes[-1].ok:
            break
        unranked = unranked or contained("values without a rank", lambda: unranked_values(module), [])
        found = _refused_alone(compiler, module, flags, outcomes[-1].failed, start)
        found = found or _named_by_message(module, outcomes[-1], start)
        refused += [one for one, _units in found]
        if found and cut(module, [unit for _one, group in found for unit in group]):
            continue
        types = contained(
            "types of arguments and results",
            partial(refused_boundaries, compiler, module, flags, outcomes[-1].failed, start),
            [],
        )
        boundaries += types
        if not types or not remove_functions(module, [value.function for value in types]):
            break
    if outcomes[-1].ok:
        refused += _dead(compiler, module, flags, to, start)
        return Audit(
            tuple(refused), outcomes[0], outcomes[-1], unranked=tuple(unranked), boundaries=tuple(boundaries)
        )
    part = contained(
        "the smallest part that fails",
        lambda: smallest_refused(compiler, module, outcomes[-1], flags, start),
        None,
    )
    unprobed = contained("ops that are not compiled alone", lambda: _unprobed(module), [])
    return Audit(
        tuple(refused), outcomes[0], outcomes[-1], part, tuple(unranked), tuple(boundaries), tuple(unprobed)
    )


def _unknown(module: ir.Operation) -> list[Refused]:
    """Ops that IREE's context has no definition of. They are taken out: dispatch creation crashes on them."""
    context = module.operation.context
    found: dict[tuple[str, str], list[Unit]] = {}
    for unit in units(module):
        if not unit.op.name.startswith("fissile.") and not context.is_registered_operation(unit.op.name):
            found.setdefault((unit.op.name, types_of(unit.op)), []).append(unit)
    refused = [
        Refused(name, types, occurrences(group), Outcome("start", "input"), None, unknown=True)
        for (name, types), group in found.items()
    ]
    cut(module, [unit for group in reversed(found.values()) for unit in reversed(group)])
    return refused


def _refused_alone(
    compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str, start: str
) -> list[tuple[Refused, list[Unit]]]:
    """The ops of ``module`` that IREE does not take alone to phase ``to``, although it takes a function of their types."""
    found = []
    for group in _groups(module)[:MOST_PROBES]:
        outcome = compiler.compile(group.isolated.text, flags, to, start)
        if not outcome.ok and compiler.compile(group.isolated.control, flags, to, start).ok:
            found.append((_described(compiler, group, outcome, flags, to, start), group.units))
    return found


def _named_by_message(module: ir.Operation, failed: Outcome, start: str) -> list[tuple[Refused, list[Unit]]]:
    """The op that IREE names, where it cannot be compiled alone: it reads or makes what no function takes, a list for example."""
    found = []
    for unit in named_units(list(units(module)), failed.text):
        if f"'{unit.op.name}'" in failed.message and _isolated(unit) is None:
            found.append(
                (Refused(unit.name, types_of(unit.op), occurrences([unit]), failed, None, start), [unit])
            )
    return found[:1]


def _dead(
    compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str, start: str
) -> list[Refused]:
    """Ops without a use that IREE would refuse if one were there."""
    groups = _groups(module, lambda unit: not _users(unit.op) and bool(unit.op.results))
    found = []
    for group in groups[:MOST_PROBES]:
        outcome = compiler.compile(group.isolated.text, flags, to, start)
        if not outcome.ok and compiler.compile(group.isolated.control, flags, to, start).ok:
            found.append(_described(compiler, group, outcome, flags, to, start))
    return found


def _described(
    compiler: Compiler, group: _Group, outcome: Outcome, flags: Sequence[str], to: str, start: str
) -> Refused:
    op = group.units[0].op
    inner = contained("the scalar op to blame", lambda: scalar_to_blame(compiler, op, flags, to), None)
    return Refused(
        group.units[0].name,
        types_of(op),
        occurrences(group.units),
        outcome,
        group.isolated,
        start,
        dies_unused=compiler.compile(group.isolated.unused, flags, to, start).ok,
        unused=not any(_users(unit.op) for unit in group.units),
        inner=inner,
    )


def _groups(module: ir.Operation, wanted: Callable[[Unit], bool] = lambda _unit: True) -> list[_Group]:
    """The ops of ``module`` that can be compiled alone; those whose programs read the same are one group."""
    groups: dict[str, _Group] = {}
    for unit in units(module):
        if is_constant(unit.op) or not wanted(unit):
            continue
        isolated = contained("an op alone", partial(_isolated, unit), None, about=unit.op)
        if isolated is not None:
            groups.setdefault(isolated.text, _Group(isolated)).units.append(unit)
    return list(groups.values())


def _unprobed(module: ir.Operation) -> list[tuple[str, Place | None]]:
    """The ops that cannot be compiled alone, because of what they read, make or refer to."""
    return [
        (unit.name, unit.place)
        for unit in units(module)
        if not is_constant(unit.op) and _isolated(unit) is None
    ]


def _isolated(unit: Unit) -> Isolated | None:
    try:
        return isolate(unit)
    except CannotIsolate:
        return None


def occurrences(group: Iterable[Unit]) -> tuple[Occurrence, ...]:
    return tuple(Occurrence(unit.place, tuple(_users(unit.op))) for unit in group)


def _users(op: ir.Operation) -> list[tuple[str, Place | None]]:
    found = []
    for result in op.results:
        for use in result.uses:
            user = use.owner.operation
            found.append((op_name(user), place_of(user)))
    return found


def types_of(op: ir.Operation) -> str:
    """`(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`."""
    results = ", ".join(str(result.type) for result in op.results)
    return f"({', '.join(str(value.type) for value in op.operands)}) -> {results or '()'}"
