"""FIS162: scans of ONNX over unknown lengths, backwards and along other dimensions, as ONNX defines them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, compiled, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

RNG = np.random.default_rng(7)
_PROGRAM = """func.func @main(%h: !torch.vtensor<[2,3],f32>, %x: XTYPE) -> (!torch.vtensor<[2,3],f32>, YTYPE)
    attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64} {
  %r:2 = torch.operator "onnx.Scan"(%h, %x) {torch.onnx.num_scan_inputs = 1 : si64ATTRIBUTES} : (!torch.vtensor<[2,3],f32>, XTYPE) -> (!torch.vtensor<[2,3],f32>, YTYPE) {
  ^bb0(%a: !torch.vtensor<[2,3],f32>, %b: !torch.vtensor<[2,3],f32>):
    %s = torch.operator "onnx.Sub"(%a, %b) : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32>
    %t = torch.operator "onnx.Mul"(%s, %b) : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32>
    torch.operator_terminator %s, %t : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>
  }
  return %r#0, %r#1 : !torch.vtensor<[2,3],f32>, YTYPE
}
"""


def _kind(size, axis: int) -> str:
    shape = [2, 3]
    shape.insert(axis % 3, size)
    return f"!torch.vtensor<[{','.join(map(str, shape))}],f32>"


def _written(tmp_path, size, axis, backwards, made_axis=0, made_backwards=False) -> None:
    named = {"input_axes": axis, "input_directions": int(backwards), "output_axes": made_axis, "output_directions": int(made_backwards)}  # fmt: skip
    attributes = "".join(f", torch.onnx.scan_{name} = [{value} : si64]" for name, value in named.items())
    text = _PROGRAM.replace("XTYPE", _kind(size, axis)).replace("YTYPE", _kind(size, made_axis))
    written(tmp_path, text.replace("ATTRIBUTES", attributes))


def _expected(h, x, axis, backwards, made_axis, made_backwards):
    rows, made = np.moveaxis(x, axis, 0), []
    for row in rows[::-1] if backwards else rows:
        h = h - row
        made.append(h * row)
    return h, np.stack(made[::-1] if made_backwards else made, made_axis)


@pytest.mark.parametrize(
    ("size", "axis", "backwards", "made_axis", "made_backwards"),
    [
        ("?", 0, False, 0, False),
        (5, 0, True, 0, False),
        (5, 1, False, -1, True),
        ("?", -1, True, 1, True),
        (5, 0, False, 0, True),
    ],
)
def test_a_scan_as_onnx_defines_it(tmp_path, size, axis, backwards, made_axis, made_backwards):
    _written(tmp_path, size, axis, backwards, made_axis, made_backwards)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    repaired = [one.code for one in report.findings if one.severity.value == "repaired"]
    assert repaired == ["FIS162"], report.findings
    for length in [5] if size == 5 else [5, 1, 7]:
        shape = [2, 3]
        shape.insert(axis % 3, length)
        h, x = (RNG.standard_normal(one).astype(np.float32) for one in ((2, 3), shape))
        right = _expected(h, x, axis, backwards, made_axis, made_backwards)
        for got, one in zip(all_computed(tmp_path, h, x), right, strict=True):
            np.testing.assert_allclose(got, one, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("element", "kind"), [("si64", np.int64), ("si32", np.int32), ("f64", np.float64)])
def test_other_elements(tmp_path, element, kind):
    _written(tmp_path, "?", 0, True)
    text = (
        (tmp_path / "main.mlir")
        .read_text()
        .replace(",f32>", f",{element}>")
        .replace("],f32>", f"],{element}>")
    )
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS162" in {one.code for one in report.findings} and report.exit_code == 0, report.findings
    h, x = (RNG.integers(-9, 9, one).astype(kind) for one in ((2, 3), (4, 2, 3)))
    for got, one in zip(all_computed(tmp_path, h, x), _expected(h, x, 0, True, 0, False), strict=True):
        np.testing.assert_array_equal(got, one)


def test_booleans(tmp_path):
    _written(tmp_path, "?", 0, False)
    text = (tmp_path / "main.mlir").read_text().replace("f32>", "i1>")
    text = text.replace("onnx.Sub", "onnx.Xor").replace("onnx.Mul", "onnx.And")
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS162" in {one.code for one in report.findings} and report.exit_code == 0, report.findings
    h, x = (RNG.integers(0, 2, one).astype(bool) for one in ((2, 3), (4, 2, 3)))
    made = []
    state = h
    for row in x:
        state = state ^ row
        made.append(state & row)
    for got, one in zip(all_computed(tmp_path, h, x), (state, np.stack(made)), strict=True):
        np.testing.assert_array_equal(np.asarray(got).astype(bool), one)


def test_a_batch_of_unknown_size(tmp_path):
    """The size of a result is read from that of a step."""
    _written(tmp_path, "?", 0, True)
    text = (tmp_path / "main.mlir").read_text().replace("[2,3]", "[?,3]").replace("[?,2,3]", "[?,?,3]")
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS162" in {one.code for one in report.findings} and report.exit_code == 0, report.findings
    for batch, length in ((2, 5), (4, 1)):
        h, x = (RNG.standard_normal(one).astype(np.float32) for one in ((batch, 3), (length, batch, 3)))
        for got, one in zip(all_computed(tmp_path, h, x), _expected(h, x, 0, True, 0, False), strict=True):
            np.testing.assert_allclose(got, one, rtol=1e-5, atol=1e-5)


def test_what_cannot_be_written_is_an_error(tmp_path):
    """A result of complex numbers: IREE would run one step of it."""
    _written(tmp_path, "?", 0, False)
    written(tmp_path, (tmp_path / "main.mlir").read_text().replace("f32>", "complex<f32>>"))
    status, findings = compiled(tmp_path, (tmp_path / "main.mlir").read_text())
    assert status == 1 and not (tmp_path / "out.vmfb").exists()
    [found] = [one for one in findings if one["code"] == "FIS162"]
    assert (found["severity"], found["subject"]) == ("error", "onnx.Scan")


def test_a_scan_that_iree_reads_rightly_is_left_alone(tmp_path):
    _written(tmp_path, 5, 0, False)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS162" not in {one.code for one in report.findings}
    h, x = (RNG.standard_normal(one).astype(np.float32) for one in ((2, 3), (5, 2, 3)))
    for got, one in zip(all_computed(tmp_path, h, x), _expected(h, x, 0, False, 0, False), strict=True):
        np.testing.assert_allclose(got, one, rtol=1e-5, atol=1e-5)


def test_stock_scans_forwards(tmp_path):
    _written(tmp_path, 5, 0, True)
    fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])  # for the signature
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    h, x = (RNG.standard_normal(one).astype(np.float32) for one in ((2, 3), (5, 2, 3)))
    got = all_computed(tmp_path, h, x)
    np.testing.assert_allclose(got[1], _expected(h, x, 0, False, 0, False)[1], rtol=1e-5, atol=1e-5)
