"""Arithmetic of PyTorch on torch.uint8 (FIS165), and of 8-bit integers with a number (FIS421): as NumPy computes it."""

from __future__ import annotations

import numpy as np
import pytest

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

FLAGS = {
    "local-task": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
X = np.array([0, 7, 200, 255, 5, 127, 128, 3], np.uint8)
SIGNED = X.view(np.int8)
FLOATS = np.array([0.5, -7, 200, 1, 130, 127, -2, 3], np.float32)
U, S, F = (f"!torch.vtensor<[8],{element}>" for element in ("ui8", "si8", "f32"))
MISREAD = """\
func.func @main(%x: U, %f: F) -> (F, F, U, !torch.vtensor<[],si64>, U, F, !torch.vtensor<[16],f32>) {
  %most = torch.constant.int 255
  %half = torch.constant.float 0.5
  %zero = torch.constant.int 0
  %no = torch.constant.bool false
  %none = torch.constant.none
  %five = torch.vtensor.literal(dense<5> : tensor<ui8>) : !torch.vtensor<[],ui8>
  %a = torch.aten.div.Scalar %x, %most : U, !torch.int -> F
  %b = torch.aten.mul.Scalar %x, %half : U, !torch.float -> F
  %c = torch.aten.remainder.Tensor %x, %five : U, !torch.vtensor<[],ui8> -> U
  %d = torch.aten.sum %x, %none : U, !torch.none -> !torch.vtensor<[],si64>
  %e:2 = torch.aten.sort %x, %zero, %no : U, !torch.int, !torch.bool -> U, !torch.vtensor<[8],si64>
  %g = torch.aten.maximum %x, %f : U, F -> F
  %l = torch.prim.ListConstruct %x, %f : (U, F) -> !torch.list<vtensor>
  %h = torch.aten.cat %l, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[16],f32>
  return %a, %b, %c, %d, %e#0, %g, %h : F, F, U, !torch.vtensor<[],si64>, U, F, !torch.vtensor<[16],f32>
}
"""
WITH_A_NUMBER = """\
func.func @main(%x: S, %y: U) -> (S, S, U, U, U) {
  %eight = torch.constant.int 8
  %one = torch.constant.int 1
  %less = torch.constant.int -3
  %a = torch.aten.sub.Scalar %x, %eight, %one : S, !torch.int, !torch.int -> S
  %b = torch.aten.mul.Scalar %x, %less : S, !torch.int -> S
  %c = torch.aten.rsub.Scalar %y, %eight, %one : U, !torch.int, !torch.int -> U
  %d = torch.aten.remainder.Scalar %y, %eight : U, !torch.int -> U
  %e = torch.aten.floor_divide.Scalar %y, %eight : U, !torch.int -> U
  return %a, %b, %c, %d, %e : S, S, U, U, U
}
"""


def written(text: str) -> str:
    for letter, type_ in (("U", U), ("S", S), ("F", F)):
        for before, after in ((" ", ","), (" ", " "), (" ", ")"), ("(", ","), (" ", "\n")):
            text = text.replace(f"{before}{letter}{after}", f"{before}{type_}{after}")
    return text


def called(vmfb, source, inputs, name):
    [runtime] = runtimes.named([name])
    answer = runtimes.run(vmfb, signatures_of_source(source)["main"], inputs, runtime)
    assert isinstance(answer, list), answer
    return [one.view(np.uint8) if one.dtype == np.int8 else one for one in answer]


def expected():
    return [
        X.astype(np.float32) / np.float32(255), X * np.float32(0.5), X % 5, X.sum(dtype=np.int64), np.sort(X),
        np.maximum(X, FLOATS), np.concatenate([X, FLOATS]),
    ]  # fmt: skip


@pytest.mark.parametrize("runtime", PRESENT)
def test_unsigned_operands_have_no_sign(tmp_path, runtime):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(written(MISREAD))
    report = fissile.compile(source, vmfb, FLAGS[runtime])
    assert [f.severity.value for f in report.findings if f.code == "FIS165"] == ["repaired"] * 7
    for got, wanted in zip(called(vmfb, source, [X, FLOATS], runtime), expected(), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_stock_reads_them_as_signed(tmp_path):
    """It fails once IREE mends one of them."""
    source, vmfb = tmp_path / "in.mlir", tmp_path / "stock.vmfb"
    source.write_text(written(MISREAD))
    assert compile_stock(source, vmfb, FLAGS["local-task"]) is None
    for got, wanted in zip(called(vmfb, source, [X, FLOATS], "local-task"), expected(), strict=True):
        assert not np.array_equal(got, wanted)


def test_arithmetic_with_a_number_wraps_as_bytes_do(tmp_path):
    """Stock IREE crashes on each of them."""
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(written(WITH_A_NUMBER))
    assert compile_stock(source, tmp_path / "stock.vmfb", FLAGS["local-task"]) is not None
    fissile.compile(source, vmfb, FLAGS["local-task"])
    wide, byte = SIGNED.astype(np.int64), X.astype(np.int64)
    wanted = [wide - 8, wide * -3, 8 - byte, byte % 8, byte // 8]
    for got, one in zip(called(vmfb, source, [SIGNED, X], "local-task"), wanted, strict=True):
        assert np.array_equal(got.view(np.uint8), one.astype(np.uint8))


COMPLEX = """\
func.func @main(%x: !torch.vtensor<[2],ELEMENT>) -> !torch.vtensor<[2],complex<f32>> {
  %type = torch.constant.int 9
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.aten.to.dtype %x, %type, %no, %no, %none : !torch.vtensor<[2],ELEMENT>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[2],complex<f32>>
  return %r : !torch.vtensor<[2],complex<f32>>
}
"""


@pytest.mark.parametrize(
    "element, given", [("i1", np.array([True, False])), ("ui8", np.array([200, 3], np.uint8))]
)
def test_a_complex_number_of_what_has_no_sign(tmp_path, element, given):
    """Where the last line fails IREE has learned it."""
    source, output = tmp_path / "main.mlir", tmp_path / "out.vmfb"
    source.write_text(COMPLEX.replace("ELEMENT", element))
    report = fissile.compile(source, output, [*FLAGS["local-task"]])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS165", "repaired")]
    [runtime], signature = runtimes.named(["local-task"]), signatures_of_source(source)["main"]
    assert runtimes.run(output, signature, [given], runtime)[0].tolist() == given.astype(complex).tolist()
    if element == "i1":
        assert compile_stock(source, output, FLAGS["local-task"]) is None
        assert runtimes.run(output, signature, [given], runtime)[0].tolist() == [-1, 0]
