"""A write past the end of its storage: stock IREE runs it, fissile's module refuses the call and says
why.

    python examples/storage_guard.py

One function writes as many elements as the caller says into a tensor of 10. It is built by stock
iree-compile and by fissile, for llvm-cpu and, where a device answers, for Vulkan, and called with 8,
10 and 11 elements. Then a function that can never be right is refused at compile time. Exit status: 0
every statement holds, 1 one does not.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.numerics.runtimes import named, present, run
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.target import find_target

WRITE = """\
func.func @write(%y: tensor<?xf32>) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %t = tensor.empty() : tensor<10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<10xf32>) -> tensor<10xf32>
  %r = tensor.insert_slice %d into %f[0] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}
"""
NEVER = """\
func.func @never(%x: tensor<10xf32>, %n: index) -> tensor<?xf32> {
  %c11 = arith.constant 11 : index
  %m = arith.maxsi %n, %c11 : index
  %r = tensor.extract_slice %x[0] [%m] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


def main() -> int:
    fine = True
    devices = {"local-task": "llvm-cpu", "vulkan": "vulkan"}
    with tempfile.TemporaryDirectory(prefix="fissile-example-") as folder:
        source = Path(folder, "write.mlir")
        source.write_text(WRITE)
        for runtime in (r.name for r in present() if r.name in devices):
            flags = flags_for(find_target(devices[runtime]))
            stock, guarded = Path(folder, f"{runtime}.stock.vmfb"), Path(folder, f"{runtime}.vmfb")
            subprocess.run([stock_compiler(), source, "-o", stock, *flags], check=True)
            report = fissile.compile(source, guarded, flags, check=False)
            for finding in report.findings:
                print(f"{runtime:<11} {finding.severity.value} {finding.code}: {finding.message}")
            for count in (8, 10, 11):
                fine &= called(runtime, "stock", stock, count, fails=False)
                fine &= called(runtime, "fissile", guarded, count, fails=count > 10)
        source = Path(folder, "never.mlir")
        source.write_text(NEVER)
        report = fissile.compile(
            source, Path(folder, "never.vmfb"), flags_for(find_target("llvm-cpu")), check=False
        )
        for finding in report.findings:
            print(
                f"compile     {finding.severity.value} {finding.code}: {finding.message} ({finding.notes[0]})"
            )
        fine &= not report.output
    return 0 if fine else 1


def called(runtime: str, who: str, vmfb: Path, count: int, fails: bool) -> bool:
    """Calls ``write`` with ``count`` elements and says what came back. True where it is as expected."""
    signature = signatures_of_vmfb(vmfb)["write"]
    (device,) = named([runtime])
    got = run(vmfb, signature, [np.ones(count, np.float32)], device)
    failed = isinstance(got, fissile.Finding)
    answer = got.message if failed else " ".join(f"{v:g}" for v in got[0])
    print(f"{runtime:<11} {who:<8} {count:>2} elements: {answer}")
    return failed == fails


if __name__ == "__main__":
    sys.exit(main())
