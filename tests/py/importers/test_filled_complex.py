"""`torch.zeros` and its like of complex numbers, on which IREE crashes."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import compiled, computed, written

_PROGRAM = """func.func @main(%x: !torch.vtensor<[SIZE],COMPLEX>) -> !torch.vtensor<[SIZE],COMPLEX> {
  %none = torch.constant.none
  %zero = torch.constant.int 0
  %ten = torch.constant.int 10
  %size = torch.aten.size.int %x, %zero : !torch.vtensor<[SIZE],COMPLEX>, !torch.int -> !torch.int
  %sizes = torch.prim.ListConstruct %size : (!torch.int) -> !torch.list<int>
  %made = OP : TYPES -> !torch.vtensor<[SIZE],COMPLEX>
  %r = torch.aten.mul.Tensor %x, %made : !torch.vtensor<[SIZE],COMPLEX>, !torch.vtensor<[SIZE],COMPLEX> -> !torch.vtensor<[SIZE],COMPLEX>
  return %r : !torch.vtensor<[SIZE],COMPLEX>
}
"""
_NONE = "!torch.none"


def _program(op: str, element: str, size: str) -> str:
    tensor = f"!torch.vtensor<[{size}],{element}>"
    operands, types = ["%sizes", "%ten", *["%none"] * 3], ["!torch.list<int>", "!torch.int", *[_NONE] * 3]
    if op.startswith("new_"):
        operands, types = ["%x", *operands], [tensor, *types]
    if op.startswith("empty"):
        operands, types = [*operands, "%none"], [*types, _NONE]
    text = _PROGRAM.replace("OP", f"torch.aten.{op} {', '.join(operands)}").replace("TYPES", ", ".join(types))
    return text.replace("COMPLEX", element).replace("SIZE", size)


@pytest.mark.parametrize(
    ("op", "number", "element", "size"),
    [
        ("zeros", 0, "complex<f32>", "3"),
        ("ones", 1, "complex<f32>", "?"),
        ("new_zeros", 0, "complex<f32>", "?"),
        ("new_ones", 1, "complex<f64>", "3"),
        ("empty.memory_format", None, "complex<f32>", "3"),
    ],
)
def test_filled_complex(tmp_path, op, number, element, size):
    text = _program(op, element, size)
    written(tmp_path, text)
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    [found] = [one for one in findings if one["code"] == "FIS421"]
    assert (found["severity"], found["subject"]) == ("repaired", f"aten.{op}")
    x = np.array([1 - 2j, 0, 3j], np.complex64 if element == "complex<f32>" else np.complex128)
    got = computed(tmp_path, x)
    if number is not None:
        np.testing.assert_array_equal(got, x * number)
