"""Special functions of torch that IREE refuses enter, and compute what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, entered

PASS = "fissile-decompose-special-functions"
X = np.array([0.0, -0.0, 3.0, 1e30, np.inf, np.nan, -5e-30, np.nan], np.float32)
Y = np.array([0.0, 2.0, -4.0, 1e30, np.nan, -np.inf, 12e-30, 1.0], np.float32)
AT = np.array([0.0, -0.0, 1.0, 0.5, -0.25, 1e-20, 2.5, np.nan], np.float32)
SHARE = np.array([0.0, 1.0, 0.25, -0.5, np.inf, 1e-30, np.nan, -np.inf], np.float32)


def program(name, count, element="f32", made="f32"):
    given, result = f"!torch.vtensor<[8],{element}>", f"!torch.vtensor<[8],{made}>"
    arguments = ", ".join(f"%a{i}: {given}" for i in range(count))
    operands = ", ".join(f"%a{i}" for i in range(count))
    return (
        f"func.func @main({arguments}) -> {result} {{\n"
        f'  %r = torch.operator "torch.{name}"({operands}) : ({", ".join([given] * count)}) -> {result}\n'
        f"  return %r : {result}\n}}\n"
    )


def entropy(x):
    with np.errstate(all="ignore"):
        return np.where(x == 0, 0.0, np.where(x < 0, -np.inf, -x * np.log(x)))


CASES = {
    "aten.hypot": ([X, Y], np.hypot),
    "aten.sinc": ([AT], np.sinc),
    "aten.special_sinc": ([AT], np.sinc),
    "aten.special_entr": ([SHARE], entropy),
}


@pytest.mark.parametrize("name", CASES)
def test_a_special_function(tmp_path, name):
    given, function = CASES[name]
    entered(tmp_path, program(name, len(given)), name, PASS)
    [answer] = all_computed(tmp_path, *given)
    expected = function(*(array.astype(np.float64) for array in given))
    np.testing.assert_allclose(answer, expected, rtol=1e-5, atol=1e-7)


def test_the_length_of_small_sides_does_not_vanish(tmp_path):
    """Their squares are below the smallest f32."""
    entered(tmp_path, program("aten.hypot", 2), "aten.hypot", PASS)
    x, y = np.full(8, -5e-30, np.float32), np.full(8, 12e-30, np.float32)
    [answer] = all_computed(tmp_path, x, y)
    np.testing.assert_allclose(answer, np.full(8, 13e-30), rtol=1e-5)


def test_integers_are_converted_first(tmp_path):
    """As PyTorch does; test_operand_types has the numbers."""
    status, findings = compiled(tmp_path, program("aten.sinc", 1, "si64"))
    assert status == 0 and {one["severity"] for one in findings} == {"repaired"}
    remedies = [help_["remedy"] for one in findings for help_ in one["helps"]]
    assert {"fissile-promote-operands", "fissile-decompose-special-functions"} <= set(remedies)
