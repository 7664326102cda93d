"""Real networks through stock iree-compile and `fissile compile`, side by side; run against onnxruntime.

    python -m bench.networks                                         squeezenet in three forms on four targets
    python -m bench.networks --model resnet50 --form int8 --target gfx942
    python -m bench.networks --pixels 35 --target vulkan --target vulkan:device --run

One line per case: stock's answer, fissile's answer, seconds of each; a line per finding; with --run, what the module
computes beside onnxruntime. Weights over 64 MiB are imported as external parameters. Each compile has 10 minutes.
Exit status: 0 fissile compiled all and every run agrees, 1 not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import onnx

from bench.programs.guarded_case import MATCHED, RUNTIMES, Case
from bench.programs.network_forms import FORMS, OWN_PIXELS, TOLERANCES, Network, build
from bench.programs.onnx_blocks import BLOCKS
from fissile.pipelines.numerics.runtimes import present
from fissile.pipelines.process.child import run_child

TARGETS = ("gfx942", "sm_86", "vulkan", "llvm-cpu")
INLINE_BYTES = 64 << 20
"""Larger weights are parameters outside the module, as a person would import them: the text would be gigabytes."""


def main() -> int:
    from onnx_models import names

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", action="append", choices=(*names(), *BLOCKS), help="default: squeezenet")
    parser.add_argument("--form", action="append", choices=FORMS, help="default: all")
    parser.add_argument("--target", action="append", help=f"default: {', '.join(TARGETS)}; also {MATCHED}")
    parser.add_argument("--pixels", type=int, help=f"height and width of the input (default {OWN_PIXELS})")
    parser.add_argument(
        "--run", action="store_true", help=f"run what has a runtime here ({', '.join(RUNTIMES)})"
    )
    parser.add_argument(
        "--limit", type=float, default=600.0, help="seconds for each compile and each run (default 600)"
    )
    parser.add_argument("--no-stock", action="store_true", help="do not ask stock iree-compile")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and of the input")
    parser.add_argument("--keep", type=Path, help="leave the models and modules in this folder")
    parser.add_argument(
        "--option", action="append", default=[], help="an option for fissile compile, as it is"
    )
    args = parser.parse_args()
    here = [runtime.name for runtime in present()]
    fine = True
    with tempfile.TemporaryDirectory(prefix="fissile-networks-") as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name in args.model or ["squeezenet"]:
            for form in args.form or FORMS:
                try:
                    made = build(name, form, args.pixels, args.seed)
                    case = imported(made, folder, args.seed, args.run)
                except (ValueError, onnx.shape_inference.InferenceError) as error:
                    print(f"{name} {form} | not made: {str(error).splitlines()[0]}", flush=True)
                    fine = False
                    continue
                for target in args.target or TARGETS:
                    runs = args.run and RUNTIMES.get(target) in here
                    chosen = Case(
                        case.name,
                        case.source,
                        target,
                        case.inputs,
                        case.expected,
                        case.tolerance,
                        case.parameters,
                        args.limit,
                        tuple(args.option),
                        not args.no_stock,
                    )
                    fine = chosen.show(runs) and fine
    return 0 if fine else 1


def imported(made: Network, folder: Path, seed: int, run: bool) -> Case:
    """The network as an MLIR file, with an input and onnxruntime's outputs. Raises ValueError where import fails."""
    shown = "x".join(map(str, made.shape))
    stem = folder / f"{made.name}-{made.form}-{made.shape[-1]}"
    saved, source = stem.with_suffix(".onnx"), stem.with_suffix(".mlir")
    onnx.save(made.model, saved)
    command = [sys.executable, "-m", "iree.compiler.tools.import_onnx", saved, "-o", source]
    parameters: tuple[str, ...] = ()
    if made.weight_bytes > INLINE_BYTES:
        weights = stem.with_suffix(".irpa")
        command += ["--externalize-params", f"--save-params-to={weights}"]
        parameters = (f"--parameters=model={weights}",)
    ended = run_child(command, 300.0)
    if ended.status:
        raise ValueError(f"iree-import-onnx: {(ended.err.strip().splitlines() or [ended.reason])[-1]}")
    image = made.image(seed)
    expected = made.expected(image) if run else []
    return Case(
        f"{made.name} {made.form} {shown}", source, "", [image], expected, TOLERANCES[made.form], parameters
    )


if __name__ == "__main__":
    sys.exit(main())
