"""Every op that IREE cannot compile, in one run: compile, find the ops that fail alone, go on without them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.containment import contained
from fissile.passes.progress import at_op, at_whole_program

from .boundary_types import BoundaryValue, nameless_boundaries, refused_boundaries
from .compiler import Compiler, Outcome, text_of_module
from .cutting import cut, remove_functions
from .isolation import CannotIsolate, Isolated, is_constant, isolate
from .nameless_elements import nameless_elements, shut_in
from .refused import Audit, InContext, Occurrence, Refused
from .scalars import scalar_to_blame
from .slices import named_units, smallest_refused
from .units import Unit, called_symbols, functions, is_private, op_name, units, value_types
from .unranked import Unranked, unranked_values

MOST_ROUNDS = 12
"""How often the program is compiled without what was found so far."""
MOST_PROBES = 2000
"""Different ops that are compiled alone, of one program."""
MOST_TOGETHER = 32
"""Of them, in one program."""
MOST_GROUPS = 128
"""Groups of functions, down to one, that are compiled without the others, after each of the rounds."""

T = TypeVar("T")


@dataclass
class _Group:
    isolated: Isolated
    units: list[Unit] = field(default_factory=list)


def audit(
    compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str = "end", start: str = "start"
) -> Audit:
    """Compiles ``module``, which is changed, up to phase ``to``; where IREE stops, finds the ops that it refuses alone."""
    used = _used(module)
    found = _audit(compiler, module, flags, to, start)
    return replace(found, refused=tuple(_as_used(one, used) for one in found.refused))


def _used(module: ir.Operation) -> set[tuple[str, Place]]:
    """The ops of ``module`` whose results have a use: that may be an op which is taken out before they are compiled alone."""
    return {(unit.name, place) for unit in units(module) if _users(unit.op) and (place := place_of(unit.op))}


def _as_used(one: Refused, used: Collection[tuple[str, Place]]) -> Refused:
    if not one.unused or not any((one.name, at.place) in used for at in one.occurrences):
        return one
    return replace(one, unused=False)


def _audit(compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str, start: str) -> Audit:
    refused = [*_unknown(module)]
    outcomes: list[Outcome] = []
    boundaries: list[BoundaryValue] = []
    unranked: list[Unranked] = []
    nameless: dict[str, Outcome] = {}
    in_context: list[InContext] = []
    without_rank: list[Unranked] = []
    for round_ in range(MOST_ROUNDS):
        text = text_of_module(module, locations=True)
        at_whole_program()
        outcomes.append(compiler.compile(text, flags, to, start, whole=True))
        if outcomes[-1].ok:
            break
        if not round_ and start == "start":
            nameless = _nameless(compiler, module, flags)
            boundaries += nameless_boundaries(module, nameless)
            if nameless and shut_in(module, nameless):
                continue
        unranked = unranked or contained("values without a rank", lambda: unranked_values(module), [])
        found = _refused_alone(compiler, module, flags, outcomes[-1].failed, start, nameless)
        found = found or _named_by_message(module, outcomes[-1], start)
        refused += [one for one, _units in found if not _is_known(one, refused)]
        if found and cut(module, [unit for _one, group in found for unit in group]):
            shut_in(module, nameless)
            continue
        types = contained(
            "types of arguments and results",
            partial(refused_boundaries, compiler, module, flags, outcomes[-1].failed, start),
            [],
        )
        boundaries += types
        if types and remove_functions(module, [value.function for value in types]):
            continue
        alone = contained(
            "functions alone", partial(_functions_alone, compiler, module, flags, to, start), {}
        )
        places = {text_of(one, "sym_name"): place_of(one) for one in functions(module)}
        for name, one in alone.items():
            refused += [other for other in one.refused if not _is_known(other, refused)]
            boundaries += one.boundaries
            without_rank += one.unranked if not one.rest.ok else ()
            if not one.rest.ok and not one.unranked and not one.is_explained:
                in_context.append(InContext(name, one.rest, one.part, one.unprobed, places[name]))
        if not alone or not remove_functions(module, alone):
            break
        if not functions(module):
            outcomes.append(Outcome(to))
            break
    if outcomes[-1].ok:
        refused += _dead(compiler, module, flags, to, start, nameless)
        return Audit(
            tuple(refused),
            outcomes[0],
            outcomes[-1],
            unranked=tuple(unranked),
            boundaries=tuple(boundaries),
            functions=tuple(in_context),
            without_rank=tuple(without_rank),
        )
    part = contained(
        "the smallest part that fails",
        lambda: smallest_refused(compiler, module, outcomes[-1], flags, start, nameless),
        None,
    )
    unprobed = contained("ops that are not compiled alone", lambda: _unprobed(module), [])
    return Audit(
        tuple(refused),
        outcomes[0],
        outcomes[-1],
        part,
        tuple(unranked),
        tuple(boundaries),
        tuple(unprobed),
        tuple(in_context),
        tuple(without_rank),
    )


def _functions_alone(
    compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str, start: str
) -> dict[str, Audit]:
    """Of ``module``'s public functions that no other calls, those that IREE refuses without the others; none where there is one function.

    Halves are compiled, then the halves of those that fail. Where MOST_GROUPS are not enough, functions that fail are left in the program.
    """
    called = called_symbols(module)
    names = [
        name
        for one in functions(module)
        if (name := text_of(one, "sym_name")) not in called and not is_private(one)
    ]
    found = {}
    groups = _halves(names)
    for _group in range(MOST_GROUPS):
        if not groups:
            break
        group = groups.pop()
        clone = module.clone()
        remove_functions(clone.operation, set(names).difference(group))
        if len(group) > 1:
            text = text_of_module(clone.operation, locations=True)
            groups += [] if compiler.compile(text, flags, to, start, whole=True).ok else _halves(group)
        elif not (one := audit(compiler, clone.operation, flags, to, start)).whole.ok:
            found[group[0]] = one
    return found


def _halves(items: list[T]) -> list[list[T]]:
    """The second half before the first; none of fewer than two."""
    middle = (len(items) + 1) // 2
    return [items[middle:], items[:middle]] if len(items) > 1 else []


def _nameless(compiler: Compiler, module: ir.Operation, flags: Sequence[str]) -> dict[str, Outcome]:
    return contained(
        "element types of arguments",
        lambda: nameless_elements(compiler, value_types(module), flags),
        {},
    )


def _unknown(module: ir.Operation) -> list[Refused]:
    """Ops that IREE's context has no definition of. They are taken out: dispatch creation crashes on them."""
    found: dict[tuple[str, str], list[Unit]] = {}
    for unit in units(module):
        if _is_unknown(unit.op):
            found.setdefault((unit.op.name, types_of(unit.op)), []).append(unit)
    refused = [
        Refused(name, types, occurrences(group), Outcome("start", "input"), None, unknown=True)
        for (name, types), group in found.items()
    ]
    cut(module, [unit for group in reversed(found.values()) for unit in reversed(group)])
    return refused


def _is_unknown(op: ir.Operation) -> bool:
    return not op.name.startswith("fissile.") and not op.context.is_registered_operation(op.name)


def _refused_alone(
    compiler: Compiler,
    module: ir.Operation,
    flags: Sequence[str],
    to: str,
    start: str,
    nameless: Collection[str] = (),
) -> list[tuple[Refused, list[Unit]]]:
    """The ops of ``module`` that IREE does not take alone to phase ``to``, although it takes a function of their types."""
    found = _failing(compiler, _groups(module, nameless)[:MOST_PROBES], flags, to, start)
    inside = _around([unit.op for group, _outcome in found for unit in group.units])
    return [
        (_described(compiler, group, outcome, flags, to, start, nameless), group.units)
        for group, outcome in found
        if not all(hash(unit.op) in inside for unit in group.units)
    ]


def _around(ops: Iterable[ir.Operation]) -> set[int]:
    """The ops, by hash, that one of ``ops`` is inside of: a loop is not to blame for what is in it."""
    found: set[int] = set()
    for op in ops:
        parent = op.parent
        while parent is not None:
            found.add(hash(parent.operation))
            parent = parent.operation.parent
    return found


def _is_known(one: Refused, refused: Iterable[Refused]) -> bool:
    """Whether ``one``, which only a message names, is among ``refused``: it could not be taken out."""
    known = ((other.name, [at.place for at in other.occurrences]) for other in refused)
    return one.probe is None and (one.name, [at.place for at in one.occurrences]) in known


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
    compiler: Compiler,
    module: ir.Operation,
    flags: Sequence[str],
    to: str,
    start: str,
    nameless: Collection[str],
) -> list[Refused]:
    """Ops without a use that IREE would refuse if one were there."""
    groups = _groups(module, nameless, lambda unit: not _users(unit.op) and bool(unit.op.results))
    return [
        _described(compiler, group, outcome, flags, to, start, nameless)
        for group, outcome in _failing(compiler, groups[:MOST_PROBES], flags, to, start)
    ]


def _failing(
    compiler: Compiler, groups: list[_Group], flags: Sequence[str], to: str, start: str
) -> list[tuple[_Group, Outcome]]:
    """Those of ``groups`` that IREE does not take to phase ``to``, although it takes a function of their types.

    MOST_TOGETHER are functions of one program, and its halves are compiled where it fails; each op alone where it dies, which costs a process every time.
    """
    found = []
    pending = [groups[i : i + MOST_TOGETHER] for i in range(0, len(groups), MOST_TOGETHER)][::-1]
    seen = 0
    while pending:
        some = pending.pop()
        at_op(seen + 1, len(groups), some[0].units[0].name)
        if len(some) > 1:
            text = contained("ops in groups", partial(_together, some), None)
            outcome = compiler.compile(text, flags, to, start) if text else Outcome("", to, died=True)
            if outcome.ok:
                seen += len(some)
            else:
                pending += [[one] for one in reversed(some)] if outcome.died else _halves(some)
            continue
        seen += 1
        isolated = some[0].isolated
        outcome = compiler.compile(isolated.text, flags, to, start)
        if not outcome.ok and compiler.compile(isolated.control, flags, to, start).ok:
            found.append((some[0], outcome))
    return found


def _together(groups: list[_Group]) -> str:
    """The programs of ``groups`` as functions of one."""
    context = groups[0].units[0].op.context
    with context, ir.Location.unknown(context):
        program = ir.Module.create()
        for number, group in enumerate(groups):
            for op in ir.Module.parse(group.isolated.text).body.operations:
                clone = op.operation.clone(ir.InsertionPoint(program.body))
                clone.attributes["sym_name"] = ir.StringAttr.get(f"{text_of(clone, 'sym_name')}{number}")
    return text_of_module(program.operation)


def _described(
    compiler: Compiler,
    group: _Group,
    outcome: Outcome,
    flags: Sequence[str],
    to: str,
    start: str,
    nameless: Collection[str],
) -> Refused:
    op = group.units[0].op
    inner = contained(
        "the scalar op to blame", lambda: scalar_to_blame(compiler, op, flags, to, nameless), None
    )
    return Refused(
        group.units[0].name,
        types_of(op),
        occurrences(group.units),
        outcome,
        group.isolated,
        start,
        unknown=inner is not None and not op.context.is_registered_operation(inner[0]),
        dies_unused=compiler.compile(group.isolated.unused, flags, to, start).ok,
        unused=not any(_users(unit.op) for unit in group.units),
        inner=inner,
    )


def _groups(
    module: ir.Operation,
    nameless: Collection[str],
    wanted: Callable[[Unit], bool] = lambda _unit: True,
) -> list[_Group]:
    """The ops of ``module`` that can be compiled alone; those whose programs read the same are one group."""
    groups: dict[str, _Group] = {}
    for unit in units(module):
        if is_constant(unit.op) or not wanted(unit) or _is_unknown(unit.op):
            continue
        isolated = contained("an op alone", partial(_isolated, unit, nameless), None, about=unit.op)
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


def _isolated(unit: Unit, nameless: Collection[str] = ()) -> Isolated | None:
    try:
        return isolate(unit, nameless)
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
