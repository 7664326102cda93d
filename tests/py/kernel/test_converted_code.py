"""What code in LLVM's dialect says of its translation: an op left over, a call of a library, an unusual size."""

from dataclasses import replace

import pytest

from fissile.passes.iree.backends import BACKENDS
from fissile.pipelines.probe.converted_code import read_converted
from fissile.pipelines.session import Session

FUNCTION = "llvm.func @main(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {{\n  {0}\n  llvm.return %r : vector<16xf32>\n}}"
UNARY = "(vector<16xf32>) -> vector<16xf32>"
BINARY = "(vector<16xf32>, vector<16xf32>) -> vector<16xf32>"
FLOOR = f"%f = llvm.intr.floor(%x) : {UNARY}\n"


def read(body, backend=BACKENDS["llvm-cpu"]):
    module = Session().parse_text(FUNCTION.format(body), "converted.mlir")
    return read_converted(module.op, backend)


@pytest.mark.parametrize(
    ("body", "called"),
    [
        (FLOOR + f"%r = llvm.intr.copysign(%f, %y) : {BINARY}", True),
        (f"%r = llvm.intr.trunc(%x) : {UNARY}", True),
        ("%r = llvm.fadd %x, %y : vector<16xf32>", False),
    ],
)
def test_an_op_that_may_become_a_call_is_found(body, called):
    assert (read(body).called is not None) is called


def test_an_op_that_is_left_over_is_found():
    assert read("%r = arith.addf %x, %y : vector<16xf32>").unconverted is not None
    assert read("%r = llvm.fadd %x, %y : vector<16xf32>").unconverted is None


def test_the_size_of_code_is_compared_with_what_is_usual():
    body = "%r = llvm.fadd %x, %y : vector<16xf32>"
    usual = BACKENDS["rocm"]
    assert not read(body, usual).unusual
    assert read(body, replace(usual, usual_elements=16)).unusual
    assert read(body, replace(usual, usual_ops=3)).unusual
    assert not read(body, replace(usual, usual_ops=0, usual_elements=0)).unusual
