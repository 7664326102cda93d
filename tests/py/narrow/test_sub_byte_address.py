"""FIS138: vectors of elements below a byte that begin within a byte, found where stock's numbers are wrong and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.finding import Severity
from fissile.passes.analysis.kernel.narrow.byte_alignment import misread_types
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.session import Session
from fissile.target import find_target

HOST = flags_for(find_target("llvm-cpu"))


def bytes_of(values: np.ndarray, bits: int) -> np.ndarray:
    """``values`` as IREE stores integers of ``bits`` bits: the first in the low bits of its byte."""
    fields = (values.reshape(-1, 8 // bits) & ((1 << bits) - 1)) << np.arange(0, 8, bits)
    return fields.sum(1).astype(np.uint8).view(np.int8)


def wrapped(values: np.ndarray, bits: int) -> np.ndarray:
    low = values & ((1 << bits) - 1)
    return low - ((low >> (bits - 1)) << bits)


def on_bytes(body: str, operands: dict[str, np.ndarray], result: tuple[int, ...], bits: int) -> str:
    """A program of ``body`` whose arguments and result are the bytes of its tensors: NumPy has no type for the elements."""
    names, given = [], []
    for name, values in operands.items():
        kind = typed(values.shape, bits)
        packed = f"tensor<{values.size * bits // 8}xi8>"
        names.append(f"%{name}_bytes: {packed}")
        given.append(f"  %{name} = flow.tensor.bitcast %{name}_bytes : {packed} -> {kind}")
    packed = f"tensor<{int(np.prod(result)) * bits // 8}xi8>"
    lines = "\n".join(given)
    end = f"  %out = flow.tensor.bitcast %r : {typed(result, bits)} -> {packed}\n  return %out : {packed}"
    return f"func.func @main({', '.join(names)}) -> {packed} {{\n{lines}\n{body}\n{end}\n}}\n"


def typed(shape: tuple[int, ...], bits: int) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xi{bits}>"


def drawn(*shape: int, bits: int = 4) -> np.ndarray:
    return np.random.default_rng(7).integers(-(1 << (bits - 1)), 1 << (bits - 1), shape)


def a_slice(column: int, bits: int = 4):
    x = drawn(8, 16, bits=bits)
    body = f"  %r = tensor.extract_slice %x[0, {column}] [8, 8] [1, 1] : {typed(x.shape, bits)} to {typed((8, 8), bits)}"
    return on_bytes(body, {"x": x}, (8, 8), bits), [x], x[:, column : column + 8], bits


def a_convolution(columns: int):
    x, w = drawn(1, 4, columns + 2, columns + 2), drawn(8, 4, 3, 3)
    shape = (1, 8, columns, columns)
    kind = typed(shape, 4)
    body = (
        f"  %zero = arith.constant 0 : i4\n  %room = tensor.empty() : {kind}\n"
        f"  %start = linalg.fill ins(%zero : i4) outs(%room : {kind}) -> {kind}\n"
        f"  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : {typed(x.shape, 4)}, {typed(w.shape, 4)}) outs(%start : {kind}) -> {kind}"
    )
    right = sum(
        np.einsum("nchw,fc->nfhw", x[:, :, i : i + columns, j : j + columns], w[:, :, i, j])
        for i in range(3)
        for j in range(3)
    )
    return on_bytes(body, {"x": x, "w": w}, shape, 4), [x, w], right, 4


def an_insert(column: int):
    x, y = drawn(6, 10), drawn(6, 4)
    body = f"  %r = tensor.insert_slice %y into %x[0, {column}] [6, 4] [1, 1] : {typed(y.shape, 4)} into {typed(x.shape, 4)}"
    return (
        on_bytes(body, {"x": x, "y": y}, x.shape, 4),
        [x, y],
        np.concatenate([x[:, :column], y, x[:, column + 4 :]], 1),
        4,
    )


WRONG = {
    "slice i4": a_slice(1),
    "slice i2": a_slice(2, bits=2),
    "convolution": a_convolution(4),
    "insert": an_insert(3),
}
RIGHT = {"slice i4": a_slice(2), "slice i2": a_slice(4, bits=2), "insert": an_insert(2)}


@pytest.mark.parametrize("name", WRONG)
def test_stock_is_wrong_and_the_repair_right(tmp_path, name):
    text, operands, right, bits = WRONG[name]
    arguments = [bytes_of(values, bits) for values in operands]
    expected = bytes_of(wrapped(right, bits), bits)
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    stock = fissile.compile(source, vmfb, HOST, repair="off", allow_wrong=True, check=False)
    assert [(f.code, f.message.startswith("the numbers will be wrong")) for f in stock.findings] == [
        ("FIS138", True)
    ]
    assert not np.array_equal(run(vmfb, arguments, "local-task")[0], expected)
    report = fissile.compile(source, vmfb, HOST, check=False)
    assert [(f.code, f.severity) for f in report.findings] == [("FIS138", Severity.REPAIRED)]
    np.testing.assert_array_equal(run(vmfb, arguments, "local-task")[0], expected)


@pytest.mark.parametrize("name", RIGHT)
def test_what_begins_with_a_byte_stays_as_it_is(tmp_path, name):
    text, operands, right, bits = RIGHT[name]
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, vmfb, HOST, check=False)
    assert not report.findings
    np.testing.assert_array_equal(
        run(vmfb, [bytes_of(v, bits) for v in operands], "local-task")[0], bytes_of(right, bits)
    )


def test_the_numbers_are_withheld_where_nothing_is_repaired(tmp_path):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(a_slice(1)[0])
    report = fissile.compile(source, vmfb, HOST, repair="off", check=False)
    assert report.exit_code == 1 and not vmfb.exists()


ACCESS = """
func.func @f(%m: memref<{shape}xi4>, %i: index, %v: vector<4xi4>) -> vector<4xi4> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  {body}
  return %v : vector<4xi4>
}}
"""
LOAD = "%l = vector.load %m[{}] : memref<{shape}xi4>, vector<4xi4>"
LOADS = {
    # shape, indices, within a loop of this step -> certain, possible (False), or nothing
    "even column": ("3x8", "%c1, %c2", "", None),
    "odd column": ("3x8", "%c1, %c3", "", True),
    "odd rows": ("3x7", "%c1, %c0", "", True),
    "even rows": ("3x7", "%c2, %c0", "", None),
    "a loop by one": ("3x8", "%c0, %j", "%c1", True),
    "a loop by two": ("3x8", "%c0, %j", "%c2", None),
    "a value": ("3x8", "%c0, %i", "", False),
    "a value times an even width": ("3x8", "%i, %c0", "", None),
    "rows of any width": ("3x?", "%i, %c0", "", False),
    "the first row of any width": ("3x?", "%c0, %c0", "", None),
}


@pytest.mark.parametrize("name", LOADS)
def test_what_a_load_may_begin_at(name):
    shape, indices, step, expected = LOADS[name]
    load = LOAD.format(indices, shape=shape)
    loop = f"scf.for %j = %c0 to %c8 step {step} {{\n{load}\n}}" if step else load
    session = Session(HOST)
    module = session.parse_text(ACCESS.format(shape=shape, body=loop), "in.mlir")
    assert misread_types(module.op) == ({} if expected is None else {"i4": expected})


STORE = "vector.store %v, %m[%c1, %c0] : memref<{shape}xi4>, vector<{count}xi4>"


@pytest.mark.parametrize(
    ("shape", "count", "expected"),
    (
        ("3x7", 4, {"i4": True}),
        ("3x4", 4, {}),
        ("3x?", 4, {"i4": False}),
        ("3x7", 7, {}),  # does not fill its bytes: right, or refused
    ),
)
def test_a_store_goes_where_its_byte_begins(shape, count, expected):
    body = STORE.format(shape=shape, count=count)
    text = ACCESS.format(shape=shape, body=body).replace("vector<4xi4>", f"vector<{count}xi4>")
    module = Session(HOST).parse_text(text, "in.mlir")
    assert misread_types(module.op) == expected


SCALED = """
func.func @main(%ab: tensor<1024xi8>, %bb: tensor<2048xi8>, %sa: tensor<16x4xf8E8M0FNU>, %sb: tensor<32x4xf8E8M0FNU>) -> tensor<16x32xf32> {
  %a = flow.tensor.bitcast %ab : tensor<1024xi8> -> tensor<16x4x32xf4E2M1FN>
  %b = flow.tensor.bitcast %bb : tensor<2048xi8> -> tensor<32x4x32xf4E2M1FN>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>,
      affine_map<(m, n, g, k) -> (m, g)>, affine_map<(m, n, g, k) -> (n, g)>, affine_map<(m, n, g, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b, %sa, %sb : tensor<16x4x32xf4E2M1FN>, tensor<32x4x32xf4E2M1FN>, tensor<16x4xf8E8M0FNU>, tensor<32x4xf8E8M0FNU>)
      outs(%f : tensor<16x32xf32>) {
  ^bb0(%p: f4E2M1FN, %q: f4E2M1FN, %s: f8E8M0FNU, %t: f8E8M0FNU, %o: f32):
    %u = arith.scaling_extf %p, %s : f4E2M1FN, f8E8M0FNU to f32
    %v = arith.scaling_extf %q, %t : f4E2M1FN, f8E8M0FNU to f32
    %m = arith.mulf %u, %v : f32
    %w = arith.addf %m, %o : f32
    linalg.yield %w : f32
  } -> tensor<16x32xf32>
  return %r : tensor<16x32xf32>
}
"""


@pytest.mark.parametrize("target", ("gfx950", "gfx942"))
def test_blocks_of_32_elements_begin_with_a_byte(tmp_path, target):
    """gfx950 multiplies scaled 4-bit floats in matrix instructions, which packing would lose."""
    source = tmp_path / "in.mlir"
    source.write_text(SCALED)
    report = fissile.compile(source, tmp_path / "out.vmfb", flags_for(find_target(target)))
    assert report.output and not report.findings
