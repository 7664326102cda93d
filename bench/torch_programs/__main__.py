"""Programs of PyTorch through stock IREE and through fissile, run, and compared with what PyTorch computes.

    PYTHON-WITH-TORCH-AND-IREE-TURBINE -m bench.torch_programs write FOLDER [--static] [--decomposed] [--only REGEX]
    python -m bench.torch_programs run FOLDER [--target llvm-cpu …] [--only REGEX] [--jobs 2]

``write`` exports each program of this folder with `torch.export` and iree-turbine, and keeps its arguments and results: the ops as PyTorch
has them, or with --decomposed as iree-turbine decomposes them by default; with --static all sizes are known. The names of
gradients begin with ``grad_``, those of training steps with ``step_``. ``run`` is that of `bench.compared_programs`. Exit status 1 where fissile is worse than stock or wrong.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from bench import compared_programs


def write(folder: Path, static: bool, decomposed: bool, only: str) -> None:
    """Raises SystemExit where this Python has no PyTorch or no iree-turbine. What PyTorch or turbine does not export is named and left out."""
    try:
        import torch
        from iree.turbine import aot
    except ModuleNotFoundError as missing:
        raise SystemExit(
            f"error: {missing}; `write` needs PyTorch and iree-turbine: run it with the Python of an environment that has them"
        ) from None
    from torch.utils import _pytree

    from bench.torch_programs import gradients, layers, losses, models, reductions, tensors, training
    from bench.torch_programs.entries import PROGRAMS, SMALLEST, Function, Traced

    assert (
        gradients and layers and losses and models and reductions and tensors and training
    )  # each adds its programs
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    for name, (module, arguments, dims) in PROGRAMS.items():
        if not re.search(only, name):
            continue
        letters = {one for of_one in dims for one in of_one.values()}
        free = {one: torch.export.Dim(one, min=SMALLEST.get(one, 2), max=512) for one in letters}
        shapes = tuple({dim: free[one] for dim, one in of_one.items()} for of_one in dims)
        wrapped = (shapes,) if isinstance(module, Function) else shapes  # a function takes *arguments
        options = {} if static or not letters else {"dynamic_shapes": wrapped}
        try:
            with torch.no_grad():
                results = _pytree.tree_leaves(module(*arguments))
                if isinstance(module, Traced):
                    module = module.graph(arguments, static)
                if decomposed:
                    exported = aot.export(module, args=arguments, **options)
                else:
                    exported = aot.export(torch.export.export(module, arguments, **options))
        except Exception as error:  # whatever the exporter raises
            print(f"{name}: not exported: {type(error).__name__}: {' '.join(str(error).split())[:150]}")
            continue
        (folder / f"{name}.mlir").write_text(str(exported.mlir_module))
        values = [
            [(one.float() if one.dtype == torch.bfloat16 else one).detach().numpy() for one in values]
            for values in (arguments, results)
        ]
        compared_programs.write_call(folder / f"{name}.npz", *values)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    compared_programs.add_arguments(parser)
    parser.add_argument("--static", action="store_true", help="write programs of known sizes")
    parser.add_argument("--decomposed", action="store_true", help="with iree-turbine's decompositions")
    chosen = parser.parse_args(argv)
    if chosen.what == "run":
        return compared_programs.run(chosen)
    write(chosen.folder, chosen.static, chosen.decomposed, chosen.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
