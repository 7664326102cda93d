"""What a person calls a value."""

from __future__ import annotations

import linecache
import re

from iree.compiler import ir

from fissile.dialect import place_of, place_of_location

from .shaped_values import DESTINATION_STYLE, is_argument


def name_of(value: ir.Value) -> str:
    """The name that the source gives ``value``, or words for it."""
    if is_argument(value):
        argument = ir.BlockArgument(value)
        place = place_of_location(value.location)
        line = linecache.getline(place.file, place.line)[place.column - 1 :] if place else ""
        owner = argument.owner.owner
        if owner is not None and owner.operation.name.startswith(DESTINATION_STYLE):
            # A linalg op's body has an argument for each operand; a scatter's, an attention's have others.
            each = len(argument.owner.arguments) == len(owner.operation.operands)
            return f"an element of {name_of(owner.operation.operands[argument.arg_number])}" if each else f"a value in {owner.operation.name}"
        match = re.match(r"%[\w$.-]+", line)
        return match[0] if match else f"argument {argument.arg_number}"
    op = value.owner.operation
    if op.name == "hal.tensor.import":
        return name_of(op.operands[0])
    if op.name == "linalg.index":
        return f"loop index {ir.IntegerAttr(op.attributes['dim']).value}"
    place = place_of(op)
    match = (
        re.match(r"\s*(%[\w$.-]+)(?::\d+)?\s*(?:=|,)", linecache.getline(place.file, place.line))
        if place
        else None
    )
    number = ir.OpResult(value).result_number
    if match:
        return match[1] + (f"#{number}" if len(op.results) > 1 else "")
    return f"the result of {op.name}" + (f" in line {place.line}" if place and place.line else "")
