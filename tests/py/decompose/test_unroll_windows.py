"""Convolutions that llvm-cpu does not vectorise (FIS212): a note, with `--fusion=tune` products that are right, and nothing where it has no use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from built import CPU

import fissile
from bench.speed import window_forms
from fissile.dialect.places import ops_of
from fissile.passes.analysis.layout.windows import windows_of
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.inputs import draw
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.session import Session

QUANTISED = Path(__file__).parents[3] / "bench/front_ends/tosa_dw.mlir"
"""Depthwise, with zero points: scalars that its body reads, and a multiplier of its channels."""
VECTORISED = """func.func @main(%x: tensor<1x30x30x32xf32>, %w: tensor<3x3x32xf32>) -> tensor<1x28x28x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x28x28x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<1x30x30x32xf32>, tensor<3x3x32xf32>) outs(%start : tensor<1x28x28x32xf32>)
      -> tensor<1x28x28x32xf32>
  return %r : tensor<1x28x28x32xf32>
}"""


def compiled(tmp_path, text, *flags):
    source, output = tmp_path / "main.mlir", tmp_path / f"out{len(flags)}.vmfb"
    source.write_text(text)
    return fissile.compile(source, output, [*CPU, *flags], check=False), source, output


def outcomes(report):
    return [(one.code, one.severity.value) for one in report.findings]


@pytest.mark.parametrize(
    "name",
    [
        "depthwise_f32_3_s1_14", "depthwise_i8_5_s1_14", "groups_f32_3_s1_14", "groups_i8_5_s1_14", "groups_last_f32_3_s2_14", "volume_f32_3_s1_8",
        "volume_last_i8_3_s2_8", "volume_last_f32_3_s1_8", "filters_first_f32_3_s1_14", "filters_first_i8_7_s1_14", "quantised",
    ],
)  # fmt: skip
def test_it_is_reported_and_unrolled_and_right(tmp_path, name):
    text = QUANTISED.read_text() if name == "quantised" else window_forms.programs()[name]
    report, source, stocks = compiled(tmp_path, text)
    assert outcomes(report) == [("FIS212", "note")]
    report, _source, own = compiled(tmp_path, text, "--fusion=tune")
    assert outcomes(report) == [("FIS212", "repaired")]
    [runtime], signature = runtimes.named(["local-task"]), signatures_of_source(source)["main"]
    given = draw(signature, 3)
    [wanted], [found] = (runtimes.run(one, signature, given, runtime) for one in (stocks, own))
    if found.dtype.kind == "i":
        np.testing.assert_array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "text",
    [
        VECTORISED,
        window_forms.programs()["depthwise_f32_3_s2_14"],  # strided reads cost what the vectors gain
        window_forms.convolution("depthwise", "f32", 3, 1, 2),  # too small
    ],
    ids=["vectorised", "strided", "small"],
)
def test_a_convolution_that_gains_nothing_stays_as_it_is(tmp_path, text):
    report, _source, stocks = compiled(tmp_path, text)
    tuned, _source, own = compiled(tmp_path, text, "--fusion=tune")
    assert outcomes(report) == outcomes(tuned) == [] and own.read_bytes() == stocks.read_bytes()


def test_convolutions_of_equal_body_are_one_finding_and_all_unrolled(tmp_path):
    one = window_forms.programs()["depthwise_f32_3_s1_14"]
    head, *rest = one.splitlines()
    names = ("%empty", "%start", "%r")
    again = "\n".join(rest[1:5])
    for name in names:
        again = again.replace(f"{name} ", f"{name}2 ").replace(f"{name})", f"{name}2)")
    again = again.replace("outs(%empty ", "outs(%empty2 ").replace("ins(%x,", "ins(%y,")
    head = head.replace("%x:", "%y: tensor<1x64x16x16xf32>, %x:").replace(
        "-> tensor<1x64x14x14xf32>", "-> (tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>)"
    )
    result = "  return %r, %r2 : tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>\n}\n"
    report, _source, _own = compiled(tmp_path, "\n".join([head, *rest[:5], again, result]), "--fusion=tune")
    assert outcomes(report) == [("FIS212", "repaired")]
    [edits] = [value for name, value in report.findings[0].helps[0].facts if name == "pass"]
    assert edits.count("ops=") == 1 and edits.split("ops=")[1].rstrip("}").count(",") == 1


def test_a_window_that_is_read_besides_is_none():
    """The image at the position and the window's element, and at the element alone: no part of it belongs to one element."""
    text = """func.func @main(%x: tensor<9x3xf32>, %w: tensor<3xf32>, %e: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<9x3xf32>, tensor<3xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}"""
    with Session() as session:
        [one] = ops_of(session.parse_text(text).op.operation, "linalg.generic")
        assert windows_of(one) is None


@pytest.mark.parametrize(
    ("op", "image", "weights", "result", "count"),
    [
        ("conv_2d_nhwc_hwcf", "1x9x9x4", "3x3x4x8", "1x7x7x8", 9),
        ("conv_3d_ndhwc_dhwcf", "1x9x9x9x4", "3x2x3x4x8", "1x7x8x7x8", 18),
        ("depthwise_conv_2d_nchw_chw", "1x4x9x9", "4x3x5", "1x4x7x5", 15),
        ("matmul", "4x8", "8x6", "4x6", None),
        ("pooling_nhwc_sum", "1x9x9x4", "3x3", "1x7x7x4", None),
    ],
)
def test_the_elements_of_windows(op, image, weights, result, count):
    text = f"""func.func @main(%x: tensor<{image}xf32>, %w: tensor<{weights}xf32>, %e: tensor<{result}xf32>) -> tensor<{result}xf32> {{
  %r = linalg.{op} ins(%x, %w : tensor<{image}xf32>, tensor<{weights}xf32>) outs(%e : tensor<{result}xf32>) -> tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}"""
    with Session() as session:
        [one] = ops_of(session.parse_text(text).op.operation, f"linalg.{op}")
        found = windows_of(one)
        assert (found.count if found is not None else None) == count
