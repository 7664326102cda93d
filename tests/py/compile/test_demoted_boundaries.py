"""Functions of torch and ONNX programs that take and return f64: stock IREE reads and writes f32 there (FIS161); converted they are right."""

from __future__ import annotations

import iree.runtime as rt
import numpy as np
import pytest
from built import CPU

import fissile
from fissile.passes.iree.flags import IN_F64
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session

SUM = """func.func @main(%a: !torch.vtensor<[?,3],f64>, %b: !torch.vtensor<[?,3],f64>) -> (!torch.vtensor<[?,3],f64>, !torch.vtensor<[?,3],f32>) {
  %one = torch.constant.int 1
  %f32 = torch.constant.int 6
  %no = torch.constant.bool false
  %none = torch.constant.none
  %s = torch.aten.add.Tensor %a, %b, %one : !torch.vtensor<[?,3],f64>, !torch.vtensor<[?,3],f64>, !torch.int -> !torch.vtensor<[?,3],f64>
  %t = torch.aten.to.dtype %a, %f32, %no, %no, %none
    : !torch.vtensor<[?,3],f64>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[?,3],f32>
  return %s, %t : !torch.vtensor<[?,3],f64>, !torch.vtensor<[?,3],f32>
}
"""
OVERWRITTEN = """func.func @main(%a: !torch.tensor<[4],f64>, %b: !torch.vtensor<[4],f64>) -> !torch.vtensor<[4],f64> {
  %one = torch.constant.int 1
  %v = torch.copy.to_vtensor %a : !torch.vtensor<[4],f64>
  %s = torch.aten.add.Tensor %v, %b, %one : !torch.vtensor<[4],f64>, !torch.vtensor<[4],f64>, !torch.int -> !torch.vtensor<[4],f64>
  torch.overwrite.tensor.contents %s overwrites %a : !torch.vtensor<[4],f64>, !torch.tensor<[4],f64>
  return %s : !torch.vtensor<[4],f64>
}
"""
DOUBLED = """func.func @main(%a: !torch.vtensor<[4],TYPE>) -> !torch.vtensor<[4],TYPE> {
  %one = torch.constant.int 1
  %s = torch.aten.add.Tensor %a, %a, %one : !torch.vtensor<[4],TYPE>, !torch.vtensor<[4],TYPE>, !torch.int -> !torch.vtensor<[4],TYPE>
  return %s : !torch.vtensor<[4],TYPE>
}
"""


def loaded(path):
    return rt.load_vm_flatbuffer_file(str(path), driver="local-sync")


def run(source, vmfb, arguments, runtime):
    """A function with torch's types has no declaration in the module."""
    [device] = runtimes.named([runtime])
    answer = runtimes.run(vmfb, signatures_of_source(source)["main"], arguments, device)
    assert isinstance(answer, list), answer
    return answer


@pytest.fixture
def build(tmp_path):
    def built(text: str, *flags: str):
        (tmp_path / "in.mlir").write_text(text)
        report = fissile.compile(tmp_path / "in.mlir", tmp_path / "out.vmfb", [*CPU, *flags])
        return report, loaded(tmp_path / "out.vmfb")

    return built


def test_arguments_and_results_are_converted(build):
    report, module = build(SUM)
    assert sorted(f.code for f in report.findings) == [*["FIS161"] * 3, "FIS202"]
    a, b = np.linspace(-3, 9, 15).reshape(5, 3), np.full((5, 3), 0.1)
    total, narrow = (value.to_host() for value in module.main(a, b))
    assert total.dtype == np.float64 and narrow.dtype == np.float32
    np.testing.assert_array_equal(total, (a.astype(np.float32) + b.astype(np.float32)).astype(np.float64))
    np.testing.assert_array_equal(narrow, a.astype(np.float32))


def test_stock_reads_half_of_each_number(tmp_path):
    """Where this fails IREE converts what crosses the boundary, and FIS161 is not needed any more."""
    (tmp_path / "in.mlir").write_text(SUM)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", [*CPU], timeout=300.0) is None
    with pytest.raises(
        (IndexError, AssertionError)
    ):  # it reads past the buffer (3.13), or wrong numbers (3.12)
        total, _narrow = loaded(tmp_path / "stock.vmfb").main(np.ones((2, 3)), np.ones((2, 3)))
        np.testing.assert_array_equal(total.to_host(), np.full((2, 3), 2.0))


def test_an_argument_that_is_overwritten_gets_f64(build):
    report, module = build(OVERWRITTEN)
    assert {f.code for f in report.findings} == {"FIS161"}
    device = rt.get_device("local-sync")
    a = rt.asdevicearray(device, np.array([1.0, 2.0, -3.0, 0.5]))
    result = module.main(a, np.full(4, 2.0))
    np.testing.assert_array_equal(result.to_host(), [3, 4, -1, 2.5])
    np.testing.assert_array_equal(a.to_host(), [3, 4, -1, 2.5])


@pytest.mark.parametrize(
    ("type_", "flag", "numbers"),
    [
        ("f32", "--iree-input-demote-f32-to-f16", np.array([1, -2, 0.5, 100], np.float32)),
        ("f16", "--iree-input-promote-f16-to-f32", np.array([1, -2, 0.5, 100], np.float16)),
        ("si64", "--iree-input-demote-i64-to-i32", np.array([1, -2, 5, 2**30 - 1], np.int64)),
    ],
)
def test_the_other_flags_change_no_boundary_either(build, type_, flag, numbers):
    report, module = build(DOUBLED.replace("TYPE", type_), flag)
    assert {f.code for f in report.findings} == {"FIS161"}
    found = module.main(numbers).to_host()
    assert found.dtype == numbers.dtype
    np.testing.assert_array_equal(found, numbers * 2)


@pytest.mark.parametrize(
    ("type_", "flag"), [("f32", IN_F64), ("f64", IN_F64), ("f32", "--iree-opt-level=O2")]
)
def test_where_the_program_keeps_its_types_nothing_is_converted(build, type_, flag):
    report, module = build(DOUBLED.replace("TYPE", type_), flag)
    numbers = np.array([1, -2, 0.5, 1e-3], np.float64 if type_ == "f64" else np.float32)
    assert not report.findings
    np.testing.assert_array_equal(module.main(numbers).to_host(), numbers * 2)


def test_without_a_repair_there_is_no_output(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(SUM)
    report = fissile.compile(source, output, [*CPU, "--repair=off"], check=False)
    assert {f.code for f in report.errors} == {"FIS161"} and report.exit_code == 1 and not output.exists()
    assert {f.code for f in fissile.check(source, ["llvm-cpu"]).errors} == {"FIS161"}


VULKAN = ("--iree-hal-target-device=vulkan",)
DOUBLES = np.array(
    [
        0.0, -0.0, 1.0, -2.5, np.pi, 1 + 2.0**-24, 1 + 3 * 2.0**-24, -(1 + 2.0**-24 + 2.0**-52), np.inf, -np.inf, np.nan,
        3.4028234663852886e38, 3.4028235677973366e38, 3.4028235677973362e38, 1e300, -1e300,
        2.0**-126, 2.0**-127, 1e-40, 2.0**-149, 2.0**-150, 1.0000001 * 2.0**-150, 3 * 2.0**-150, -5 * 2.0**-151, 1e-60, 5e-324,
        *np.random.default_rng(0).standard_normal(200), *np.exp2(np.random.default_rng(1).uniform(-160, 140, 200)),
    ]
)  # fmt: skip
PASSED_ON = """func.func @main(%a: !torch.vtensor<[?],f64>) -> (!torch.vtensor<[?],f64>, !torch.vtensor<[?],f32>) {
  %f32 = torch.constant.int 6
  %no = torch.constant.bool false
  %none = torch.constant.none
  %t = torch.aten.to.dtype %a, %f32, %no, %no, %none
    : !torch.vtensor<[?],f64>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[?],f32>
  return %a, %t : !torch.vtensor<[?],f64>, !torch.vtensor<[?],f32>
}
"""
COMPLEX = """func.func @main(%a: !torch.vtensor<[?,3],complex<f64>>, %b: !torch.vtensor<[?,3],complex<f64>>) -> !torch.vtensor<[?,3],complex<f64>> {
  %s = torch.aten.mul.Tensor %a, %b : !torch.vtensor<[?,3],complex<f64>>, !torch.vtensor<[?,3],complex<f64>> -> !torch.vtensor<[?,3],complex<f64>>
  return %s : !torch.vtensor<[?,3],complex<f64>>
}
"""
needs_vulkan = pytest.mark.skipif(
    all(runtime.name != "vulkan" for runtime in runtimes.present()), reason="no Vulkan device"
)


def _passed_on(wide, narrow):
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(narrow.view(np.int32), DOUBLES.astype(np.float32).view(np.int32))
        np.testing.assert_array_equal(wide, DOUBLES.astype(np.float32).astype(np.float64))
    np.testing.assert_array_equal(np.signbit(wide), np.signbit(DOUBLES))


def test_doubles_are_rounded_in_words_of_32_bits(tmp_path):
    """Exactly as the processor rounds them, on the processor: a device may flush what is below the smallest normal number."""
    session = Session(CPU)
    module = session.run(session.parse_text(PASSED_ON), "input")
    run_pipeline("builtin.module(fissile-convert-boundaries{words=true})", module.op, report=print)
    assert "f64" not in module.text().replace("-> tensor<?xf64> as tensor<?x2xi32>", "").replace(
        ": tensor<?xf64> as tensor<?x2xi32>", ""
    )
    session.write(session.run(module, "end"), tmp_path / "out.vmfb")
    _passed_on(*(value.to_host() for value in loaded(tmp_path / "out.vmfb").main(DOUBLES)))


@needs_vulkan
def test_a_target_without_f64_takes_and_returns_it(tmp_path):
    (tmp_path / "in.mlir").write_text(PASSED_ON)
    report = fissile.compile(tmp_path / "in.mlir", tmp_path / "out.vmfb", [*VULKAN])
    assert {f.code for f in report.findings} == {"FIS161", "FIS202"} and not report.errors
    _passed_on(*run(tmp_path / "in.mlir", tmp_path / "out.vmfb", [DOUBLES], "vulkan"))


@pytest.mark.parametrize("flags", [CPU, pytest.param(VULKAN, marks=needs_vulkan)])
def test_complex_numbers_are_converted(tmp_path, flags):
    (tmp_path / "in.mlir").write_text(COMPLEX)
    report = fissile.compile(tmp_path / "in.mlir", tmp_path / "out.vmfb", [*flags])
    assert [f.code for f in report.findings if f.code != "FIS202"] == ["FIS161"] * 3 and not report.errors
    a = np.linspace(-3, 9, 6).reshape(2, 3) + 1j * np.linspace(4, -2, 6).reshape(2, 3)
    b = np.full((2, 3), 0.1 - 2j)
    [product] = run(
        tmp_path / "in.mlir", tmp_path / "out.vmfb", [a, b], "vulkan" if flags is VULKAN else "local-task"
    )
    assert product.dtype == np.complex128
    np.testing.assert_allclose(product, a * b, rtol=1e-6)
