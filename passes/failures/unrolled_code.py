"""FIS109: the code of a dispatch is unrolled over so many narrow elements that neither IREE nor a driver compiles it in time."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.target import repairs_slow

from .failure import Failure, Stage, failure

UNROLLED_FROM = 256
"""Elements of one thread: from here on lavapipe takes seconds, tens of them soon, and IREE 3.13 more than for anything that is not
unrolled (`bench/speed/unrolled_cost.py`)."""

ENDLESS_FROM = 1024
"""Elements of one thread, on a target without storage for them: IREE 3.13 did not end within 40 s, or refused the code, on all 23
programs of a corpus of dequantised matmuls that have so many."""


@failure
class UnrolledCode(Failure):
    code = "FIS109"
    name = "unrolled-code"
    title = "a dispatch is unrolled over narrow elements and takes seconds to minutes to compile"
    what = (
        "A matmul or convolution on Vulkan or Metal is fused with producers that extend narrow elements (a "
        "dequantisation), and one thread reads hundreds of these elements or more. If IREE finishes, it takes seconds "
        "to minutes, and the driver takes longer still: lavapipe needs 5 s for 256 elements and 32 s for 768 "
        "(`bench/speed/unrolled_cost.py`)."
    )
    why = (
        "IREE 3.13 tiles the reduction but not the producers inside it. A thread therefore holds the producers' values "
        "for the whole reduction, and reads each narrow element separately, in straight-line code."
    )
    remedy = "fissile computes such producers in dispatches of their own."
    effect = Effect.SLOW
    stage = Stage.CONFIGURED
    order = 9
    predicted = True
    minimised = False
    endless_code = True
    target = "vulkan:valhall4"
    fails = """\
func.func @f(%a: tensor<64x1024xi8>, %b: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %scale_ad = arith.constant 0.0078125 : f32
  %room_ad = tensor.empty() : tensor<64x1024xf32>
  %ad = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x1024xi8>) outs(%room_ad : tensor<64x1024xf32>) {
  ^bb0(%in: i8, %_: f32):
    %wide = arith.sitofp %in : i8 to f32
    %scaled = arith.mulf %wide, %scale_ad : f32
    linalg.yield %scaled : f32
  } -> tensor<64x1024xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%ad, %b : tensor<64x1024xf32>, tensor<1024x64xf32>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
    repaired_by = "fissile-place-boundaries{ops=0}"

    def concerns(self, backend):
        return backend.spirv

    def may_occur(self, dispatch, configured):
        """Only what becomes vectors of one thread is unrolled."""
        from fissile.passes.analysis.memory.unrolling import VECTORISED

        return dispatch.codegen == VECTORISED

    def detect(self, dispatch, code):
        """What SPIR-V code generation will unroll, however little that is."""
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.narrow.narrow_access import missing_storage
        from fissile.passes.analysis.memory.configured import read_configured
        from fissile.passes.analysis.memory.unrolling import unrolled

        found = unrolled(read_configured(dispatch))
        endless = found.elements >= ENDLESS_FROM and missing_storage(dispatch)
        effect = Effect.ENDLESS if endless else self.effect
        return Evidence(count=found.elements, tags=found.tags, effect=effect) if found.elements else None

    def matters(self, dispatch, evidence, tune=False, changed=False):
        """Whether it is too much: as measured on lavapipe where that is the target, or with ``tune``; elsewhere only what IREE
        itself does not end with."""
        measured = tune or repairs_slow(dispatch.target.arch, changed)
        return evidence.count >= (UNROLLED_FROM if measured else ENDLESS_FROM)

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import labelled, root_places

        if evidence.count < UNROLLED_FROM:
            return None
        places = [
            place
            for tag in evidence.tags
            if tag < len(ops)
            for place in labelled(ops[tag].place, "fused into the dispatch: all of it is unrolled")
        ]
        return Finding(
            self.code,
            f"the dispatch is unrolled over {evidence.count} narrow elements for each thread: long to compile, for IREE and for the "
            "driver",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=tuple(dict.fromkeys((*places, *root_places(dispatch, ops)))),
            effect=evidence.effect,
        )
