"""One random small program: a chain of ops and its branches, over small tensors of several element types."""

from __future__ import annotations

import random

from . import control, data, tensor_ops
from .families import FAMILIES
from .program import FLOATS, INTEGERS, SIZES, SMALL, Program

KINDS = {**tensor_ops.KINDS, **control.KINDS, **data.KINDS, **FAMILIES}
"""A kind of ops, and what adds one to a program."""


def program(draw: random.Random, name: str = "main") -> tuple[str, list[str]]:
    """The text of a program of one to six ops, and their kinds: function ``name``, and those that it calls."""
    made = Program(draw, name)
    rank = draw.choice((1, 2, 2, 3, 4))
    made.argument(
        tuple(draw.choice(SIZES) for _ in range(rank)), draw.choice(FLOATS + INTEGERS + ("f32", "i8", *SMALL))
    )
    wanted, tries = draw.randrange(1, 7), 0
    while len(made.kinds) < wanted and tries < 60:
        tries += 1
        name = draw.choice(list(KINDS))
        usable = [value for value in made.values if value.shape]  # a scalar is a result, and no op's operand
        value = usable[-1] if draw.random() < 0.7 else draw.choice(usable)
        before = len(made.lines), len(made.arguments), list(made.values)
        if KINDS[name](made, value) is None:
            del made.lines[before[0] :], made.arguments[before[1] :]
            made.values = before[2]
        else:
            made.kinds.append(name)
    if not made.kinds:
        tensor_ops.unary(made, made.values[0])
    return made.text(), made.kinds
