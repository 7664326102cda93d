"""FIS215: constants that IREE cannot evaluate while it compiles are computed by the device, and twins stay as they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.passes.analysis.globals.evaluated import evaluated_values
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.session import Session
from fissile.rules import RULES

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
NUMBERS = [0.1, 0.2, 0.5, 1.0]
PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<[0.1, 0.2, 0.5, 1.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.erfc %a : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.map { arith.addf } ins(%x, %t : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}
"""


@pytest.mark.parametrize("runtime", PRESENT)
def test_an_op_that_iree_has_no_code_for(tmp_path, runtime):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PROGRAM)
    assert compile_stock(source, tmp_path / "stock.vmfb", FLAGS[runtime]) is not None
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert sorted((one.code, one.severity.value) for one in report.findings) == [
        ("FIS104", "repaired"),
        ("FIS215", "repaired"),
    ]
    [answer] = run(output, [np.ones(4, np.float32)], runtime)
    np.testing.assert_allclose(answer, [1 + math.erfc(x) for x in NUMBERS], rtol=1e-5)


@pytest.mark.parametrize("runtime", PRESENT)
def test_constants_in_the_wrong_order(tmp_path, runtime):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(RULES["FIS215"].shown.program.replace("@f", "@main"))
    assert compile_stock(source, tmp_path / "stock.vmfb", FLAGS[runtime]) is not None
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert ("FIS215", "repaired") in [(one.code, one.severity.value) for one in report.findings]
    exact = np.fft.fft([1, 2 + 1j, 3, 4 + 2j])
    for answer, part in zip(run(output, [], runtime), (exact.real, exact.imag), strict=True):
        np.testing.assert_allclose(answer, part, atol=1e-5)


def test_a_constant_that_iree_evaluates_stays_as_it_is(tmp_path):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(PROGRAM.replace("math.erfc", "math.erf"))
    assert not fissile.compile(source, ours, list(CPU)).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()


@pytest.mark.parametrize("runtime", PRESENT)
def test_small_constants_below_a_byte(tmp_path, runtime):
    """IREE puts small constants into the code of a dispatch, where no target reads i4; a race in the same dispatch comes to light first."""
    weights = [[(7 * i + 3 * j) % 16 - 8 for j in range(8)] for i in range(16)]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(
        f"""
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {{
  %w = arith.constant dense<{weights}> : tensor<16x8xi4>
  %e = tensor.empty() : tensor<16x8xf32>
  %d = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%w : tensor<16x8xi4>) outs(%e : tensor<16x8xf32>) {{
  ^bb0(%a: i4, %o: f32):
    %f = arith.sitofp %a : i4 to f32
    linalg.yield %f : f32
  }} -> tensor<16x8xf32>
  %z = arith.constant 0.0 : f32
  %n = tensor.empty() : tensor<4x8xf32>
  %i = linalg.fill ins(%z : f32) outs(%n : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.matmul ins(%x, %d : tensor<4x16xf32>, tensor<16x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}}"""
    )
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert report.findings and {one.severity.value for one in report.findings} == {"repaired"}
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    [answer] = run(output, [x], runtime)
    np.testing.assert_allclose(answer, x @ np.float32(weights))


def test_check_says_what_compile_does(tmp_path):
    """The rewrite belongs before the phase that all targets share, and the failure is seen behind it."""
    source = tmp_path / "in.mlir"
    source.write_text(PROGRAM)
    found = {one.code: one for one in fissile.check(source, ["llvm-cpu", "vulkan"]).findings}
    assert set(found) == {"FIS104", "FIS215"}
    assert all(one.severity.value == "error" for one in found.values())
    assert "`fissile compile` applies it" in found["FIS215"].notes


def test_a_long_chain_of_constants():
    """Longer than Python's stack is deep."""
    steps = "".join(
        f"  %v{i + 1} = linalg.map {{ math.sqrt }} ins(%v{i} : tensor<4xf32>) outs(%e : tensor<4xf32>)\n"
        for i in range(1500)
    )
    module = (
        "func.func @main() -> tensor<4xf32> {\n  %v0 = arith.constant dense<[0.1, 0.2, 0.5, 1.0]> : tensor<4xf32>\n"
        f"  %e = tensor.empty() : tensor<4xf32>\n{steps}  return %v1500 : tensor<4xf32>\n}}\n"
    )
    [one] = evaluated_values(Session(CPU).parse_text(module).op)
    assert len(one.ops) == 1502


@pytest.mark.parametrize("head, evaluated", [("", 1), ("mutable ", 0)])
def test_a_global_is_a_constant_unless_it_is_stored_to(head, evaluated):
    module = f"""
util.global private {head}@weights = dense<[0.1, 0.2, 0.5, 1.0]> : tensor<4xf32>
func.func @main() -> tensor<4xf32> {{
  %w = util.global.load @weights : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map {{ math.sqrt }} ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}}"""
    found = evaluated_values(Session(CPU).parse_text(module).op)
    assert len(found) == evaluated


def test_a_global_whose_contents_the_module_does_not_have_is_no_constant():
    module = """
util.global private @weights = #flow.parameter.named<"model"::"weights"> : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %w = util.global.load @weights : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { math.sqrt } ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}"""
    assert not evaluated_values(Session(CPU).parse_text(module).op)


def test_zeros_that_products_begin_with_stay_where_they_are(tmp_path):
    """Loaded from a global, IREE would update them in place before an op that reads them (FIS156)."""
    maps = "indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]"
    text = PROGRAM.replace("%x: tensor<4xf32>", "%x: tensor<4xf32>, %m: tensor<4x4xf32>, %n: tensor<4x4xf32>")
    text = text[: text.index("  %r =")] + (
        "  %zero = arith.constant 0.0 : f32\n"
        "  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>\n"
        "  %p = linalg.matvec ins(%m, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>\n"
        "  %q = linalg.matvec ins(%n, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>\n"
        f'  %r = linalg.generic {{{maps}, iterator_types = ["parallel"]}}\n'
        "      ins(%p, %q, %t, %zeros : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {\n"
        "  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):\n"
        "    %f = arith.maximumf %a, %d : f32\n    %g = arith.subf %f, %b : f32\n    %h = arith.addf %g, %c : f32\n"
        "    linalg.yield %h : f32\n  } -> tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n"
    )
    text = text.replace("%c = arith.constant", "%k = arith.constant").replace("ins(%c :", "ins(%k :")
    (tmp_path / "in.mlir").write_text(text)
    report = fissile.compile(tmp_path / "in.mlir", tmp_path / "out.vmfb", [*CPU])
    assert {(one.code, one.severity.value) for one in report.findings} == {
        ("FIS104", "repaired"),
        ("FIS215", "repaired"),
    }
    m = np.arange(16, dtype=np.float32).reshape(4, 4) - 8
    x, n = np.float32([1, -2, 3, 0.5]), m.T.copy()
    [answer] = run(tmp_path / "out.vmfb", [x, m, n], "local-task")
    table = np.float32([math.erfc(number) for number in NUMBERS])
    np.testing.assert_allclose(answer, np.maximum(m @ x, 0) - n @ x + table, rtol=1e-5)
