"""Ops on floats on the host: stock IREE computes some otherwise than MLIR defines them (FIS153); rewritten, each is right."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from built import CPU
from host_calls import Wrong, wrong_calls

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics.build import compile_stock

NUMBERS = [
    float(np.float32(number))
    for number in (0.0, -0.0, 1.0, -1.5, 2.5, 0.001, -100.75, 123456.789, math.inf, -math.inf, math.nan)
]
WRONG_BY_STOCK = {
    "fptosi", "fptoui", "remf", "maximumf", "minimumf", "cmpf_oge", "cmpf_one", "cmpf_ord", "cmpf_uge",
}  # fmt: skip
"""Where this is no longer so IREE has changed, and FIS153 is not needed for all of them any more."""
ORDERS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b and not unordered(a, b),
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def unordered(a: float, b: float) -> bool:
    return math.isnan(a) or math.isnan(b)


def extreme(a: float, b: float, largest: bool) -> float:
    if unordered(a, b):
        return math.nan
    if a == b == 0.0:
        signs = [math.copysign(1.0, n) for n in (a, b)]
        return math.copysign(0.0, max(signs) if largest else min(signs))
    return max(a, b) if largest else min(a, b)


def cut_off(a: float, _b: float, low: float) -> int | None:
    return int(a) if low < a < 2**31 else None


def remainder(a: float, b: float) -> float:
    return float(np.fmod(np.float32(a), np.float32(b)))


def cases() -> dict[str, tuple[str, Callable[[float, float], object]]]:
    """Name -> the ops that make %r of %x and %y, and what it has to be; None where that is not defined."""
    found: dict[str, tuple[str, Callable[[float, float], object]]] = {
        "fptosi": ("%r = arith.fptosi %x : f32 to i32", lambda a, b: cut_off(a, b, -(2.0**31))),
        "fptoui": ("%r = arith.fptoui %x : f32 to i32", lambda a, b: cut_off(a, b, -1.0)),
        "floored": (
            "%f = math.floor %x : f32\n  %r = arith.fptosi %f : f32 to i32",
            lambda a, b: math.floor(a) if -(2.0**31) < a < 2**31 else None,
        ),
        "remf": ("%r = arith.remf %x, %y : f32", remainder),
        "maximumf": ("%r = arith.maximumf %x, %y : f32", lambda a, b: extreme(a, b, True)),
        "minimumf": ("%r = arith.minimumf %x, %y : f32", lambda a, b: extreme(a, b, False)),
    }
    compared = "%z = arith.cmpf {}, %x, %y : f32\n  %r = arith.extui %z : i1 to i32"
    for name, holds in ORDERS.items():
        ordered = "oeq one olt ole ogt oge".split()[list(ORDERS).index(name)]
        found[f"cmpf_{ordered}"] = (compared.format(ordered), lambda a, b, holds=holds: int(holds(a, b)))
        either = f"u{name}"
        found[f"cmpf_{either}"] = (
            compared.format(either),
            lambda a, b, holds=holds: int(unordered(a, b) or holds(a, b)),
        )
    found["cmpf_ord"] = (compared.format("ord"), lambda a, b: int(not unordered(a, b)))
    found["cmpf_uno"] = (compared.format("uno"), lambda a, b: int(unordered(a, b)))
    return found


CASES = cases()


def wrong_in(path) -> Wrong:
    return wrong_calls(path, {name: expected for name, (_, expected) in CASES.items()}, NUMBERS, same)


def same(got: object, wanted: object) -> bool:
    """Bit by bit, but for the bits of a NaN."""
    if isinstance(wanted, int):
        return int(got) == wanted
    if math.isnan(wanted):
        return math.isnan(got)
    return got == wanted and math.copysign(1.0, got) == math.copysign(1.0, wanted)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("floats") / "in.mlir"
    results = {name: "f32" if name in ("remf", "maximumf", "minimumf") else "i32" for name in CASES}
    path.write_text(
        "".join(
            f"func.func @{name}(%x: f32, %y: f32) -> {results[name]} {{\n  {body}\n  return %r : {results[name]}\n}}\n"
            for name, (body, _) in CASES.items()
        )
    )
    return path


def test_rewritten_they_are_right(source, tmp_path):
    report = fissile.compile(source, tmp_path / "ours.vmfb", list(CPU))
    assert [(f.code, f.severity.value, f.effect) for f in report.findings] == [
        ("FIS153", "repaired", Effect.UNPROVED)
    ] * len(WRONG_BY_STOCK)
    assert wrong_in(tmp_path / "ours.vmfb") == {}


def test_stock_computes_them_otherwise(source, tmp_path):
    assert compile_stock(source, tmp_path / "stock.vmfb", CPU) is None
    assert set(wrong_in(tmp_path / "stock.vmfb")) == WRONG_BY_STOCK


IN_A_DISPATCH = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: f32, %o: i32):
    %i = arith.fptosi %a : f32 to i32
    linalg.yield %i : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
"""


def test_a_dispatch_stays(tmp_path):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(IN_A_DISPATCH)
    assert not fissile.compile(source, ours, list(CPU)).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()
