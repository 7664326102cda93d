"""Ops on numbers outside of every dispatch that IREE's VM has no instruction for."""

from __future__ import annotations

import math

import built
import numpy as np
import pytest
from entered_programs import all_computed, compiled

from fissile.pipelines.compile.hooks import front_end
from fissile.pipelines.session import Session

REMEDY = "fissile-write-host-scalars"


def program(lines, operands, results):
    """A function in which ``lines`` compute ``results`` (names with types) from numbers, given and returned as tensors."""
    given = ", ".join(f"%t{name}: tensor<{type_}>" for name, type_ in operands.items())
    read = "\n".join(
        f"  %{name} = tensor.extract %t{name}[] : tensor<{type_}>" for name, type_ in operands.items()
    )
    made = "\n".join(
        f"  %r{name} = tensor.from_elements %{name} : tensor<{type_}>" for name, type_ in results.items()
    )
    types = ", ".join(f"tensor<{type_}>" for type_ in results.values())
    names = ", ".join(f"%r{name}" for name in results)
    return (
        f"func.func @main({given}) -> ({types}) {{\n{read}\n{lines}\n{made}\n  return {names} : {types}\n}}\n"
    )


def run(tmp_path, text, *calls):
    """What each of ``calls`` returns; every op is reported as repaired."""
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    assert findings
    assert {(f["code"], f["severity"]) for f in findings} <= {
        ("FIS421", "repaired"),
        ("FIS153", "repaired"),
        ("FIS193", "repaired"),
        ("FIS214", "repaired"),
        ("FIS227", "repaired"),
        ("FIS148", "repaired"),
        ("FIS104", "repaired"),
        ("FIS108", "repaired"),
    }
    assert REMEDY in {f["helps"][0]["remedy"] for f in findings}
    module = Session(built.CPU).parse_text(text)
    front_end.rewritten(module, "")
    (tmp_path / "entered.mlir").write_text(module.text())
    return [all_computed(tmp_path, *call) for call in calls]


@pytest.mark.parametrize("width", [8, 32, 64])
def test_integers(tmp_path, width):
    type_, dtype = f"i{width}", np.dtype(f"int{width}")
    lines = f"""
  %p = math.ctpop %a : {type_}
  %z = math.cttz %a : {type_}
  %w = math.ipowi %a, %b : {type_}"""
    text = program(lines, {"a": type_, "b": type_}, dict.fromkeys("pzw", type_))
    least = np.iinfo(dtype).min
    calls = [(0, 3), (1, 5), (-1, 4), (-3, 3), (least, 1), (96, 0), (-1, -3), (2, -1)]
    answers = run(tmp_path, text, *(tuple(np.array(x, dtype) for x in call) for call in calls))
    for (a, b), (ones, zeros, power) in zip(calls, answers, strict=True):
        bits = a & ((1 << width) - 1)
        assert int(ones) == bits.bit_count()
        assert int(zeros) == (width if not bits else (bits & -bits).bit_length() - 1)
        exact = a**b if b >= 0 else {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
        assert int(power) & ((1 << width) - 1) == exact & ((1 << width) - 1)


def test_extended_sums_and_products(tmp_path):
    lines = """
  %s, %c = arith.addui_extended %a, %b : i32, i1
  %o = arith.extui %c : i1 to i32
  %l, %h = arith.mulsi_extended %a, %b : i32
  %m, %u = arith.mului_extended %a, %b : i32"""
    text = program(lines, {"a": "i32", "b": "i32"}, dict.fromkeys("solhmu", "i32"))
    calls = [(-1, 2), (-(2**31), -(2**31)), (7, -9), (2**31 - 1, 2**31 - 1)]
    answers = run(tmp_path, text, *(tuple(np.array(x, np.int32) for x in call) for call in calls))
    for (a, b), found in zip(calls, answers, strict=True):
        ua, ub = a % 2**32, b % 2**32
        exact = [ua + ub, (ua + ub) >> 32, a * b, (a * b) >> 32, ua * ub, (ua * ub) >> 32]
        assert [int(x) % 2**32 for x in found] == [x % 2**32 for x in exact]


def test_floats(tmp_path):
    lines = """
  %t = math.trunc %a : f32
  %c = math.copysign %a, %b : f32
  %n0 = math.isnan %a : f32
  %i0 = math.isinf %a : f32
  %f0 = math.isfinite %a : f32
  %n = arith.extui %n0 : i1 to i32
  %i = arith.extui %i0 : i1 to i32
  %f = arith.extui %f0 : i1 to i32"""
    text = program(
        lines, {"a": "f32", "b": "f32"}, {"t": "f32", "c": "f32", "n": "i32", "i": "i32", "f": "i32"}
    )
    calls = [(-0.5, 1.0), (2.75, -0.0), (-np.inf, 2.0), (np.nan, -1.0), (-3.5, -2.0), (0.0, -1.0)]
    answers = run(tmp_path, text, *(tuple(np.array(x, np.float32) for x in call) for call in calls))
    for (a, b), (cut, signed, *classes) in zip(calls, answers, strict=True):
        a, b = np.float32(a), np.float32(b)
        for got, want in ((cut, np.trunc(a)), (signed, np.copysign(a, b))):
            np.testing.assert_array_equal(got, want)
            assert np.signbit(got) == np.signbit(want)
        assert [int(x) for x in classes] == [np.isnan(a), np.isinf(a), np.isfinite(a)]


def test_functions_that_the_device_has(tmp_path):
    lines = """
  %t = math.tan %a : f32
  %c = math.cbrt %a : f32
  %e = math.erfc %a : f32
  %s = math.sinh %a : f32
  %m = arith.maxnumf %a, %b : f32"""
    text = program(lines, {"a": "f32", "b": "f32"}, dict.fromkeys("tcesm", "f32"))
    calls = [(0.5, 1.0), (-1.25, np.nan)]
    answers = run(tmp_path, text, *(tuple(np.array(x, np.float32) for x in call) for call in calls))
    for (a, b), found in zip(calls, answers, strict=True):
        exact = [math.tan(a), math.cbrt(a), math.erfc(a), math.sinh(a), np.fmax(a, b)]
        np.testing.assert_allclose(np.array(found, np.float64), exact, rtol=2e-5)


def test_the_index_dialect(tmp_path):
    lines = """
  %i = index.casts %a : i32 to index
  %j = index.casts %b : i32 to index
  %k = index.floordivs %i, %j
  %m = index.maxs %k, %i
  %c = index.cmp slt(%i, %j)
  %s = arith.select %c, %m, %k : index
  %r = index.casts %s : index to i32"""
    text = program(lines, {"a": "i32", "b": "i32"}, {"r": "i32"})
    calls = [(-7, 2), (7, 2), (-7, -2), (9, -4)]
    answers = run(tmp_path, text, *(tuple(np.array(x, np.int32) for x in call) for call in calls))
    for (a, b), [found] in zip(calls, answers, strict=True):
        assert int(found) == (max(a // b, a) if a < b else a // b)
