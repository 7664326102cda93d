"""What of a program is taken out, and what is never a part of its own."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

from iree.compiler import ir

from fissile.passes.analysis.legality.boundary_types import BoundaryValue
from fissile.passes.analysis.legality.cutting import cut
from fissile.passes.analysis.legality.refused import Audit
from fissile.passes.analysis.legality.slices import Slice
from fissile.passes.analysis.legality.units import Unit, units

THREADS = """
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) = (0) to (8) step (4) shared_outs(%o = %x) -> tensor<8xf32> {
    %v = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
"""


def test_what_ends_a_region_is_part_of_the_op_around_it():
    with ir.Context():
        module = ir.Module.parse(THREADS)
        assert [unit.name for unit in units(module.operation)] == ["scf.forall", "tensor.extract_slice"]


def test_an_op_goes_with_the_op_around_it():
    with ir.Context():
        module = ir.Module.parse(THREADS)
        loop, slice_ = units(module.operation)
        assert cut(module.operation, [loop, slice_]) == [loop]
        assert list(units(module.operation)) == []
        assert module.operation.verify()


def _held(kind: object) -> set[type]:
    """The classes of what a dataclass holds, in its fields' fields as well."""
    found: set[type] = set()
    inner = get_args(kind)
    for one in inner:
        found |= _held(one)
    if isinstance(kind, type):
        found.add(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        for field in fields(kind):
            found |= _held(hints[field.name])
    return found


def test_what_an_audit_finds_holds_no_op_of_the_module_that_is_freed_behind_it():
    held = _held(Audit)
    assert Slice in held and BoundaryValue in held
    assert not [kind for kind in held if kind is Unit or kind.__module__.startswith("iree.")]
