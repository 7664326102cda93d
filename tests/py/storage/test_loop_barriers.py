"""Barriers in a loop: what stands between two of them happens in one interval, an iteration later as well."""

import pytest
from iree.compiler import ir

from fissile.passes.analysis.kernel.sharing import unsynchronised

LOOPED = """\
func.func @f() attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %zero = arith.constant 0.0 : f32
  %t = gpu.thread_id x
  %m = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  %left = arith.subi %c63, %t : index
  scf.for %i = %c0 to %c63 step %c1 {
    FIRST
    memref.store %zero, %m[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    BETWEEN
    %v = memref.load %m[%left] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %o[%t] : memref<64xf32>
  }
  return
}
""".replace("@f()", "@f(%o: memref<64xf32>)")
BARRIER = "gpu.barrier"


@pytest.mark.parametrize(
    "first, between, races",
    [
        (BARRIER, BARRIER, 0),
        (BARRIER, "", 1),  # what is stored is read at once
        ("", BARRIER, 1),  # what is read is stored to an iteration later
    ],
)
def test_barriers_in_a_loop_order_what_stands_between_them(first, between, races):
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        text = LOOPED.replace("FIRST", first).replace("BETWEEN", between)
        module = ir.Module.parse(text)
        assert len(unsynchronised(module.operation, distributed=True)) == races
