"""FIS164: the -1 in a reshape of several unknown sizes is what the other sizes leave."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

_HEAD = """
  %minus = torch.constant.int -1
  %zero = torch.constant.int 0
  %three = torch.constant.int 3
  %four = torch.constant.int 4
  %five = torch.constant.int 5
"""
_LIST = "!torch.list<int>"


def _program(given: str, made: str, sizes: str, op: str, between: str = "") -> str:
    x, r = f"!torch.vtensor<[{given}],f32>", f"!torch.vtensor<[{made}],f32>"
    listed = ", ".join("!torch.int" for _one in sizes.split(", "))
    types = ", ".join([x, *["!torch.int"] * bool(between), _LIST])
    return f"""func.func @main(%x: {x}, %n: !torch.int) -> {r} attributes {{torch.assume_strict_symbolic_shapes}} {{{_HEAD}
  %rows = torch.aten.size.int %x, %zero : {x}, !torch.int -> !torch.int
  %last = torch.aten.size.int %x, %minus : {x}, !torch.int -> !torch.int
  %quotient = torch.aten.floordiv.int %last, %four : !torch.int, !torch.int -> !torch.int
  %sizes = torch.prim.ListConstruct {sizes} : ({listed}) -> {_LIST}
  %r = torch.aten.{op} {", ".join(filter(None, ["%x", between, "%sizes"]))} : {types} -> {r}
  return %r : {r}
}}
"""


_CASES = {
    "heads": (_program("?,?", "?,?,?", "%rows, %minus, %four", "view"), (3, 8), 0, (3, 2, 4)),
    "a known operand": (_program("?,12", "?,?,4", "%rows, %minus, %four", "reshape"), (3, 12), 0, (3, 3, 4)),
    "written out": (_program("?,?", "?,?,?", "%rows, %quotient, %four", "view"), (3, 8), 0, (3, 2, 4)),
    "batches": (_program("?,4", "?,?,4", "%n, %minus, %four", "view"), (6, 4), 2, (2, 3, 4)),
    "a vector": (_program("?", "?,?", "%n, %minus", "view"), (6,), 2, (2, 3)),
    "no elements": (_program("?,4", "?,?,4", "%n, %minus, %four", "view"), (0, 4), 2, (2, 0, 4)),
    "unflattened": (_program("?,5", "?,?,5", "%minus, %three", "unflatten.int", "%zero"), (6, 5), 0, (2, 3, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", _CASES)
def test_minus_one_is_what_the_others_leave(tmp_path, name):
    text, shape, number, wanted = _CASES[name]
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings if one.code != "FIS202"] == [
        ("FIS164", "repaired")
    ]
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    [answer] = all_computed(tmp_path, x, np.int64(number))
    np.testing.assert_array_equal(answer, x.reshape(wanted))


def test_constants_that_do_not_fit_are_not_inferred(tmp_path):
    """A view of 12 columns as [rows, -1, 5] has no -1: nothing is built that would read behind the end."""
    written(tmp_path, _program("?,12", "?,?,5", "%rows, %minus, %five", "view"))
    with pytest.raises(fissile.CompileError):
        fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])


def test_rows_that_do_not_divide_are_an_error_when_it_is_called(tmp_path):
    text, _shape, number, _wanted = _CASES["batches"]
    written(tmp_path, text)
    fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    with pytest.raises(AssertionError, match="FAILED_PRECONDITION|INVALID_ARGUMENT"):
        all_computed(tmp_path, np.zeros((5, 4), np.float32), np.int64(number))


def test_stock_fails_when_it_is_called(tmp_path):
    text, shape, number, wanted = _CASES["heads"]
    written(tmp_path, text)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    with pytest.raises(AssertionError, match="OUT_OF_RANGE"):
        all_computed(tmp_path, np.zeros(shape, np.float32), np.int64(number))
