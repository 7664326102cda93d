"""Pads with negative widths, which IREE drops or rejects (FIS160): repaired, they compute what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import Signature, parse_value

FLAGS = {
    "local-task": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
ONNX = "attributes {torch.onnx_meta.opset_version = 17 : si64}"
"""IREE expects it on all functions of a module if one has ops of ONNX."""
FORMS = ("aten.constant_pad_nd", "aten.pad", "onnx.Pad")
DROPPED = (((0, 0), (1, -1)), ((1, -1), (0, 0)), ((-1, 1), (1, -1)))
"""(low, high) of each dimension. The sizes stay."""
REJECTED = (((0, 0), (-1, 0)), ((-1, -1), (0, 2)), ((2, -1), (0, -3)))


def padded(widths) -> np.ndarray:
    rest = X
    for dim, (low, high) in enumerate(widths):
        rest = np.take(rest, range(max(-low, 0), X.shape[dim] - max(-high, 0)), axis=dim)
    return np.pad(rest, [(max(low, 0), max(high, 0)) for low, high in widths], constant_values=7.0)


def function(name: str, form: str, widths) -> str:
    to = ",".join(map(str, padded(widths).shape))
    given, made = "!torch.vtensor<[3,4],f32>", f"!torch.vtensor<[{to}],f32>"
    if form == "onnx.Pad":
        flat = [pair[end] for end in (0, 1) for pair in widths]
        return f"""
func.func @{name}(%x: {given}) -> {made} {ONNX} {{
  %l = torch.operator "onnx.Constant"() {{torch.onnx.value = dense<{flat}> : tensor<4xsi64>}} : () -> !torch.vtensor<[4],si64>
  %c = torch.operator "onnx.Constant"() {{torch.onnx.value = dense<7.0> : tensor<f32>}} : () -> !torch.vtensor<[],f32>
  %r = torch.operator "onnx.Pad"(%x, %l, %c) {{torch.onnx.mode = "constant"}} : ({given}, !torch.vtensor<[4],si64>, !torch.vtensor<[],f32>) -> {made}
  return %r : {made}
}}
"""
    flat = [width for pair in reversed(widths) for width in pair]
    lines = [f"  %{n} = torch.constant.int {width}" for n, width in enumerate(flat)]
    mode, words, types = ("", "", "")
    if form == "aten.pad":
        mode, words, types = '  %m = torch.constant.str "constant"\n', "%m, ", "!torch.str, "
    listed = "\n".join(lines)
    return f"""
func.func @{name}(%x: {given}) -> {made} {ONNX} {{
{listed}
{mode}  %c = torch.constant.float 7.0
  %l = torch.prim.ListConstruct %0, %1, %2, %3 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.{form} %x, %l, {words}%c : {given}, !torch.list<int>, {types}!torch.float -> {made}
  return %r : {made}
}}
"""


def program(cases) -> tuple[str, dict[str, np.ndarray]]:
    """One function for each form and case, and what each computes."""
    named = {f"f{n}": (form, widths) for n, (form, widths) in enumerate((f, w) for f in FORMS for w in cases)}
    text = "".join(function(name, form, widths) for name, (form, widths) in named.items())
    return text, {name: padded(widths) for name, (_form, widths) in named.items()}


def wrong(path, wanted, runtime: str) -> list[str]:
    [one] = runtimes.named([runtime])
    return [
        name
        for name, value in wanted.items()
        if not np.array_equal(runtimes.run(path, signature(name, value), [X], one)[0], value)
    ]


def signature(name: str, value: np.ndarray) -> Signature:
    """IREE writes none into a module of the torch dialect."""
    result = "x".join(map(str, value.shape))
    return Signature(name, (parse_value("tensor<3x4xf32>"),), (parse_value(f"tensor<{result}xf32>"),))


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("cases", [DROPPED, REJECTED], ids=["dropped", "rejected"])
def test_elements_are_taken_away(tmp_path, runtime, cases):
    text, wanted = program(cases)
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS160", "repaired")] * len(wanted)
    assert {f.subject for f in report.findings} == set(FORMS)
    assert report.findings[0].effect is Effect.WRONG
    assert report.findings[0].helps[0].remedy == "fissile-crop-before-padding"
    assert wrong(output, wanted, runtime) == []


def test_stock_drops_them(tmp_path):
    """Where this fails IREE has changed, and FIS160 may not be needed any more."""
    text, wanted = program(DROPPED)
    (tmp_path / "in.mlir").write_text(text)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    assert wrong(tmp_path / "stock.vmfb", wanted, "local-task") == list(wanted)


def test_not_repaired_it_is_withheld_and_check_says_so(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(function("main", FORMS[0], DROPPED[0]))
    report = fissile.compile(source, output, [*FLAGS["local-task"], "--repair=off"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS160", "error")]
    assert not output.exists()
    assert "FIS160" in {f.code for f in fissile.check(source, ["llvm-cpu"]).findings}


def test_a_pad_that_adds_elements_stays(tmp_path):
    text, _wanted = program([((1, 0), (0, 2))])
    (tmp_path / "in.mlir").write_text(text)
    report = fissile.compile(tmp_path / "in.mlir", tmp_path / "ours.vmfb", list(FLAGS["local-task"]))
    assert not report.findings
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    assert (tmp_path / "ours.vmfb").read_bytes() == (tmp_path / "stock.vmfb").read_bytes()
