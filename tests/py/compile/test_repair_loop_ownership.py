"""A repair loop lives as long as the phase pipeline that it works with; to free it in the middle of a compile may crash."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

from fissile.pipelines.phase_pipeline import PhaseHook, PhasePipeline
from fissile.pipelines.probe.probe_pool import ProbePool
from fissile.pipelines.repair.loop import RepairLoop
from fissile.pipelines.session import Session

FLAGS = ("--iree-hal-target-device=vulkan",)
TEXT = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.exp %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def test_the_pipeline_keeps_a_repair_loop_that_nobody_else_holds():
    session = Session(FLAGS)
    pipeline = PhasePipeline(session)
    module = session.parse_text(TEXT)
    pipeline.advance(module, "global-optimization")
    with ProbePool(FLAGS, 0) as pool:
        # The pipeline that a repair loop works with may be one made of another, with a hook more.
        hooked = pipeline.with_hooks([PhaseHook("flow", "nothing", lambda _module: [])])
        repair_loop = RepairLoop(hooked, module, pool)
        assert not repair_loop.diagnose().failing
        held = weakref.ref(repair_loop)
        del repair_loop, hooked
        gc.collect()
        assert held() is not None
        del pipeline
        gc.collect()
        assert held() is None


COMPILE = """
import gc, sys, tempfile
from pathlib import Path
from fissile.passes.iree.library import initialise_command_line
from fissile.passes.iree.late_imports import load_late
load_late()
from fissile.pipelines.compile.compile_run import CompileRun
from fissile.pipelines.compile.guarded_compile import GuardedCompile
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.repair.loop import RepairLoop
diagnose = RepairLoop.diagnose
def collecting(self, *wanted):
    gc.collect()
    return diagnose(self, *wanted)
RepairLoop.diagnose = collecting
source, output = map(Path, sys.argv[1:])
request = parse_command_line(["--iree-hal-target-device=vulkan", str(source), "-o", str(output)])
initialise_command_line(list(request.flags))
run = CompileRun(request, output, None, output.parent)
report = GuardedCompile(run).run()
gc.collect()
print(sorted({f.severity.value for f in report.findings}), output.stat().st_size > 0)
del run, report
gc.collect()
"""
FFT = """func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %r = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}
"""


def test_a_compile_with_many_repair_loops_outlives_the_collector(tmp_path):
    source = tmp_path / "fft.mlir"
    source.write_text(FFT)
    ended = subprocess.run(
        [sys.executable, "-c", COMPILE, source, tmp_path / "fft.vmfb"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "['repaired'] True\n"), ended.stderr
