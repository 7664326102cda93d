"""FIS223: tensors of elements below a byte that fill no whole bytes are refused by stock, and computed here; what a caller passes stays refused."""

from __future__ import annotations

import numpy as np
import pytest
from built import run
from iree.compiler import ir

import fissile
from fissile.finding import Severity
from fissile.passes.analysis.dispatch.narrow_types import NARROW_TYPES
from fissile.passes.analysis.layout.partial_bytes import is_partial, partial_bytes
from fissile.passes.iree.targets import flags_for
from fissile.passes.remedies.narrow.constant_bits import constant_bits
from fissile.target import find_target

DRIVERS = {"llvm-cpu": "local-task", "vulkan": "vulkan"}
RNG = np.random.default_rng(23)
SAME = "affine_map<(d0, d1) -> (d0, d1)>"


def drawn(*shape: int, bits: int = 4) -> np.ndarray:
    return RNG.integers(-(1 << (bits - 1)), 1 << (bits - 1), shape)


def wrapped(values: np.ndarray, bits: int = 4) -> np.ndarray:
    low = values & ((1 << bits) - 1)
    return low - ((low >> (bits - 1)) << bits)


def generic(name: str, ins: list[tuple[str, str, str]], out: str, body: str) -> str:
    """An elementwise op over two dimensions; ``ins``: (value, type, map)."""
    maps = ", ".join([*(m for _v, _t, m in ins), SAME])
    element = out.rsplit("x", 1)[1].rstrip(">")
    arguments = ", ".join(
        [
            *(f"%a{i}: {t.rsplit('x', 1)[1].rstrip('>')}" for i, (_v, t, _m) in enumerate(ins)),
            f"%o: {element}",
        ]
    )
    return (
        f"  %{name}_e = tensor.empty() : {out}\n"
        f'  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}'
        f" ins({', '.join(v for v, _t, _m in ins)} : {', '.join(t for _v, t, _m in ins)}) outs(%{name}_e : {out}) {{\n"
        f"  ^bb0({arguments}):\n{body}  }} -> {out}\n"
    )


def zero_points(bits: int):
    """Zero points of seven channels: a constant that fills no whole bytes."""
    x, zero = RNG.integers(-100, 100, (7, 16)).astype(np.int8), drawn(7, bits=bits)
    ins = [("%x", "tensor<7x16xi8>", SAME), ("%z", f"tensor<7xi{bits}>", "affine_map<(d0, d1) -> (d0)>")]
    body = f"    %w = arith.extsi %a1 : i{bits} to i8\n    %s = arith.subi %a0, %w : i8\n    linalg.yield %s : i8\n"
    text = (
        "func.func @main(%x: tensor<7x16xi8>) -> tensor<7x16xi8> {\n"
        f"  %z = arith.constant dense<{zero.tolist()}> : tensor<7xi{bits}>\n"
        + generic("r", ins, "tensor<7x16xi8>", body)
        + "  return %r : tensor<7x16xi8>\n}\n"
    )
    return text, [x], x - zero[:, None].astype(np.int8)


def float_table():
    """Scales of 5x3 in f4E2M1FN."""
    values = np.array([[0, 0.5, -1.5], [6, -6, 3], [2, 4, -0.5], [1, 1, 1], [-4, -3, -2]], np.float32)
    x = RNG.standard_normal((5, 3), dtype=np.float32)
    kind = "tensor<5x3xf4E2M1FN>"
    ins = [("%x", "tensor<5x3xf32>", SAME), ("%w", kind, SAME)]
    body = "    %f = arith.extf %a1 : f4E2M1FN to f32\n    %m = arith.mulf %a0, %f : f32\n    linalg.yield %m : f32\n"
    text = (
        "func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {\n"
        f"  %w = arith.constant dense<{values.tolist()}> : {kind}\n"
        + generic("r", ins, "tensor<5x3xf32>", body)
        + "  return %r : tensor<5x3xf32>\n}\n"
    )
    return text, [x], x * values


def between(bits: int):
    """An intermediate result of 3x7 elements, behind a barrier; its row sums would not tell lost bits."""
    x = RNG.integers(-128, 128, (3, 7)).astype(np.int8)
    kind = f"tensor<3x7xi{bits}>"
    narrow = f"    %t = arith.trunci %a0 : i8 to i{bits}\n    linalg.yield %t : i{bits}\n"
    wide = f"    %t = arith.extsi %a0 : i{bits} to i8\n    linalg.yield %t : i8\n"
    text = (
        "func.func @main(%x: tensor<3x7xi8>) -> tensor<3x7xi8> {\n"
        + generic("q", [("%x", "tensor<3x7xi8>", SAME)], kind, narrow)
        + f"  %kept = util.optimization_barrier %q : {kind}\n"
        + generic("r", [("%kept", kind, SAME)], "tensor<3x7xi8>", wide)
        + "  return %r : tensor<3x7xi8>\n}\n"
    )
    return text, [x], wrapped(x.astype(np.int64), bits).astype(np.int8)


def weights():
    """A constant that IREE does not clone into the dispatch: 31x37 elements, written as bytes."""
    w, x = drawn(31, 37), RNG.integers(-9, 9, (31, 37)).astype(np.int32)
    kind = "tensor<31x37xi4>"
    ins = [("%x", "tensor<31x37xi32>", SAME), ("%w", kind, SAME)]
    body = (
        "    %e = arith.extsi %a1 : i4 to i32\n    %m = arith.muli %a0, %e : i32\n    linalg.yield %m : i32\n"
    )
    text = (
        "func.func @main(%x: tensor<31x37xi32>) -> tensor<31x37xi32> {\n"
        f"  %w = arith.constant dense<{w.tolist()}> : {kind}\n"
        + generic("r", ins, "tensor<31x37xi32>", body)
        + "  return %r : tensor<31x37xi32>\n}\n"
    )
    return text, [x], (x * w).astype(np.int32)


def rows_of_floats():
    """Rows of 31 elements of f4E2M1FN, read by an index; the program takes their bytes."""
    codes, at = RNG.integers(0, 16, (50, 31)), RNG.integers(0, 50, 6)
    flat = codes.reshape(-1, 2) << np.array([0, 4])
    table = np.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    text = (
        "func.func @main(%i: tensor<6xi64>, %b: tensor<775xi8>) -> tensor<6x31xf32> {\n"
        "  %w = flow.tensor.bitcast %b : tensor<775xi8> -> tensor<50x31xf4E2M1FN>\n  %e = tensor.empty() : tensor<6x31xf32>\n"
        f'  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0)>, {SAME}], iterator_types = ["parallel", "parallel"]}}'
        " ins(%i : tensor<6xi64>) outs(%e : tensor<6x31xf32>) {\n  ^bb0(%a: i64, %o: f32):\n    %d = linalg.index 1 : index\n"
        "    %k = arith.index_cast %a : i64 to index\n    %v = tensor.extract %w[%k, %d] : tensor<50x31xf4E2M1FN>\n"
        "    %f = arith.extf %v : f4E2M1FN to f32\n    linalg.yield %f : f32\n  } -> tensor<6x31xf32>\n"
        "  return %r : tensor<6x31xf32>\n}\n"
    )
    return text, [at, flat.sum(1).astype(np.uint8).view(np.int8)], table[codes[at]]


REFUSED = {
    "rows of floats": (rows_of_floats, ()),
    "between": (between, (4,)),
    "between i2": (between, (2,)),
    "zero points": (zero_points, (4,)),
    "zero points i2": (zero_points, (2,)),
    "weights": (weights, ()),
    "float table": (float_table, ()),
}


@pytest.mark.parametrize("backend", DRIVERS)
@pytest.mark.parametrize("name", REFUSED)
def test_stock_refuses_it_and_the_numbers_are_right(tmp_path, name, backend):
    make, given = REFUSED[name]
    text, operands, right = make(*given)
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    flags = flags_for(find_target(backend))
    stock = fissile.compile(source, vmfb, flags, repair="off", check=False)
    assert not stock.output and any(f.stops for f in stock.findings)
    report = fissile.compile(source, vmfb, flags, check=False)
    assert report.output and {f.severity for f in report.findings} <= {
        Severity.REPAIRED,
        Severity.WARNING,
        Severity.NOTE,
    }
    np.testing.assert_array_equal(run(vmfb, operands, DRIVERS[backend])[0], right)


def test_a_constant_in_a_dispatch_is_no_such_tensor_to_iree(tmp_path):
    """IREE clones small constants into the dispatch, where code generation refuses them whatever their number is."""
    for name, code in (("zero points", "FIS104"), ("between", "FIS223")):
        make, given = REFUSED[name]
        source = tmp_path / "in.mlir"
        source.write_text(make(*given)[0])
        report = fissile.compile(
            source, tmp_path / "out.vmfb", flags_for(find_target("llvm-cpu")), check=False
        )
        assert [(f.code, f.severity) for f in report.findings] == [(code, Severity.REPAIRED)]


@pytest.mark.parametrize(
    "text",
    (
        "func.func @main(%x: tensor<3x7xi4>) -> tensor<3x7xi8> {\n"
        + generic(
            "r",
            [("%x", "tensor<3x7xi4>", SAME)],
            "tensor<3x7xi8>",
            "    %t = arith.extsi %a0 : i4 to i8\n    linalg.yield %t : i8\n",
        )
        + "  return %r : tensor<3x7xi8>\n}\n",
        "func.func @main(%x: tensor<3x7xi8>) -> tensor<3x7xi4> {\n"
        + generic(
            "r",
            [("%x", "tensor<3x7xi8>", SAME)],
            "tensor<3x7xi4>",
            "    %t = arith.trunci %a0 : i8 to i4\n    linalg.yield %t : i4\n",
        )
        + "  return %r : tensor<3x7xi4>\n}\n",
    ),
    ids=("argument", "result"),
)
def test_what_a_caller_passes_is_refused_with_the_reason(tmp_path, text):
    source = tmp_path / "in.mlir"
    source.write_text(text)
    report = fissile.compile(source, tmp_path / "out.vmfb", flags_for(find_target("llvm-cpu")), check=False)
    [found] = report.findings
    assert (found.code, found.stops) == ("FIS223", True) and not report.output
    assert (
        found.message == "21 elements of i4 in a tensor fill no whole number of bytes"
        and found.places
        and "use i8" in found.helps[0].title
    )


PARTIAL = {"7xi4": True, "8xi4": False, "3x5xi2": True, "2x2xi2": False, "2x3xi2": True, "xi4": False, "?x7xi4": False,
           "5xf4E2M1FN": True, "7xi1": False, "7xi3": False, "0x7xi4": False, "7xi8": False}  # fmt: skip


def test_partial_types():
    with ir.Context():
        for text, right in PARTIAL.items():
            assert is_partial(ir.Type.parse(f"tensor<{text.removeprefix('x')}>")) is (
                right or text == "xi4"
            ), text
        assert not is_partial(ir.Type.parse("i4")) and not is_partial(ir.Type.parse("vector<7xi4>"))


def test_tensors_of_a_program():
    with ir.Context():
        module = ir.Module.parse(between(4)[0])
        found = partial_bytes(module.operation)
        assert {(one.element, one.bits, one.is_passed) for one in found} == {("i4", 84, False)}
        assert not partial_bytes(ir.Module.parse(between(4)[0].replace("3x7", "3x8")).operation)


@pytest.mark.parametrize(
    ("text", "right"),
    (
        ("dense<[-4, 3, 7]> : tensor<3xi4>", [12, 3, 7]),
        ("dense<[[-2, 1, 0], [1, -1, 0]]> : tensor<2x3xi2>", [2, 1, 0, 1, 3, 0]),
        ("dense<-3> : tensor<2x2xi4>", [13, 13, 13, 13]),
        ("dense<[0.0, -0.0, 0.5, -6.0, 1.5]> : tensor<5xf4E2M1FN>", [0, 8, 1, 15, 3]),
        (
            f"dense<{[i % 16 - 8 for i in range(121)]}> : tensor<121xi4>",
            [(i % 16 - 8) & 15 for i in range(121)],
        ),
    ),
)
def test_bits_of_constants(text, right):
    with ir.Context():
        held = ir.Attribute.parse(text)
        name = text.rsplit("x", 1)[1].rstrip(">")
        assert constant_bits(held, NARROW_TYPES[name]) == right


def test_bits_that_are_not_in_the_program():
    with ir.Context():
        assert (
            constant_bits(ir.Attribute.parse("dense_resource<w> : tensor<3xi4>"), NARROW_TYPES["i4"]) is None
        )
        assert constant_bits(ir.Attribute.parse("dense<1> : tensor<3xi8>"), NARROW_TYPES["i8"]) is None
        assert constant_bits(None, NARROW_TYPES["i4"]) is None


PACKED = """
func.func @main(%x: tensor<3x7xi8>) -> tensor<7x1x3xi8> {
  %e = tensor.empty() : tensor<3x7xi4>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x7xi8>) outs(%e : tensor<3x7xi4>) {
  ^bb0(%in: i8, %out: i4):
    %t = arith.trunci %in : i8 to i4
    linalg.yield %t : i4
  } -> tensor<3x7xi4>
  %kept = util.optimization_barrier %q : tensor<3x7xi4>
  %z = arith.constant 0 : i4
  %room = tensor.empty() : tensor<7x1x3xi4>
  %p = linalg.pack %kept padding_value(%z : i4) outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [3] into %room
      : tensor<3x7xi4> -> tensor<7x1x3xi4>
  %o = tensor.empty() : tensor<7x1x3xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<7x1x3xi4>) outs(%o : tensor<7x1x3xi8>) {
  ^bb0(%in: i4, %out: i8):
    %t = arith.extsi %in : i4 to i8
    linalg.yield %t : i8
  } -> tensor<7x1x3xi8>
  return %r : tensor<7x1x3xi8>
}
"""


def test_an_op_that_has_no_form_of_32_bits_is_taken_apart_first(tmp_path):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PACKED)
    report = fissile.compile(source, vmfb, flags_for(find_target("llvm-cpu")))
    assert [f.code for f in report.findings] == ["FIS223"]
    x = RNG.integers(-128, 128, (3, 7)).astype(np.int8)
    right = wrapped(x.astype(np.int64)).astype(np.int8).T.reshape(7, 1, 3)
    np.testing.assert_array_equal(run(vmfb, [x], "local-task")[0], right)


def test_what_a_loop_carries_is_refused_with_the_reason(tmp_path):
    source = tmp_path / "in.mlir"
    body = generic(
        "g",
        [("%acc", "tensor<3x7xi4>", SAME)],
        "tensor<3x7xi4>",
        "    %t = arith.addi %a0, %a0 : i4\n    linalg.yield %t : i4\n",
    )
    source.write_text(
        "func.func @main(%x: tensor<3x7xi8>, %n: index) -> tensor<3x7xi8> {\n"
        "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
        + generic(
            "f",
            [("%x", "tensor<3x7xi8>", SAME)],
            "tensor<3x7xi4>",
            "    %t = arith.trunci %a0 : i8 to i4\n    linalg.yield %t : i4\n",
        )
        + "  %q = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> tensor<3x7xi4> {\n"
        + body
        + "  scf.yield %g : tensor<3x7xi4>\n  }\n"
        + generic(
            "r",
            [("%q", "tensor<3x7xi4>", SAME)],
            "tensor<3x7xi8>",
            "    %t = arith.extsi %a0 : i4 to i8\n    linalg.yield %t : i8\n",
        )
        + "  return %r : tensor<3x7xi8>\n}\n"
    )
    report = fissile.compile(source, tmp_path / "out.vmfb", flags_for(find_target("llvm-cpu")), check=False)
    assert [(f.code, f.stops) for f in report.findings] == [("FIS223", True)]
