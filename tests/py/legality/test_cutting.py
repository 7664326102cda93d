"""What of a program is taken out, and what is never a part of its own."""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.analysis.legality.cutting import cut
from fissile.passes.analysis.legality.units import units

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
