"""What `util.assume.int` states of a value."""

from __future__ import annotations

import re

from .conditions import Condition, all_of, at_most, equal
from .size_terms import Term, apply


def assumption(known: Term, text: str) -> Condition:
    """`#util.int.assumption<umin = 0, umax = 10, udiv = 2>`; the attribute has no accessors in Python."""
    parts: list[Condition] = []
    for name, number in re.findall(r"(umin|umax|udiv) = (\d+)", text):
        value = int(number)
        if name == "umin":
            parts.append(at_most(value, known))
        elif name == "umax":
            parts += [at_most(0, known), at_most(known, value)]
        elif value:
            parts.append(equal(apply("mod", known, value), 0))
    return all_of(parts)
