"""A program that NumPy evaluates: parsed, run by IREE up to where its ops are linalg's, and called with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from iree.compiler import ir

from .elements import element_of_type, round_to
from .interpreter import Interpreter, as_held
from .registry import NoWitness


class Program:
    """One MLIR module; `run` returns what a function of it computes.

    With ``declared`` every op rounds to its type, as compiled code may; without, floats are float64 until the program
    converts them. Integers are exact and wrap either way.
    """

    def __init__(self, module: ir.Operation) -> None:
        self._module = module

    def run(self, function: str, arguments: Sequence[np.ndarray], declared: bool = False) -> list[np.ndarray]:
        """The results, as they are held. `NoWitness` for what is not known here."""
        with self._module.context, np.errstate(all="ignore"):
            interpreter = Interpreter(self._module, declared)
            block = interpreter.functions[function].regions[0].blocks[0] if function in interpreter.functions else None
            if block is None:
                raise NoWitness(f"@{function}, which has no body")
            held = []
            for argument, array in zip(block.arguments, arguments):
                opaque = str(argument.type).startswith("!")
                held.append(np.asarray(array) if opaque else as_held(array, argument.type))
            held += [np.int64(0)] * (len(block.arguments) - len(held))
            results = interpreter.call(function, held)
        return [np.asarray(value) for value in results]
