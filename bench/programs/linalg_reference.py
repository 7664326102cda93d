"""What a linalg program computes, by NumPy in float64: the product's witness, as a function of arrays."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from iree.compiler import ir
from iree.compiler.api import Session

from fissile.pipelines.numerics.witness.program import parse
from fissile.pipelines.numerics.witness.registry import NoWitness as NotEvaluated
from fissile.pipelines.numerics.witness.views import loop_ranges, maps_of

__all__ = ["NotEvaluated", "Program"]


class Program:
    """One MLIR file with one function; call it with one array per argument to get the list of its results."""

    def __init__(self, path: Path) -> None:
        self._session = Session()
        self._program = parse(Path(path), self._session.context)
        functions = self._program.functions()
        if len(functions) != 1:
            raise NotEvaluated(f"{len(functions)} functions")
        (self._name,) = functions

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        return list(self._program.run(self._name, inputs).results)

    def work(self) -> int:
        """Loop iterations of all its structured ops: multiply-and-adds for a convolution or matmul.

        An op with a size that only the run knows counts as none.
        """
        with self._session.context:
            return sum(
                _iterations(op.operation)
                for op in self._program.functions()[self._name].regions[0].blocks[0].operations
            )


def _iterations(op: ir.Operation) -> int:
    if not op.name.startswith("linalg."):
        return 0
    try:
        shapes = [
            ir.ShapedType(v.type).shape if isinstance(v.type, ir.ShapedType) else () for v in op.operands
        ]
        if any(ir.ShapedType.is_dynamic_size(size) for shape in shapes for size in shape):
            return 0
        return math.prod(loop_ranges(maps_of(op), [np.broadcast_to(0, shape) for shape in shapes]))
    except NotEvaluated:
        return 0
