"""check, compile and reduce report the same for one program: code, bytes, tensors, places; and none reports "fits" without evidence."""

from __future__ import annotations

import pytest
from small_programs import ADD, quantised_matmul
from test_expand_scalars import program as scalar_program
from test_widen_accumulators import MATMUL
from tiled_programs import conv, matmul

import fissile
from fissile.cli.main import main
from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.check.entry import check
from fissile.pipelines.check.measuring import measure
from fissile.pipelines.reduce.reduced_again import fails_otherwise
from fissile.pipelines.targets import resolve_target

ACCUMULATING = """
func.func @main(%x: tensor<1x30x30x64xf32>, %w: tensor<3x3x64x64xf32>, %acc: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x30x30x64xf32>, tensor<3x3x64x64xf32>) outs(%acc : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  return %r : tensor<1x28x28x64xf32>
}
"""
"""No fill: outside of what the prediction was compared on."""

TRANSPOSED = """
func.func @main(%x: tensor<1x3x229x229xf32>, %w: tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x112x112xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x112x112xf32>) -> tensor<1x64x112x112xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %w : tensor<1x3x229x229xf32>, tensor<64x3x7x7xf32>) outs(%f : tensor<1x64x112x112xf32>) -> tensor<1x64x112x112xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, f, h, w) -> (n, f, w, h)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x64x112x112xf32>) outs(%e : tensor<1x64x112x112xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<1x64x112x112xf32>
  return %r : tensor<1x64x112x112xf32>
}
"""
"""A result that is written in another order: the types are those of calibrated dispatches."""

REFUSED = {
    "a transposed result": (TRANSPOSED, "gfx942", "FIS104"),
    "workgroup memory": (conv(channels=64, filters=64, size=56, consumer="i8"), "gfx942", "FIS101"),
    "not distributed": (MATMUL.format(m=128, n=128, k=256, t="f16"), "gfx942", "FIS103"),
    "an integer power": (scalar_program("math.ipowi", 60, "i32"), "gfx942", "FIS104"),
    "a bit count of 64 bits": (scalar_program("math.ctpop", 60, "i64"), "vulkan", "FIS108"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_stock_refuses_is_the_same_finding_in_check_and_compile(tmp_path, what):
    text, target, code = REFUSED[what]
    source = tmp_path / "p.mlir"
    source.write_text(text)
    checked = check(source, [target])
    [ours] = [f for f in checked.findings if f.severity.value == "error" and f.effect is not Effect.WRONG]
    built = fissile.compile(
        source, tmp_path / "p.vmfb", flags_for(resolve_target(target)), repair="off", check=False
    )
    [theirs] = [f for f in built.findings if f.severity.value == "error" and f.effect is not Effect.WRONG]
    assert checked.exit_code == built.exit_code == 1 and ours.code == theirs.code == code
    assert (
        ours.message.split(";")[0] == theirs.message.split(";")[0]
        and ours.places == theirs.places
        and ours.ledger == theirs.ledger
    )


def test_an_op_that_is_refused_without_a_dispatch_is_the_same_in_check_and_compile(tmp_path):
    source = tmp_path / "p.mlir"
    source.write_text(
        "func.func @main(%a: f16) -> f16 {\n  %c = arith.addf %a, %a : f16\n  return %c : f16\n}\n"
    )
    [ours] = fissile.check(source, "gfx942").errors
    flags = flags_for(resolve_target("gfx942"))
    [theirs] = fissile.compile(source, tmp_path / "p.vmfb", flags, check=False).errors
    assert ours.code == theirs.code == "FIS410" and ours.places == theirs.places and ours.places[0].line == 2


def test_code_that_never_ends_is_an_error_without_being_generated(tmp_path):
    source = tmp_path / "p.mlir"
    source.write_text(quantised_matmul(128, 256, 128))
    report = check(source, ["vulkan"])
    [endless] = [f for f in report.findings if f.code == "FIS109"]
    assert endless.effect is Effect.ENDLESS and report.exit_code == 1
    assert not [f for f in check(source, ["gfx942"]).findings if f.code == "FIS109"]


def test_only_a_calibrated_structure_goes_without_code_generation(tmp_path, capsys):
    generated = {}
    for name, text in (
        ("plain", matmul(dequantise=False)),
        ("accumulating", ACCUMULATING),
        ("dequantised", matmul()),
    ):
        source = tmp_path / f"{name}.mlir"
        source.write_text(text)
        [target] = check(source, ["gfx942"]).facts["targets"]
        generated[name] = [row["code_generated"] for row in target["dispatches"]]
    assert (
        generated["accumulating"] == [True] and all(generated["dequantised"]) and not any(generated["plain"])
    )
    for probe, printed in (("never", "fits (predicted); code generation not run"), ("all", "no findings")):
        assert (
            main(["check", str(tmp_path / "dequantised.mlir"), "--target", "gfx942", "--probe", probe]) == 0
        )
        assert capsys.readouterr().out.strip().splitlines()[-1] == f"fissile: {printed}"


NARROW = """
func.func @main(%a: tensor<128x256x{t}>, %b: tensor<256x64x{t}>) -> tensor<64x128x{t}> {{
  %e = tensor.empty() : tensor<128x64xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
  %p = linalg.generic {{
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : tensor<128x256x{t}>, tensor<256x64x{t}>) outs(%f : tensor<128x64xf32>) {{
  ^bb0(%x: {t}, %y: {t}, %sum: f32):
    %xf = {widen} %x : {t} to f32
    %yf = {widen} %y : {t} to f32
    %m = arith.mulf %xf, %yf : f32
    %s = arith.addf %sum, %m : f32
    linalg.yield %s : f32
  }} -> tensor<128x64xf32>
  %o = tensor.empty() : tensor<64x128x{t}>
  %r = linalg.generic {{
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>], iterator_types = ["parallel", "parallel"]}}
      ins(%p : tensor<128x64xf32>) outs(%o : tensor<64x128x{t}>) {{
  ^bb0(%in: f32, %out: {t}):
    %q = {narrow} %in : f32 to {t}
    linalg.yield %q : {t}
  }} -> tensor<64x128x{t}>
  return %r : tensor<64x128x{t}>
}}
"""
CASTS = {
    "i8": ("arith.sitofp", "arith.fptosi"),
    "f16": ("arith.extf", "arith.truncf"),
    "bf16": ("arith.extf", "arith.truncf"),
}


@pytest.mark.parametrize(
    "element, target, generated",
    [
        ("i8", "gfx942", False),
        ("f16", "sm_86", False),
        ("f16", "llvm-cpu", False),
        ("i8", "vulkan", True),
        ("bf16", "gfx942", True),
    ],
)
def test_narrow_elements_are_calibrated_where_the_device_converts_them(tmp_path, element, target, generated):
    """And where they are, code generation agrees with the prediction. IREE refuses the one for default Vulkan."""
    widen, narrow = CASTS[element]
    source = tmp_path / "narrow.mlir"
    source.write_text(NARROW.format(t=element, widen=widen, narrow=narrow))
    [checked] = check(source, [target]).facts["targets"]
    assert [row["code_generated"] for row in checked["dispatches"]] == [generated]
    [one] = measure(source, resolve_target(target))
    assert one.calibrated is not generated and one.result is not None
    if not generated:
        assert one.result.probed.failure is None and one.result.converted is None
        assert one.exact is not None and one.prediction.total.value >= one.exact.value


CONFIGURED = """
#info = #iree_codegen.compilation_info<
  lowering_config = #iree_gpu.lowering_config<{workgroup = [64, 64, 0], reduction = [0, 0, 32], thread = [4, 4, 0]}>,
  translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<TileAndFuse> workgroup_size = [256, 1, 1] subgroup_size = 64>>
"""


@pytest.mark.parametrize("configured", [False, True])
def test_a_dispatch_that_the_program_configures_is_not_calibrated(tmp_path, configured):
    """IREE may have no code for what it did not choose itself."""
    text = matmul(dequantise=False)
    if configured:
        text = CONFIGURED + text.replace("linalg.matmul ins", "linalg.matmul {compilation_info = #info} ins")
    source = tmp_path / "p.mlir"
    source.write_text(text)
    [one] = [m for m in measure(source, resolve_target("gfx942")) if "matmul" in m.dispatch.name]
    assert one.calibrated is not configured


def test_a_reduced_program_is_compared_with_what_stock_does(tmp_path):
    """Against stock's own answer: a program that it builds fails by no code; one that it refuses, by one alone."""
    healthy, refused = tmp_path / "add.mlir", tmp_path / "refused.mlir"
    healthy.write_text(ADD)
    refused.write_text(REFUSED["an integer power"][0])
    flags = flags_for(resolve_target("gfx942"))
    assert fails_otherwise(healthy, flags, Finding("FIS101", "too large"), 300) == "stock IREE builds it"
    assert fails_otherwise(healthy, flags, Finding("FIS110", "wrong numbers"), 300) == ""
    assert fails_otherwise(refused, flags, Finding("FIS104", "not legalised"), 300) == ""
    assert "another reason" in fails_otherwise(refused, flags, Finding("FIS101", "too large"), 60)
    assert "refuses" in fails_otherwise(refused, flags, Finding("FIS110", "wrong numbers"), 60)


TWO = """
func.func @main(%a: tensor<{m}x{k}xf16>, %b: tensor<{k}x{n}xf16>, %p: tensor<60xi32>, %q: tensor<60xi32>) -> (tensor<{m}x{n}xf16>, tensor<60xi32>) {{
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<{m}x{n}xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<{m}x{n}xf16>) -> tensor<{m}x{n}xf16>
  %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>) outs(%f : tensor<{m}x{n}xf16>) -> tensor<{m}x{n}xf16>
  %o = tensor.empty() : tensor<60xi32>
  %i = linalg.generic {{indexing_maps = [affine_map<(x) -> (x)>, affine_map<(x) -> (x)>, affine_map<(x) -> (x)>], iterator_types = ["parallel"]}}
      ins(%p, %q : tensor<60xi32>, tensor<60xi32>) outs(%o : tensor<60xi32>) {{
  ^bb0(%x: i32, %y: i32, %w: i32):
    %v = math.ipowi %x, %y : i32
    linalg.yield %v : i32
  }} -> tensor<60xi32>
  return %r, %i : tensor<{m}x{n}xf16>, tensor<60xi32>
}}
"""


@pytest.mark.parametrize(
    "wanted, code, kept, gone",
    [("matmul", "FIS103", "linalg.matmul", "ipowi"), ("elementwise", "FIS104", "ipowi", "linalg.matmul")],
)
def test_reduce_keeps_the_culprit_of_the_dispatch_that_was_named(tmp_path, capsys, wanted, code, kept, gone):
    source, reduced = tmp_path / "p.mlir", tmp_path / "r.mlir"
    source.write_text(TWO.format(m=128, n=128, k=256))
    names = [
        row["name"] for row in check(source, ["gfx942"], probe="never").facts["targets"][0]["dispatches"]
    ]
    [name] = [name for name in names if wanted in name]
    assert (
        main(
            [
                "reduce",
                *flags_for(resolve_target("gfx942")),
                str(source),
                f"--dispatch={name}",
                "-o",
                str(reduced),
            ]
        )
        == 0
    )
    text = reduced.read_text()
    assert (
        code in text.splitlines()[0]
        and kept in text
        and gone not in text
        and "FIS152" not in capsys.readouterr().err
    )
