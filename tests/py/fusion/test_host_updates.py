"""Tensors that IREE's host code updates: stock writes too much (FIS141) or over a returned argument (FIS142); repaired they are right."""

import numpy as np
import pytest
from built import CPU, build, run
from iree_versions import since

import fissile
from fissile.effect import Effect

ROW = "tensor<1x8xi64>"
INSERT = """
func.func @main(%x: tensor<4x?xf32>, %c: f32, %i: index, %j: index) -> tensor<4x?xf32> {
  %r = tensor.insert %c into %x[%i, %j] : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}"""
DEEP = """
func.func @main(%c: f32, %i: index, %j: index, %k: index) -> tensor<2x3x4xf32> {
  %one = arith.constant dense<1.0> : tensor<2x3x4xf32>
  %r = tensor.insert %c into %one[%i, %j, %k] : tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}"""
CONSTANT = """
func.func @main() -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %k = arith.constant dense<[[3.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>
  %v = arith.constant 7.0 : f32
  %r = tensor.insert %v into %k[%c0, %c0] : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}"""
STORE = """
func.func @main(%x: tensor<4x?xf32>, %c: f32, %i: index, %j: index) -> tensor<4x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<4x?xf32>
  %r = flow.tensor.store %c, %x[%i, %j] : tensor<4x?xf32>{%n}
  return %r : tensor<4x?xf32>
}"""
FROM_ELEMENTS = """
func.func @main(%a: f32, %b: f32) -> tensor<3x2xf32> {
  %r = tensor.from_elements %a, %b, %b, %a, %a, %b : tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}"""
FLAT = """
func.func @main(%x: tensor<8xi64>, %c: i64, %i: index) -> tensor<8xi64> {
  %r = tensor.insert %c into %x[%i] : tensor<8xi64>
  return %r : tensor<8xi64>
}"""


def returned(update: str, result: str = "tensor<4x8xi64>", before: str = "%x") -> str:
    """A function that returns its first argument, and what ``update`` (a value %s) makes of it."""
    return f"""
func.func @main(%x: tensor<4x8xi64>, %y: {ROW}, %i: index) -> ({"tensor<4x8xi64>" if before == "%x" else "i64"}, {result}) {{
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i64
  {update}
  return {before}, %s : {"tensor<4x8xi64>" if before == "%x" else "i64"}, {result}
}}"""


SLICE = f"%s = tensor.insert_slice %y into %x[%i, %c0] [1, 8] [1, 1] : {ROW} into tensor<4x8xi64>"
SORTED = """%s = iree_linalg_ext.sort dimension(1) outs(%x : tensor<4x8xi64>) {
  ^bb0(%a: i64, %b: i64):
    %k = arith.cmpi sle, %a, %b : i64
    iree_linalg_ext.yield %k : i1
  } -> tensor<4x8xi64>"""
RESHAPED = """%f = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xi64> into tensor<32xi64>
  %s = tensor.insert %c7 into %f[%i] : tensor<32xi64>"""
FLATTENED = "%d = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xi64> into tensor<32xi64>"
TWICE = (
    SLICE.replace("%s", "%t")
    + "\n  %s = tensor.insert_slice %y into %t[%c0, %c0] [1, 8] [1, 1] : tensor<1x8xi64> into tensor<4x8xi64>"
)
ADDED = (
    "%s = linalg.map {arith.addi} ins(%x, %x : tensor<4x8xi64>, tensor<4x8xi64>) outs(%x : tensor<4x8xi64>)"
)


def compiled(text: str, tmp_path, **options):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    return fissile.compile(source, output, list(CPU), **options, check=False), output


def codes(report) -> list[tuple[str, str]]:
    return [(f.code, f.severity.value) for f in report.findings if f.code in ("FIS141", "FIS142")]


def inserted(x: np.ndarray, value, *at) -> np.ndarray:
    x = x.copy()
    x[at] = value
    return x


@pytest.mark.parametrize(
    ("text", "inputs", "wanted"),
    [
        (
            INSERT,
            (np.ones((4, 5), np.float32), np.float32(7), np.int64(1), np.int64(3)),
            inserted(np.ones((4, 5)), 7, 1, 3),
        ),
        (
            DEEP,
            (np.float32(7), np.int64(1), np.int64(2), np.int64(3)),
            inserted(np.ones((2, 3, 4)), 7, 1, 2, 3),
        ),
        (CONSTANT, (), [[7, 4], [6, 8]]),  # evaluated while IREE compiles
        (
            STORE,
            (np.ones((4, 5), np.float32), np.float32(7), np.int64(1), np.int64(3)),
            inserted(np.ones((4, 5)), 7, 1, 3),
        ),
        (FROM_ELEMENTS, (np.float32(2), np.float32(3)), np.array([[2, 3], [3, 2], [2, 3]])),
    ],
    ids=("matrix", "rank 3, the last element", "constant", "flow's store", "from elements"),
)
def test_one_element_is_written(tmp_path, text, inputs, wanted):
    report, output = compiled(text, tmp_path)
    assert codes(report) == [("FIS141", "repaired")] and report.findings[0].effect is Effect.WRONG
    np.testing.assert_array_equal(run(output, inputs)[0], wanted)


def test_stock_writes_more(tmp_path):
    """Why: columns + 1 elements of a matrix. Where this fails IREE has changed, and FIS141 is not needed any more."""
    build(INSERT, tmp_path / "stock.vmfb", "canonicalize")
    [found] = run(
        tmp_path / "stock.vmfb", (np.ones((4, 5), np.float32), np.float32(7), np.int64(1), np.int64(1))
    )
    assert (found == 7).sum() == 6


def test_one_dimension_is_right_as_it_is(tmp_path):
    report, output = compiled(FLAT, tmp_path)
    assert codes(report) == []
    np.testing.assert_array_equal(
        run(output, (np.ones(8, np.int64), np.int64(5), np.int64(3)))[0], inserted(np.ones(8), 5, 3)
    )


WHOLE = """%e = tensor.empty() : tensor<4x8xi64>
  %w = tensor.insert_slice %x into %e[%c0, %c0] [4, 8] [1, 1] : tensor<4x8xi64> into tensor<4x8xi64>
  %s = tensor.insert_slice %y into %w[%i, %c0] [1, 8] [1, 1] : tensor<1x8xi64> into tensor<4x8xi64>"""


@pytest.mark.parametrize(
    ("update", "result"),
    [
        (SLICE, "tensor<4x8xi64>"),
        (SORTED, "tensor<4x8xi64>"),
        (RESHAPED, "tensor<32xi64>"),
        (TWICE, "tensor<4x8xi64>"),
        (WHOLE, "whole"),
        (SLICE, "flat"),
    ],
    ids=("slice", "sort", "reshaped", "twice", "copied whole", "returned in another shape"),
)
def test_a_returned_argument_is_kept(tmp_path, update, result):
    if result == "whole":
        text = returned(update).replace("return %x", "return %w")
    elif result == "flat":
        text = returned(update + "\n  " + FLATTENED, before="%d").replace("(i64,", "(tensor<32xi64>,")
        text = text.replace(": i64,", ": tensor<32xi64>,")
    else:
        text = returned(update, result)
    report, output = compiled(text, tmp_path)
    assert codes(report) == [("FIS142", "repaired")]
    x = np.arange(32, dtype=np.int64)[::-1].reshape(4, 8).copy()
    inputs = (x, np.full((1, 8), 5, np.int64), np.int64(2))
    if result == "flat":
        x = x.reshape(32)
    np.testing.assert_array_equal(run(output, inputs)[0], x)
    assert not np.array_equal(run(output, inputs)[1].reshape(x.shape), x)
    build(text, tmp_path / "stock.vmfb", "canonicalize")
    assert not np.array_equal(run(tmp_path / "stock.vmfb", inputs)[0], x), (
        "stock is right: FIS142 is not needed any more"
    )


@pytest.mark.parametrize(
    "text",
    [
        returned(ADDED),
        returned(SLICE + "\n  %e = tensor.extract %x[%i, %c0] : tensor<4x8xi64>", before="%e"),
        returned(
            SLICE + "\n  %z = linalg.map {arith.addi} ins(%x, %s : tensor<4x8xi64>, tensor<4x8xi64>)"
            " outs(%x : tensor<4x8xi64>)"
        ).replace("return %x, %s", "return %x, %z"),
        returned(
            f"{FLATTENED}\n  {SLICE}\n  %z = linalg.map {{arith.addi}} ins(%x, %s : tensor<4x8xi64>, tensor<4x8xi64>)"
            " outs(%x : tensor<4x8xi64>)\n  %b = tensor.expand_shape %d [[0, 1]] output_shape [4, 8]"
            " : tensor<32xi64> into tensor<4x8xi64>"
        ).replace("return %x, %s", "return %b, %z"),
    ],
    ids=("no update", "not returned", "read elsewhere", "in another shape, and read elsewhere"),
)
def test_silent_twins(tmp_path, text):
    report, output = compiled(text, tmp_path)
    assert codes(report) == []
    x = np.arange(32, dtype=np.int64).reshape(4, 8)
    first = run(output, (x, np.full((1, 8), 5, np.int64), np.int64(2)))[0]
    np.testing.assert_array_equal(first, x if first.shape else x[2, 0])


def test_not_repaired_it_is_withheld_and_check_says_so(tmp_path):
    report, output = compiled(returned(SLICE), tmp_path, repair="off")
    assert codes(report) == [("FIS142", "error")] and not output.exists() and report.exit_code == 1
    report, output = compiled(returned(SLICE), tmp_path, repair="off", allow_wrong=True)
    assert codes(report) == [("FIS142", "warning")] and output.exists()
    assert codes(fissile.check(tmp_path / "x.mlir", ["llvm-cpu"])) == [("FIS142", "error")]


def loop(first: str, piece: str, yielded: str = "%q") -> str:
    """A loop that puts ``piece`` (a value %q) behind what it carries, beginning with ``first`` elements."""
    return f"""
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = {first}
  %z = arith.constant 9.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%first) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %f) -> (tensor<?xf32>) {{
    %p = tensor.extract_slice %x[%k] [1] [1] : tensor<?xf32> to tensor<1xf32>
    {piece}
    scf.yield {yielded} : tensor<?xf32>
  }}
  return %r : tensor<?xf32>
}}"""


BEHIND = "%q = tensor.concat dim(0) %a, %p : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>"
WRITTEN = "%q = tensor.insert_slice %p into %a[%k] [1] [1] : tensor<1xf32> into tensor<?xf32>"


@pytest.mark.parametrize("first", (0, 2))
def test_a_loop_that_grows_keeps_all(tmp_path, first):
    report, output = compiled(loop(f"arith.constant {first} : index", BEHIND), tmp_path)
    [done] = [f for f in report.findings if f.code == "FIS137"]
    assert (done.severity.value, done.effect) == ("repaired", Effect.WRONG)
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(run(output, [x])[0], [*[9] * first, *x])
    assert [
        f.severity.value
        for f in fissile.check(tmp_path / "x.mlir", ["llvm-cpu"]).findings
        if f.code == "FIS137"
    ] == ["error"]


@since("3.13", "the canonicalised loop is refused")
def test_stock_loses_what_grows_from_nothing(tmp_path):
    build(loop("arith.constant 0 : index", BEHIND), tmp_path / "stock.vmfb", "canonicalize")
    assert run(tmp_path / "stock.vmfb", [np.ones(4, np.float32)])[0].size == 0


@pytest.mark.parametrize(
    "text",
    (
        loop("arith.constant 8 : index", WRITTEN),
        loop("arith.addi %c1, %c1 : index", WRITTEN),
        loop("arith.constant 8 : index", "", "%a"),
    ),
    ids=("written into", "computed size", "as it is"),
)
def test_loops_whose_size_stays(tmp_path, text):
    report, _output = compiled(text, tmp_path)
    assert "FIS137" not in [f.code for f in report.findings]
