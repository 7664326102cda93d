"""A search along a tensor on the host: its reads need no check, and where one is needed the loop still ends."""

from __future__ import annotations

import iree.runtime as rt
import numpy as np
from storage_fuzz import FLAGS

from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

SEARCH = """func.func @main(%x: tensor<4xi64>, %t: tensor<?xi32>, %n: index) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %three = arith.constant 3 : i32
  %d = tensor.dim %t, %c0 : tensor<?xi32>
  %first = scf.while (%i = %c0) : (index) -> index {
    %q = arith.cmpi slt, %i, BOUND : index
    %go = scf.if %q -> i1 {
      %v = tensor.extract %t[%i] : tensor<?xi32>
      %h = arith.cmpi slt, %v, %three : i32
      scf.yield %h : i1
    } else {
      %no = arith.constant false
      scf.yield %no : i1
    }
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    %j = arith.addi %i, %c1 : index
    scf.yield %j : index
  }
  %size = arith.subi %c4, %first : index
  %r = tensor.extract_slice %x[%first] [%size] [1] : tensor<4xi64> to tensor<?xi64>
  return %r : tensor<?xi64>
}
"""


def checks(bound: str) -> list[str]:
    with Session(FLAGS) as session:
        module = session.run(session.parse_text(SEARCH.replace("BOUND", bound)), GUARDED_AT)
        return [f.message for f in guard(module.op).findings]


def test_a_read_behind_its_bound_is_proved():
    (slice_,) = checks("%d")
    assert slice_.startswith("tensor.extract_slice")
    assert any("tensor.extract reads" in message for message in checks("%n"))


def test_a_checked_search_ends(tmp_path):
    with Session(FLAGS) as session:
        module = session.run(session.parse_text(SEARCH.replace("BOUND", "%n")), GUARDED_AT)
        guard(module.op)
        # Beside the loop's own i + 1 another one would be merged with it: IREE's VM then runs the loop without end.
        assert "arith.addi" not in str(module.op).split("scf.while")[1].split("scf.condition")[0]
        session.run(module, "end")
        session.write(module, tmp_path / "out.vmfb")
    config = rt.Config("local-sync")
    data = (tmp_path / "out.vmfb").read_bytes()
    call = rt.load_vm_module(rt.VmModule.copy_buffer(config.vm_instance, data), config).main
    x = np.arange(4)
    assert call(x, np.array([0, 0, 5], np.int32), 3).to_host().tolist() == [2, 3]
    try:
        call(x, np.array([0, 0], np.int32), 3)
    except Exception as refused:
        assert "FAILED_PRECONDITION" in str(refused)
    else:
        raise AssertionError("a read past the end was not refused")
