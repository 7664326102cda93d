"""StableHLO out of its portable form (VHLO), in which `jax.export` serialises a program.

IREE converts it in its input phase, in the middle of one pipeline; no pass of the bindings does that alone (3.13). So the
pipeline runs on a copy, and what MLIR prints behind its conversion is the program.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.passes.containment import contained
from fissile.passes.iree.pipelines import PORTABLE, STABLEHLO_CONVERSION, STABLEHLO_INPUT

MOST_BYTES = 32 << 20
"""Of a program that is converted: MLIR prints it, constants in full, once behind each pass of the pipeline."""


def stablehlo_of(module: ir.Operation, source: Path) -> str | None:
    """``module``, parsed from ``source``, as text in StableHLO with its locations; None where nothing of it is portable, where it
    is too large, or where IREE does not convert it: then it goes on as it is."""
    if not any(row.operation.name.startswith(PORTABLE) for row in module.regions[0].blocks[0].operations):
        return None
    if source.stat().st_size > MOST_BYTES:
        return None
    return contained("the portable form of StableHLO", lambda: _converted(module), None)


def _converted(module: ir.Operation) -> str | None:
    # A copy of it with the locations that it has: those of a text name the file as the user did.
    copied = io.BytesIO()
    module.write_bytecode(copied)
    with ir.Context() as context, tempfile.TemporaryDirectory(prefix="fissile-vhlo-") as folder:
        context.enable_multithreading(False)  # printing asks for it
        copy = ir.Module.parse(copied.getvalue())
        passes = PassManager.parse(f"builtin.module({STABLEHLO_INPUT})")
        passes.enable_ir_printing(
            print_before_all=False,
            print_after_all=True,
            enable_debug_info=True,
            print_generic_op_form=True,  # a loop's own form leaves out the places of its arguments
            tree_printing_dir_path=folder,
        )
        try:
            passes.run(copy.operation)
        except ir.MLIRError:
            pass  # a later pass refuses the program, and says so when the program is compiled
        written = list(Path(folder).rglob(f"*_{STABLEHLO_CONVERSION}.mlir"))
        return written[0].read_text() if len(written) == 1 else None
