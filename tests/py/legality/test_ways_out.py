"""Which ways out are tried for an op: those that can change what it is made of."""

from __future__ import annotations

import pytest

from fissile.passes.analysis.legality.compiler import Outcome
from fissile.passes.analysis.legality.isolation import Isolated
from fissile.passes.analysis.legality.refused import Refused
from fissile.passes.analysis.legality.ways_out import ways_out
from fissile.passes.iree.legality.candidates import REFERENCE_FLAGS, SETTLING_FLAGS

PROGRAM = "func.func @op(%a: tensor<4x{type}>) -> tensor<4x{type}>"


class Noting:
    """Stands for IREE, which refuses all: the flags that it was called with are kept."""

    def __init__(self):
        self.flags = set()

    def compile(self, text, flags, to, start="start", whole=False):
        del text, start, whole
        self.flags.update(flags)
        return Outcome("start", to)


def flags_tried(element, call=""):
    text = PROGRAM.format(type=element) + call
    compiler = Noting()
    refused = Refused("x.op", "", (), Outcome("start", "input"), Isolated(text, "", ""), "start")
    ways_out(compiler, refused, REFERENCE_FLAGS)
    return compiler.flags & set(SETTLING_FLAGS)


@pytest.mark.parametrize("element", ["f32", "i32", "index"])
def test_no_flag_is_tried_that_cannot_change_the_program(element):
    assert flags_tried(element) == set()


@pytest.mark.parametrize(
    ("element", "of"), [("f64", "f64"), ("i64", "i64"), ("bf16", "bf16"), ("f16", "promote-f16")]
)
def test_a_type_is_converted_where_the_program_has_it(element, of):
    found = flags_tried(element)
    assert found and any(of in flag for flag in found)


def test_numbers_of_pytorch_become_wide_types_in_the_import():
    found = flags_tried("f32", "torch.aten.add.Scalar")
    assert any("demote-f64" in flag for flag in found) and any("decompose" in flag for flag in found)


class Importing(Noting):
    """The import makes the same program with every flag but one; no pass runs."""

    def session(self, flags):
        raise ValueError(flags)

    def imported(self, text, flags, start="start"):
        del text, start
        return "other" if "--iree-input-demote-i64-to-i32=true" in flags else "same"


def test_behind_the_import_only_flags_that_change_its_result_are_tried():
    compiler = Importing()
    text = PROGRAM.format(type="f32") + "torch.aten.add.Scalar"
    ways_out(
        compiler, Refused("x.op", "", (), Outcome("start", "end"), Isolated(text, "", "")), REFERENCE_FLAGS
    )
    assert compiler.flags & set(SETTLING_FLAGS) == {"--iree-input-demote-i64-to-i32=true"}
