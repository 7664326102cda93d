"""Releases and constant folding, in both orders: the same program, with one legal release each time.

    python examples/release_order.py

A storage, a tensor on it, and a release by hand of a tensor that constant folding replaces by a constant. Where folding comes first the
release is one of a constant (FIS306), which no later fold may meet. `fissile-insert-kills` releases the storage instead, whether it runs
before or after folding. Both results are compiled for llvm-cpu and run.
"""

from __future__ import annotations

import io
import sys
import tempfile
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np

import fissile
from fissile.cli.opt import main as fissile_opt
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics.runtimes import named, run
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.target import find_target

PROGRAM = """\
func.func @sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %s = "fissile.alloc_storage"(%c16) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0) : (!fissile.storage, index) -> tensor<4xf32>
  %three = arith.addf %one, %two : tensor<4xf32>
  %f = linalg.copy ins(%three : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  "fissile.kill"(%three) : (tensor<4xf32>) -> ()
  %r = arith.addf %f, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
FOLD = "canonicalize,cse"
ORDERS = {
    "release, then fold": f"fissile-insert-kills,{FOLD}",
    "fold, then release": f"{FOLD},fissile-insert-kills",
}


def main() -> int:
    fine = True
    with tempfile.TemporaryDirectory(prefix="fissile-example-") as folder:
        source = Path(folder, "sum.mlir")
        source.write_text(PROGRAM)
        status, printed = opt(source, Path(folder, "folded.mlir"), f"{FOLD},fissile-check-lifetimes")
        print(
            f"{'fold only':<20} status {status}: {next((line for line in printed.splitlines() if 'FIS306' in line), 'not found')}"
        )
        fine &= status == 1 and "FIS306" in printed
        x = np.arange(4, dtype=np.float32)
        for order, passes in ORDERS.items():
            released = Path(folder, "released.mlir")
            status, printed = opt(source, released, f"{passes},fissile-check-lifetimes")
            kills = released.read_text().count("fissile.kill")
            lowered, vmfb = Path(folder, "lowered.mlir"), Path(folder, "sum.vmfb")
            opt(released, lowered, "fissile-lower-storage")
            report = fissile.compile(lowered, vmfb, flags_for(find_target("llvm-cpu")), check=False)
            (device,) = named(["local-task"])
            got = run(vmfb, signatures_of_vmfb(vmfb)["sum"], [x], device) if report.output else None
            print(
                f"{order:<20} status {status}: {kills} release; computes {got[0].tolist() if got else 'nothing'}"
            )
            fine &= status == 0 and kills == 1 and got is not None and np.array_equal(got[0], x + 3)
    return 0 if fine else 1


def opt(source: Path, result: Path, passes: str) -> tuple[int, str]:
    """Exit status of fissile-opt, and what it reported."""
    printed = io.StringIO()
    with redirect_stderr(printed):
        status = fissile_opt([str(source), "-o", str(result), f"--pass-pipeline=builtin.module({passes})"])
    return status, printed.getvalue()


if __name__ == "__main__":
    sys.exit(main())
