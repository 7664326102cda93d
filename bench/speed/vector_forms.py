"""Products of a vector and a transposed matrix, as of a linear layer with one row: FIS213.

    python -m bench.speed.vector_forms FOLDER   # writes the programs
    python -m bench.speed.fusion_tune FOLDER    # stock against a product that reads the matrix as it is

Names say the element type, the rows and columns of the matrix, and `batch` where there are eight of them: ``f32_1024x4096``.
"""

from __future__ import annotations

import sys
from itertools import product

from bench.programs.program_files import write_programs

SIZES = ((64, 64), (128, 128), (256, 256), (512, 512), (1024, 1024), (2048, 2048), (1024, 4096), (4096, 1024))
KEPT = {"f32": "f32", "f16": "f32", "bf16": "f32", "i8": "i32"}
BATCH = 8


def vector_product(element: str, rows: int, columns: int, batched: bool = False) -> str:
    kept, many = KEPT[element], f"{BATCH}x" if batched else ""
    x, w, r = (
        f"tensor<{many}1x{columns}x{element}>",
        f"tensor<{many}{rows}x{columns}x{element}>",
        f"tensor<{many}1x{rows}x{kept}>",
    )
    dims = (
        "batching_dims = [0] x [0], contracting_dims = [2] x [2]"
        if batched
        else "contracting_dims = [1] x [1]"
    )
    return f"""func.func @main(%x: {x}, %w: {w}) -> {r} {{
  %r = stablehlo.dot_general %x, %w, {dims} : ({x}, {w}) -> {r}
  return %r : {r}
}}
"""


def programs() -> dict[str, str]:
    """Name -> MLIR text."""
    made = {
        f"{element}_{rows}x{columns}": vector_product(element, rows, columns)
        for element, (rows, columns) in product(KEPT, SIZES)
    }
    return made | {f"batch_{element}_512x512": vector_product(element, 512, 512, True) for element in KEPT}


if __name__ == "__main__":
    sys.exit(write_programs(__doc__, programs()))
