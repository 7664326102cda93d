"""FIS190: a thread multiplies by 0 what nobody has written."""

from __future__ import annotations

from fissile.effect import Effect

from ..failure import Failure, failure


@failure
class UnwrittenReads(Failure):
    code = "FIS190"
    name = "unwritten-reads"
    title = "a thread reads private memory that it has not written"
    what = (
        "A convolution of few channels reads a filter that the same dispatch computes (dequantises). Its tiles have more channels than there are: for "
        "those beyond the end the filter's values are what the registers of a thread held before, and are multiplied by 0. The result is right as "
        "long as these are finite numbers, and NaN otherwise: the same call may be right today and NaN tomorrow."
    )
    why = (
        "IREE 3.13's TileAndFuse pipeline (on AMD and NVIDIA) computes as many elements of the producer as are left in a buffer of that size, then reads "
        "a vector of the whole tile from it. For a matmul that read is masked, for a convolution's filter it is not. LLVM's code has `undef` there. "
        "Found by running the code in fissile's simulation (`fissile check --simulate`), where memory that nobody wrote is NaN."
    )
    remedy = "fissile places a fusion boundary behind the producer, so that the convolution reads the filter from global memory, with its padding."
    effect = Effect.MAY_BE_WRONG
    order = 31
    target = "gfx942"
    fails = """\
func.func @f(%x: tensor<1x18x18x3xf32>, %w: tensor<3x3x3x16xi8>) -> tensor<1x16x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.05 : f32
  %wide = tensor.empty() : tensor<3x3x3x16xf32>
  %filter = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<3x3x3x16xi8>) outs(%wide : tensor<3x3x3x16xf32>) {
  ^bb0(%q: i8, %o: f32):
    %n = arith.sitofp %q : i8 to f32
    %m = arith.mulf %n, %scale : f32
    linalg.yield %m : f32
  } -> tensor<3x3x3x16xf32>
  %empty = tensor.empty() : tensor<1x16x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %filter : tensor<1x18x18x3xf32>, tensor<3x3x3x16xf32>)
      outs(%start : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %r : tensor<1x16x16x16xf32>
}
"""
    repaired_by = "fissile-place-boundaries{ops=0}"

    def concerns(self, backend):
        return backend.gpu and not backend.spirv

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.memory.unwritten_reads import may_read_unwritten

        return may_read_unwritten(configured())

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.memory.unwritten_reads import unwritten_reads

        return Evidence(unwritten_reads(code))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        kinds = " and ".join(dict.fromkeys(one.type for one in evidence.buffers))
        return Finding(
            self.code,
            f"threads read {kinds} in private memory of which they may have written nothing",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )
