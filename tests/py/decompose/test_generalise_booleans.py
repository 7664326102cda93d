"""FIS216: products of booleans on llvm-cpu are truth values after the repair, and twins stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics.build import compile_stock

SHAPES = {
    "matmul": ((6, 16), (16, 5), (6, 5)),
    "batch_matmul": ((2, 6, 16), (2, 16, 5), (2, 6, 5)),
    "matvec": ((6, 16), (16,), (6,)),
    "vecmat": ((16,), (16, 5), (5,)),
}
EINSUM = {"matmul": "ij,jk->ik", "batch_matmul": "bij,bjk->bik", "matvec": "ij,j->i", "vecmat": "i,ij->j"}


def tensor(shape: tuple[int, ...], element: str = "i1") -> str:
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


def program(name: str) -> str:
    """The product, and as integers what an op behind a barrier reads of it."""
    a, b, c = map(tensor, SHAPES[name])
    wide = tensor(SHAPES[name][2], "i32")
    rank = len(SHAPES[name][2])
    loops = ", ".join(f"d{i}" for i in range(rank))
    same = f"affine_map<({loops}) -> ({loops})>"
    kinds = ", ".join(['"parallel"'] * rank)
    return f"""
func.func @main(%a: {a}, %b: {b}) -> ({c}, {wide}) {{
  %false = arith.constant false
  %e = tensor.empty() : {c}
  %none = linalg.fill ins(%false : i1) outs(%e : {c}) -> {c}
  %r = linalg.{name} ins(%a, %b : {a}, {b}) outs(%none : {c}) -> {c}
  %h = util.optimization_barrier %r : {c}
  %w = tensor.empty() : {wide}
  %s = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{kinds}]}} ins(%h : {c}) outs(%w : {wide}) {{
  ^bb0(%x: i1, %o: i32):
    %v = arith.extui %x : i1 to i32
    linalg.yield %v : i32
  }} -> {wide}
  return %h, %s : {c}, {wide}
}}"""


def arguments(name: str) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [random.integers(0, 2, shape).astype(bool) for shape in SHAPES[name][:2]]


def reached(name: str) -> np.ndarray:
    counts = np.einsum(EINSUM[name], *(one.astype(int) for one in arguments(name)))
    assert (counts % 2 == 0).any() and (counts > 1).any()  # what IREE makes of these is wrong
    return counts > 0


@pytest.mark.parametrize("name", SHAPES)
def test_truth_values_after_the_repair(tmp_path, name):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(name))
    report = fissile.compile(source, output, list(CPU))
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS216", "repaired")]
    truth, read = run(output, arguments(name))
    assert truth.view(np.uint8).max() <= 1
    np.testing.assert_array_equal(truth, reached(name))
    np.testing.assert_array_equal(read, reached(name).astype(np.int32))


def test_stock_counts(tmp_path):
    """Where this fails IREE has changed, and FIS216 is not needed any more."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program("matmul"))
    assert compile_stock(source, output, CPU) is None
    _truth, read = run(output, arguments("matmul"))
    assert (read != reached("matmul")).any()


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (program("matmul"), ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")),
        (program("matmul").replace("xi1>", "xi8>").replace(": i1", ": i8").replace("constant false", "constant 0 : i8"), CPU),
    ],
    ids=("other targets", "bytes"),
)  # fmt: skip
def test_silent_twins(tmp_path, text, flags):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(text)
    assert not fissile.compile(source, ours, list(flags)).findings
    assert compile_stock(source, stock, flags) is None and ours.read_bytes() == stock.read_bytes()
