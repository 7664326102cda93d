"""Which function evaluates which op: one table, filled when the files of this package are imported."""

from __future__ import annotations

from collections.abc import Callable


class NoWitness(Exception):
    """The program has an op, a type or a value for which no answer is known; the message names it."""


Evaluator = Callable[..., list]
"""``(interpreter, op, operands) -> results``: arrays in, arrays out, one per result."""

EVALUATORS: dict[str, Evaluator] = {}


def evaluates(*names: str) -> Callable[[Evaluator], Evaluator]:
    """Registers a function for the ops of these names; a second one for the same op is an error."""

    def register(function: Evaluator) -> Evaluator:
        for name in names:
            if name in EVALUATORS:
                raise ValueError(f"{name} has two evaluators")
            EVALUATORS[name] = function
        return function

    return register
