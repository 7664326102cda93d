"""A real network: squeezenet from the `onnx` package, with random weights, against onnxruntime.

    python examples/onnx_network.py                        224x224 on llvm-cpu, 35x35 on Vulkan
    python examples/onnx_network.py --pixels 67            67x67 on both
    python examples/onnx_network.py --model resnet50 --runtime local-task

The model is imported by iree-import-onnx and compiled by `fissile compile`, for Vulkan matched to the device. The
small Vulkan input is for Mesa's software device: its shader compiler takes most of the time (20 to 25 s of one
core for 35x35, 80 s for 67x67; from its cache 1 s and 2 s), and more for larger tensors.

Exit status: 0 all runtimes agree with onnxruntime, 1 a compile failed or numbers disagree.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx_models import input_names, names, network

import fissile
from fissile.pipelines.numerics.compare import Tolerance
from fissile.pipelines.numerics.runtimes import present

TOLERANCE = Tolerance(relative=1e-4, scaled=1e-5, reason="26 layers of float32 sums in another order")
"""Measured on llvm-cpu and lavapipe: relative 5.3e-6 at most, 6e-7 of outputs up to 0.4."""

FLAGS = {
    "local-task": [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ],
    "vulkan": ["--iree-hal-target-device=vulkan"],
}
PIXELS = {"local-task": 224, "vulkan": 35}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=names(), default="squeezenet")
    parser.add_argument(
        "--pixels", type=int, help="height and width of the input (squeezenet only; default see above)"
    )
    parser.add_argument(
        "--runtime", choices=FLAGS, action="append", help="default: both, as far as they are here"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the weights and of the input")
    args = parser.parse_args()
    here = [runtime.name for runtime in present()]
    fine = True
    for runtime in args.runtime or FLAGS:
        if runtime not in here:
            print(f"{runtime:<11} not run: no device answers here")
            fine = fine and not args.runtime
            continue
        # Only squeezenet takes other sizes than its own.
        pixels = args.pixels or (PIXELS[runtime] if args.model == "squeezenet" else None)
        with tempfile.TemporaryDirectory(prefix="fissile-onnx-") as folder:
            fine = agrees_with_onnxruntime(Path(folder), args.model, pixels, runtime, args.seed) and fine
    return 0 if fine else 1


def agrees_with_onnxruntime(folder: Path, name: str, pixels: int | None, runtime: str, seed: int) -> bool:
    """Imports, compiles, runs and compares one network on one runtime; prints a line for each step."""
    model = network(name, pixels, seed)
    saved, source, vmfb = folder / f"{name}.onnx", folder / f"{name}.mlir", folder / f"{name}.vmfb"
    onnx.save(model, saved)
    (given,) = input_names(model)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    image = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    expected = onnxruntime.InferenceSession(str(saved)).run(None, {given: image})
    imported = subprocess.run(
        [sys.executable, "-m", "iree.compiler.tools.import_onnx", saved, "-o", source],
        capture_output=True,
        text=True,
        check=False,
    )
    if imported.returncode:
        print(f"{runtime:<11} iree-import-onnx failed: {imported.stderr.strip().splitlines()[-1]}")
        return False
    start = time.perf_counter()
    report = fissile.compile(
        source, vmfb, FLAGS[runtime], match_device="vulkan" if runtime == "vulkan" else "", check=False
    )
    shown = "x".join(map(str, shape))
    print(
        f"{runtime:<11} compile: {name} {shown} in {time.perf_counter() - start:.1f} s: "
        f"{f'{vmfb.stat().st_size} bytes' if report.output else 'no module'}"
    )
    for finding in report.findings:
        print(f"{runtime:<11} fissile: {finding.severity.value} {finding.code}: {finding.message}")
    if not report.output:
        return False
    # The source first: a torch import's vmfb does not hold its types.
    certificate = fissile.verify(
        source, vmfb, inputs=[image], expected=expected, on=runtime, tolerance=TOLERANCE, timeout=1800
    )
    for check in certificate.checks:
        print(f"{runtime:<11} ran:     {check.sentence.replace('the expected arrays', 'onnxruntime')}")
    return certificate.agrees


if __name__ == "__main__":
    sys.exit(main())
