"""FIS125: one thread runs more loop iterations than every device lets it run."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import CONVERTED, Failure, failure

MOST_ITERATIONS = 65535
"""Iterations of all loops of one invocation, after which lavapipe ends them (Mesa, LP_MAX_TGSI_LOOP_ITERATIONS)."""

STALLING_ITERATIONS = 1 << 27
"""Iterations of one thread that no GPU is expected to end within seconds: 1.0e9 (a sort of 32000 elements) did not end in 60 s on an H100."""


@failure
class LongLoop(Failure):
    code = "FIS125"
    name = "long-loop"
    title = "one thread runs a very long loop: slow, and wrong if the device ends the loop early"
    what = (
        "The loops of one thread of a dispatch run more than 65535 iterations in sequence. lavapipe silently ends them "
        "there: all values of a softmax over 50257 f32 values were wrong. On other devices the dispatch is slow, "
        "because the remaining threads have nothing to do. A sort takes N * N iterations on every GPU: PyTorch's `topk` of "
        "32000 values did not end within 60 s on an H100."
    )
    why = (
        "IREE 3.13's SPIR-V code generation assigns a whole row to one thread (BaseDistribute) when it has no other "
        "schedule: always if the target has no subgroup arithmetic (default Vulkan), otherwise for sizes that do not "
        "fill vectors. On every GPU one thread sorts a row, by exchanging neighbours."
    )
    remedy = (
        "fissile splits the sum into parts (`fissile-split-reductions`), collapses the loops of a convolution into one "
        "(`fissile-read-by-element`), or sorts by rank (`fissile-rank-sorts`). If none applies, no output is written. "
        "For a target that names a product whose driver runs such loops to the end, the finding is a warning, and "
        "`--tune` repairs it; above 134217728 iterations fissile repairs it on every GPU."
    )
    effect = Effect.MAY_BE_WRONG
    order = CONVERTED + 10
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<1x131072xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<1x131072xf32>) outs(%start : tensor<1xf32>) dimensions = [1]
  return %sum : tensor<1xf32>
}
"""
    repaired_by = "fissile-split-reductions{ops=1}"

    def concerns(self, backend):
        return backend.gpu

    def may_occur(self, dispatch, configured):
        """BaseDistribute gives whole rows to threads; elsewhere a thread's part of a sum is too long only where the sum is."""
        from fissile.passes.analysis.kernel.trip_counts import longest_reduction, sorts_rows
        from fissile.passes.iree.backends import backend_named

        if not backend_named(dispatch.target.backend).spirv:
            return sorts_rows(configured())
        if dispatch.codegen in backend_named(dispatch.target.backend).racing:
            return True
        return longest_reduction(configured()) > MOST_ITERATIONS

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.trip_counts import per_thread_trip_count

        return Evidence(count=per_thread_trip_count(code))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places
        from fissile.passes.iree.backends import backend_named
        from fissile.target import may_be_lavapipe

        spirv = backend_named(dispatch.target.backend).spirv
        if evidence.count <= (MOST_ITERATIONS if spirv else STALLING_ITERATIONS):
            return None
        ended = spirv and may_be_lavapipe(dispatch.target.arch)
        wrong = f", and wrong on a device that ends them (lavapipe, after {MOST_ITERATIONS})" if ended else ""
        otherwise = Effect.STALLS if evidence.count > STALLING_ITERATIONS else Effect.SLOW
        return Finding(
            self.code,
            f"one thread of the dispatch runs {evidence.count} loop iterations: slow{wrong}",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
            effect=Effect.MAY_BE_WRONG if ended else otherwise,
        )
