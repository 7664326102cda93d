"""A lowering configuration on one op reaches code generation, and builds what IREE's own choice does not."""

import pytest

from fissile.errors import UsageError
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.analysis.dispatch.structure import loop_extents, structure_of
from fissile.passes.definition import PassFailed
from fissile.passes.iree.lowerings import tile_and_fuse
from fissile.passes.remedies.fusion.set_lowering import SetLowering, set_lowering
from fissile.pipelines.session import PhaseFailed, Session

GFX942 = ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")
MATMUL = """
func.func @f(%a: tensor<128x256xf16>, %b: tensor<256x64xf16>) -> tensor<128x64xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<128x64xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<128x64xf16>) -> tensor<128x64xf16>
  %r = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x64xf16>) outs(%f : tensor<128x64xf16>) -> tensor<128x64xf16>
  return %r : tensor<128x64xf16>
}
"""


def optimised():
    session = Session(GFX942)
    module = session.parse_text(MATMUL)
    session.run(module, "global-optimization")
    fill, matmul = source_ops(module.op)
    return session, module, fill, matmul


def test_tiles_follow_the_loops():
    text = tile_and_fuse([True, True, True, False], [12, 1, 40, 6], 32)
    assert "workgroup = [12, 1, 40, 0]" in text and "thread = [4, 1, 4, 0]" in text
    assert "reduction = [0, 0, 0, 3]" in text and "workgroup_size = [32, 1, 1]" in text
    text = tile_and_fuse([True, True, True, False], [12, 1, 40, 6], 32, inputs=1, largest=16, whole=False)
    assert "workgroup = [8, 1, 16, 0]" in text and "thread = [4, 1, 4, 0]" in text
    assert "reduction = [0, 0, 0, 4]" in text and "promote_operands = [0]" in text
    assert "workgroup = [64, 64, 0]" in tile_and_fuse([True, True, False], [None, None, None], 64)


def test_of_several_sums_the_longest_is_tiled_and_a_window_is_taken_step_by_step():
    assert "reduction = [0, 0, 0, 4, 1, 1]" in tile_and_fuse(
        [True] * 3 + [False] * 3, [64, 28, 28, 64, 3, 3], 64
    )
    assert "reduction = [0, 1, 1, 4]" in tile_and_fuse([True] + [False] * 3, [64, 3, 3, None], 64)


def test_a_16_bit_sum_is_built_by_another_pipeline():
    session, module, _, _ = optimised()
    with pytest.raises(PhaseFailed, match="failed to distribute"):
        session.run(module, "executable-targets")
    session, module, _, matmul = optimised()
    structure = structure_of(matmul)
    extents = loop_extents(matmul, structure)
    assert extents == (128, 64, 256)
    set_lowering([matmul], tile_and_fuse(structure.parallel, extents, 64))
    session.run(module, "executable-configurations")
    assert "pipeline<TileAndFuse>" in module.text()
    session.run(module, "executable-targets")


def test_what_cannot_be_configured_is_refused():
    _, _, _, matmul = optimised()
    with pytest.raises(UsageError, match="not an attribute of IREE"):
        set_lowering([matmul], "#iree_codegen.compilation_info<nothing>")
    session = Session(GFX942)
    module = session.parse_text(
        "func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n  %r = linalg.softmax dimension(1) "
        "ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>\n"
        "  return %r : tensor<4x8xf32>\n}"
    )
    with pytest.raises(PassFailed, match="takes no lowering configuration"):
        SetLowering(ops=(0,), info=tile_and_fuse([True, True], [4, 8], 64)).run(module.op, print)
