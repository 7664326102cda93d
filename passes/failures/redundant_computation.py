"""FIS127: threads of a workgroup compute the same elements."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import CONVERTED, Failure, failure

LEAST_THREADS = 8
"""Threads that compute the same vectors, from which each gets an element of its own.

That shortens the driver's code generation, and costs later runs up to three times their time below 16 threads (lavapipe,
bench/speed/redundant_computation.py). With 16 here lavapipe gives no answer for inception_v1 within 200 s; with 8 it does within 71 s.
"""
ACCUMULATED, SUMMED = "accumulated in memory of all threads", "summed by each thread for itself"


@failure
class RedundantComputation(Failure):
    code = "FIS127"
    name = "redundant-computation"
    title = "threads of a workgroup compute the same elements"
    what = (
        "Each of the (up to 64) threads of a workgroup computes all elements of the workgroup. Usually each thread "
        "loads the same result element, adds the same term and stores it again. If the threads run neither in lockstep "
        "nor one after the other, terms may be lost. No device was measured to lose one, so without a repair (with "
        "`--repair=off`, for example) the finding is a warning and the output is written."
    )
    why = (
        "IREE 3.13's SPIR-V code generation chooses the threads for a loop in one dimension of the block but assigns "
        "the loop to another. The cause is loops of one iteration, most often from odd sizes, which only one of the two "
        "steps counts."
    )
    remedy = (
        "fissile collapses the loops into one (`fissile-read-by-element{flat=true}`), so that each thread has its own "
        "element. If no term can be lost and stock IREE builds the program right, fissile leaves it unchanged and "
        "reports a warning, unless the target is lavapipe; `--tune` repairs it."
    )
    effect = Effect.SLOW
    order = CONVERTED + 20
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<1x16x9x9xf32>, %w: tensor<64x16x3x3xf32>) -> tensor<1x64x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x16x9x9xf32>, tensor<64x16x3x3xf32>) outs(%start : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  return %r : tensor<1x64x7x7xf32>
}
"""
    repaired_by = "fissile-read-by-element{ops=1 flat=true}"

    def concerns(self, backend):
        return backend.spirv

    def may_occur(self, dispatch, configured):
        """Threads do the same where loops and block do not match."""
        from fissile.passes.analysis.kernel.redundant_computation import may_be_redundant
        from fissile.passes.iree.backends import backend_named

        if dispatch.codegen in backend_named(dispatch.target.backend).racing:
            return True
        return may_be_redundant(configured())

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.redundant_computation import redundant_computation

        found = redundant_computation(code)
        traits = (ACCUMULATED,) * found.accumulated + (SUMMED,) * found.summed
        return Evidence(count=found.threads, traits=traits) if found.threads > 1 else None

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        threads, accumulated = evidence.count, ACCUMULATED in evidence.traits
        if not (accumulated or SUMMED in evidence.traits and threads >= LEAST_THREADS):
            return None
        what = "accumulate the same terms into" if accumulated else "compute"
        wrong = ", and may be wrong on a device that does not run them in step" if accumulated else ""
        return Finding(
            self.code,
            f"{threads} threads each {what} the same elements of the result: {threads} times the work{wrong}",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
            effect=Effect.UNPROVED if accumulated else Effect.SLOW,
        )
