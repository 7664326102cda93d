"""Padded tensors that are padded again: IREE joins the two and moves the elements (FIS157); fissile joins them rightly, or not at all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_vmfb

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
X = np.arange(1, 5, dtype=np.float32)


def padded(x: np.ndarray, low: int, high: int, interior: int) -> np.ndarray:
    """What stablehlo.pad makes of ``x`` with zeros."""
    spread = np.zeros((len(x) - 1) * (interior + 1) + 1, np.float32)
    spread[:: interior + 1] = x
    spread = spread[max(0, -low) : len(spread) - max(0, -high)]
    return np.pad(spread, (max(0, low), max(0, high)))


def pads() -> dict[str, tuple[str, np.ndarray]]:
    """A function for each two pads, and what it has to give."""
    found = {}
    sides = itertools.product((0, 1, -1), (0, 2), (0, 1), (0, 1, -1), (0, -1), (0, 1))
    for number, (*first, low, high, interior) in enumerate(sides):
        once = padded(X, *first)
        twice = padded(once, low, high, interior)
        types = f"tensor<4xf32>, tensor<{len(once)}xf32>, tensor<{len(twice)}xf32>".split(", ")
        found[f"pads{number}"] = (
            f"""
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %x, %zero, low = [{first[0]}], high = [{first[1]}], interior = [{first[2]}] : ({types[0]}, tensor<f32>) -> {types[1]}
  %r = stablehlo.pad %y, %zero, low = [{low}], high = [{high}], interior = [{interior}] : ({types[1]}, tensor<f32>) -> {types[2]}
""",
            twice,
        )
    return found


def filled(name: str, size: int, value: str) -> str:
    return f"""
  %{name}_e = tensor.empty() : tensor<{size}xf32>
  %{name} = linalg.fill ins(%{value} : f32) outs(%{name}_e : tensor<{size}xf32>) -> tensor<{size}xf32>"""


def inserted(name: str, source: str, size: int, into: str, larger: int, at: int, step: int) -> str:
    return f"""
  %{name} = tensor.insert_slice %{source} into %{into}[{at}] [{size}] [{step}] : tensor<{size}xf32> into tensor<{larger}xf32>"""


def surrounded(name: str, source: str, size: int, value: str) -> str:
    return f"""
  %{name} = tensor.pad %{source} low[1] high[1] {{
  ^bb0(%i: index):
    tensor.yield %{value} : f32
  }} : tensor<{size}xf32> to tensor<{size + 2}xf32>"""


def inserts() -> dict[str, tuple[str, np.ndarray]]:
    """The same of tensor ops, with one value around and with two."""
    found = {}
    spread = padded(X, 0, 0, 1)
    for value, number in (("zero", 0.0), ("nine", 9.0)):
        gaps = filled("f", 7, "zero") + inserted("y", "x", 4, "f", 7, 0, 2)
        around = np.pad(spread, (1, 2), constant_values=number)
        found[f"pad_{value}"] = (gaps + surrounded("r", "y", 7, value), around[:-1])
        found[f"insert_{value}"] = (
            gaps + filled("g", 10, value) + inserted("r", "y", 7, "g", 10, 1, 1),
            around,
        )
        wide = np.full(13, number, np.float32)
        wide[1:12:2] = np.pad(X, (1, 1))
        found[f"spread_{value}"] = (
            surrounded("y", "x", 4, "zero") + filled("g", 13, value) + inserted("r", "y", 6, "g", 13, 1, 2),
            wide,
        )
    return {
        name: (f"""
  %zero = arith.constant 0.0 : f32
  %nine = arith.constant 9.0 : f32{body}
""", wanted)
        for name, (body, wanted) in found.items()
    }  # fmt: skip


CASES = {"stablehlo": (pads, 28), "tensor": (inserts, 3)}
"""Programs, and how many of them stock computes wrongly."""


def text_of(programs: dict[str, tuple[str, np.ndarray]]) -> str:
    return "".join(
        f"func.func @{name}(%x: tensor<4xf32>) -> tensor<{len(wanted)}xf32> {{{body}  return %r : tensor<{len(wanted)}xf32>\n}}\n"
        for name, (body, wanted) in programs.items()
    )


def wrong(path, programs: dict[str, tuple[str, np.ndarray]], runtime: str) -> list[str]:
    [one] = runtimes.named([runtime])
    signatures = signatures_of_vmfb(path)
    return [
        name
        for name, (_body, wanted) in programs.items()
        if not np.array_equal(runtimes.run(path, signatures[name], [X], one)[0], wanted)
    ]


@pytest.mark.parametrize("case", CASES)
def test_stock_moves_elements(tmp_path, case):
    """Where this fails IREE has changed, and FIS157 may not be needed any more."""
    made, count = CASES[case]
    (tmp_path / "in.mlir").write_text(text_of(made()))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    assert len(wrong(tmp_path / "stock.vmfb", made(), "local-task")) == count


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("case", CASES)
def test_the_elements_are_where_they_belong(tmp_path, runtime, case):
    made, count = CASES[case]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text_of(made()))
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    found = [
        f for f in report.findings if f.code != "FIS175"
    ]  # the program copies, and Vulkan replays copies
    assert {(f.code, f.severity.value) for f in found} == {("FIS157", "repaired")}
    assert len(found) == count
    assert wrong(output, made(), runtime) == []


def test_not_repaired_it_is_withheld_and_check_says_so(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    for programs, name in ((pads(), "pads1"), (inserts(), "pad_zero"), (inserts(), "spread_zero")):
        source.write_text(text_of({name: programs[name]}))
        report = fissile.compile(source, output, [*CPU, "--repair=off"], check=False)
        if name == "pads1":
            assert not report.findings  # no element in front of the first: right as it is
            continue
        assert [(f.code, f.severity.value) for f in report.findings] == [("FIS157", "error")]
        assert "FIS157" in {f.code for f in fissile.check(source, ["llvm-cpu"]).findings}


def test_bytecode_is_looked_at_as_well(tmp_path):
    """Names of ops stand there without their dialect."""
    from iree.compiler import ir

    text = text_of({"pads": pads()["pads49"]})
    assert fissile.compile(text, tmp_path / "text.vmfb", list(CPU)).findings
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        with (tmp_path / "in.mlirbc").open("wb") as file:
            ir.Module.parse(text).operation.write_bytecode(file)
    found = fissile.compile(tmp_path / "in.mlirbc", tmp_path / "out.vmfb", list(CPU)).findings
    assert [f.code for f in found] == ["FIS157"]
