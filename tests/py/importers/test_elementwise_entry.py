"""Elementwise torch ops that IREE refuses enter, and compute what NumPy does in every bit."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, entered

FLOATS = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, -np.nan], np.float32)
SIGNS = np.array([-0.0, 3.0, -1.0, np.nan, -np.nan, 0.0, 2.0, -np.inf], np.float32)
WHOLE = np.array([0, 1, -1, 7, -8, 1 << 40, -(1 << 40), 123456789], np.int64)
TENSORS = {
    "float32": "!torch.vtensor<[8],f32>",
    "int64": "!torch.vtensor<[8],si64>",
    "bool": "!torch.vtensor<[8],i1>",
}


def program(name, given, made, number=None):
    """``name`` on tensors of the types of ``given``, and ``number`` where it is not None, as an importer writes an op that the dialect lacks."""
    types = [TENSORS[array.dtype.name] for array in given]
    arguments = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(types))
    operands = [f"%a{i}" for i in range(len(types))]
    constant = ""
    if number is not None:
        kind = "int" if isinstance(number, int) else "float"
        constant = f"  %n = torch.constant.{kind} {number if kind == 'int' else format(number, 'e')}\n"
        operands.append("%n")
        types.append(f"!torch.{kind}")
    return (
        f"func.func @main({arguments}) -> {TENSORS[made]} {{\n{constant}"
        f'  %r = torch.operator "torch.{name}"({", ".join(operands)}) : ({", ".join(types)}) -> {TENSORS[made]}\n'
        f"  return %r : {TENSORS[made]}\n}}\n"
    )


def x_log_y(x, y):
    with np.errstate(all="ignore"):
        return np.where(
            np.isnan(y), np.float32(np.nan), np.where(x == 0, np.float32(0), x * np.log(y))
        ).astype(np.float32)


UNARY = {"aten.signbit": np.signbit, "aten.isfinite": np.isfinite}
NUMBERS = {
    "aten.bitwise_or.Scalar": (WHOLE, 5, np.bitwise_or),
    "aten.bitwise_xor.Scalar": (WHOLE, -3, np.bitwise_xor),
    "aten.__or__.Scalar": (WHOLE, 1 << 33, np.bitwise_or),
    "aten.__xor__.Scalar": (WHOLE, 5, np.bitwise_xor),
    "aten.bitwise_left_shift.Tensor_Scalar": (WHOLE, 3, np.left_shift),
    "aten.bitwise_right_shift.Tensor_Scalar": (WHOLE, 2, np.right_shift),
    "aten.fmod.Scalar": (np.array([5.5, -5.5, 0.0, 7.0, -1.0, 2.5, -2.5, 1e3], np.float32), 2.5, np.fmod),
}


@pytest.mark.parametrize("name", UNARY)
def test_tests_of_a_float(tmp_path, name):
    entered(tmp_path, program(name, [FLOATS], "bool"), name, "fissile-decompose-elementwise")
    [answer] = all_computed(tmp_path, FLOATS)
    assert np.array_equal(answer, UNARY[name](FLOATS))


def test_the_sign_of_another_float(tmp_path):
    name = "aten.copysign.Tensor"
    entered(tmp_path, program(name, [FLOATS, SIGNS], "float32"), name, "fissile-decompose-elementwise")
    [answer] = all_computed(tmp_path, FLOATS, SIGNS)
    numbers = ~np.isnan(FLOATS)
    expected = np.copysign(FLOATS, SIGNS)
    assert np.array_equal(answer[numbers].view(np.int32), expected[numbers].view(np.int32))
    assert np.isnan(answer[~numbers]).all()


def test_x_log_y_is_zero_where_x_is(tmp_path):
    name = "aten.xlogy.Tensor"
    y = np.array([0.0, np.inf, 2.0, 0.5, 3.0, 1.0, 2.0, np.nan], np.float32)
    x = np.array([0.0, 0.0, 1.5, -2.0, 1.0, 7.0, np.nan, 0.0], np.float32)
    entered(tmp_path, program(name, [x, y], "float32"), name, "fissile-decompose-elementwise")
    [answer] = all_computed(tmp_path, x, y)
    np.testing.assert_allclose(answer, x_log_y(x, y), rtol=1e-6)


@pytest.mark.parametrize("name", NUMBERS)
def test_an_op_on_a_tensor_and_a_number(tmp_path, name):
    given, number, function = NUMBERS[name]
    entered(
        tmp_path, program(name, [given], given.dtype.name, number), name, "fissile-rewrite-scalar-operands"
    )
    [answer] = all_computed(tmp_path, given)
    assert np.array_equal(answer, function(given, given.dtype.type(number)))


def test_one_remedy_writes_what_the_next_finds(tmp_path):
    status, findings = compiled(
        tmp_path, program("aten.copysign.Scalar", [FLOATS], "float32", -1.0), "--guard=off"
    )
    assert status == 0
    assert {finding["subject"] for finding in findings} == {"aten.copysign.Scalar", "aten.copysign.Tensor"}


@pytest.mark.parametrize(
    ("name", "given", "made", "number"),
    [
        ("aten.bitwise_or.Scalar", WHOLE, "int64", 2.5),
        ("aten.signbit", WHOLE, "bool", None),
    ],
)
def test_other_types_are_left_alone(tmp_path, name, given, made, number):
    """They are reported as what IREE refuses."""
    status, findings = compiled(tmp_path, program(name, [given], made, number))
    assert status == 1 and not any(finding["severity"] == "repaired" for finding in findings)
