"""What a person calls a value: the front end's name for it, the source's, or words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from iree.compiler import ir

from fissile.dialect import place_of, place_of_location
from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.pipelines import PORTABLE

from ..program.private_calls import FUNCTIONS
from ..program.source_lines import line_at
from .shaped_values import DESTINATION_STYLE, is_argument

REFLECTION, DECLARATION = "iree.reflection", "iree.abi.declaration"
NAMES = "fissile.argument_names"
"""On a function, while it is judged: what its source called its arguments (`declared_names`)."""
ASYNC_SUFFIX = "$async"
"""What IREE's torch input conversion appends to the name that a caller uses."""
JAX_NAME, TF_NAMES = "jax.arg_info", "tf.entry_function"
LONGEST = 80
"""Characters of a name that a sentence takes."""
_COUNTERS = {
    "scf.for": lambda _: 1,
    "scf.forall": lambda op: len(op.regions[0].blocks[0].arguments) - len(op.results),
    "scf.while": lambda _: 0,
}
"""How many counters stand in front of the iteration arguments (MLIR's iter_args) of a loop's body."""


def name_of(value: ir.Value) -> str:
    """`ids (argument 1)` where the front end named it, `%ids` where the text does, else words such as `argument 1`."""
    return _argument(ir.BlockArgument(value)) if is_argument(value) else _result(value)


def _argument(argument: ir.BlockArgument) -> str:
    owner = argument.owner.owner.operation if argument.owner.owner is not None else None
    number = argument.arg_number
    if owner is not None and owner.name.startswith(DESTINATION_STYLE):
        # A linalg op's body has an argument for each operand; a scatter's, an attention's have others.
        if len(argument.owner.arguments) != len(owner.operands):
            return f"a value in {owner.name}"
        return f"an element of {name_of(owner.operands[number])}"
    of_function = (
        owner is not None and owner.name in FUNCTIONS and argument.owner == owner.regions[0].blocks[0]
    )
    named = front_end_name(owner, argument) if of_function else named_location(argument.location)
    if named:
        return f"{named} (argument {number})" if of_function else named
    place = place_of_location(argument.location)
    line = line_at(place)[place.column - 1 :] if place else ""
    if match := re.match(r"%[\w$.-]+", line):
        return match[0]
    if of_function:
        return f"argument {number}"
    where = place_of(owner) if owner is not None else None
    words = _argument_of_body(owner, argument) if owner is not None else "a value"
    return f"{words} in line {where.line}" if where and where.line else words


def _argument_of_body(owner: ir.Operation, argument: ir.BlockArgument) -> str:
    if owner.name not in _COUNTERS:
        return f"a value of {owner.name}"
    counters, number = _COUNTERS[owner.name](owner), argument.arg_number
    words, number = ("counter", number) if number < counters else ("iteration argument", number - counters)
    alike = counters if words == "counter" else len(argument.owner.arguments) - counters
    return f"the {words} of the loop" if alike == 1 else f"{words} {number} of the loop"


def _result(value: ir.Value) -> str:
    op, number = value.owner.operation, ir.OpResult(value).result_number
    if op.name in (iree_ops.HAL_TENSOR_IMPORT, iree_ops.UTIL_OPTIMIZATION_BARRIER) and number < len(
        op.operands
    ):
        return name_of(op.operands[number])
    if op.name == "linalg.index":
        return f"loop index {ir.IntegerAttr(op.attributes['dim']).value}"
    place = place_of(op)
    line = line_at(place)
    if place and (match := re.match(r"\s*(%[\w$.-]+)(?::\d+)?\s*(?:=|,)", line)):
        named = match[1] + (f"#{number}" if len(op.results) > 1 else "")
        return named if written_as(op) == op.name or not _is_inner(value, place) else _part_of(op, named)
    if op.name == "tensor.extract":
        return f"an element of {name_of(op.operands[0])}"
    return f"the result of {op.name}" + (f" in line {place.line}" if place and place.line else "")


def written_as(op: ir.Operation) -> str:
    """What the source has where ``op`` stands: the op of a front end that it was made of, or its own name."""
    place = place_of(op)
    line = line_at(place)[place.column - 1 :] if place and place.column else ""
    if op.name in line or op.name.rpartition(".")[2] in line:
        return op.name
    found = re.match(r"%[^=]*=\s*(?:torch\.operator\s+)?\"?([a-z_]+\.[\w.]+)|\"?([a-z_]+\.[\w.]+)", line)
    if found is None:
        return op.name
    if operator := re.match(r'torch\.operator\s+"([\w.]+)"', line[found.start(1) if found[1] else 0 :]):
        return operator[1]
    return found[1] or found[2]


def _is_inner(value: ir.Value, place: Place) -> bool:
    """Whether an op that was made of the same one in the source goes on with ``value``: that has another name then."""
    return any(place_of(use.owner.operation) == place for use in value.uses)


def _part_of(op: ir.Operation, named: str) -> str:
    """What a front end's op, whose result the source calls ``named``, computes on the way to it."""
    if op.name == "arith.constant":
        return f"a constant of {named}"
    given = _given(op)
    return f"what {named} computes from {name_of(given[0])}" if len(given) == 1 else f"what {named} computes"


def _given(op: ir.Operation) -> list[ir.Value]:
    """The tensors that the front end's op reads, of which ``op`` and its like were made."""
    place, found, pending, seen = place_of(op), [], [op], {op}
    while pending:
        for value in pending.pop().operands:
            if is_argument(value) or place_of(value.owner.operation) != place:
                if isinstance(value.type, ir.RankedTensorType) and value not in found:
                    found.append(value)
            elif value.owner.operation not in seen:
                seen.add(value.owner.operation)
                pending.append(value.owner.operation)
    return found


def where_of(value: ir.Value) -> str:
    """`line 14`, `line 14, column 7`: what tells values of one name apart; empty where the source says neither."""
    place = place_of_location(value.location) if is_argument(value) else place_of(value.owner.operation)
    if not place or not place.line:
        return ""
    return f"line {place.line}" + (f", column {place.column}" if place.column else "")


def front_end_name(function: ir.Operation, argument: ir.BlockArgument) -> str:
    """What the model's front end calls the argument: a name in its location, or in the function's declaration."""
    if named := named_location(argument.location):
        return named
    if NAMES in function.attributes:
        names = [ir.StringAttr(name).value for name in ir.ArrayAttr(function.attributes[NAMES])]
    else:
        names = _declared(function)
    return names[argument.arg_number] if argument.arg_number < len(names) else ""


def declared_names(module: ir.Operation) -> dict[str, tuple[str, ...]]:
    """What the functions of ``module``, as it was parsed, declare as the names of their arguments; empty where they have
    none. IREE's input conversion drops most of them."""
    found: dict[str, tuple[str, ...]] = {}
    for region in module.regions:
        for block in region.blocks:
            for op in block.operations:
                portable = op.operation.name.startswith(PORTABLE)  # what it says is read when it is StableHLO
                if "sym_name" in op.attributes and not portable and any(names := _declared(op.operation)):
                    found[text_of(op.operation, "sym_name")] = tuple(names)
    return found


@contextmanager
def naming(module: ir.Operation, declared: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """The functions of ``module`` have the names ``declared`` for their arguments meanwhile; the module is as before then."""
    named: list[ir.Operation] = []
    for region in module.regions if declared else ():
        for block in region.blocks:
            for op in block.operations:
                name = (
                    text_of(op.operation, "sym_name").removesuffix(ASYNC_SUFFIX)
                    if "sym_name" in op.attributes
                    else ""
                )
                if name in declared:
                    with module.context:
                        names = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in declared[name]])
                    op.operation.attributes[NAMES] = names
                    named.append(op.operation)
    try:
        yield
    finally:
        for op in named:
            del op.attributes[NAMES]


def _declared(function: ir.Operation) -> list[str]:
    text = str(function.attributes[REFLECTION]) if REFLECTION in function.attributes else ""
    if DECLARATION in function.attributes:
        text = str(function.attributes[DECLARATION])
    if declared := re.search(r"func @[^(]*\((.*?)\)\s*(?:->|\\?\"|$)", text):
        return [_of_a_person(name) for name in re.findall(r"%([\w$.-]+):", declared[1])]
    if TF_NAMES in function.attributes and (
        inputs := re.search(r'inputs = "([^"]*)"', str(function.attributes[TF_NAMES]))
    ):
        return [_of_a_person(name.partition(":")[0]) for name in inputs[1].split(",")]
    if "arg_attrs" in function.attributes:
        return [_of_jax(attribute) for attribute in ir.ArrayAttr(function.attributes["arg_attrs"])]
    return []


def _of_jax(attribute: ir.Attribute) -> str:
    attributes = ir.DictAttr(attribute)
    return _of_a_person(ir.StringAttr(attributes[JAX_NAME]).value) if JAX_NAME in attributes else ""


def _of_a_person(name: str) -> str:
    """``name``, unless it is IREE's own numbering, which says no more than the position does."""
    return "" if re.fullmatch(r"(?:input|arg)?\d+", name) or len(name) > LONGEST else name


def named_location(location: ir.Location) -> str:
    """The name that a front end gave a location (`loc("ids")`), empty where it has none."""
    found = re.match(r'loc\("((?:[^"\\]|\\.)+)"(?:\(|\)$)', str(location))
    name = found[1] if found else ""
    return "" if name in ("-", "<unknown>") or len(name) > LONGEST else name
