"""A program that NumPy evaluates: parsed, run by IREE up to where its ops are linalg's, and called with arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from iree.compiler import ir

from fissile.passes.iree.ops import FRONT_END_DIALECTS
from fissile.passes.iree.phases import INPUT_CONVERTED_AT

from ...process.scratch import scratch
from ..any_order import AnyOrder
from ..build import compile_stock
from .interpreter import Interpreter, as_held
from .registry import NoWitness


@dataclass(frozen=True)
class Answer:
    """What a function computes. ``roundings`` and ``sums`` are `Interpreter`'s counts, by float type."""

    results: tuple[np.ndarray, ...]
    roundings: dict[str, int]
    sums: dict[str, int]
    loose: tuple[AnyOrder, ...] = ()


class Program:
    """One MLIR module; `run` returns what a function of it computes.

    With ``declared`` every op rounds to its type, as compiled code may; without, floats are float64 until the program
    converts them. Integers are exact and wrap either way.
    """

    def __init__(self, module: ir.Operation) -> None:
        self._module = module

    def functions(self) -> dict[str, ir.Operation]:
        """Those that have a body, by name."""
        return Interpreter(self._module).functions

    def run(self, function: str, arguments: Sequence[np.ndarray], declared: bool = False) -> Answer:
        """`NoWitness` for what is not known here."""
        with self._module.context, np.errstate(all="ignore"):
            interpreter = Interpreter(self._module, declared)
            if function not in interpreter.functions:
                raise NoWitness(f"@{function}, which has no body")
            held: list = []
            block = interpreter.functions[function].regions[0].blocks[0]
            for argument, array in zip(block.arguments, arguments, strict=False):
                opaque = str(argument.type).startswith("!")
                held.append(np.asarray(array) if opaque else as_held(array, argument.type))
            held += [np.int64(0)] * (len(block.arguments) - len(held))  # fences
            results = tuple(np.asarray(value) for value in interpreter.call(function, held))
        return Answer(results, interpreter.roundings, interpreter.sums, tuple(interpreter.returned))


def parse(source: Path, context: ir.Context) -> Program:
    """The program in ``source``, run by stock IREE to where its ops are linalg's if a front end's are in it.

    ``source`` is MLIR, text or bytecode, of any phase before dispatches are formed. `NoWitness` where IREE refuses it.
    """
    with context:
        try:
            module = ir.Module.parse(source.read_bytes())
        except ir.MLIRError as error:
            raise NoWitness(f"a program that does not parse: {str(error).splitlines()[0][:100]}") from None
        if not any(name.split(".")[0] in FRONT_END_DIALECTS for name in _names(module.operation)):
            return Program(module.operation)
    with scratch() as folder:
        converted = folder / "input.mlir"
        if refused := compile_stock(source, converted, [f"--compile-to={INPUT_CONVERTED_AT}"], timeout=60.0):
            raise NoWitness(refused.message)
        with context:
            return Program(ir.Module.parse(converted.read_bytes()).operation)


def _names(op: ir.Operation) -> Iterator[str]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation.name
                yield from _names(inner.operation)
