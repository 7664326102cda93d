"""What `fissile check` costs beside a stock compile of the onnx package's light_resnet50, paired in one run.

    python -m bench.check_cost [--model FILE.mlir] [--target gfx942] [--pairs 3]

Both run as processes of their own, one after the other, start-up included. Processor seconds are compared as
well as elapsed ones: on a shared machine they are the steadier measure. Goal: at most a quarter.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.table.paired import as_installed
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.targets import resolve_target

GOAL = 0.25


def import_resnet50(folder: Path) -> Path:
    """The onnx package's light_resnet50 with seeded random weights, as iree-import-onnx makes it; weights
    external."""
    import numpy as np
    import onnx
    from onnx import numpy_helper, version_converter

    source = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
    model = onnx.load(source)
    known = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    draw = np.random.default_rng(0)
    kept, weights = [], []
    for node in model.graph.node:  # its weights are splats, made by ConstantOfShape
        if node.op_type == "ConstantOfShape" and node.input[0] in known:
            values = (draw.standard_normal(tuple(known[node.input[0]])) * 0.05).astype(np.float32)
            weights.append(numpy_helper.from_array(values, node.output[0]))
        else:
            kept.append(node)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.graph.initializer.extend(weights)
    model.ir_version = 8
    path = folder / "resnet50.onnx"
    onnx.save(version_converter.convert_version(model, 17), path)
    subprocess.run(
        [
            Path(sys.executable).with_name("iree-import-onnx"),
            path,
            "-o",
            folder / "resnet50.mlir",
            "--externalize-params",
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return folder / "resnet50.mlir"


def timed(command: list[str]) -> tuple[float, float]:
    """(elapsed, processor) seconds of a command and its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, env=as_installed()
    )
    elapsed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{ran.stderr}")
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--pairs", type=int, default=3)
    arguments = parser.parse_args()
    targets = arguments.target or ["gfx942"]
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or import_resnet50(Path(folder))
        check = [sys.executable, "-m", "fissile.cli.main", "check", str(model)]
        for name in targets:
            check += ["--target", name]
        compiles = [
            [
                str(Path(sys.executable).with_name("iree-compile")),
                str(model),
                *flags_for(resolve_target(name)),
                "-o",
                os.devnull,
            ]
            for name in targets
        ]
        shares = []
        print(f"{model.name} for {', '.join(targets)}: seconds elapsed / of processor")
        for _ in range(arguments.pairs):
            stock = [sum(parts) for parts in zip(*(timed(command) for command in compiles), strict=True)]
            ours = timed(check)
            shares.append(ours[1] / stock[1])
            print(
                f"  iree-compile {stock[0]:6.2f} / {stock[1]:6.2f}"
                f"   fissile check {ours[0]:6.2f} / {ours[1]:6.2f}"
                f"   share {100 * ours[0] / stock[0]:5.1f}% / {100 * ours[1] / stock[1]:5.1f}%",
                flush=True,
            )
    middle = statistics.median(shares)
    print(f"median share of processor time: {100 * middle:.1f}% (goal: at most {100 * GOAL:.0f}%)")
    return 0 if middle <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
