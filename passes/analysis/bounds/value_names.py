"""What a person calls a value: the front end's name for it, the source's, or words."""

from __future__ import annotations

import linecache
import re

from iree.compiler import ir

from fissile.dialect import place_of, place_of_location

from .private_calls import FUNCTIONS
from .shaped_values import DESTINATION_STYLE, is_argument

REFLECTION = "iree.reflection"
LONGEST = 80
"""Characters of a name that a sentence takes."""
_LOOPS = {
    "scf.for": "the counter of the loop",
    "scf.forall": "a counter of the loop",
    "scf.while": "a value of the loop",
}


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
    line = linecache.getline(place.file, place.line)[place.column - 1 :] if place else ""
    if match := re.match(r"%[\w$.-]+", line):
        return match[0]
    if of_function:
        return f"argument {number}"
    where = place_of(owner) if owner is not None else None
    words = _LOOPS.get(owner.name, f"a value of {owner.name}") if owner is not None else "a value"
    return f"{words} in line {where.line}" if where and where.line else words


def _result(value: ir.Value) -> str:
    op, number = value.owner.operation, ir.OpResult(value).result_number
    if op.name in ("hal.tensor.import", "util.optimization_barrier") and number < len(op.operands):
        return name_of(op.operands[number])
    if op.name == "linalg.index":
        return f"loop index {ir.IntegerAttr(op.attributes['dim']).value}"
    place = place_of(op)
    line = linecache.getline(place.file, place.line) if place else ""
    if match := re.match(r"\s*(%[\w$.-]+)(?::\d+)?\s*(?:=|,)", line):
        return match[1] + (f"#{number}" if len(op.results) > 1 else "")
    if op.name == "tensor.extract":
        return f"an element of {name_of(op.operands[0])}"
    return f"the result of {op.name}" + (f" in line {place.line}" if place and place.line else "")


def where_of(value: ir.Value) -> str:
    """`line 14`, `line 14, column 7`: what tells values of one name apart; empty where the source says neither."""
    place = place_of_location(value.location) if is_argument(value) else place_of(value.owner.operation)
    if not place or not place.line:
        return ""
    return f"line {place.line}" + (f", column {place.column}" if place.column else "")


def front_end_name(function: ir.Operation, argument: ir.BlockArgument) -> str:
    """What the model's front end calls the argument: a name in its location, or in the function's declaration."""
    named = named_location(argument.location)
    if named:
        return named
    number = argument.arg_number
    text = str(function.attributes[REFLECTION]) if REFLECTION in function.attributes else ""
    declared = re.search(r"func @[^(]*\((.*?)\)\s*(?:->|\"|$)", text)
    names = re.findall(r"%([\w$.-]+):", declared[1]) if declared else []
    # IREE's own numbering says no more than the position does.
    if number < len(names) and not re.fullmatch(r"(?:input|arg)?\d+", names[number]):
        return names[number]
    return ""


def named_location(location: ir.Location) -> str:
    """The name that a front end gave a location (`loc("ids")`), empty where it has none."""
    found = re.match(r'loc\("((?:[^"\\]|\\.)+)"(?:\(|\)$)', str(location))
    name = found[1] if found else ""
    return "" if name in ("-", "<unknown>") or len(name) > LONGEST else name
