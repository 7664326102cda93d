"""A program of one op: the op with its operands' types, as text that IREE compiles."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import is_defined_inside
from fissile.dialect.attributes import attributes, text_of
from fissile.passes.analysis.imports.onnx_values import OPERATOR

from .compiler import text_of_module
from .nameless_elements import element_of, kept, value_from_nowhere
from .units import Unit, is_passable

LARGEST_CONSTANT = 4096
"""Characters of a constant's text that a probe takes along; a larger one becomes an argument."""
DEEPEST = 64
"""Ops that a probe takes along for the operands of its one op."""


@dataclass(frozen=True)
class Isolated:
    """``text`` has the op, with constants and what no function can take.

    ``control`` is a function of its types and without the op: where IREE refuses that as well, the op is not to blame.
    What has an element type that no function takes comes from nowhere in all of them, and goes nowhere.
    ``unused`` has the op and no use of its results.
    """

    text: str
    control: str
    unused: str


class CannotIsolate(Exception):
    """The op is not to be had alone; the message says why."""


def isolate(unit: Unit, nameless: Collection[str] = ()) -> Isolated:
    """``unit`` alone; ``nameless``: element types that no function takes. Raises CannotIsolate where it needs symbols, or values that no function can take or return."""
    return isolate_slice([unit.op], unit.function, nameless)


def isolate_slice(
    ops: Iterable[ir.Operation], function: ir.Operation, nameless: Collection[str] = ()
) -> Isolated:
    """``ops``, in program order, of ``function`` as a program whose arguments are what they read, and whose results are theirs."""
    wanted = [op.operation for op in ops]
    if any(_symbols(op) for op in wanted):
        raise CannotIsolate("it refers to a symbol")
    results = _read_outside(wanted)
    if not all(is_passable(result.type) for result in results):
        raise CannotIsolate("a result has a type that no function returns")
    taken = _with_constants(wanted)
    arguments = _arguments(taken)
    return Isolated(
        _program(taken, results, function, nameless),
        _control(arguments, results, function, nameless),
        _program(taken, [], function, nameless),
    )


def _read_outside(wanted: list[ir.Operation]) -> list[ir.Value]:
    """The results that other ops read; of one op alone, all that a function returns as well."""
    if len(wanted) == 1:
        return [r for r in wanted[0].results if is_passable(r.type) or next(iter(r.uses), None) is not None]
    inside = {hash(op) for op in wanted}
    found = []
    for op in wanted:
        for result in op.results:
            readers = [use.owner.operation for use in result.uses]
            if not readers or any(hash(reader) not in inside for reader in readers):
                found.append(result)
    return found


def _with_constants(wanted: list[ir.Operation]) -> list[ir.Operation]:
    """``wanted`` behind the constants they read, and the producers of values that no function takes."""
    ordered: list[ir.Operation] = []
    seen: set[int] = set()

    def take(op: ir.Operation, depth: int) -> None:
        if hash(op) in seen:
            return
        if depth > DEEPEST:
            raise CannotIsolate("its operands are computed in too many steps")
        seen.add(hash(op))
        for value in captured(op):
            producer = producer_of(value)
            if producer is not None and (is_constant(producer) or not is_passable(value.type)):
                take(producer, depth + 1)
        ordered.append(op)

    kept = {hash(op) for op in wanted}
    for op in wanted:
        take(op, 0)
    for op in ordered:
        if hash(op) not in kept and _symbols(op):
            raise CannotIsolate("an operand refers to a symbol")
    return ordered


def producer_of(value: ir.Value) -> ir.Operation | None:
    """The op that ``value`` is a result of; None for an argument of a block."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def is_constant(op: ir.Operation) -> bool:
    """Whether ``op`` computes from constants alone what a pattern may look at: numbers, lists of them, small tensors."""
    if len(op.operands) == 0:
        name = op.name.rsplit(".", 1)[-1]
        called = text_of(op, "name") if op.name == OPERATOR else op.name
        constant = "onstant" in called or name in ("const", "const_shape", "literal", "none", "empty")
        return constant and len(str(op)) <= LARGEST_CONSTANT
    if op.name == OPERATOR:
        return False
    return op.name.startswith(
        ("torch.prim.ListConstruct", "torch.prim.TupleConstruct", "linalg.fill")
    ) and all((made := producer_of(value)) is not None and is_constant(made) for value in op.operands)


def captured(op: ir.Operation) -> list[ir.Value]:
    """The values that ``op`` and the ops inside of it read from around it, each once."""
    found: list[ir.Value] = []
    seen: set[int] = set()

    def visit(inner: ir.Operation) -> ir.WalkResult:
        for value in inner.operands:
            if hash(value) not in seen and not is_defined_inside(value, op):
                seen.add(hash(value))
                found.append(value)
        return ir.WalkResult.ADVANCE

    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _symbols(op: ir.Operation) -> bool:
    """Whether ``op`` refers to a symbol of its module."""
    return any(isinstance(value, (ir.FlatSymbolRefAttr, ir.SymbolRefAttr)) for _name, value in attributes(op))


def _arguments(taken: list[ir.Operation]) -> list[ir.Value]:
    """What ``taken`` reads and does not make, each once. Raises CannotIsolate where no function takes it."""
    made = {hash(result) for op in taken for result in op.results}
    read = [value for op in taken for value in captured(op) if hash(value) not in made]
    for value in read:
        if not is_passable(value.type):
            raise CannotIsolate(f"it reads a value of type {value.type}")
    return list({hash(value): value for value in read}.values())


def _program(
    taken: list[ir.Operation], results: list[ir.Value], function: ir.Operation, nameless: Collection[str]
) -> str:
    arguments = _arguments(taken)
    passed = [value for value in arguments if element_of(value.type) not in nameless]
    returned = [value for value in results if element_of(value.type) not in nameless]
    module, block = _function([v.type for v in passed], [v.type for v in returned], function)
    values = {hash(value): block.arguments[i] for i, value in enumerate(passed)}
    at = ir.InsertionPoint(block)
    with function.context, ir.Location.unknown(function.context):
        for value in arguments:
            if hash(value) not in values:
                values[hash(value)] = value_from_nowhere(value.type, at)
    for op in taken:
        clone = op.clone(at)
        _rewire(clone, op, values)
        for before, after in zip(op.results, clone.operation.results, strict=True):
            values[hash(before)] = after
    with function.context, ir.Location.unknown(function.context):
        for value in results:
            if element_of(value.type) in nameless:
                kept(values[hash(value)], at)
    _return([values[hash(result)] for result in returned], block, function)
    return _printed(module)


def _rewire(clone: ir.Operation, op: ir.Operation, values: dict[int, ir.Value]) -> None:
    """Gives ``clone`` and the ops in it the values of the program it is in; `walk` meets both in the same order."""
    for before, after in zip(_walked(op), _walked(clone.operation), strict=True):
        for position, value in enumerate(before.operands):
            if hash(value) in values:
                after.operands[position] = values[hash(value)]


def _walked(root: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _control(
    arguments: list[ir.Value], results: list[ir.Value], function: ir.Operation, nameless: Collection[str]
) -> str:
    given = [v.type for v in arguments if element_of(v.type) not in nameless]
    types = [v.type for v in results if element_of(v.type) not in nameless]
    module, block = _function([*given, *types], types, function)
    _return(list(block.arguments)[len(given) :], block, function)
    return _printed(module)


def _function(
    arguments: list[ir.Type], results: list[ir.Type], like: ir.Operation
) -> tuple[ir.Module, ir.Block]:
    """A module with one function of the kind of ``like``, without its terminator."""
    context = like.context
    with context, ir.Location.unknown(context):
        module = ir.Module.create()
        given = {
            "sym_name": ir.StringAttr.get("op"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(arguments, results)),
        }
        given |= {name: value for name, value in attributes(like) if name.startswith("torch.")}
        function = ir.Operation.create(
            like.name, attributes=given, regions=1, ip=ir.InsertionPoint(module.body)
        )
        block = function.regions[0].blocks.append(*arguments)
        return module, block


def _return(values: list[ir.Value], block: ir.Block, function: ir.Operation) -> None:
    with function.context, ir.Location.unknown(function.context):
        ir.Operation.create(
            f"{function.name.split('.', 1)[0]}.return", operands=values, ip=ir.InsertionPoint(block)
        )


def _printed(module: ir.Module) -> str:
    return text_of_module(module.operation)
