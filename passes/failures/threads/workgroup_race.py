"""FIS111: threads share a buffer, in workgroup memory or a result in storage, without a barrier."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Failure, failure

_WHOLE_ROW = "in place, and all 64 threads of a workgroup do the same row at once"
REASONS = {
    "iree_linalg_ext.fft": f"IREE gives no thread a part of its own: a stage of an FFT updates pairs of a row {_WHOLE_ROW}",
    "iree_linalg_ext.sort": f"IREE gives no thread a part of its own: a sort exchanges elements of a row {_WHOLE_ROW}",
    "iree_linalg_ext.topk": f"IREE gives no thread a part of its own: a topk inserts into the best of a row {_WHOLE_ROW}",
    "iree_linalg_ext.scan": f"IREE gives no thread a part of its own: a scan adds up a row {_WHOLE_ROW}",
    "linalg.fill": "IREE gives the elements of a fill to other threads than the loops that add to them",
}
"""By the op whose value is shared: why threads share it."""


@failure
class WorkgroupRace(Failure):
    code = "FIS111"
    name = "workgroup-race"
    title = "threads share a buffer without a barrier"
    what = (
        "A fused producer writes its tile to workgroup memory, or a fill writes the initial value of a sum to the "
        "result's storage, and other threads read it, or write over it, with no barrier in between. The values depend on timing."
    )
    why = (
        "IREE 3.13's SPIR-V BaseDistribute pipeline places no gpu.barrier after a fused producer. It also distributes a "
        "fill over threads in the order of the result's dimensions, whatever the order of the loops that accumulate "
        "into it (a depthwise convolution in NCHW layout, for example)."
    )
    remedy = (
        "fissile places a fusion boundary behind the producer or the fill, so that it finishes before the dispatch "
        "begins."
    )
    effect = Effect.MAY_BE_WRONG
    order = 30
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<1x8x10x10xf32>, %w: tensor<8x3x3xf32>) -> tensor<1x8x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x8x10x10xf32>, tensor<8x3x3xf32>) outs(%start : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %r : tensor<1x8x8x8xf32>
}
"""
    repaired_by = "fissile-place-boundaries{ops=0}"

    def concerns(self, backend):
        return True

    def may_occur(self, dispatch, configured):
        """Only SPIR-V's BaseDistribute places no barrier after a fused producer."""
        from fissile.passes.iree.backends import backend_named

        return dispatch.codegen in backend_named(dispatch.target.backend).racing

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.kernel.sharing import unsynchronised
        from fissile.passes.iree.backends import backend_named

        alignment = backend_named(dispatch.target.backend).alignment
        return Evidence(unsynchronised(code, alignment, self.may_occur(dispatch, None)))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.analysis.memory.footprint import WORKGROUP
        from fissile.passes.checks.dispatch_places import labelled

        values, places, reasons = [], [], []
        for race in evidence.buffers:
            owner = next((ops[tag] for tag in race.tags if tag < len(ops)), None)
            reasons += [REASONS[owner.op]] if owner and owner.op in REASONS else []
            values.append(f"{owner.name or owner.op} {race.type}" if owner else race.type)
            at = owner.place if owner else race.place
            places += labelled(at, "what it writes is shared between threads, with no barrier")
        places += labelled(dispatch.place, "root of the dispatch")
        what = values[0] if len(values) == 1 else f"{len(values)} values"
        shared = any(race.space == WORKGROUP for race in evidence.buffers)
        where = "workgroup memory" if shared else "the result's storage"
        return Finding(
            self.code,
            f"threads share {what} in {where} with no barrier after it is written",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=tuple(dict.fromkeys(places)),
            notes=(
                *dict.fromkeys(reasons),
                *(dict.fromkeys(f"shared: {value}" for value in values) if len(values) > 1 else ()),
            ),
        )
