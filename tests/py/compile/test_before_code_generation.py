"""A compile that ends before code generation is not refused for what code generation would refuse: stock IREE writes its module."""

from __future__ import annotations

import pytest
from planted_faults import compile_here
from small_programs import quantised_conv

VULKAN = ["--iree-hal-target-device=vulkan"]
GFX942 = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]
CONFIGURED = "--compile-to=executable-configurations"
GENERATED = "--compile-to=executable-targets"
# The filter transform has no code on SPIR-V, and no repair; the sum of i8 is read and written wrongly, and is packed.
TRANSFORM_AND_NARROW = """
func.func @f(%w: tensor<3x3x4x4xf32>, %x: tensor<64x64xi8>) -> (tensor<8x8x4x4xf32>, tensor<64x64xf32>) {
  %empty = tensor.empty() : tensor<8x8x4x4xf32>
  %t = iree_linalg_ext.winograd.filter_transform output_tile_size(6) kernel_size(3) kernel_dimensions([0, 1])
      ins(%w : tensor<3x3x4x4xf32>) outs(%empty : tensor<8x8x4x4xf32>) -> tensor<8x8x4x4xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xi8>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%in: i8, %out: f32):
    %v = arith.sitofp %in : i8 to f32
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  return %t, %y : tensor<8x8x4x4xf32>, tensor<64x64xf32>
}
"""


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """The report of a program that is compiled in this process, and what was written."""

    def made(program: str, *flags: str):
        source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
        source.write_text(program)
        output.unlink(missing_ok=True)
        report = compile_here(monkeypatch, [*flags, str(source), "-o", str(output)])
        return report, output

    return made


def test_what_code_generation_would_refuse_is_a_warning(compiled):
    """What has a repair is repaired all the same: the numbers of the i8 would be wrong."""
    report, output = compiled(TRANSFORM_AND_NARROW, *VULKAN, CONFIGURED)
    assert {(f.code, f.severity.value) for f in report.findings} == {
        ("FIS110", "repaired"),
        ("FIS108", "warning"),
    }
    assert report.exit_code == 0 and "winograd.filter_transform" in output.read_text()
    refusal = next(f for f in report.findings if f.code == "FIS108")
    assert any("ends before IREE's code generation" in note for note in refusal.notes)


def test_where_code_is_generated_it_is_an_error(compiled):
    report, output = compiled(TRANSFORM_AND_NARROW, *VULKAN, GENERATED)
    assert report.exit_code == 1 and "FIS108" in {f.code for f in report.findings if f.stops}
    assert not output.exists()


def test_without_repairs_stocks_module_is_written(compiled, tmp_path):
    """The convolution does not fit: IREE's resource check, which is a part of code generation, is what says so."""
    from fissile.pipelines.session import Session

    report, output = compiled(quantised_conv(), *GFX942, CONFIGURED, "--repair=off")
    assert report.exit_code == 0
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS101", "warning")]
    session = Session(GFX942)
    stock = session.run(session.parse(tmp_path / "in.mlir"), "executable-configurations")
    session.write(stock, tmp_path / "stock.mlir", "ir")
    assert output.read_bytes() == (tmp_path / "stock.mlir").read_bytes()
