"""Sizes that a PyTorch program computes: remainders (FIS167), and splits into parts of such sizes. What stock refuses enters, and computes what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, computed, entered, filled

ROW, NUMBER = "!torch.vtensor<[?],f32>", "!torch.int"
PADDED = """
func.func @main(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %zero = torch.constant.int 0
  %value = torch.constant.float 7.0
  %d = torch.constant.int DIVISOR
  %n = torch.aten.size.int %x, %zero : !torch.vtensor<[?],f32>, !torch.int -> !torch.int
  %minus = torch.aten.neg.int %n : !torch.int -> !torch.int
  %m = torch.operator "torch.aten.fmod.int"(%minus, %d) : (!torch.int, !torch.int) -> !torch.int
  %widths = torch.prim.ListConstruct %zero, %m : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.constant_pad_nd %x, %widths, %value : !torch.vtensor<[?],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
"""
SPLIT = """
func.func @main(%x: !torch.vtensor<[3,?],f32>) -> (!torch.vtensor<[3,?],f32>, !torch.vtensor<[3,?],f32>, !torch.vtensor<[3,?],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %dim = torch.constant.int DIM
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %three = torch.constant.int 3
  %n = torch.aten.size.int %x, %one : !torch.vtensor<[3,?],f32>, !torch.int -> !torch.int
  %third = torch.aten.floordiv.int %n, %three : !torch.int, !torch.int -> !torch.int
  %more = torch.aten.add.int %third, %one : !torch.int, !torch.int -> !torch.int
  %both = torch.aten.add.int %more, %two : !torch.int, !torch.int -> !torch.int
  %rest = torch.aten.sub.int %n, %both : !torch.int, !torch.int -> !torch.int
  %sizes = torch.prim.ListConstruct %more, %two, %rest : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %parts = torch.aten.OP %x, SIZES, %dim : !torch.vtensor<[3,?],f32>, TYPE, !torch.int -> !torch.list<vtensor>
  %r:3 = torch.prim.ListUnpack %parts : !torch.list<vtensor> -> !torch.vtensor<[3,?],f32>, !torch.vtensor<[3,?],f32>, !torch.vtensor<[3,?],f32>
  return %r#0, %r#1, %r#2 : !torch.vtensor<[3,?],f32>, !torch.vtensor<[3,?],f32>, !torch.vtensor<[3,?],f32>
}
"""


def test_a_padding_to_a_multiple(tmp_path):
    """Of a negative number: the remainder of Python is not negative (FIS167)."""
    text = filled(PADDED, DIVISOR=8)
    status, [finding] = compiled(tmp_path, text, "--guard=off")
    assert status == 0 and (finding["code"], finding["severity"]) == ("FIS167", "repaired")
    (tmp_path / "entered.mlir").write_text(text)
    for size in (1, 7, 8, 13):
        x = np.arange(size, dtype=np.float32)
        padded = np.pad(x, (0, -size % 8), constant_values=7)
        np.testing.assert_array_equal(computed(tmp_path, x), padded)


def test_what_is_left_over(tmp_path):
    """Of a size, which is not negative: IREE rejects it."""
    text = filled(PADDED, DIVISOR=8).replace('fmod.int"(%minus', 'fmod.int"(%n')
    entered(tmp_path, text, "aten.fmod.int", "fissile-divide-sizes")
    for size in (7, 8, 13):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(computed(tmp_path, x), np.pad(x, (0, size % 8), constant_values=7))


@pytest.mark.parametrize("dim", [1, -1])
@pytest.mark.parametrize(
    ("op", "sizes", "type_", "places"),
    [
        ("split_with_sizes", "%sizes", "!torch.list<int>", lambda n: (n // 3 + 1, n // 3 + 3)),
        ("split.Tensor", "%more", "!torch.int", lambda n: (n // 3 + 1, 2 * (n // 3 + 1))),
    ],
)
def test_parts_of_sizes_that_the_program_computes(tmp_path, op, sizes, type_, places, dim):
    text = filled(SPLIT, OP=op, SIZES=sizes, TYPE=type_, DIM=dim)
    entered(tmp_path, text, f"aten.{op}", "fissile-split-by-slices")
    for size in (6, 10, 13):
        x = np.arange(3 * size, dtype=np.float32).reshape(3, size)
        answers = all_computed(tmp_path, x)
        for answer, part in zip(answers, np.split(x, places(size), 1), strict=True):
            np.testing.assert_array_equal(answer, part)
