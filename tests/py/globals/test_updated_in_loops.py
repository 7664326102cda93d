"""FIS224: loops that update a global in place, which stock refuses, compute what the program specifies; loops that carry it stay."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.finding import Severity
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

ROW = np.array([[1.0, -2.0, 3.5, 4.0]], np.float32)
TIMES = 3
GLOBAL = "util.global private mutable @cache = dense<0.0> : tensor<4x4xf32>\n"
HEAD = (
    "func.func @main(%row: tensor<1x4xf32>, %times: tensor<i32>) -> tensor<4x4xf32> {\n"
    "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c2 = arith.constant 2 : index\n"
    "  %t = tensor.extract %times[] : tensor<i32>\n  %n = arith.index_cast %t : i32 to index\n"
)
END = "  %c = util.global.load @cache : tensor<4x4xf32>\n  return %c : tensor<4x4xf32>\n}\n"


def update(row: str = "%i", column: str = "0", width: int = 4, value: str = "%row") -> str:
    return (
        "    %old = util.global.load @cache : tensor<4x4xf32>\n"
        f"    %new = tensor.insert_slice {value} into %old[{row}, {column}] [1, {width}] [1, 1] : tensor<1x{width}xf32> into tensor<4x4xf32>\n"
        "    util.global.store %new, @cache : tensor<4x4xf32>\n"
    )


def rows(*which: int) -> np.ndarray:
    right = np.zeros((4, 4), np.float32)
    right[list(which)] = ROW
    return right


def columns() -> np.ndarray:
    right = np.zeros((4, 4), np.float32)
    right[:TIMES, :TIMES] = 1.0
    return right


WHILE = (
    "  %x = scf.while (%i = %c0) : (index) -> index {\n    %p = arith.cmpi slt, %i, %n : index\n    scf.condition(%p) %i : index\n"
    "  } do {\n  ^bb0(%i: index):\n"
    + update()
    + "    %j = arith.addi %i, %c1 : index\n    scf.yield %j : index\n  }\n"
)
BRANCH = (
    "  scf.for %i = %c0 to %n step %c1 {\n    %odd = arith.remui %i, %c2 : index\n    %p = arith.cmpi eq, %odd, %c0 : index\n    scf.if %p {\n"
    + update()
    + "    }\n  }\n"
)
YIELDED = (
    "  scf.for %i = %c0 to %n step %c1 {\n    %odd = arith.remui %i, %c2 : index\n    %p = arith.cmpi eq, %odd, %c0 : index\n"
    "    %old = util.global.load @cache : tensor<4x4xf32>\n    %s = scf.if %p -> tensor<4x4xf32> {\n"
    "      %new = tensor.insert_slice %row into %old[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>\n"
    "      scf.yield %new : tensor<4x4xf32>\n    } else {\n      scf.yield %old : tensor<4x4xf32>\n    }\n"
    "    util.global.store %s, @cache : tensor<4x4xf32>\n  }\n"
)
NESTED = (
    "  %one = arith.constant dense<1.0> : tensor<1x1xf32>\n  scf.for %i = %c0 to %n step %c1 {\n  scf.for %j = %c0 to %n step %c1 {\n"
    + update(column="%j", width=1, value="%one")
    + "  }\n  }\n"
)
COUNTED = (
    "util.global private mutable @length = 0 : i32\n"
    "func.func private @push(%row: tensor<1x4xf32>) {\n  %one = arith.constant 1 : i32\n"
    "  %n = util.global.load @length : i32\n  %i = arith.index_cast %n : i32 to index\n"
    + update()
    + "  %m = arith.addi %n, %one : i32\n  util.global.store %m, @length : i32\n  return\n}\n"
)
PROGRAMS = {
    "for": (
        GLOBAL + HEAD + "  scf.for %i = %c0 to %n step %c1 {\n" + update() + "  }\n" + END,
        rows(0, 1, 2),
    ),
    "while": (GLOBAL + HEAD + WHILE + END, rows(0, 1, 2)),
    "branch": (GLOBAL + HEAD + BRANCH + END, rows(0, 2)),
    "yielded": (GLOBAL + HEAD + YIELDED + END, rows(0, 2)),
    "nested": (GLOBAL + HEAD + NESTED + END, columns()),
    "call": (
        GLOBAL
        + COUNTED
        + HEAD
        + "  scf.for %i = %c0 to %n step %c1 {\n    func.call @push(%row) : (tensor<1x4xf32>) -> ()\n  }\n"
        + END,
        rows(0, 1, 2),
    ),
}
CARRIED = (
    GLOBAL
    + HEAD
    + "  %start = util.global.load @cache : tensor<4x4xf32>\n"
    + "  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> tensor<4x4xf32> {\n"
    + "    %b = tensor.insert_slice %row into %a[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>\n"
    + "    scf.yield %b : tensor<4x4xf32>\n  }\n  util.global.store %r, @cache : tensor<4x4xf32>\n"
    + END
)
COMPUTED = GLOBAL + HEAD + (
    "  scf.for %i = %c0 to %n step %c1 {\n    %old = util.global.load @cache : tensor<4x4xf32>\n"
    "    %new = arith.addf %old, %old : tensor<4x4xf32>\n    util.global.store %new, @cache : tensor<4x4xf32>\n  }\n"
) + END  # fmt: skip


@pytest.mark.parametrize("backend", ("llvm-cpu", "vulkan"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_stock_refuses_it_and_the_numbers_are_right(tmp_path, name, backend):
    text, right = PROGRAMS[name]
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    flags = flags_for(find_target(backend))
    stock = fissile.compile(source, vmfb, flags, repair="off", check=False)
    assert not stock.output
    report = fissile.compile(source, vmfb, flags, check=False)
    repaired = [f for f in report.findings if f.severity is Severity.REPAIRED]
    assert report.output and ("FIS224", "@cache") in [(f.code, f.subject) for f in repaired]
    device = {"llvm-cpu": "local-task", "vulkan": "vulkan"}[backend]
    np.testing.assert_array_equal(run(vmfb, [ROW, np.int32(TIMES).reshape(())], device)[0], right)


@pytest.mark.parametrize("text", (CARRIED, COMPUTED), ids=("carried", "computed"))
def test_what_stock_builds_stays(tmp_path, text):
    source = tmp_path / "in.mlir"
    source.write_text(text)
    report = fissile.compile(source, tmp_path / "out.vmfb", CPU, check=False)
    assert report.output and "FIS224" not in [f.code for f in report.findings]
