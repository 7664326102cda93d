"""Functions of JAX through stock IREE and through fissile, run, and compared with what JAX computes.

    PYTHON-WITH-JAX-FLAX-AND-OPTAX -m bench.jax_programs write FOLDER [--portable]
    python -m bench.jax_programs run FOLDER [--target llvm-cpu …] [--only REGEX] [--jobs 2]

``write`` lowers each function of this folder to StableHLO, with --portable as `jax.export` serialises it (VHLO), and keeps its
arguments and results. ``run`` is that of `bench.compared_programs`. Exit status 1 where fissile is worse than stock or wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench import compared_programs


def write(folder: Path, portable: bool) -> None:
    """Raises SystemExit where this Python has no JAX."""
    try:
        import jax
        import jax.export
    except ModuleNotFoundError as missing:
        raise SystemExit(
            f"error: {missing}; `write` needs JAX: run it with the Python of an environment that has jax"
        ) from None

    from bench.jax_programs import arrays, dynamic, gradients, layers, numeric, scalars

    assert arrays and gradients and numeric and scalars  # each adds its functions
    if find_spec("flax") and find_spec("optax"):
        from bench.jax_programs import algorithms, models, quantised, sequences, simulation, training

        assert models and training and algorithms and sequences and simulation and quantised
    else:
        print("without the models: they need flax and optax", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, arguments) in layers.FUNCTIONS.items():
        jitted = jax.jit(function, keep_unused=True)
        if portable:
            exported = jax.export.export(jitted)(*arguments)
            (folder / f"{name}.mlir").write_bytes(exported.mlir_module_serialized)
        else:
            (folder / f"{name}.mlir").write_text(str(jitted.lower(*arguments).compiler_ir("stablehlo")))
        _write_numbers(folder / f"{name}.npz", function, arguments)
    for name, (function, arguments, sizes) in dynamic.FUNCTIONS.items():
        scope = jax.export.SymbolicScope()
        shapes = [
            jax.ShapeDtypeStruct(jax.export.symbolic_shape(text, scope=scope), argument.dtype)
            for text, argument in zip(sizes, arguments, strict=True)
        ]
        exported = jax.export.export(jax.jit(function))(*shapes)
        if portable:
            (folder / f"{name}.mlir").write_bytes(exported.mlir_module_serialized)
        else:
            (folder / f"{name}.mlir").write_text(str(exported.mlir_module()))
        _write_numbers(folder / f"{name}.npz", function, arguments)


def _write_numbers(path: Path, function: Callable, arguments: Sequence[np.ndarray]) -> None:
    """The arguments of a call, and JAX's results."""
    import jax

    results = jax.tree_util.tree_leaves(jax.jit(function)(*arguments))
    compared_programs.write_call(path, arguments, [np.asarray(result) for result in results])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    compared_programs.add_arguments(parser)
    parser.add_argument("--portable", action="store_true", help="write bytecode of VHLO")
    chosen = parser.parse_args(argv)
    if chosen.what == "run":
        return compared_programs.run(chosen)
    write(chosen.folder, chosen.portable)
    return 0


if __name__ == "__main__":
    sys.exit(main())
