"""Constants of narrow floats on the host: stock refuses the module on every target; fissile folds them."""

import filecmp

import numpy as np
import pytest
from built import CPU, run
from small_programs import TARGETS

import fissile
from fissile.pipelines.session import PhaseFailed, Session

PAD = """
func.func @main(%x: tensor<4x5xf32>) -> tensor<6x7xf32> {{
  %c = arith.constant {value} : f32
  %h = arith.truncf %c : f32 to {kind}
  %e = tensor.empty() : tensor<4x5x{kind}>
  %n = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<4x5xf32>) outs(%e : tensor<4x5x{kind}>) {{
  ^bb0(%in: f32, %out: {kind}):
    %t = arith.truncf %in : f32 to {kind}
    linalg.yield %t : {kind}
  }} -> tensor<4x5x{kind}>
  %p = tensor.pad %n low[1, 1] high[1, 1] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %h : {kind}
  }} : tensor<4x5x{kind}> to tensor<6x7x{kind}>
  %g = tensor.empty() : tensor<6x7xf32>
  %w = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}}
      ins(%p : tensor<6x7x{kind}>) outs(%g : tensor<6x7xf32>) {{
  ^bb0(%in: {kind}, %out: f32):
    %t = arith.extf %in : {kind} to f32
    linalg.yield %t : f32
  }} -> tensor<6x7xf32>
  return %w : tensor<6x7xf32>
}}
"""
LOWEST = "-3.40282347E+38"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    (
        ("f16", LOWEST, -np.inf),
        ("f16", "0.1", np.float32(np.float16(0.1))),
        ("bf16", "0.1", np.float32(0.10009765625)),
        ("bf16", "1.0e-40", np.float32(2.0**-133)),
    ),
)
def test_stock_refuses_it_and_fissile_folds_it(tmp_path, kind, value, expected):
    text = PAD.format(kind=kind, value=value)
    session = Session(CPU)
    with pytest.raises(PhaseFailed, match=r"util\.initializer"):
        session.run(session.parse_text(text), "end")
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, list(CPU), check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS126", "repaired")]
    x = np.random.default_rng(0).integers(-8, 8, (4, 5)).astype(np.float32)  # exact in every type
    np.testing.assert_array_equal(run(output, [x])[0], np.pad(x, 1, constant_values=expected))


@pytest.mark.parametrize("target", ("gfx942", "vulkan"))
def test_on_every_target(tmp_path, target):
    source = tmp_path / "x.mlir"
    source.write_text(PAD.format(kind="f16", value=LOWEST))
    reported = fissile.compile(source, tmp_path / "x.vmfb", TARGETS[target], check=False).findings
    assert reported[0].code == "FIS126" and all(f.severity.value == "repaired" for f in reported)
    [foreseen] = [f for f in fissile.check(source, [target]).findings if f.code == "FIS126"]
    assert foreseen.severity.value == "error" and foreseen.places[0].line == 4


@pytest.mark.parametrize(("mode", "code"), (("suggest", "FIS126"), ("off", "FIS408")))
def test_other_modes_change_nothing(tmp_path, mode, code):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(PAD.format(kind="f16", value=LOWEST))
    report = fissile.compile(source, output, list(CPU), repair=mode, check=False)
    assert [f.code for f in report.errors] == [code] and not output.exists()


def test_a_constant_that_mlir_folds_is_no_finding(tmp_path):
    source, output, stock = (tmp_path / name for name in ("x.mlir", "x.vmfb", "stock.vmfb"))
    source.write_text(PAD.format(kind="f16", value="0.5"))
    assert not fissile.compile(source, output, list(CPU), check=False).findings
    session = Session(CPU)
    module = session.parse(source)
    session.run(module, "end")
    session.write(module, stock)
    assert filecmp.cmp(output, stock, shallow=False)
